"""Every question that a release answers by name: its options, and who answers it.

A question about all rows and the same question about some of them are answered by different
mathematics; both stand here side by side, so that one cannot be there without the other.
"""

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, numbered
from holdfast.former.analysis import linear, nonlinear
from holdfast.former.analysis.answer import LOWER_BOUND, Answer
from holdfast.former.analysis.evidence import Evidence
from holdfast.former.analysis.parts import answers, numbers
from holdfast.former.analysis.parts.part import Part

Options = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """A question about the distribution of counts."""

    options: tuple[str, ...] = ()
    """What may be said with it."""
    capped: str | None = None
    """The question in words where counts above max_count enter as max_count; None where that does
    not change the answer."""

    @property
    def capped_part(self) -> str:
        """The same about some of the rows, from the question in words and what is capped."""
        return (self.capped or "{0}").replace("{}", "{1}")

    @abstractmethod
    def about_all(
        self, view: Evidence, options: Options, *, estimator: str, level: float
    ) -> Answer:
        """The answer about all rows."""

    @abstractmethod
    def about_part(self, part: Part, options: Options, *, level: float) -> Answer:
        """The answer about some of the rows."""

    def weights(self, view: Evidence, options: Options) -> Floats | None:
        """f, where the question is the sum f · ζ."""
        return None


@dataclass(frozen=True, kw_only=True)
class Sum(Question):
    """A sum over the distribution."""

    over: Callable[..., linear.Linear]
    """From the number of counts, the number of rows and the options."""
    part_words: str | None = None
    """The question in words about some rows, where they are others."""

    def about_all(
        self, view: Evidence, options: Options, *, estimator: str, level: float
    ) -> Answer:
        """By formula."""
        asked = self.over(len(view.target), view.rows, **options)
        return asked.answer(view, estimator=estimator, level=level)

    def about_part(self, part: Part, options: Options, *, level: float) -> Answer:
        """By the likelihood of the part's counts."""
        asked = self.over(len(part.release.target), part.rows, **options)
        number = numbers.Average(f=asked.f, scale=asked.scale)
        words = (self.part_words or asked.words).format(numbered(part.rows, "row"))
        return answers.smooth(part, number, words, level, percent=asked.percent)

    @property
    def capped_part(self) -> str:
        """With the number of rows, where the question has it."""
        return "{0}, {1}" + LOWER_BOUND if self.part_words else super().capped_part

    def weights(self, view: Evidence, options: Options) -> Floats | None:
        """What each count contributes."""
        return self.over(len(view.target), view.rows, **options).f


@dataclass(frozen=True, kw_only=True)
class Quantile(Question):
    """A quantile."""

    at: float | None = None
    """Which; None where an option says."""

    def about_all(
        self, view: Evidence, options: Options, *, estimator: str, level: float
    ) -> Answer:
        """By the intervals of shares."""
        return nonlinear.quantile(view, self._at(options), estimator=estimator, level=level)

    def about_part(self, part: Part, options: Options, *, level: float) -> Answer:
        """By the intervals of shares of the part."""
        return answers.quantile(part, self._at(options), level)

    def _at(self, options: Options) -> Any:
        return options.get("at") if self.at is None else self.at


@dataclass(frozen=True, kw_only=True)
class Curve(Question):
    """A smooth function of the shares."""

    words: str
    function: Callable[[int], nonlinear.Curved]
    """With its slope and limits, from the number of counts."""

    def about_all(
        self, view: Evidence, options: Options, *, estimator: str, level: float
    ) -> Answer:
        """By bootstrap."""
        asked = self.function(len(view.target))
        return nonlinear.smooth(view, self.words, asked, estimator=estimator, level=level)

    def about_part(self, part: Part, options: Options, *, level: float) -> Answer:
        """By the likelihood of the part's counts."""
        return answers.smooth(part, self.function(len(part.release.target)), self.words, level)


@dataclass(frozen=True, kw_only=True)
class Own(Question):
    """A function of one's own of the distribution."""

    g: Callable[..., Any]

    def about_all(
        self, view: Evidence, options: Options, *, estimator: str, level: float
    ) -> Answer:
        """By bootstrap."""
        return nonlinear.function(view, self.g, estimator=estimator, level=level)

    def about_part(self, part: Part, options: Options, *, level: float) -> Answer:
        """By the likelihood of the part's counts."""
        return answers.own(part, self.g, level)


def _share(n: int, rows: int, **options: Any) -> linear.Linear:
    return linear.share(n, **options)


def _mean(n: int, rows: int) -> linear.Linear:
    return linear.mean(n)


QUESTIONS: dict[str, Question] = {
    "share": Sum(over=_share, options=("equal", "at_least", "at_most", "between")),
    "mean": Sum(over=_mean, capped="mean of {}" + LOWER_BOUND),
    "total": Sum(over=linear.total, capped="total of {}" + LOWER_BOUND, part_words="total of {}"),
    "quantile": Quantile(options=("at",)),
    "median": Quantile(at=0.5),
    "variance": Curve(
        words="variance of the counts",
        function=numbers.variance,
        capped="variance of {}",
    ),
    "gini": Curve(
        words="Gini coefficient of the counts",
        function=numbers.gini,
        capped="Gini coefficient of {}",
    ),
}


def find_question(question: Any) -> Question:
    """The question of a name, or that of a function of the distribution.

    >>> find_question("median").at
    0.5
    >>> find_question("meen")
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `question` must be a function of the distribution or one of \
share, mean, total, quantile, median, variance, gini, got 'meen'. Hint: did you mean 'mean'?
    """
    if callable(question):
        return Own(g=question)
    found = QUESTIONS.get(question) if isinstance(question, str) else None
    if found is None:
        near = difflib.get_close_matches(str(question), QUESTIONS, n=1)
        hint = f" Hint: did you mean {near[0]!r}?" if near else ""
        raise HoldfastError(
            f"`question` must be a function of the distribution or one of {', '.join(QUESTIONS)}, "
            f"got {question!r:.40}.{hint}"
        )
    return found
