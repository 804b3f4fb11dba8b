"""What no ε-private mechanism from tables to tables can get below."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.paper.constructors.noise_and_map import carried, noisy_law
from holdfast.paper.constructors.optimal import frontier_law
from holdfast.paper.distributions import check_target
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.metrics import count_error, wasserstein

ROUNDS = 40  # of a search that keeps 0.618 of the prices each time: 1e-8 of them are left
SLACK = 1e-11  # relative; more than the sums of the frontier can be wrong


@dataclass(frozen=True, kw_only=True, eq=False)
class LowerBound:
    """The frontier of count error and distribution error for rows drawn from z."""

    z: Floats
    """The distribution that rows are drawn from."""
    epsilon: Any
    """For one person who adds 1 to one row."""

    def point(self, price: float) -> tuple[float, float]:
        """(count error, W1) of the mechanism with the least count error + price * W1."""
        epsilon = float(exact_epsilon(self.epsilon))
        noisy = noisy_law(len(self.z), epsilon)
        law = frontier_law(self.z, noisy, epsilon, price)
        return count_error(carried(noisy, self.z, law), self.z), wasserstein(self.z, law)

    def count_error(self, w1: float) -> float:
        """No mechanism with an expected W1 of at most `w1` has a smaller E|count - released|.

        The largest c_λ + λ w_λ - λ w1 over prices λ from 0 to 1; every λ gives a bound, and it is
        concave in λ, so that a search that narrows them down finds the best.
        """
        if not w1 >= 0:
            raise HoldfastError(f"`w1` must be 0 or more, got {w1!r:.40}.")

        @cache
        def bound(price: float) -> float:
            error, distance = self.point(price)
            return error + price * (distance - w1)

        low, high, golden = 0.0, 1.0, (5**0.5 - 1) / 2
        for _ in range(ROUNDS):
            left, right = high - golden * (high - low), low + golden * (high - low)
            low, high = (left, high) if bound(left) < bound(right) else (low, right)
        best = max(bound(price) for price in (0.0, low, high, 1.0))
        return max(best - SLACK * (best + w1), 0.0)

    def above(self, count_error: float, w1: float) -> float:
        """How far a mechanism's count error lies above what its own W1 allows, relatively.

        >>> bound = lower_bound([0.5, 0.3, 0.2], "0.5")
        >>> round(bound.above(0.7, 0.01), 4)
        0.1506
        """
        least = self.count_error(w1)
        return count_error / least - 1 if least > 0 else float("inf")


def lower_bound(z: ArrayLike, epsilon: Any) -> LowerBound:
    """The bound for tables whose rows are independent draws from z.

    Averaging a mechanism from tables to tables over the row's place and over the other rows gives
    an ε-private kernel whose count error is the mechanism's and whose W1(zT, z) is not above its
    expected W1, by convexity; and no kernel lies below the frontier (docs/optimum.md). It knows
    z and has no sampling error, so it is loose where W1 is small.

    >>> bound = lower_bound([0.5, 0.3, 0.2], "0.5")
    >>> print(f"{bound.count_error(0):.6f}")
    0.611303
    """
    exact_epsilon(epsilon)
    return LowerBound(z=check_target(z), epsilon=epsilon)
