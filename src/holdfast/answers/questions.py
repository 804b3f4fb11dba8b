"""Every question about the counts of some rows: a functional of how many rows have each count.

A question takes distinct counts and rows with each, of a table or of many draws at once, and gives
a number for each. The estimate, the interval and what a table itself says are all found by it.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.answers.answer import Unit
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, whole_number

NEARLY = 1e-9  # of a row, by which a quantile may be missed by rounding
HALF_A_ROW = 0.5  # from which on a draw has a row with so high a count

Functional = Callable[[Integers, Floats], Floats]
"""From distinct counts (m) and rows with each (… × m): a number for each (…)."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with all that was said with it."""

    name: str
    words: str
    """What is asked, such as "share of rows equal to 0"."""
    functional: Functional
    unit: Unit = Unit.NUMBER
    linear: bool = False
    """Whether the noisy counts of the rows answer it by themselves: their sum is unbiased."""


def share(**options: Any) -> Question:
    """Which part of the rows has such counts."""
    words, inside = condition(options)
    return Question(
        name="share",
        words=f"share of rows {words}",
        functional=lambda values, rows: (rows @ inside(values)) / _rows(values, rows),
        unit=Unit.SHARE,
    )


def rows(**options: Any) -> Question:
    """How many rows have such counts."""
    words, inside = condition(options)
    return Question(
        name="rows",
        words=f"number of rows {words}",
        functional=lambda values, rows: rows @ inside(values),
        unit=Unit.COUNT,
    )


def mean() -> Question:
    """The mean count."""
    return Question(name="mean", words="mean count", functional=_mean, linear=True)


def total() -> Question:
    """The sum of the counts."""
    return Question(name="total", words="total", functional=_total, unit=Unit.COUNT, linear=True)


def variance() -> Question:
    """The variance of the counts, over all rows."""
    return Question(name="variance", words="variance of the counts", functional=_variance)


def standard_deviation() -> Question:
    """The standard deviation of the counts, over all rows."""
    return Question(
        name="standard deviation",
        words="standard deviation of the counts",
        functional=lambda values, rows: np.sqrt(_variance(values, rows)),
    )


def gini() -> Question:
    """The Gini coefficient: how unequally the total is spread over the rows."""
    return Question(name="gini", words="Gini coefficient of the counts", functional=_gini)


def quantile(*, at: Any = None) -> Question:
    """The smallest count that at least this part of the rows does not exceed."""
    try:
        level = float(at)
    except (TypeError, ValueError):
        level = -1.0
    if isinstance(at, bool) or not 0 <= level <= 1:
        raise HoldfastError(
            f"`at` must be a number from 0 to 1, got {at!r:.40}. Hint: ask('quantile', at=0.9)."
        )
    return Question(
        name="quantile",
        words="median count" if level == 0.5 else f"quantile {level:g} of the counts",
        functional=lambda values, rows: _quantile(values, rows, level),
        unit=Unit.COUNT,
    )


def median() -> Question:
    """The quantile at 0.5."""
    return quantile(at=0.5)


def maximum() -> Question:
    """The highest count."""
    return Question(name="maximum", words="highest count", functional=_maximum, unit=Unit.COUNT)


def of_ones_own(function: Callable[..., Any]) -> Question:
    """A function of (counts, rows with each) that an analyst wrote."""

    def functional(values: Integers, rows: Floats) -> Floats:
        found = [float(function(values, one)) for one in np.atleast_2d(rows)]
        return np.asarray(found if np.ndim(rows) > 1 else found[0])

    name = getattr(function, "__name__", "")
    return Question(
        name="function",
        words="the function" if name in ("", "<lambda>") else name,
        functional=functional,
    )


CONDITION = ("equal", "at_least", "at_most", "between")
QUESTIONS: dict[str, tuple[Callable[..., Question], tuple[str, ...]]] = {
    "share": (share, CONDITION),
    "rows": (rows, CONDITION),
    "mean": (mean, ()),
    "total": (total, ()),
    "median": (median, ()),
    "quantile": (quantile, ("at",)),
    "variance": (variance, ()),
    "standard deviation": (standard_deviation, ()),
    "gini": (gini, ()),
    "maximum": (maximum, ()),
}
SYNONYMS = {
    "average": "mean", "sum": "total", "max": "maximum", "highest": "maximum",
    "sd": "standard deviation", "std": "standard deviation",
    "standard_deviation": "standard deviation", "var": "variance", "quantiles": "quantile",
    "percentile": "quantile", "number of rows": "rows",
}  # fmt: skip


def find_question(question: Any, options: dict[str, Any]) -> Question:
    """The question of a name, or of a function of one's own, with its options.

    >>> find_question("share", {"at_least": 3}).words
    'share of rows with 3 or more'
    >>> find_question("meen", {})
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `question` must be one of share, rows, mean, total, median, \
quantile, variance, standard deviation, gini, maximum, or a function of (counts, rows), \
got 'meen'. Hint: did you mean 'mean'?
    """
    if callable(question):
        _check_options(options, ())
        return of_ones_own(question)
    name = SYNONYMS.get(str(question).lower(), str(question).lower())
    if name not in QUESTIONS:
        near = difflib.get_close_matches(name, [*QUESTIONS, *SYNONYMS], n=1)
        hint = f" Hint: did you mean {near[0]!r}?" if near else ""
        raise HoldfastError(
            f"`question` must be one of {', '.join(QUESTIONS)}, or a function of (counts, rows), "
            f"got {question!r:.40}.{hint}"
        )
    build, allowed = QUESTIONS[name]
    _check_options(options, allowed)
    return build(**options)


def _check_options(options: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for name in options:
        if name not in allowed:
            takes = " or ".join(f"`{one}`" for one in allowed) or "no such option"
            raise HoldfastError(f"`{name}` does not fit this question, which takes {takes}.")


def condition(options: dict[str, Any]) -> tuple[str, Callable[[Integers], Floats]]:
    """The counts that are meant, in words and as marks on counts."""
    named = [name for name in CONDITION if options.get(name) is not None]
    if len(named) != 1:
        raise HoldfastError(
            "a share needs one of `equal`, `at_least`, `at_most`, `between`. "
            "Hint: ask('share', equal=0) for the share of zeros."
        )
    first, last, words = _run(named[0], options[named[0]])

    def inside(values: Integers) -> Floats:
        marks = values >= first
        return np.asarray(marks if last is None else marks & (values <= last), dtype=np.float64)

    return words, inside


def _run(name: str, value: Any) -> tuple[int, int | None, str]:
    """The first and the last count of a condition, and its words."""
    if name == "between":
        try:
            low, high = value
        except (TypeError, ValueError):
            raise HoldfastError(
                f"`between` must be two counts, got {value!r:.40}. Hint: between=(2, 5)."
            ) from None
        low, high = whole_number(low, "between"), whole_number(high, "between")
        if low > high:
            raise HoldfastError(f"`between` must rise, got {low:,} and {high:,}.")
        words = f"equal to {low:,}" if low == high else f"from {low:,} to {high:,}"
        return low, high, words
    count = whole_number(value, name)
    if name == "equal":
        return count, count, f"equal to {count:,}"
    if name == "at_least":
        return count, None, f"with {count:,} or more"
    return 0, count, f"with {count:,} or less"


def _rows(values: Integers, rows: Floats) -> Floats:
    return np.asarray(rows.sum(axis=-1))


def _total(values: Integers, rows: Floats) -> Floats:
    return np.asarray(rows @ values.astype(np.float64))


def _mean(values: Integers, rows: Floats) -> Floats:
    return np.asarray(_total(values, rows) / _rows(values, rows))


def _variance(values: Integers, rows: Floats) -> Floats:
    middle = float(np.mean(_mean(values, rows)))  # of all draws, so that squares stay small
    away = values - middle
    size = _rows(values, rows)
    return np.asarray(np.maximum(rows @ away**2 / size - (rows @ away / size) ** 2, 0.0))


def _gini(values: Integers, rows: Floats) -> Floats:
    """One less twice the area under the Lorenz curve; 0 where nothing is there to spread."""
    amounts = rows * values
    whole = amounts.sum(axis=-1)
    upto = np.cumsum(amounts, axis=-1)
    area = (rows * (2 * upto - amounts)).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - area / (whole * _rows(values, rows))
    return np.asarray(np.where(whole > 0, found, 0.0))


def _quantile(values: Integers, rows: Floats, level: float) -> Floats:
    upto = np.cumsum(rows, axis=-1)
    wanted = np.maximum(level * upto[..., -1:], NEARLY) - NEARLY * upto[..., -1:]
    place = (upto < wanted).sum(axis=-1)
    return np.asarray(values[np.minimum(place, len(values) - 1)], dtype=np.float64)


def _maximum(values: Integers, rows: Floats) -> Floats:
    above = np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1]
    place = (above >= HALF_A_ROW).sum(axis=-1) - 1
    return np.asarray(values[np.maximum(place, 0)], dtype=np.float64)
