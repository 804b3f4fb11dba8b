"""Questions that a distribution of counts answers: a share of rows, or the mean count."""

import re
from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError

_ABOVE = re.compile(r"above\s+([0-9]{1,6})")


@dataclass(frozen=True)
class Question:
    """A number that is linear in the distribution: "zeros", "mean" or "above K".

    >>> question = Question("above 1")
    >>> float(question.weights(4) @ np.array([0.4, 0.3, 0.2, 0.1]))
    0.30000000000000004
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not (
            self.name in ("zeros", "mean") or _ABOVE.fullmatch(self.name)
        ):
            raise HoldfastError(
                f"a question must be 'zeros', 'mean' or 'above K', got {self.name!r:.40}. "
                "Hint: 'above 10' is the share of rows with a count above 10."
            )

    @property
    def is_share(self) -> bool:
        """Whether the answer is a share of rows; the other kind is the mean count."""
        return self.name != "mean"

    def weights(self, n: int) -> Floats:
        """q with answer = q · distribution, for counts 0 ... n-1."""
        counts = np.arange(n)
        if self.name == "mean":
            return counts.astype(np.float64)
        if self.name == "zeros":
            return np.asarray(counts == 0, dtype=np.float64)
        above = int(_ABOVE.fullmatch(self.name)[1])  # type: ignore[index]
        if above >= n - 1:
            raise HoldfastError(
                f"the question {self.name!r} has the answer 0: counts above {n - 1} are published "
                f"as {n - 1}. Hint: ask for less than `max_count`."
            )
        return np.asarray(counts > above, dtype=np.float64)


def find_questions(questions: "list[str] | tuple[str, ...] | None", n: int) -> list[Question]:
    """Checked questions; by default zeros, the mean and the share above a third of the top.

    >>> [question.name for question in find_questions(None, 31)]
    ['zeros', 'mean', 'above 10']
    """
    if questions is None:
        questions = ("zeros", "mean", *((f"above {(n - 1) // 3}",) if n > 2 else ()))
    if isinstance(questions, str):
        questions = (questions,)
    found = [Question(name) for name in dict.fromkeys(questions)]
    for question in found:
        question.weights(n)
    return found
