"""The frontier between the least count error and the least distribution error, in closed form."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Construction, Constructor
from holdfast.paper.constructors.noise_and_map import carried, noisy_law
from holdfast.paper.distributions import check_target
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.metrics import count_error
from holdfast.privacy.rational import exact_fraction


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
        noisy = noisy_law(len(z), float(exact))
        matrix = carried(noisy, z, frontier_law(z, noisy, float(exact), price))
        return Construction(
            matrix=matrix,
            epsilon=exact,
            target=z if price >= 1 else None,
            count_error=count_error(matrix, z),
            method=f"Frontier(price={price:g})",
        )


def frontier_law(z: Floats, noisy: Floats, epsilon: float, price: float) -> Floats:
    r"""The law of the released counts, with the cumulative sums V_b = median(l_b, Z_b, u_b).

    For a level V the best curve is the steepest one, and what b adds to the count error,
    $g_b(V) = Z_b + V - 2 \sum_{i \le b} z_i S_V(i)$, is convex with the slope $1 - 2 A_b(m)$,

    $$A_b(m) = \sum_{i \le b} z_i \alpha^{|i-m|} \Big/ \sum_i z_i \alpha^{|i-m|},$$

    where m is the noisy count in which the curve at V ends. A_b falls in m, so l_b is where the
    first m begins with a slope of at least -λ, and u_b where the last ends with one of at most λ.
    """
    if price >= 1:
        return z
    slope, law = _slopes(z, epsilon), z @ noisy
    first = (slope < -price).sum(axis=1)  # noisy counts with a slope below -λ come first
    last = (slope <= price).sum(axis=1)
    begins, left = np.append(0.0, np.cumsum(law)), np.append(np.cumsum(law[::-1])[::-1], 0.0)
    up_to = np.clip(np.cumsum(z)[:-1], begins[first], begins[last])
    above = np.clip(np.cumsum(z[::-1])[::-1][1:], left[last], left[first])
    up_to, above = np.maximum.accumulate(up_to), np.minimum.accumulate(above)
    rises = np.diff(up_to, prepend=0.0, append=1.0)
    falls = -np.diff(above, prepend=1.0, append=0.0)
    return np.maximum(np.where(np.append(up_to <= above, False), rises, falls), 0.0)


def _slopes(z: Floats, epsilon: float) -> Floats:
    """1 - 2 A_b(m): row b, column m."""
    distance = np.abs(np.subtract.outer(np.arange(len(z)), np.arange(len(z)))).astype(np.float64)
    distance -= np.where(z[:, None] > 0, distance, np.inf).min(axis=0)  # the nearest weighs z_i
    near = z[:, None] * np.exp(-epsilon * np.maximum(distance, 0))
    below, above = np.cumsum(near, axis=0), np.cumsum(near[::-1], axis=0)[::-1]
    return np.asarray((above[1:] - below[:-1]) / below[-1])
