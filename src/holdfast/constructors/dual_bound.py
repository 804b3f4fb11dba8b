"""Lower bounds on the count error of every mechanism in F."""

import math
from decimal import ROUND_CEILING, Context

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def dual_bound(costs: Floats, y: Floats, target: Floats, epsilon: float) -> float:
    r"""A number that the count error of no mechanism in F is below, in O(n^2).

    For any row multipliers y, with $\min$ over the 2^(n-1) scales s,

    $$L(y) = \sum_i y_i + \sum_j z_j \min_s \frac{(W_j - y) \cdot s}{z \cdot s}
    \le \langle W, T \rangle \quad \text{for all } T \in F.$$

    Every rounding is bounded and subtracted, so the float returned is below L(y) itself
    (docs/optimum.md, "The bound"). `costs` is the transpose of the live columns of W.
    """
    return priced(costs, y, target, epsilon)[0]


def priced(costs: Floats, y: Floats, target: Floats, epsilon: float) -> tuple[float, Floats]:
    """The bound, and the ratio of the cheapest scale of every live column."""
    from holdfast.constructors.dual_bound_kernel import cheapest_scales  # numba: only here

    live = np.flatnonzero(target)
    grow, decay = math.exp(epsilon) * (1 + 4e-15), math.exp(-epsilon) * (1 - 4e-15)
    found = cheapest_scales(costs, y, target, _reach(target, decay), grow, decay)
    shares = target[live] * found[:, 1]
    total = math.fsum([*y, *shares])
    # every product, the sum, and every entry of a W that was itself computed: one rounding each
    slip = 2.0**-51 * (math.fsum(np.abs(shares)) + abs(total))
    return total - slip, np.asarray(found[:, 0])


def row_bound(costs: Floats) -> float:
    """What no stochastic matrix on the live columns is below: the least cost of every row."""
    least = costs.min(axis=0)
    return math.fsum(least) - 2.0**-51 * math.fsum(np.abs(least))


def _reach(target: Floats, decay: float) -> Floats:
    """At most Σ_i z_i e^(-ε|i-k|) for every k: the least z·s of a scale with s_k = 1."""
    up, down = target.copy(), target.copy()
    for i in range(1, len(target)):
        up[i] += decay * up[i - 1]
        down[-1 - i] += decay * down[-i]
    return (up + down - target) * (1 - 1e-11)


def relative_gap(error: float, bound: float) -> float:
    """(error - bound) / |error|: how much of the count error could at most be saved.

    >>> relative_gap(2.0, 1.5)
    0.25
    """
    if error <= bound:
        return 0.0
    return (error - bound) / abs(error) if error else math.inf


def above_the_optimum(gap: float) -> str:
    """A relative gap as a sentence about the optimum, rounded up to two digits.

    For a positive error, error / bound - 1 = gap / (1 - gap); for a negative one it is less.

    >>> above_the_optimum(0.2)
    'at most 25 % above the optimum'
    """
    if gap >= 1:
        return "at an unknown distance from the optimum"
    per_cent = Context(prec=2, rounding=ROUND_CEILING).create_decimal(100 * gap / (1 - gap))
    return f"at most {per_cent:f} % above the optimum"
