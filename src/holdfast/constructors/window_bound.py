"""A lower bound on the count error without solving for the optimum."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdfast.constructors.dual_bound import dual_bound, row_bound
from holdfast.constructors.optimal import Search

Floats = NDArray[np.float64]

REACH = 24.0  # a window spans at least this much privacy loss, if that takes no more rows than
MOST_ROWS, LEAST_ROWS = 240, 120
FINE_ENOUGH = 0.1  # rows are merged until they are this far apart in privacy loss
WINDOW_GAP = 1e-6
FINE_GAP = 1e-8  # to which windows are solved for their multipliers
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
    tried = [least, *(least + y for y in _coarse_multipliers(reduced, target, epsilon))]
    bounds = [dual_bound(costs, y, target, epsilon) for y in tried if np.isfinite(y).all()]
    return max([*bounds, row_bound(costs)])


def _coarse_multipliers(weights: Floats, z: Floats, epsilon: float) -> list[Floats]:
    """Multipliers of groups of rows, spread over their rows in proportion to z, or evenly."""
    merge = merged_rows(len(z), epsilon)
    if merge == 1:
        return _joined_multipliers(weights, z, epsilon)
    coarse, mass = merged(weights, z, merge)
    known, rows = np.flatnonzero(mass), np.arange(len(z))
    centre = np.add.reduceat(z * rows, rows[::merge])[known] / mass[known]
    group = rows // merge
    part = np.where(mass[group] > 0, z / np.maximum(mass[group], 1e-300), 1 / merge)
    spread = []
    for y in _joined_multipliers(coarse, mass, merge * epsilon):
        stepped = part * y[group]
        smooth = z * np.interp(rows, centre, y[known] / mass[known])
        spread += [stepped, np.where(mass[group] > 0, smooth, stepped)]
    return spread


def merged_rows(n: int, epsilon: float) -> int:
    """How many neighbouring rows to treat as one."""
    return max(1, min(math.floor(FINE_ENOUGH / epsilon), n // LEAST_ROWS))


def merged(weights: Floats, z: Floats, merge: int) -> tuple[Floats, Floats]:
    """Weights and target of groups of rows; within a group of columns T follows z."""
    first = np.arange(0, len(z), merge)
    mass = np.add.reduceat(z, first)
    coarse = np.add.reduceat(np.add.reduceat(weights * z, first, axis=0), first, axis=1)
    return coarse / np.maximum(mass, 1e-300), mass


def _joined_multipliers(weights: Floats, z: Floats, epsilon: float) -> list[Floats]:
    """Those of the windows' optima, and of the way there: in flat tails these fit better."""
    early, late = Joined(len(z)), Joined(len(z))
    for part, search in solved_windows(weights, z, epsilon, FINE_GAP):
        early.add(part, search.early, z[part])
        late.add(part, search.y, z[part])
    return [early.y, late.y]


def window_rows(epsilon: float) -> int:
    """How many rows a window has."""
    return min(MOST_ROWS, max(LEAST_ROWS, math.ceil(REACH / epsilon)))


class WindowSearch(Search):
    """A search that also keeps the multipliers with which it reached the gap of windows."""

    def __init__(self, weights: Floats, z: Floats, epsilon: float) -> None:
        super().__init__(weights, z, epsilon)
        self.early: Floats = self.y
        self.reached = False

    def note(self, number: int, gap: float) -> None:
        """Called after every step; keeps the first multipliers below the gap."""
        if not self.reached:
            self.early, self.reached = self.y, gap <= WINDOW_GAP


def solved_windows(
    weights: Floats, z: Floats, epsilon: float, gap: float = WINDOW_GAP
) -> Iterator[tuple[slice, WindowSearch]]:
    """The optimum on overlapping windows, each half a window further; empty ones are left out."""
    rows, end = window_rows(epsilon), 0
    while end < len(z):
        end = min(len(z), max(end + rows // 2, rows))
        part = slice(max(0, end - rows), end)
        if z[part].any():
            search = WindowSearch(weights[part, part], z[part] / z[part].sum(), epsilon)
            search.run(gap, search.note, interruptible=False)
            yield part, search


class Joined:
    """Row multipliers put together from windows; y and y + t z are alike, so t joins them."""

    def __init__(self, n: int) -> None:
        self.total, self.trust = np.zeros(n), np.zeros(n)

    @property
    def y(self) -> Floats:
        """The multipliers so far."""
        return np.asarray(self.total / np.maximum(self.trust, 1e-300))

    def add(self, part: slice, y: Floats, z: Floats) -> None:
        """Add a window's multipliers, shifted to match those of the windows before."""
        trust = _trust(part, len(self.total))
        both = np.minimum(trust, self.trust[part]) * (z > 0)  # nothing shifts an empty row
        near = both > 1e-6 * both.max()
        shift = np.median((self.y[part] - y)[near] / z[near]) if near.any() else 0.0
        self.total[part] += trust * (y + shift * z)
        self.trust[part] += trust


def _trust(part: slice, n: int) -> Floats:
    """1 inside a window, falling to nearly 0 towards its edges, but not at the ends of z."""
    rows, overlap = np.arange(part.start, part.stop), (part.stop - part.start) // 2
    inside = np.ones(len(rows))
    if part.start > 0:
        inside = np.minimum(inside, (rows - part.start) / overlap)
    if part.stop < n:
        inside = np.minimum(inside, (part.stop - 1 - rows) / overlap)
    return np.clip((inside - UNSURE) / (1 - 2 * UNSURE), 1e-9, 1)
