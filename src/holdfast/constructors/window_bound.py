"""A lower bound on the count error without solving for the optimum."""

import math

import numpy as np
from numpy.typing import NDArray

from holdfast.constructors.dual_bound import dual_bound
from holdfast.constructors.optimal import Search

Floats = NDArray[np.float64]

REACH = 24.0  # a window spans at least this much privacy loss, if that takes no more rows than
MOST_ROWS, LEAST_ROWS = 240, 120
FINE_ENOUGH = 0.1  # rows are merged until they are this far apart in privacy loss
WINDOW_GAP = 1e-6
UNSURE = 0.4  # share of an overlap whose multipliers are dropped: the window's edge bends them


def window_bound(weights: Floats, target: Floats, epsilon: float) -> float:
    """A number that the count error of no mechanism in F is below, in about O(n) + O(n^2).

    The optimal row multipliers y depend on z nearby only: what lies 10/ε rows away hardly
    matters. So they are found on overlapping windows of up to 240 rows, and joined; for ε
    below 0.1 neighbouring rows are merged first. Any y gives a valid bound (see `dual_bound`),
    so nothing here has to be exact for the result to be one.
    """
    live = np.flatnonzero(target)
    costs = np.ascontiguousarray(weights[:, live].T)
    least = costs.min(axis=0)
    reduced = weights - least[:, None]
    y = least + _coarse_multipliers(reduced, target, epsilon)
    return max(dual_bound(costs, v, target, epsilon) for v in (y, least))


def _coarse_multipliers(weights: Floats, z: Floats, epsilon: float) -> Floats:
    """Multipliers of groups of rows, spread over their rows in proportion to z."""
    merge = max(1, min(math.floor(FINE_ENOUGH / epsilon), len(z) // LEAST_ROWS))
    if merge == 1:
        return _joined_multipliers(weights, z, epsilon)
    first = np.arange(0, len(z), merge)
    mass = np.add.reduceat(z, first)
    filled = np.maximum(mass, 1e-300)
    # what T does inside a group of columns: it follows z
    coarse = np.add.reduceat(np.add.reduceat(weights * z, first, axis=0), first, axis=1) / filled
    y = _joined_multipliers(coarse, mass, merge * epsilon)
    centre = np.where(mass > 0, np.add.reduceat(z * np.arange(len(z)), first) / filled, first)
    known = mass > 0
    return np.asarray(z * np.interp(np.arange(len(z)), centre[known], (y / filled)[known]))


def _joined_multipliers(weights: Floats, z: Floats, epsilon: float) -> Floats:
    """Multipliers from overlapping windows; y and y + t z are alike, so t joins them."""
    rows = min(MOST_ROWS, max(LEAST_ROWS, math.ceil(REACH / epsilon)))
    y, sure, end = np.zeros(len(z)), np.zeros(len(z)), 0
    while end < len(z):
        end = min(len(z), max(end + rows // 2, rows))
        part = slice(max(0, end - rows), end)
        trust = _trust(part, rows // 2, len(z))
        if not z[part].any():
            continue
        new = _multipliers(weights[part, part], z[part], epsilon)
        both = np.minimum(trust, sure[part])
        if (both * z[part]).any():
            old = y[part] / np.maximum(sure[part], 1e-300)
            new += (both @ (old - new)) / (both @ z[part]) * z[part]
        y[part] += trust * new
        sure[part] += trust
    return np.asarray(y / np.maximum(sure, 1e-300))


def _trust(part: slice, overlap: int, n: int) -> Floats:
    """1 inside a window, falling to nearly 0 towards its edges, but not at the ends of z."""
    rows = np.arange(part.start, part.stop)
    inside = np.ones(len(rows))
    if part.start > 0:
        inside = np.minimum(inside, (rows - part.start) / overlap)
    if part.stop < n:
        inside = np.minimum(inside, (part.stop - 1 - rows) / overlap)
    return np.clip((inside - UNSURE) / (1 - 2 * UNSURE), 1e-9, 1)


def _multipliers(weights: Floats, z: Floats, epsilon: float) -> Floats:
    search = Search(weights, z / z.sum(), epsilon)
    search.run(WINDOW_GAP, None)
    return search.y
