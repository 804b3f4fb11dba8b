"""What an analyst gets for a question: an estimate, its interval, and what to know about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, inf, isfinite, isnan, log10, nan
from typing import Any

import numpy as np

from holdfast.answers.result import Cells, QuestionResult, joined
from holdfast.arrays import Floats, Marks
from holdfast.errors import HoldfastError, one_line
from holdfast.fit.functionals import ends
from holdfast.fit.histogram import LEVEL
from holdfast.release.common import decimals, known_places
from holdfast.request.questions import Unit

NUMBERS = ("rows", "estimate", "low", "high")  # columns of every answer
DIGITS = 4  # of a number whose interval has no width, or no end
FINEST, SMALL = 1e-9, 0.01  # a width that is none, and a number with its own digits
NAMED = 5  # groups that a note lists
OTHERS = "it keeps how many rows have each count, not which rows"
OTHERS_BY_GROUP = (
    "counting in the released table gives other numbers: it keeps how many rows have "
    "each count, of all rows or of each declared group, not which rows"
)
SIMULATED = "SIMULATION: a seed made this release, so it protects nobody"


@dataclass(frozen=True, kw_only=True)
class Answer(QuestionResult):
    """An estimate with an interval, and the draws that the interval comes from.

    >>> draws = np.linspace(0.5, 0.524, 200)
    >>> print(Answer.of("share of rows equal to 0", 0.512, draws, unit=Unit.SHARE))
    share of rows equal to 0: 51.2% (90% interval 50.1% to 52.3%)
    """

    question: str
    """In words."""
    estimate: float
    interval: tuple[float, float]
    """Covers the truth with probability `level`, over the randomness of the release."""
    level: float = LEVEL
    unit: Unit = Unit.NUMBER
    standard_error: float = 0.0
    rows: int | None = None
    """How many rows it is about."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    in_table: float | None = None
    """What counting in the released table gives, where that is another number."""
    draws: Floats = field(default_factory=lambda: np.zeros(1), repr=False, compare=False)
    """Values that the truth may have, as likely as each other."""
    about: tuple[tuple[object, Marks], ...] = field(default=(), repr=False, compare=False)
    """The columns of counts that it is about, and which of their rows."""

    @staticmethod
    def of(
        question: str, estimate: float, draws: Floats, *, whole: bool = False, **fields: Any
    ) -> "Answer":
        """The answer whose interval are quantiles of draws, and holds the estimate; `whole` says
        that it is a count in any case."""
        level, unit = fields.get("level", LEVEL), fields.get("unit", Unit.NUMBER)
        return Answer(
            question=question,
            estimate=float(estimate),
            interval=ends(draws, float(estimate), level, whole=whole or unit is Unit.COUNT),
            standard_error=float(np.std(draws)) if np.isfinite(draws).all() else inf,
            draws=draws,
            **fields,
        )

    def __float__(self) -> float:
        return self.estimate

    @property
    def title(self) -> str:
        """The answer in a sentence."""
        return f"{self.question}: {self.in_words(self.estimate)} ({self.interval_words})"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know: first how far the table's own number is."""
        if self.in_table is None:
            return self.notes
        shown = self.in_words(self.in_table)
        return (f"counting in the released table gives {shown}: {OTHERS}", *self.notes)

    @property
    def interval_words(self) -> str:
        """Such as "90% interval 3 to 5"."""
        return f"{percent(self.level)} interval {self.ends_words}"

    @property
    def ends_words(self) -> str:
        """The interval as people write it."""
        low, high = self.interval
        if high == inf:
            return "cannot be told" if low == -inf else f"{self.in_words(low)} or more"
        if low == -inf:
            return f"{self.in_words(high)} or less"
        if low == int(low) and high == int(high) and self.unit is Unit.NUMBER:  # counts of a row
            return f"{low:,.0f} to {high:,.0f}"
        return f"{self._number(low)} to {self._number(high)}{self._suffix}"

    def in_words(self, value: float) -> str:
        """A value of this answer as people write it, with as many digits as are known."""
        return self._number(value) + self._suffix

    @property
    def _suffix(self) -> str:
        return " points" if self.unit is Unit.POINTS else ""

    @property
    def places(self) -> int:
        """Decimal places that are known."""
        if self.unit is Unit.COUNT:
            return 0
        width = self.interval[1] - self.interval[0]
        if not FINEST < width < inf:
            if 0 < abs(self.estimate) < SMALL:
                return DIGITS - 1 - floor(log10(abs(self.estimate)))
            return 3 if self.unit in (Unit.SHARE, Unit.POINTS) else 2
        return known_places(width)

    def _number(self, value: float) -> str:
        if not isfinite(value):
            return "cannot be told" if isnan(value) else "∞" if value > 0 else "-∞"
        if self.unit in (Unit.SHARE, Unit.POINTS):
            sign = "%" if self.unit is Unit.SHARE else ""
            return unsigned_zero(decimals(100 * value, max(self.places - 2, 0))) + sign
        return unsigned_zero(f"{value:,.{self.places}f}")

    def rounded(self, value: float) -> float:
        """A value with as many digits as are known, for tables and files."""
        if not isfinite(value):
            return value
        number = float(decimals(value, self.places))
        return int(number) if self.unit is Unit.COUNT else number + 0.0

    @property
    def counted(self) -> float:
        """What counting in the released table gives, with as many digits as are known."""
        return self.rounded(self.estimate if self.in_table is None else self.in_table)

    def difference(self, other: "Answer") -> "Answer":
        """This answer minus another, about other rows or of another release."""
        unit = Unit.POINTS if self.unit is Unit.SHARE else self.unit
        draws = np.subtract(*apart(self.draws, other.draws))
        return self._with(other, "less", self.estimate - other.estimate, draws, unit)

    def ratio(self, other: "Answer") -> "Answer":
        """This answer over another, about other rows or of another release."""
        if min(self.draws.min(), other.draws.min()) < 0:
            raise HoldfastError("a ratio needs answers that cannot be below 0.")
        estimate = self.estimate / other.estimate if other.estimate > 0 else nan
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = np.divide(*apart(self.draws, other.draws))
        ratio = self._with(other, "over", estimate, draws, Unit.NUMBER)
        return replace(ratio, interval=(max(ratio.interval[0], 0.0), ratio.interval[1]))

    def _with(
        self, other: "Answer", word: str, estimate: float, draws: Floats, unit: Unit
    ) -> "Answer":
        if self.level != other.level:
            raise HoldfastError("the answers have different levels. Hint: ask both at one level.")
        if self.unit is not other.unit:
            raise HoldfastError(f"a {self.unit} and a {other.unit} cannot be compared.")
        if any(
            column is another and bool((marks & others).any())
            for column, marks in self.about
            for another, others in other.about
        ):
            raise HoldfastError(
                "the two answers share rows, so their errors are not independent. Hint: compare "
                "parts that do not overlap, such as one with the rows that are not in it."
            )
        return Answer.of(
            f"{self.question}, {word} {other.question}",
            estimate,
            draws,
            level=self.level,
            unit=unit,
            notes=tuple(dict.fromkeys((*self.notes, *other.notes))),
            about=self.about + other.about,
        )

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table with one row."""
        low, high = self.interval
        return {
            "question": [self.question],
            "rows": [self.rows],
            "estimate": [self.rounded(self.estimate)],
            "low": [self.rounded(low)],
            "high": [self.rounded(high)],
        }


@dataclass(frozen=True, kw_only=True)
class Answers(QuestionResult, Mapping[Any, Answer]):
    """One answer for every group of rows, by the group's name.

    >>> import holdfast, pandas
    >>> table = pandas.DataFrame({"state": ["NE", "KS"] * 3, "n": [0, 5, 1, 0, 30, 2]})
    >>> release = holdfast.privatize(table, epsilon=8, count="n", within="state", seed=1)
    >>> answers = release.ask("total", by="state")
    >>> list(answers), answers["NE"].estimate
    (['KS', 'NE'], 31.0)
    """

    question: str
    """What was asked of each."""
    by: str
    """What the groups are."""
    answers: dict[Any, Answer] = field(repr=False)

    def __getitem__(self, name: Any) -> Answer:
        return self.answers[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def sorted(self) -> "Answers":
        """The same with the highest estimate first."""
        ranked = sorted(self.answers.items(), key=lambda item: -item[1].estimate)
        return replace(self, answers=dict(ranked))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each thing once, with the groups that it is about."""
        about: dict[str, list[str]] = {}
        for name, answer in self.items():
            for note in dict.fromkeys(answer.notes):
                about.setdefault(note, []).append(one_line(str(name)))
        some = tuple(
            note
            if len(names) == len(self) and not (len(self) > 1 and note[0].isdigit())
            else f"{'each of ' * (len(names) > 1)}{some_of(names)}: {note}"
            for note, names in sorted(about.items(), key=lambda item: len(item[1]) == len(self))
        )
        return (OTHERS_BY_GROUP, *some) if self._beside_table else some

    def noted(self, notes: Sequence[str]) -> "Answers":
        """The same with more to know about each."""
        answers = {name: answer.noted(notes) for name, answer in self.items()}
        return replace(self, answers=answers)

    def cells(self) -> Cells:
        """A line for each group: its name, the estimate, the ends of the interval."""
        level = percent(next(iter(self.values())).level)
        return (self.by, "estimate", f"{level} interval"), [
            (one_line(str(name)), answer.in_words(answer.estimate), answer.ends_words)
            for name, answer in self.items()
        ]

    @property
    def title(self) -> str:
        """What was asked."""
        return f"{self.question}, by {self.by}"

    @property
    def _beside_table(self) -> bool:
        """Whether counting in the released table gives other numbers."""
        return any(answer.in_table is not None for answer in self.values())

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table, a row for each group."""
        columns = joined(answer.columns() for answer in self.values())
        columns = {self.by: list(self)} | {name: columns[name] for name in NUMBERS}
        counted = [answer.counted for answer in self.values()]
        return columns | ({"in_table": counted} if self._beside_table else {})

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        groups = {str(name): answer.to_dict() for name, answer in self.items()}
        return {"question": self.question, "by": self.by, "groups": groups}


def apart(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Two sets of draws side by side, as many of each, as if drawn independently.

    Draws of two parts may come from the same random numbers, so one of them is shuffled.
    """
    size = max(len(first), len(second))
    order = np.random.default_rng(size).permutation(size)
    return np.resize(first, size), np.resize(second, size)[order]


def check_level(level: Any) -> float:
    """A level between 0 and 1."""
    try:
        number = float(level)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number < 1:
        raise HoldfastError(f"`level` must lie between 0 and 1, got {level!r:.40}. Hint: 0.9.")
    return number


def percent(level: float) -> str:
    """A level as people write it, never rounded to another one.

    >>> percent(0.9), percent(0.999)
    ('90%', '99.9%')
    """
    return f"{100 * level:g}%"


def unsigned_zero(text: str) -> str:
    """A number in words, of which nothing is left but zeros without its sign.

    >>> unsigned_zero("-0.0"), unsigned_zero("-0.1")
    ('0.0', '-0.1')
    """
    return text if any(digit in text for digit in "123456789") else text.removeprefix("-")


def some_of(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
