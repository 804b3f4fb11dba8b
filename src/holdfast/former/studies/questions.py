"""Questions whose errors are studied: shares of rows and the mean, as `holdfast ask` takes them."""

from dataclasses import dataclass
from typing import Any

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.analysis import linear
from holdfast.former.analysis.grammar import AnsweredBy, parse


@dataclass(frozen=True)
class Question:
    """A number that is linear in the distribution: "share zero", "share at least 3" or "mean"; for
    short also "zeros" and "above 10".

    >>> question = Question("above 1")
    >>> float(question.weights(4) @ [0.4, 0.3, 0.2, 0.1])
    0.30000000000000004
    >>> question.weights(4).tolist() == Question("share at least 2").weights(4).tolist()
    True
    """

    name: str

    def __post_init__(self) -> None:
        _share(self.name)

    @property
    def is_share(self) -> bool:
        """Whether the answer is a share of rows; the other kind is the mean count."""
        return _share(self.name) is not None

    def weights(self, n: int) -> Floats:
        """q with answer = q · distribution, for counts 0 ... n-1."""
        share = _share(self.name)
        if share is None:
            return linear.mean(n).f
        if share.get("at_least", 0) >= n:
            raise HoldfastError(
                f"the question {self.name!r} has the answer 0: counts above {n - 1:,} are "
                f"published as {n - 1:,}. Hint: ask for less than `max_count`."
            )
        return linear.share(n, **share).f


def _share(name: Any) -> dict[str, Any] | None:
    """Which share a question asks for; None for the mean."""
    if isinstance(name, str):
        try:
            asked = parse(name)
        except HoldfastError:
            asked = None
        if asked is not None and asked.method is AnsweredBy.ASK:
            if asked.arguments == ("mean",):
                return None
            if asked.arguments == ("share",):
                return asked.options
    raise HoldfastError(
        "a question must be 'mean', 'zeros', 'above K' or a share as `holdfast ask` takes it, got "
        f"{name!r:.40}. Hint: 'above 10' is 'share above 10', of rows with a count above 10."
    )


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
