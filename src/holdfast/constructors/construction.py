"""What every constructor returns."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.constructors.dual_bound import above_the_optimum
from holdfast.constructors.representation import Representation
from holdfast.errors import CertificateError
from holdfast.mechanism.mechanism import Mechanism, certified_mechanism

ROW_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Construction:
    """A constructor's result: the matrix it found and the certified mechanism to sample."""

    matrix: NDArray[np.float64]
    """The matrix before rounding, n x n."""
    epsilon: Fraction
    """The privacy loss that it was built for."""
    target: NDArray[np.float64] | None
    """The distribution that it keeps, or None."""
    count_error: float
    """Expected count error of the matrix, for counts distributed as the target."""
    method: str
    """Which constructor, and what it chose."""
    delta: Fraction = Fraction(0)
    """The probability with which its privacy loss may exceed epsilon; 0 if it never may."""
    lower_bound: float | None = None
    """No mechanism in F has a smaller count error than this; None where unknown."""
    gap: float | None = None
    """(count_error - lower_bound) / |count_error|; None where unknown."""
    representation: Representation | None = None
    """The scales that add up to the matrix; None where unknown."""

    def __post_init__(self) -> None:
        if not np.abs(self.matrix.sum(axis=1) - 1).max() <= ROW_TOLERANCE:
            raise CertificateError("the constructed rows do not sum to 1 within 1e-9.")

    @property
    def description(self) -> str:
        """The method and, where it is proved, how far above the optimum it is at most."""
        return self.method + ("" if self.gap is None else f", {above_the_optimum(self.gap)}")

    @cached_property
    def mechanism(self) -> Mechanism:
        """The matrix as certified integer weights: the only thing that can be sampled."""
        return certified_mechanism(
            self.matrix, epsilon=self.epsilon, target=self.target, delta=self.delta
        )
