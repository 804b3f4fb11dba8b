"""What every constructor is, and what it may say of itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from holdfast.errors import HoldfastError
from holdfast.former.constructors.construction import Construction

LONGEST_OF_MATRIX = 10_000


class Constructor(ABC):
    """Stage 2: from a target distribution z, and never from the table, to a certified mechanism.

    One of your own derives from this and writes `__call__`; everything else has a default. A plain
    function of (target, *, epsilon) will do where the defaults are right.
    """

    one_stage: ClassVar[bool] = False
    """Whether it needs no target, and may have the whole budget."""
    holds_matrix: ClassVar[bool] = False
    """Whether it holds n x n numbers, and so is for ranges of some thousand counts."""
    ledger_name: str | None = None
    """Text by which a ledger knows it again, different for whatever draws by another law; None
    where nobody vouches for that, and every release is then drawn and paid for."""

    @abstractmethod
    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target, epsilon-private for a change of one in one count."""

    @property
    def promised_delta(self) -> Fraction:
        """The most that its mechanisms take of delta for one person; 0 is pure epsilon."""
        return Fraction(0)

    def for_release(self, *, rows: int, steps: int) -> "Constructor":
        """The same for a table of so many rows, in which one person moves a count by up to `steps`;
        both are public."""
        return self


@dataclass(frozen=True)
class FunctionConstructor(Constructor):
    """A plain function as a constructor: two stages, pure epsilon, never known again."""

    function: Callable[..., Construction]

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """What the function makes."""
        return self.function(target, epsilon=epsilon)


def check_range(constructor: Constructor, max_count: int) -> None:
    """Refuse a range whose matrix memory does not hold."""
    if constructor.holds_matrix and max_count > LONGEST_OF_MATRIX:
        raise HoldfastError(
            f"`max_count` may be up to {LONGEST_OF_MATRIX:,} with "
            f"{type(constructor).__name__}, which makes a matrix of all counts by all counts. "
            "Nothing was drawn or spent. Hint: leave `constructor` out; the default goes up to "
            "1,000,000."
        )


def as_constructor(given: Any) -> Constructor:
    """A constructor, or a function as one; refuses what cannot be called, such as a name.

    >>> from holdfast.former.constructors import Heuristic
    >>> as_constructor(lambda z, epsilon: Heuristic()(z, epsilon=epsilon)).one_stage
    False
    """
    if isinstance(given, Constructor):
        return given
    if isinstance(given, type) or not callable(given):
        raise HoldfastError(
            f"`constructor` must be a constructor, got {given!r:.40}. "
            "Hint: holdfast.constructors.Optimal(), with its brackets."
        )
    return FunctionConstructor(given)
