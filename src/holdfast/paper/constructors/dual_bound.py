"""Lower bounds on the count error of every mechanism in F."""

import math
from decimal import ROUND_CEILING, Context

import numpy as np

from holdfast.arrays import Floats

TRIALS = 17


def dual_bound(costs: Floats, y: Floats, prices: Floats, target: Floats, epsilon: float) -> float:
    r"""A number that the count error of no mechanism in F is below, in O(n^2).

    For any row multipliers y and any price $v_j$ of every live column, with $\min$ over scales s,

    $$\langle W, T \rangle \ge \sum_i y_i + \sum_j z_j \Big( v_j
    + \min_s \frac{(W_j - y - v_j z) \cdot s}{z \cdot s} \Big) \quad \text{for all } T \in F.$$

    A little less than the price that was proposed is often proved better, since rounding errors
    grow along a scale: so a few are tried. `costs` is the transpose of the live columns of W.
    """
    net, share = costs - y, target[target > 0]
    lower = 1e-17 * (np.abs(prices) + np.abs(net).sum(axis=1))
    tried = [prices, *(prices - lower * 10.0**k for k in range(TRIALS))]
    worth = np.max([price + _lacking(net, price, target, epsilon) for price in tried], axis=0)
    total = math.fsum([*y, *(share * worth)])
    # every product, the sum, and every entry of a W that was itself computed: one rounding each
    return total - 2.0**-50 * (math.fsum(share * np.abs(worth)) + abs(total))


def _lacking(net: Floats, price: Floats, target: Floats, epsilon: float) -> Floats:
    """Never above min((net - price z)·s / z·s, 0) over scales, for every column.

    The least numerator over scales with s_k = 1 is found by two recursions towards k, one from each
    end, and z·s is at least what reaches k. That holds for every k, so the best counts. Every
    rounding is bounded and subtracted.
    """
    grow, decay = math.exp(epsilon) * (1 + 4e-15), math.exp(-epsilon) * (1 - 4e-15)
    spent = price[:, None] * target
    here = net - spent
    here -= _slip(np.abs(net) + np.abs(spent) + np.abs(here))
    left = _least_sums(here, grow, decay)
    right = _least_sums(here[:, ::-1], grow, decay)[:, ::-1]
    surplus = left + here + right
    surplus -= _slip(np.abs(left) + np.abs(here) + np.abs(right) + np.abs(surplus))
    return np.asarray((np.minimum(surplus, 0) / _reach(target, decay)).max(axis=1))


def _least_sums(here: Floats, grow: float, decay: float) -> Floats:
    """For every k the least Σ_(i<k) here_i s_i over scales with s_k = 1, rounded down."""
    sums = np.zeros_like(here)
    for i in range(1, here.shape[1]):
        step = sums[:, i - 1] + here[:, i - 1]
        step -= _slip(np.abs(step))
        step *= np.where(step < 0, grow, decay)
        sums[:, i] = np.maximum(step - _slip(np.abs(step)), -1e280)
    return sums


def row_bound(costs: Floats) -> float:
    """What no stochastic matrix on the live columns is below: the least cost of every row."""
    least = costs.min(axis=0)
    return math.fsum(least) - 2.0**-51 * math.fsum(np.abs(least))


def _slip(size: Floats) -> Floats:
    """More than the rounding errors of operations whose results add up to `size`."""
    return np.asarray(2.0**-51 * size + 1e-300 * (size > 0))


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
