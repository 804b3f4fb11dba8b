"""How much an answer differs between two releases, which were drawn apart."""

import math
from dataclasses import dataclass

from holdfast.analysis.answer import Answer, digits_for
from holdfast.errors import HoldfastError


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The second answer less the first."""

    question: str
    first: Answer
    second: Answer
    estimate: float
    interval: tuple[float, float]
    """Covers the true difference about as often as the answers' own intervals cover."""

    @property
    def told_apart(self) -> bool:
        """Whether the interval leaves out "no difference"."""
        return not self.interval[0] <= 0 <= self.interval[1]

    def in_words(self, value: float) -> str:
        """A value of the difference as people write it; shares in points."""
        factor = 100 if self.first.percent else 1
        low, high = self.interval
        places = digits_for(factor * (high - low))
        return f"{factor * value:+,.{places}f}" + (" points" if self.first.percent else "")


def difference(first: Answer, second: Answer) -> Difference:
    r"""Two answers to one question set against each other.

    With estimates $a, b$ and intervals $(a_-, a_+)$, $(b_-, b_+)$ the difference $b - a$ lies
    between $b - a - \sqrt{(b - b_-)^2 + (a_+ - a)^2}$ and
    $b - a + \sqrt{(b_+ - b)^2 + (a - a_-)^2}$ (Zou and Donner 2008): for intervals of a normal law
    that is its own interval, and lopsided ones stay lopsided.

    >>> one = Answer(question="mean", estimate=1.0, standard_error=0.1, interval=(0.7, 1.3),
    ...              level=0.9, estimator="best", method="formula")
    >>> difference(one, one).interval
    (-0.4242640687119285, 0.4242640687119285)
    """
    if first.level != second.level:
        raise HoldfastError("`level` must be the same for both answers.")
    (a, (a_low, a_high)), (b, (b_low, b_high)) = (
        (answer.estimate, answer.interval) for answer in (first, second)
    )
    down, up = math.hypot(b - b_low, a_high - a), math.hypot(b_high - b, a - a_low)
    return Difference(
        question=second.question,
        first=first,
        second=second,
        estimate=b - a,
        interval=(b - a - down, b - a + up),
    )
