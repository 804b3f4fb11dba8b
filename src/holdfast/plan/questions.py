"""Questions that a plan or a comparison looks at, as people write them."""

from dataclasses import dataclass

import numpy as np

from holdfast.answers.answer import Unit
from holdfast.answers.grammar import Method, parse
from holdfast.answers.questions import Question, find_question
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, roughly
from holdfast.fit.histogram import Draws, Histogram

LEAST = 0.0001  # of an error in words: a hundredth of a point


@dataclass(frozen=True, kw_only=True)
class PlannedQuestion:
    """A question, and what people call it."""

    name: str
    question: Question

    @property
    def is_share(self) -> bool:
        """Whether the answer is a share of the rows, whose errors are said in points."""
        return self.question.unit is Unit.SHARE

    def of(self, histogram: Histogram) -> float:
        """The answer that a table with this histogram gives."""
        rows = histogram.rows.astype(np.float64)
        return float(self.question.functional(histogram.values, rows))

    def of_draws(self, draws: Draws) -> Floats:
        """Answers by draws from a posterior."""
        return np.asarray(self.question.functional(draws.support, draws.rows), dtype=np.float64)

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
    if call.method is not Method.ASK or call.names or {"where", "by"} & call.options.keys():
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
