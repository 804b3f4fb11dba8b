"""What every constructor is, and what it returns."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.arrays import Floats
from holdfast.errors import CertificateError, HoldfastError
from holdfast.paper.mechanism import Mechanism, certified_mechanism


@dataclass(frozen=True, kw_only=True, eq=False)
class Representation:
    """The pieces (column, pattern, amount) whose scales add up to the matrix.

    Piece p adds `amounts[p]` times the ε-scale with pattern p to column `columns[p]`.
    Patterns are not stored one by one: step i of piece p is `bound_step[i]` once p has
    reached `bound_from[i]`, and points down away from the column before that. So the whole
    of it takes O(n) memory.
    """

    columns: NDArray[np.int64]
    amounts: NDArray[np.float64]
    bound_from: NDArray[np.int64]
    bound_step: NDArray[np.int64]
    epsilon: float

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.int64], float]]:
        for p in range(len(self)):
            yield int(self.columns[p]), self.pattern(p), float(self.amounts[p])

    def pattern(self, piece: int) -> NDArray[np.int64]:
        """+1 where the scale of this piece rises, -1 where it falls; length n - 1."""
        steps = np.arange(len(self.bound_from))
        peaked = np.where(steps < self.columns[piece], 1, -1)
        return np.where(self.bound_from <= piece, self.bound_step, peaked)

    def scale(self, piece: int) -> NDArray[np.float64]:
        """The ε-scale of this piece: a probability vector of length n."""
        heights = np.concatenate([[0], np.cumsum(self.pattern(piece))])
        scale = np.exp(self.epsilon * (heights - heights.max()))
        return np.asarray(scale / scale.sum())

    def matrix(self) -> NDArray[np.float64]:
        """The sum of all pieces: the matrix T = Ψ B."""
        n = len(self.bound_from) + 1
        matrix = np.zeros((n, n))
        for p in range(len(self)):
            matrix[:, self.columns[p]] += self.amounts[p] * self.scale(p)
        return matrix


ROW_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Construction:
    """A constructor's result: the transition matrix T, and the certified mechanism to sample."""

    matrix: Floats
    """T before rounding, n x n: row i is the law of what is published for a true count of i."""
    epsilon: Fraction
    """The privacy loss that it was built for."""
    target: Floats | None
    """The law of the released counts that it is built for, or None."""
    count_error: float
    """Expected count error before rounding, for counts distributed as they were given."""
    method: str
    """Which constructor, and what it chose."""
    source: Floats | None = None
    """The law of the true counts; None where that is the target itself."""
    delta: Fraction = Fraction(0)
    """The probability with which its privacy loss may exceed epsilon; 0 if it never may."""
    bound: Callable[[], float | None] | None = None
    """Computes `lower_bound` when it is asked for."""
    representation: Representation | None = None
    """The scales that add up to the matrix; None where unknown."""

    def __post_init__(self) -> None:
        if not np.abs(self.matrix.sum(axis=1) - 1).max() <= ROW_TOLERANCE:
            raise CertificateError("the constructed rows do not sum to 1 within 1e-9.")

    @cached_property
    def lower_bound(self) -> float | None:
        """No mechanism in F has a smaller count error than this; None where unknown."""
        return self.bound() if self.bound else None

    @property
    def gap(self) -> float | None:
        """(count_error - lower_bound) / |count_error|: how much of the count error could at most be
        saved; None where unknown."""
        error, bound = self.count_error, self.lower_bound
        if bound is None:
            return None
        if error <= bound:
            return 0.0
        return (error - bound) / abs(error) if error else math.inf

    @cached_property
    def mechanism(self) -> Mechanism:
        """Certified integers: the only thing that can be sampled."""
        return certified_mechanism(
            self.matrix,
            epsilon=self.epsilon,
            target=self.target,
            source=self.source,
            delta=self.delta,
        )


class Constructor(ABC):
    """Step 3: from a target distribution z, and never from the table, to a certified mechanism.

    One of your own derives from this, or is a plain function of (target, *, epsilon) that returns a
    `Construction`; the integers that it becomes are certified like all others.
    """

    one_stage: ClassVar[bool] = False
    """Whether it needs no target, and has the whole budget."""

    @abstractmethod
    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target, epsilon-private for a change of one in one count."""

    @property
    def promised_delta(self) -> Fraction:
        """The most that its mechanisms take of delta for one person; 0 is pure epsilon."""
        return Fraction(0)

    def for_rows(self, rows: int) -> "Constructor":
        """The same for a table of so many rows, a public number."""
        return self


@dataclass(frozen=True)
class FunctionConstructor(Constructor):
    """A plain function as a constructor: two stages, pure epsilon."""

    function: Callable[..., Construction]

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """What the function makes."""
        return self.function(target, epsilon=epsilon)


def as_constructor(constructor: Any) -> Constructor:
    """A constructor, or a function as one; refuses what cannot be called, such as a name.

    >>> from holdfast.paper.constructors import Heuristic
    >>> as_constructor(lambda z, epsilon: Heuristic()(z, epsilon=epsilon)).one_stage
    False
    """
    if isinstance(constructor, Constructor):
        return constructor
    if isinstance(constructor, type) or not callable(constructor):
        raise HoldfastError(
            f"`constructor` must be a constructor, got {constructor!r:.40}. "
            "Hint: holdfast.paper.constructors.Optimal(), with its brackets."
        )
    return FunctionConstructor(constructor)
