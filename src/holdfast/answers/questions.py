"""Every question about the counts of some rows: a functional of how many rows have each count.

A question takes distinct counts and rows with each, of a table or of many draws at once, and gives
a number for each. The estimate, the interval and what a table itself says are all found by it.
"""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from holdfast.answers.answer import Unit
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, whole_number
from holdfast.fit import functionals
from holdfast.fit.functionals import Functional


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

    def of(self, column: str) -> "Question":
        """The same with the name of the column of counts.

        >>> MEAN.of("deaths").words, TOTAL.of("deaths").words, share(equal=0).of("deaths").words
        ('mean deaths', 'total of deaths', 'share of rows equal to 0 in deaths')
        """
        words = re.sub(r"(the )?counts?$", lambda _: column, self.words)
        if words == self.words:
            words += f" {'of' if self.linear else 'in'} {column}"
        return replace(self, words=words)


def share(**options: Any) -> Question:
    """The share of the rows that have such counts."""
    words, first, last = condition(options)
    return Question(
        name="share",
        words=f"share of rows {words}",
        functional=partial(functionals.share_between, first=first, last=last),
        unit=Unit.SHARE,
    )


def rows(**options: Any) -> Question:
    """The number of rows that have such counts, or of all rows."""
    words, functional = "number of rows", functionals.number_of_rows
    if options:
        named, first, last = condition(options)
        words = f"{words} {named}"
        functional = partial(functionals.rows_between, first=first, last=last)
    return Question(name="rows", words=words, functional=functional, unit=Unit.COUNT)


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
        functional=partial(functionals.quantile, level=level),
        unit=Unit.COUNT,
    )


def function_of_counts(function: Callable[..., Any]) -> Question:
    """A function of (counts, rows with each) that an analyst wrote."""

    def functional(values: Integers, rows: Floats) -> Floats:
        answers = [float(function(values, each)) for each in np.atleast_2d(rows)]
        return np.asarray(answers if np.ndim(rows) > 1 else answers[0])

    name = getattr(function, "__name__", "")
    words = "the function" if name in ("", "<lambda>") else name
    return Question(name="function", words=words, functional=functional)


MEAN = Question(name="mean", words="mean count", functional=functionals.mean, linear=True)
TOTAL = Question(
    name="total", words="total", functional=functionals.total, unit=Unit.COUNT, linear=True
)
CONDITION = ("equal", "at_least", "at_most", "between")
QUESTIONS: dict[str, tuple[Callable[..., Question], tuple[str, ...]]] = {
    "share": (share, CONDITION),
    "rows": (rows, CONDITION),
    "mean": (lambda: MEAN, ()),
    "total": (lambda: TOTAL, ()),
    "median": (lambda: quantile(at=0.5), ()),
    "quantile": (quantile, ("at",)),
    **{
        name: (partial(Question, name=name, words=words, functional=functional, unit=unit), ())
        for name, words, functional, unit in (
            ("variance", "variance of the counts", functionals.variance, Unit.NUMBER),
            (
                "standard deviation", "standard deviation of the counts",
                functionals.standard_deviation, Unit.NUMBER,
            ),
            ("gini", "Gini coefficient of the counts", functionals.gini, Unit.NUMBER),
            ("maximum", "highest count", functionals.maximum, Unit.COUNT),
        )
    },
}  # fmt: skip
"""How each question is built, and the options that it takes."""
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
        return function_of_counts(question)
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
            takes = " or ".join(f"`{option}`" for option in allowed) or "no such option"
            raise HoldfastError(f"`{name}` does not fit this question, which takes {takes}.")


def condition(options: dict[str, Any]) -> tuple[str, int, int | None]:
    """The counts that are meant: in words, the first, and the last of them, None without one."""
    named = [name for name in CONDITION if options.get(name) is not None]
    if len(named) != 1:
        raise HoldfastError(
            "a share needs one of `equal`, `at_least`, `at_most`, `between`. "
            "Hint: 'share zero', 'both zero of A and B', or in Python equal=0."
        )
    return _run(named[0], options[named[0]])


def _run(name: str, value: Any) -> tuple[str, int, int | None]:
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
        return words, low, high
    count = whole_number(value, name)
    if name == "equal":
        return f"equal to {count:,}", count, count
    if name == "at_least":
        return f"with {count:,} or more", count, None
    return f"with {count:,} or less", 0, count
