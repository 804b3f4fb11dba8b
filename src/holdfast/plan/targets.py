"""What a release must reach: "zeros within 1 point, 9 in 10"."""

import re
from dataclasses import dataclass

from holdfast.errors import HoldfastError
from holdfast.plan.questions import PlannedQuestion, read_question

_WORDS = re.compile(
    r"(?P<question>.+?)\s+within\s+(?P<amount>[0-9]*\.?[0-9]+)\s*(?P<unit>points?|pt|%)?"
    r"\s*,?\s*(?P<hits>[0-9]+)\s+(?:times\s+)?in\s+(?P<tries>[0-9]+)",
)
HINT = (
    "Hint: 'zeros within 1 point, 9 in 10', 'mean within 0.2, 19 in 20' or "
    "'above 10 within 0.5 points, 9 in 10'."
)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A question's error that must stay within an amount, so and so often.

    >>> target = read_target("zeros within 1 point, 9 times in 10")
    >>> print(target)
    zeros within 1 point, 9 times in 10
    >>> target.amount, target.probability
    (0.01, 0.9)
    """

    asked: PlannedQuestion
    amount: float
    """A share of the rows, or counts."""
    hits: int
    tries: int

    @property
    def probability(self) -> float:
        """How often it must hold."""
        return self.hits / self.tries

    def __str__(self) -> str:
        within = self.asked.amount(self.amount, 6)
        return f"{self.asked.name} within {within}, {self.hits} times in {self.tries}"


def read_target(text: str) -> Target:
    """A target from words: QUESTION within AMOUNT [points], K in L."""
    match = _WORDS.fullmatch(" ".join(text.lower().split())) if isinstance(text, str) else None
    if match is None:
        raise HoldfastError(
            f"`target` must read 'QUESTION within AMOUNT, K in L', got {text!r:.60}. {HINT}"
        )
    asked, amount = read_question(match["question"]), float(match["amount"])
    hits, tries = int(match["hits"]), int(match["tries"])
    if match["unit"] and not asked.is_share:
        raise HoldfastError(f"`target`: {asked.name} is within a number, not points. {HINT}")
    if not amount > 0 or not 0 < hits < tries:
        raise HoldfastError(
            f"`target` must have a positive amount and K in L with 0 < K < L, got {text!r:.60}."
        )
    return Target(
        asked=asked, amount=amount / 100 if asked.is_share else amount, hits=hits, tries=tries
    )
