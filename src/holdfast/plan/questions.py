"""Questions that a plan or a comparison looks at, and targets for them, as people write them."""

import re
from dataclasses import dataclass

import numpy as np

from holdfast.answers.asking import ask
from holdfast.answers.grammar import parse
from holdfast.arrays import Integers
from holdfast.errors import HoldfastError, roughly
from holdfast.request.questions import Question, Unit, find_question

LEAST = 0.0001  # of an error in words: a hundredth of a point
_WORDS = re.compile(
    r"(?P<question>.+?)\s+within\s+(?P<amount>[0-9]*\.?[0-9]+)\s*(?P<unit>points?|pt|%)?"
    r"\s*,?\s*(?P<hits>[0-9]+)\s+(?:times\s+)?in\s+(?P<tries>[0-9]+)",
)
HINT = (
    "Hint: 'zeros within 1 point, 9 in 10', 'mean within 0.2, 19 in 20' or "
    "'above 10 within 0.5 points, 9 in 10'."
)


@dataclass(frozen=True, kw_only=True)
class PlannedQuestion:
    """A question, and what people call it."""

    name: str
    question: Question

    @property
    def is_share(self) -> bool:
        """Whether the answer is a share of the rows, whose errors are said in points."""
        return self.question.unit is Unit.SHARE

    def amount(self, error: float, digits: int = 2) -> str:
        """An error in words: points of a share, or counts.

        >>> read_question("zeros").amount(0.0123), read_question("mean").amount(0.26)
        ('1.2 points', '0.26')
        """
        if not self.is_share:
            return roughly(error, digits)
        points = roughly(100 * error, digits)
        return f"{points} point{'s' if points != '1' else ''}"

    def about(self, error: float) -> str:
        """The same where an error that is next to nothing is only said to be small.

        >>> read_question("zeros").about(1.6e-9), read_question("mean").about(1.6e-9)
        ('under 0.01 points', 'under 0.0001')
        """
        return f"under {self.amount(LEAST)}" if error < LEAST else self.amount(error)


def read_question(text: str) -> PlannedQuestion:
    """A question as people write it, about all rows.

    >>> read_question("above 10").question.words, read_question("zeros").question.words
    ('share of rows with 11 or more', 'share of rows equal to 0')
    """
    call = parse(str(text))
    if call.answered_by is not ask or call.names or {"where", "by"} & call.options.keys():
        raise HoldfastError(
            f"{text!r:.60} cannot be planned for. Hint: zeros, mean, total, median, or a share "
            "such as 'above 10' or 'share at most 3'."
        )
    name = " ".join(str(text).lower().split()).removeprefix("share ")
    return PlannedQuestion(name=name, question=find_question(call.arguments[0], call.options))


def usual_questions(counts: Integers) -> tuple[str, ...]:
    """Zeros, the mean, the total, and rows above what one in ten is above.

    >>> usual_questions(np.arange(100))
    ('zeros', 'mean', 'above 89', 'total')
    """
    high = int(np.sort(counts)[-max(len(counts) // 10, 1) - 1]) if len(counts) > 1 else 0
    return ("zeros", "mean", *(f"above {high}",) * (high > 0), "total")


def read_questions(
    texts: list[str] | tuple[str, ...] | str | None, counts: Integers
) -> list[PlannedQuestion]:
    """Questions, each once; the usual ones where none are named."""
    chosen = usual_questions(counts) if texts is None else texts
    chosen = (chosen,) if isinstance(chosen, str) else chosen
    return [read_question(text) for text in dict.fromkeys(chosen)]


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
