"""Questions that a distribution of counts answers, in the words of `holdfast ask`: a share of rows,
or the mean count."""

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.analysis import linear
from holdfast.analysis.grammar import AnsweredBy, Call, parse
from holdfast.arrays import Floats
from holdfast.errors import HoldfastError

SUMS: dict[str, Callable[..., linear.Linear]] = {"share": linear.share, "mean": linear.mean}


@dataclass(frozen=True)
class Question:
    """A number that is linear in the distribution: "mean", or a share such as "share at least 3";
    for short "zeros" and "above K".

    >>> question = Question("share above 1")
    >>> question.weights(4).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """

    name: str

    def __post_init__(self) -> None:
        call = _read(self.name)
        if call is None or call.method is not AnsweredBy.ASK or call.arguments[0] not in SUMS:
            raise HoldfastError(
                f"a question must be a share of rows or the mean, got {self.name!r:.40}. Hint: as "
                "`holdfast ask` takes them: 'share zero', 'share at least 3', 'mean'; for short "
                "'zeros', 'above 10'."
            )

    @property
    def is_share(self) -> bool:
        """Whether the answer is a share of rows; the other kind is the mean count."""
        return "mean" not in parse(self.name).arguments

    def weights(self, n: int) -> Floats:
        """q with answer = q · distribution, for counts 0 ... n-1."""
        call = parse(self.name)
        if call.options.get("at_least", 0) >= n:
            raise HoldfastError(
                f"the question {self.name!r} has the answer 0: counts above {n - 1} are published "
                f"as {n - 1}. Hint: ask for less than `max_count`."
            )
        return SUMS[call.arguments[0]](n, **call.options).f


def _read(name: str) -> Call | None:
    try:
        return parse(name) if isinstance(name, str) else None
    except HoldfastError:
        return None


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
