"""Questions about the counts of some rows, each declared once: how it is typed, what it takes, what
it is in words, which functional of a histogram answers it, which lines answers.csv has of it.

What is typed, `release.ask`, `holdfast ask --help`, the form of the page, answers.csv and plans are
derived from this table. A functional takes distinct counts and rows with each, of a table or of
many draws at once: the estimate, the interval and what a table itself says are all found by it.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import HoldfastError, whole_number

if TYPE_CHECKING:
    from holdfast.arrays import Floats
    from holdfast.fit.functionals import Functional
    from holdfast.fit.histogram import Draws, Histogram


class Unit(StrEnum):
    """What an answer is a number of."""

    NUMBER = "number"
    """Any number, such as a mean."""
    COUNT = "count"
    """A whole number: a count, a total, a number of rows."""
    SHARE = "share"
    """A part of the rows, written in percent."""
    POINTS = "points"
    """A difference of shares, written in percentage points."""


class CommonLine(NamedTuple):
    """A question as answers.csv has it, with what was said with it; it can be typed."""

    label: str
    parameters: Mapping[str, Any] = MappingProxyType({})
    """What the functional is given beside counts and rows."""
    reached: int = 0
    """A count that some row must reach, and"""
    rows: int = 1
    """how many rows there must be, for the line to be there."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, in the table with a gap for what is said with it, which `asked` fills.

    >>> QUESTIONS["share"].asked({"at_least": 3}).words
    'share of rows with 3 or more'
    """

    name: str
    words: str
    """What is asked, such as "share of rows equal to 0"."""
    estimator: "str | Functional"
    """The name of a function in `holdfast.fit.functionals`, or a function of an analyst."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What that is given beside counts and rows."""
    unit: Unit = Unit.NUMBER
    takes: tuple[str, ...] = ()
    """The options that say more, of which one is given: `COUNTS` or `LEVEL`."""
    optional: bool = False
    """Whether it is a question without them too."""
    linear: bool = False
    """Whether the noisy counts of the rows answer it by themselves: their sum is unbiased."""
    averaged: bool = False
    """Whether the mean of draws is the estimate though it is not linear, as for what adds up to
    other answers, and for Gini coefficients, which few draws may have far from the others."""
    of_one_row: bool = False
    """Whether the answer about a single row is its count."""
    hidden: str = ""
    """What to say where noise hides counts as high as the answer."""
    spellings: tuple[str, ...] = ()
    """What else it is called."""
    begins: tuple[str, ...] = ()
    """What else stands before the options where it is typed."""
    examples: tuple[str, ...] = ()
    """How it is typed, where its name alone is no question."""
    common: tuple[CommonLine, ...] = ()
    """The lines that answers.csv may have of it."""

    @property
    def functional(self) -> "Functional":
        """What answers it, of counts and rows with each."""
        from holdfast.fit.functionals import functional

        return functional(self.estimator, self.parameters)

    def of_histogram(self, histogram: "Histogram") -> float:
        """The answer that a table with this histogram gives."""
        return float(self.functional(histogram.values, histogram.rows.astype("float64")))

    def of_draws(self, draws: "Draws") -> "Floats":
        """Answers by draws from a posterior."""
        return 1.0 * self.functional(draws.support, draws.rows)

    def asked(self, options: Mapping[str, Any]) -> "Question":
        """The question with what is said with it."""
        for name in options:
            if name not in self.takes:
                takes = " or ".join(f"`{option}`" for option in self.takes) or "no such option"
                raise HoldfastError(f"`{name}` does not fit this question, which takes {takes}.")
        if not self.takes or (self.optional and not options):
            return replace(self, words=self.words.replace(" {}", ""))
        said, parameters = (level if self.takes is LEVEL else condition)(options)
        return replace(self, words=self.words.format(said), parameters=parameters)

    def of(self, column: str) -> "Question":
        """The same with the name of the column of counts.

        >>> of = [find_question(name, {}).of("deaths").words for name in ("mean", "total", "rows")]
        >>> of, QUESTIONS["share"].asked({"equal": 0}).of("deaths").words
        (['mean deaths', 'total of deaths', 'number of rows in deaths'], \
'share of rows equal to 0 in deaths')
        """
        words = re.sub(r"(the )?counts?$", lambda _: column, self.words)
        if words == self.words:
            words += f" {'of' if self.linear else 'in'} {column}"
        return replace(self, words=words)


HIDDEN = "no row stands so far above the others that noise leaves the highest count to be told"
FROM = (1, 2, 5, 10, 20, 50, *(10**k for k in range(2, 18)))
"""Counts from which on shares are given, as far as some row reaches."""
QUANTILES = (0.1, 0.25, 0.75, 0.9, 0.95, 0.99)
FEWEST_ABOVE = 5
"""Rows above a quantile from which on it is given: the others are single rows."""
COUNTS = ("equal", "at_least", "at_most", "between")
LEVEL = ("at",)
"""The options that say which counts, or which part of the rows, is meant."""
_TABLE = (
    Question(
        name="rows", words="number of rows {}", estimator="rows_between", unit=Unit.COUNT,
        takes=COUNTS, optional=True, averaged=True, spellings=("number of rows",),
        begins=("number", "how many"), examples=("rows zero",), common=(CommonLine("rows"),),
    ),
    Question(
        name="share", words="share of rows {}", estimator="share_between", unit=Unit.SHARE,
        takes=COUNTS, averaged=True,
        examples=("share zero", "share 3", "share at least 3", "share between 2 and 5"),
        common=(
            CommonLine("share with 0", {"first": 0, "last": 0}),
            *(CommonLine(f"share with {k} or more", {"first": k, "last": None}, k) for k in FROM),
        ),
    ),
    Question(
        name="mean", words="mean count", estimator="mean", linear=True, of_one_row=True,
        spellings=("average",), common=(CommonLine("mean"),),
    ),
    Question(
        name="total", words="total", estimator="total", unit=Unit.COUNT, linear=True,
        of_one_row=True, spellings=("sum",), common=(CommonLine("total"),),
    ),
    Question(
        name="median", words="median count", estimator="quantile", parameters={"level": 0.5},
        unit=Unit.COUNT, of_one_row=True, common=(CommonLine("median", {"level": 0.5}),),
    ),
    Question(
        name="quantile", words="quantile {} of the counts", estimator="quantile", unit=Unit.COUNT,
        takes=LEVEL, of_one_row=True, spellings=("quantiles", "percentile"),
        begins=("percentiles", "p"), examples=("quantile 0.9",),
        common=tuple(
            CommonLine(f"quantile {at:g}", {"level": at}, 0, ceil(FEWEST_ABOVE / min(at, 1 - at)))
            for at in QUANTILES
        ),
    ),
    Question(
        name="standard deviation", words="standard deviation of the counts",
        estimator="standard_deviation", spellings=("sd", "std", "standard_deviation"),
    ),
    Question(
        name="variance", words="variance of the counts", estimator="variance", spellings=("var",),
    ),
    Question(
        name="gini", words="Gini coefficient of the counts", estimator="gini", averaged=True,
    ),
    Question(
        name="maximum", words="highest count", estimator="maximum", unit=Unit.COUNT,
        of_one_row=True, hidden=HIDDEN, spellings=("max", "highest"),
        common=(CommonLine("highest"),),
    ),
)  # fmt: skip
QUESTIONS = {question.name: question for question in _TABLE}
"""Every question by its name, in the order of answers.csv."""


def spellings(before: tuple[str, ...] = ()) -> dict[str, str]:
    """The names of questions by all that they are called, longest first; or of those that take such
    options, by all that stands before these.

    >>> spellings()["average"], spellings(LEVEL)["percentiles"]
    ('mean', 'quantile')
    """
    called = {
        word: name
        for name, each in QUESTIONS.items()
        if before in ((), each.takes)
        for word in (name, *each.spellings, *(each.begins if before else ()))
    }
    return dict(sorted(called.items(), key=lambda pair: -len(pair[0])))


def examples() -> list[str]:
    """Questions as they are typed."""
    return [example for name, each in QUESTIONS.items() for example in each.examples or (name,)]


def find_question(question: Any, options: Mapping[str, Any]) -> Question:
    """The question of a name, or of a function of one's own, with its options.

    >>> find_question("quantile", {"at": 0.5}).words, find_question("sd", {}).name
    ('median count', 'standard deviation')
    >>> find_question("meen", {})
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `question` must be one of rows, share, mean, total, median, \
quantile, standard deviation, variance, gini, maximum, or a function of (counts, rows), \
got 'meen'. Hint: did you mean 'mean'?
    """
    if callable(question):
        return _function_of_counts(question).asked(options)
    word, called = str(question).lower(), spellings()
    if word not in called:
        near = difflib.get_close_matches(word, called, n=1)
        hint = f" Hint: did you mean {near[0]!r}?" if near else ""
        raise HoldfastError(
            f"`question` must be one of {', '.join(QUESTIONS)}, or a function of (counts, rows), "
            f"got {question!r:.40}.{hint}"
        )
    asked = QUESTIONS[called[word]].asked(options)
    same = (asked.estimator, asked.parameters)
    alike = (each for each in QUESTIONS.values() if (each.estimator, each.parameters) == same)
    return next((each for each in alike if not each.takes), asked)  # the median


def _function_of_counts(function: Callable[..., Any]) -> Question:
    """A function of (counts, rows with each) that an analyst wrote."""
    from holdfast.fit.functionals import one_by_one

    name = getattr(function, "__name__", "")
    words = "the function" if name in ("", "<lambda>") else name
    return Question(name="function", words=words, estimator=one_by_one(function))


def level(options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The part of the rows that is meant, in words and as a functional takes it."""
    at = options.get("at")
    try:
        number = float(at)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(at, bool) or not 0 <= number <= 1:
        raise HoldfastError(
            f"`at` must be a number from 0 to 1, got {at!r:.40}. Hint: ask('quantile', at=0.9)."
        )
    return f"{number:g}", {"level": number}


def condition(options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The counts that are meant: in words, and as the first and the last, None without one."""
    named = [name for name in COUNTS if options.get(name) is not None]
    if len(named) != 1:
        raise HoldfastError(
            "a share needs one of `equal`, `at_least`, `at_most`, `between`. "
            "Hint: 'share zero', 'both zero of A and B', or in Python equal=0."
        )
    (name,) = named
    value = options[name]
    low, high = _ends(value) if name == "between" else (whole_number(value, name),) * 2
    if name == "at_least":
        return f"with {low:,} or more", {"first": low, "last": None}
    if name == "at_most":
        return f"with {high:,} or less", {"first": 0, "last": high}
    words = f"equal to {low:,}" if low == high else f"from {low:,} to {high:,}"
    return words, {"first": low, "last": high}


def _ends(between: Any) -> tuple[int, int]:
    try:
        low, high = between
    except (TypeError, ValueError):
        raise HoldfastError(
            f"`between` must be two counts, got {between!r:.40}. Hint: between=(2, 5)."
        ) from None
    low, high = whole_number(low, "between"), whole_number(high, "between")
    if low > high:
        raise HoldfastError(f"`between` must rise, got {low:,} and {high:,}.")
    return low, high
