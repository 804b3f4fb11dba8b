"""The optimum without a fixed point: the paper's Algorithm 2."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Construction, Constructor
from holdfast.paper.constructors.noise_and_map import noisy_law
from holdfast.paper.distributions import check_target
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.metrics import count_error, error_weights


@dataclass(frozen=True, kw_only=True)
class UnfixedOptimum(Constructor):
    r"""The mechanism with the least count error in U: ε-private, but keeping no distribution.

    Algorithm 2. With $\alpha = e^{-\epsilon}$ the single-peaked scales add up to 1 in one way,
    $\omega_l \Sigma_{il} = \alpha^{|i-l|} (1-\alpha)/(1+\alpha)$, and without the factor 1 - α for
    the two at the ends; the paper misprints ω. Each goes to the column where it costs least,
    and those columns do not decrease. Cost: O(n^2). The target enters through W alone.

    Optimal if W is row-wise concentrating and row-wise convex, as the absolute and the
    squared error are; any other W is refused.

    >>> found = UnfixedOptimum()([0.5, 0.3, 0.2], epsilon="0.5")
    >>> round(found.count_error, 6)
    0.547831
    >>> found.target is None
    True
    """

    error: Any = "absolute"
    """Count error that is minimised: see `metrics.error_weights`."""

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target and budget."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        weights = error_weights(self.error, z)
        _check_shape(weights)
        matrix = _place(weights, noisy_law(len(z), float(exact)))  # column l is ω_l Σ_l
        return Construction(
            matrix=matrix,
            epsilon=exact,
            target=None,
            count_error=count_error(matrix, z, weights),
            method="UnfixedOptimum()",
        )


def _place(weights: Floats, scales: Floats) -> Floats:
    """Every scale in the last of the columns where it costs least."""
    matrix = np.zeros_like(scales)
    j, last = 0, len(scales) - 1
    for scale in scales.T:
        while j < last and (weights[:, j + 1] - weights[:, j]) @ scale <= 0:
            j += 1
        matrix[:, j] += scale
    return matrix


def _check_shape(weights: Floats) -> None:
    from holdfast.paper.theory import is_row_wise_concentrating, is_row_wise_convex  # a ring else

    if not is_row_wise_concentrating(weights):
        raise HoldfastError(
            "`error` must be row-wise concentrating: weights that are not negative and depend on "
            "|i - j|, never falling as it grows. Hint: `LinearProgram` takes any weights."
        )
    if not is_row_wise_convex(weights):
        raise HoldfastError(
            "`error` must be row-wise convex: in every row of the weights the steps to the right "
            "never fall. Hint: `LinearProgram` takes any weights."
        )
