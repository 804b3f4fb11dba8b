"""The compiled pricing of scales behind `dual_bound`. See docs/optimum.md, "The bound"."""

import numpy as np
from numba import njit

UNIT = 2.0**-53  # half the distance from 1 to the next float
TINY = 1e-300  # covers underflow
FAR = 1e-250  # a row whose least z.s is below this is no place to split a scale at
ROUNDS = 60
TRIALS = 12


@njit(cache=True)
def cheapest_scales(costs, y, z, reach, grow, decay):
    """For every live column: the ratio of the cheapest scale, and a number that is never above it.

    The ratio of column j is ((W_j - y) . s) / (z . s), and W_j a row of `costs`. `grow` is at
    least e^eps, `decay` at most e^-eps, reach[k] at most the sum of z_i e^(-eps |i-k|).
    """
    prices = np.empty((len(costs), 2))
    rises, below = np.empty(len(z), np.bool_), np.empty(len(z))
    for c in range(len(costs)):
        price, top = _best_peaked(costs[c], y, z, reach, decay, below)
        price, top = _cheapest(costs[c], y, z, price, top, grow, decay, rises, reach)
        prices[c, 0], prices[c, 1] = price, -np.inf
        trial, lower = price, 1e-17 * (abs(price) + np.abs(costs[c] - y).sum())
        for _ in range(TRIALS):
            # the price may be a rounding error too high: a little lower is often proved better
            least = _least_surplus(costs[c], y, z, top, grow, decay, trial)
            safe = trial
            if least < 0:
                safe += least / reach[top] * (1 + 4 * UNIT)
                safe -= 2 * UNIT * abs(safe)
            prices[c, 1] = max(prices[c, 1], safe)
            if least >= 0 or trial - prices[c, 1] <= 10 * lower:
                break
            lower = max(10 * lower, TINY)
            trial = price - lower
    return prices


@njit(cache=True)
def _best_peaked(cost, y, z, reach, decay, below):
    """The cheapest of the n scales with a single peak, and its peak."""
    n = len(z)
    total = 0.0
    for i in range(n):
        total = decay * total + cost[i] - y[i]
        below[i] = total
    price, top, total = np.inf, 0, 0.0
    for i in range(n - 1, -1, -1):
        if reach[i] > FAR:
            ratio = (below[i] + decay * total) / reach[i]
            if ratio < price:
                price, top = ratio, i
        total = decay * total + cost[i] - y[i]
    return price, top


@njit(cache=True)
def _cheapest(cost, y, z, price, top, grow, decay, rises, reach):
    """Dinkelbach's iteration: the ratio of the scale that is cheapest at the last price.

    Each round splits the scale at the peak of the last one, where it is best scaled.
    """
    n = len(z)
    for number in range(ROUNDS):
        k, value, size = top, 0.0, 0.0
        for side in (1, -1):
            v, s = 0.0, 0.0
            i = 0 if side == 1 else n - 1
            while i != k and s < 1e250:
                v, s = cost[i] - y[i] + v, z[i] + s
                rises[i] = v < price * s  # the scale is higher here than one step nearer to k
                f = grow if rises[i] else decay
                v, s = f * v, f * s
                i += side
            value, size = value + v, size + s
        value, size = value + cost[k] - y[k], size + z[k]
        if number > 0 and not value / size < price - 1e-15 * abs(price):
            break
        price = value / size
        best = 0
        for side in (1, -1):
            height, i = 0, k
            while 0 <= i - side < n:
                i -= side
                height += 1 if rises[i] else -1
                if height > best and reach[i] > FAR:
                    top, best = i, height
    return price, top


@njit(cache=True)
def _least_surplus(cost, y, z, k, grow, decay, price):
    """Never above the least (W_j - y - price z) . s over the scales with s_k = 1."""
    n = len(z)
    total, slip = 0.0, 0.0
    for side in (1, -1):
        i = 0 if side == 1 else n - 1
        g = 0.0
        while i != k:
            net, spent = cost[i] - y[i], price * z[i]
            here = net - spent
            g += here
            g -= _slip(abs(net) + abs(spent) + abs(here) + abs(g))
            g *= grow if g < 0 else decay
            g -= _slip(abs(g))
            i += side
        total += g
        slip += _slip(abs(total))
    net, spent = cost[k] - y[k], price * z[k]
    here = net - spent
    total += here
    return total - (slip + _slip(abs(net) + abs(spent) + abs(here) + abs(total)))


@njit(cache=True, inline="always")
def _slip(size):
    """More than the rounding errors of operations whose results add up to `size`; 0 for 0."""
    return 4 * UNIT * size + TINY if size > 0 else 0.0
