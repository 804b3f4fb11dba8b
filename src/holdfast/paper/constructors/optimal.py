"""The optimum over F in closed form, noise and a monotone map; and the frontier beside it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Construction, Constructor
from holdfast.paper.constructors.noise_and_map import carried, noisy_law
from holdfast.paper.distributions import (
    POWERS,
    check_target,
    count_error,
    error_weights,
    wasserstein,
)
from holdfast.privacy.budget import exact_delta, exact_epsilon
from holdfast.privacy.rational import exact_fraction

ROUNDING = 1e-12  # of the largest weight: what a computed W may miss the Monge property by
SLACK = 2.0**-43  # relative error of sums of at most 10^4 positive floats, each right to 2^-50
SPARE_DELTA = Fraction(1, 2**46)  # times 1 + e^ε: what float entries and rounding can add to δ


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimal(Constructor):
    r"""The mechanism with the least count error among all that are ε-private and keep z.

    $$\min \langle W, T \rangle : \quad T 1 = 1, \quad z^\top T = w, \quad
    e^{-\epsilon} t_{i+1,j} \le t_{ij} \le e^{\epsilon} t_{i+1,j}.$$

    Discrete Laplace noise on the count, then the monotone map, ties at random, that carries the law
    of the noisy count to w (docs/optimum.md, with the proof). It is the same for every error that
    grows convexly with the distance, on either side, so no error need be chosen. Cost: O(n^2).

    >>> found = Optimal()([0.5, 0.3, 0.2], epsilon="0.5")
    >>> round(found.count_error, 6), found.gap < 1e-12
    (0.611303, True)
    """

    target: ArrayLike | None = None
    """w: the law that the released counts are to have; by default z itself, the fixed point."""
    error: Any = "absolute"
    """Count error that is reported: see `error_weights`. A weight matrix must have the
    Monge property, or other mechanisms than this one have the least error."""
    delta: Any = 0
    """The probability with which the privacy loss of one person may exceed epsilon. With a delta
    and zeros in z several monotone maps may keep w; any of them is as good."""

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for true counts with this distribution."""
        z, exact, delta = check_target(target), exact_epsilon(epsilon), self.promised_delta
        w = z if self.target is None else check_target(self.target)
        if w.shape != z.shape:
            raise HoldfastError("`target` must have one share for every count, as z has.")
        if delta > math.expm1(exact):
            raise HoldfastError(
                f"`delta` must be at most e^epsilon - 1, got {float(delta):g} with epsilon = "
                f"{float(exact):g}, or nothing is left to protect."
            )
        planned = max(delta - SPARE_DELTA * Fraction(1 + math.exp(exact)), Fraction(0))
        matrix = carried(noisy_law(len(z), float(exact), float(planned)), z, w)
        error, _ = _least(z, w, self.error, float(exact), matrix)
        return Construction(
            matrix=matrix,
            epsilon=exact,
            target=w,
            source=None if self.target is None else z,
            count_error=error,
            method="Optimal()",
            delta=delta,
            bound=partial(least_error, z, self.error, exact, law=w, delta=delta),
        )

    @property
    def promised_delta(self) -> Fraction:
        """Delta for one person."""
        return exact_delta(self.delta)


def least_error(
    z: Floats,
    error: Any,
    epsilon: Fraction,
    *,
    law: Floats | None = None,
    delta: Fraction = Fraction(0),
) -> float | None:
    """What no mechanism in F has a smaller count error than; None for errors where that is open."""
    w = z if law is None else law
    if not isinstance(error, str) and steepest(error_weights(error, z), z, w) is None:
        return None
    matrix = carried(noisy_law(len(z), float(epsilon), float(delta)), z, w)
    return _least(z, w, error, float(epsilon), matrix)[1]


def _least(z: Floats, w: Floats, error: Any, epsilon: float, matrix: Floats) -> tuple[float, float]:
    """The error of the optimum, and a float that it is not below.

    A map that misses the level of an output by a rounding error changes the count error by as much,
    times the steepest slope of the error.
    """
    if isinstance(error, str) and error in POWERS:
        value = size = count_error(matrix, z, error)
        slope = 1.0 if error == "absolute" else 2.0 * len(w)
    else:
        weights = error_weights(error, z)
        steep = steepest(weights, z, w)
        if steep is None:
            raise HoldfastError(
                "`error` must have the Monge property, as every convex function of the distance "
                "has: only then is the least error known in closed form. "
                "Hint: LinearProgram(error=...) takes any weights."
            )
        value, size, slope = count_error(matrix, z, weights), float(np.abs(weights).sum()), steep
    below = np.cumsum(w)
    levels = float(np.minimum(below, np.maximum(1 - below, 0)).sum())
    grow = 1 + math.exp(epsilon)
    return value, value - SLACK * (size + 2.0**-6 * grow * slope * levels)


def steepest(weights: Floats, z: Floats, w: Floats) -> float | None:
    """How much the error of one count changes per step; None without the Monge property.

    With l(i, j) the error of releasing j for a true count i: l(i, j) + l(i+1, j+1) must not exceed
    l(i, j+1) + l(i+1, j). Counts that do not occur must not weigh; what is never released may.
    """
    live = weights[:, w > 0]
    costs = live[z > 0] / z[z > 0, None]
    steps = np.diff(costs, axis=1)
    slip = ROUNDING * np.abs(costs).max()
    if (np.diff(steps, axis=0) > slip).any() or (np.ptp(live[z == 0], axis=1) > slip).any():
        return None
    return float(np.abs(steps).max(initial=0))


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


ROUNDS = 40  # of a search that keeps 0.618 of the prices each time: 1e-8 of them are left
FRONTIER_SLACK = 1e-11  # relative; more than the sums of the frontier can be wrong


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
        return max(best - FRONTIER_SLACK * (best + w1), 0.0)

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
