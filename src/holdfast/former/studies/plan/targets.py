"""What a release must reach: "zeros within 1 point, 9 in 10"."""

import re
from dataclasses import dataclass

from holdfast.errors import HoldfastError
from holdfast.former.studies.questions import Question

_WORDS = re.compile(
    r"(zeros|mean|above\s+[0-9]+|share\s.+?)\s+within\s+([0-9]*\.?[0-9]+)\s*(points?|pt|%)?"
    r"\s*,?\s*([0-9]+)\s+(?:times\s+)?in\s+([0-9]+)",
)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A question's error that must stay within a tolerance with a probability.

    >>> target = read_target("zeros within 1 point, 9 times in 10")
    >>> target.question.name, target.tolerance, target.probability
    ('zeros', 0.01, 0.9)
    """

    question: Question
    """Whose answer."""
    tolerance: float
    """How far off it may be: a share of rows, or counts for the mean."""
    probability: float
    """How often it must hold."""

    def __str__(self) -> str:
        unit = " points" if self.question.is_share else ""
        amount = f"{100 * self.tolerance if self.question.is_share else self.tolerance:g}{unit}"
        return f"{self.question.name} within {amount}, with probability {self.probability:g}"


def read_target(text: str) -> Target:
    """A target from words: QUESTION within AMOUNT [points], K in L.

    The amount is in points (hundredths of all rows) for a share, in counts for the mean.
    """
    match = _WORDS.fullmatch(" ".join(text.lower().split())) if isinstance(text, str) else None
    if match is None:
        raise HoldfastError(
            f"`target` must read 'QUESTION within AMOUNT, K in L', got {text!r:.60}. "
            "Hint: 'zeros within 1 point, 9 in 10', 'mean within 0.2, 19 in 20' or "
            "'above 10 within 0.5 points, 9 in 10'."
        )
    question, amount = Question(match[1]), float(match[2])
    hits, tries = int(match[4]), int(match[5])
    if not question.is_share and match[3]:
        raise HoldfastError("`target`: the mean is within a number of counts, not of points.")
    if not amount > 0 or not 0 < hits < tries:
        raise HoldfastError(
            f"`target` must have a positive amount and K in L with 0 < K < L, got {text!r:.60}."
        )
    tolerance = amount / 100 if question.is_share else amount
    return Target(question=question, tolerance=tolerance, probability=hits / tries)
