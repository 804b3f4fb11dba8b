"""The staircase mechanism of Geng, Kairouz, Oh and Viswanath (2015), on counts."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.constructors.baselines.clamped import clamped_noise
from holdfast.former.constructors.construction import Construction
from holdfast.former.constructors.constructor import Constructor
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.metrics import count_error
from holdfast.former.tables.histogram import check_target


@dataclass(frozen=True, kw_only=True)
class Staircase(Constructor):
    r"""Staircase noise on a count, rounded to the nearest whole number and clamped to 0 ... n-1.

    The noise has the density a on [0, γ), ab on [γ, 1) with $b = e^{-\epsilon}$, b times as much
    a step further out, the same on the left, and $a = (1-b) / (2(\gamma + b(1-\gamma)))$. Half a
    step holds $h_1 = a(\min(\gamma, ½) + b\max(½-\gamma, 0))$ near the centre and
    $h_2 = a(\max(\gamma-½, 0) + b\min(1-\gamma, ½))$ beyond, so the rounded noise is 0 with
    probability $2h_1$ and ±k with $b^{k-1} (h_2 + b h_1)$. Rounding and clamping are
    post-processing. γ = 1/2 gives the truncated geometric. Needs no target; it is called with one
    so that its count error can be stated. Cost: O(n^2).

    >>> from holdfast.former.constructors.baselines import TruncatedGeometric
    >>> z = [0.5, 0.3, 0.2]
    >>> halves = Staircase(gamma=0.5)(z, epsilon=1).matrix
    >>> bool(np.allclose(halves, TruncatedGeometric()(z, epsilon=1).matrix, rtol=1e-13, atol=0))
    True
    """

    gamma: float | None = None
    """Width of the centre's inner half step, 0 to 1; default $1/(1 + e^{\\epsilon/2})$, which
    minimises the expected absolute value of the unrounded noise."""
    error: Any = "absolute"
    """Count error that is reported."""

    one_stage: ClassVar[bool] = True
    holds_matrix: ClassVar[bool] = True

    def __post_init__(self) -> None:
        try:
            fine = self.gamma is None or 0 <= float(self.gamma) <= 1
        except (TypeError, ValueError):
            fine = False
        if not fine or isinstance(self.gamma, bool):
            raise HoldfastError(
                f"`gamma` must lie between 0 and 1, got {self.gamma!r:.40}. "
                "Hint: leave it out for the one with the least expected noise."
            )

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for counts from 0 to len(target) - 1."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        gamma = self.gamma
        if gamma is None:
            gamma = 1 / (1 + math.exp(float(exact) / 2))
        matrix = clamped_noise(*_noise(len(z), float(exact), float(gamma)))
        return Construction(
            form=matrix,
            epsilon=exact,
            target=None,
            count_error=count_error(matrix, z, self.error),
            method=f"Staircase(gamma={gamma:.6g})",
        )


def _noise(n: int, epsilon: float, gamma: float) -> tuple[Floats, Floats]:
    """P(X = k) and P(X >= k) of the rounded noise, k = 0 ... n-1."""
    b, stay = math.exp(-epsilon), -math.expm1(-epsilon)
    a = stay / (2 * (gamma + b * (1 - gamma)))
    inner = a * (min(gamma, 0.5) + b * max(0.5 - gamma, 0.0))
    outer = a * (max(gamma - 0.5, 0.0) + b * min(1 - gamma, 0.5))
    exactly = np.exp(-epsilon * (np.arange(max(n, 2)) - 1)) * (outer + b * inner)
    at_least = exactly / stay
    exactly[0] = 2 * inner
    at_least[0] = exactly[0] + at_least[1]
    return exactly[:n], at_least[:n]
