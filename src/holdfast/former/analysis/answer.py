"""What an analyst gets for a question."""

from dataclasses import dataclass, field, replace
from math import hypot, inf, isfinite
from typing import Any

from holdfast.arrays import Marks
from holdfast.errors import HoldfastError
from holdfast.former.analysis.comparisons import difference_ends, ends_in_words, ratio_ends
from holdfast.former.analysis.markup import small, table

STRETCHED = (
    "the interval was stretched to reach the best estimate, which trusts the fitted distribution: "
    "without the fit it would end before"
)
LOWER_BOUND = ", a lower bound"
SIMULATED = "SIMULATION: a seed made this release, so it protects nobody"


@dataclass(frozen=True, kw_only=True, eq=False)
class About:
    """Rows of a release."""

    release: str
    """A digest of its counts."""
    marks: Marks
    """Which of its rows."""

    def meets(self, other: "About") -> bool:
        """Whether some row is in both."""
        return self.release == other.release and bool((self.marks & other.marks).any())


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An estimate with its uncertainty, from both stages' noise.

    >>> print(Answer(question="share of rows equal to 0", estimate=0.512, standard_error=0.004,
    ...              interval=(0.505, 0.519), level=0.9, estimator="best", method="formula",
    ...              percent=True))
    share of rows equal to 0: 51.2% (90% interval 50.5% to 51.9%)
    """

    question: str
    """In words."""
    estimate: float
    """The answer."""
    standard_error: float | None
    """Of the estimate, from stage 1 and sampling; None where the question has none."""
    interval: tuple[float, float]
    """Covers the truth with probability `level`, over the randomness of the release."""
    level: float
    """Of the interval."""
    estimator: str
    """"best", "released", "target" or "posterior"."""
    method: str
    """"formula" or "bootstrap": how the uncertainty was computed."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    percent: bool = False
    """Whether the answer is a share."""
    whole: bool = False
    """Whether the answer is a whole number."""
    whole_ends: bool = False
    """Whether the ends of the interval are counts, and the estimate what to expect."""
    about: tuple[About, ...] = field(default=(), repr=False, compare=False)
    """The rows that it is about."""
    top_code: int | None = None
    """The count that stands for itself and all above it, where the answer is a count."""
    measures: str = ""
    """The question's name, where answers to others cannot be set against it."""
    measured: bool = False
    """Whether it was measured as such, with counts above the highest in full."""
    capped_at: int | str | None = None
    """The count that higher ones enter as, where that changes the answer."""
    points: bool = False
    """Whether the answer is a difference of shares."""

    def __str__(self) -> str:
        text = f"{self.question}: {self.in_words(self.estimate)}"
        text += f" ({percent(self.level)} interval {self.interval_words})"
        return "\n".join([text, *(f"  {note}." for note in self.notes)])

    @property
    def interval_words(self) -> str:
        """The interval as people write it; "or more" and "or less" where it has no end."""
        low, high = (self.in_words(end) for end in self.interval)
        return low if low == high else ends_in_words(self.true_ends, self._number) + self._unit

    @property
    def counts_words(self) -> str:
        """How high counts enter, where that matters."""
        if self.measured:
            return "measured, not capped"
        return "" if self.capped_at is None else f"capped at {self.capped_at}"

    def in_words(self, value: float) -> str:
        """A value of this answer as people write it."""
        return self._number(value) + self._unit

    @property
    def _unit(self) -> str:
        return " points" if self.points else ""

    def _number(self, value: float) -> str:
        wide = self.interval[1] - self.interval[0]
        if not isfinite(value):
            return "∞" if value > 0 else "-∞"
        if self.points or self.percent:
            exact = round(100 * value, 2) + 0.0
            shown = f"{100 * value:.{digits_for(100 * wide)}f}" if wide else f"{exact:g}"
            return _unsigned_zero(shown) + ("" if self.points else "%")
        if self.whole or (self.whole_ends and value in self.interval):
            more = " or more" if self.top_code is not None and value >= self.top_code else ""
            return _unsigned_zero(f"{value:,.0f}") + more
        places = 1 if self.whole_ends else digits_for(wide)
        return _unsigned_zero(f"{value:,.{places}f}")

    @property
    def unbounded(self) -> str:
        """The question, for a difference or ratio: that of two lower bounds is not a bound."""
        return self.question.replace(LOWER_BOUND, "")

    def __float__(self) -> float:
        return self.estimate

    def difference(self, other: "Answer") -> "Answer":
        """This answer minus another, about other rows or about another release."""
        self._check(other)
        ends = difference_ends(self.estimate, self.true_ends, other.estimate, other.true_ends)
        error = _both(self.standard_error, other.standard_error)
        found = self._against(other, "less", self.estimate - other.estimate, ends, error)
        return replace(found, points=self.percent)

    def ratio(self, other: "Answer") -> "Answer":
        """This answer over another, about other rows or about another release."""
        self._check(other)
        if min(self.interval[0], other.interval[0]) < 0 or other.estimate <= 0:
            raise HoldfastError("a ratio needs answers above 0.")
        value = self.estimate / other.estimate
        ends = ratio_ends(self.estimate, self.true_ends, other.estimate, other.true_ends)
        error = _both(self.standard_error, other.standard_error, value)
        error = None if error is None else error / other.estimate
        return replace(
            self._against(other, "over", value, ends, error), percent=False, points=False
        )

    @property
    def true_ends(self) -> tuple[float, float]:
        """The interval, without an upper end where that is the count for all above it."""
        low, high = self.interval
        return low, inf if self.top_code is not None and high >= self.top_code else high

    def _check(self, other: "Answer") -> None:
        if self.level != other.level:
            raise HoldfastError("the answers have different levels. Hint: ask both at one level.")
        if self.percent != other.percent:
            raise HoldfastError("a share and a count cannot be compared.")
        if self.measures and other.measures and self.measures != other.measures:
            raise HoldfastError(
                f"a {self.measures} and a {other.measures} cannot be compared. Hint: ask one "
                "question of both."
            )
        if (self.measured and other.capped_at is not None) or (
            other.measured and self.capped_at is not None
        ):
            top = self.capped_at if other.measured else other.capped_at
            raise HoldfastError(
                "one of the answers was measured, with high counts in full, and the other adds up "
                f"counts capped at {top}: most of their difference may be what was capped. Hint: "
                "ask both of whole groups, or of all rows, where releases have measured totals; or "
                "both of parts of groups."
            )
        if any(mine.meets(its) for mine in self.about for its in other.about):
            raise HoldfastError(
                "the two answers share rows, so their errors are not independent. Hint: compare "
                "parts that do not overlap, such as one with the rows that are not in it."
            )

    def _against(
        self,
        other: "Answer",
        word: str,
        value: float,
        ends: tuple[float, float],
        error: float | None,
    ) -> "Answer":
        return replace(
            self,
            question=f"{self.unbounded}, {word} {other.unbounded}",
            estimate=value,
            standard_error=error,
            interval=ends,
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
            about=self.about + other.about,
            top_code=None,
            whole_ends=False,
        )

    def _repr_html_(self) -> str:
        header = ["", "estimate", f"{percent(self.level)} interval"]
        row = [self.question, self.in_words(self.estimate), self.interval_words]
        return table(header, [row]) + small(self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; None for an open end."""
        return {
            "question": self.question,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "interval": [plain(end) for end in self.interval],
            "level": self.level,
            "estimator": self.estimator,
            "method": self.method,
            "notes": list(self.notes),
        }


def plain(value: Any) -> Any:
    """A value as JSON has it: an open end, or a number that is not known, is None.

    >>> plain(inf), plain(3), plain("a")
    (None, 3, 'a')
    """
    return None if isinstance(value, float) and not isfinite(value) else value


def _both(one: float | None, other: float | None, times: float = 1.0) -> float | None:
    return None if one is None or other is None else hypot(one, times * other)


def _unsigned_zero(text: str) -> str:
    """A number in words, of which nothing is left but zeros without its sign.

    >>> _unsigned_zero("-0.0%"), _unsigned_zero("-0.1")
    ('0.0%', '-0.1')
    """
    return text if any(digit in text for digit in "123456789") else text.removeprefix("-")


def percent(level: float) -> str:
    """A level as people write it, never rounded to another one.

    >>> percent(0.9), percent(0.999)
    ('90%', '99.9%')
    """
    return f"{100 * level:g}%"


def digits_for(width: float) -> int:
    """Decimal places that an interval of this width deserves: two digits of the width.

    >>> digits_for(1.4), digits_for(0.02), digits_for(300), digits_for(0)
    (1, 3, 0, 0)
    """
    places = 0
    while 0 < width < 10 and places < 6:
        width, places = width * 10, places + 1
    return places
