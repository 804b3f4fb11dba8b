"""The frontier between the least count error and the least distribution error, in closed form."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Construction, Constructor
from holdfast.paper.constructors.curves import (
    CanonicalNoise,
    Curves,
    curves_error,
    curves_through,
)
from holdfast.paper.constructors.optimal import law_to_law, private_matrix
from holdfast.paper.distributions import check_target
from holdfast.privacy.budget import exact_epsilon, exact_fraction


@dataclass(frozen=True, kw_only=True)
class Frontier(Constructor):
    r"""The least E|i - j| + λ W1(zT, z) over all ε-private T, fixed point or not.

    λ is the price of distribution error in units of count error. λ = 0 is Algorithm 2, the unfixed
    optimum; from λ = 1 on it is the optimum with fixed point z: a fixed point never costs more
    count error than the W1 that it repairs. Between them the outputs up to b get the probability

        V_b = median(l_b, Z_b, u_b),

    where l_b is the least and u_b the largest level at which the count error changes by at most λ
    for each unit that the level moves (docs/optimum.md, with the proof). Cost: O(n^2).

    >>> z = [0.5, 0.3, 0.2]
    >>> [round(Frontier(price=p)(z, epsilon="0.5").count_error, 6) for p in (0, 0.2, 1)]
    [0.547831, 0.552671, 0.611303]
    """

    price: Any
    """λ: 0 or more."""

    def __post_init__(self) -> None:
        if exact_fraction(self.price, "price") < 0:
            raise HoldfastError(f"`price` must be 0 or more, got {self.price!s:.40}.")

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target and budget."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        price = float(exact_fraction(self.price, "price"))
        curves = frontier_curves(z, exact, price)
        return Construction(
            matrix=private_matrix(curves, 1.0),
            epsilon=exact,
            target=z if price >= 1 else None,
            count_error=curves_error(z, curves, "absolute"),
            method=f"Frontier(price={price:g})",
        )


def frontier_curves(z: Floats, epsilon: Fraction, price: float) -> Curves:
    r"""The curves with levels V_b = median(l_b, Z_b, u_b).

    For a level V = z·S the best curve is the steepest one, and what b adds to the count error,
    $g_b(V) = Z_b + V - 2 \sum_{i \le b} z_i S_V(i)$, is convex with the slope $1 - 2 A_b(m)$,

    $$A_b(m) = \sum_{i \le b} z_i \alpha^{|i-m|} \Big/ \sum_i z_i \alpha^{|i-m|},$$

    where m is the turn of the curve at V. A_b falls in m, so l_b is where the first turn begins
    with a slope of at least -λ, and u_b where the last ends with one of at most λ.
    """
    if price >= 1:
        return law_to_law(z, z, epsilon)
    noise = CanonicalNoise.of(len(z), epsilon)
    slope = _slopes(z, noise.epsilon)
    begins, left = _levels(z, noise)  # of the curves at which turns begin, and 1 less them
    first = (slope < -price).sum(axis=1)  # turns with a slope below -λ come first
    last = (slope <= price).sum(axis=1)
    up_to = np.clip(np.cumsum(z)[:-1], begins[first], begins[last])
    above = np.clip(np.cumsum(z[::-1])[::-1][1:], left[last], left[first])
    return curves_through(z, np.maximum.accumulate(up_to), np.minimum.accumulate(above), noise)


def _slopes(z: Floats, epsilon: float) -> Floats:
    """1 - 2 A_b(m): row b, column m."""
    distance = np.abs(np.subtract.outer(np.arange(len(z)), np.arange(len(z)))).astype(np.float64)
    distance -= np.where(z[:, None] > 0, distance, np.inf).min(axis=0)  # the nearest weighs z_i
    near = z[:, None] * np.exp(-epsilon * np.maximum(distance, 0))
    below, above = np.cumsum(near, axis=0), np.cumsum(near[::-1], axis=0)[::-1]
    return np.asarray((above[1:] - below[:-1]) / below[-1])


def _levels(z: Floats, noise: CanonicalNoise) -> tuple[Floats, Floats]:
    """z·S and z·(1 - S) of the curves at which turn 0, ..., n - 1 begin, and of the last."""
    turn = np.arange(1, len(z))
    height = np.full(len(turn), noise.low)
    up_to, above = (z @ chances for chances in noise.chances(turn, height, 1 - height))
    return np.concatenate([[0.0], up_to, [1.0]]), np.concatenate([[1.0], above, [0.0]])
