"""Nearly the optimum, for large n."""

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.constructors.construction import Construction
from holdfast.constructors.constructor import Constructor
from holdfast.constructors.dual_bound import relative_gap
from holdfast.constructors.fallback import optimal_or_heuristic
from holdfast.constructors.feasible import feasible_matrix, missing_share, raise_to_private
from holdfast.constructors.heuristic import Heuristic
from holdfast.constructors.one_thread import one_thread
from holdfast.constructors.optimal import Optimal
from holdfast.constructors.window_bound import (
    merged,
    merged_rows,
    solved_windows,
    window_bound,
    window_rows,
)
from holdfast.errors import HoldfastError
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.metrics import count_error, error_weights
from holdfast.tables.histogram import check_target

Floats = NDArray[np.float64]

RESERVES = (1e-4, 1e-3)  # shares of ε that are kept back for making the windows fit
ROUNDS = 15  # of raising and balancing between two checks
FEW, MANY = 10, 150  # scalings of rows and columns
MOST_CHECKS = 12
NEAR = 1e-4  # a gap that windows, with what they keep back, do not improve on
ENOUGH = 1e-9  # share of 1z that may be missing in the end


@dataclass(frozen=True, kw_only=True)
class Windowed(Constructor):
    r"""A mechanism of F put together from the optima on overlapping windows of up to 240 rows.

    Column j is taken from the window that j lies deepest in, and continued beyond it as
    geometric decay, so every column is private whatever its neighbours do. Sinkhorn's
    iteration then scales columns, which privacy allows freely, and rows, for which a small
    share of ε is kept back, until T 1 = 1 and zT = z; entries that become too small beside
    their neighbours are raised, in turn with that. For ε below 0.1 neighbouring rows are
    merged first. The windows' multipliers give the lower bound.

    Never worse than `Heuristic`, whose best is returned where it is better, as it
    often is after its repair, or the windows do not fit; where one window holds everything this
    is `Optimal`. Cost: O(n) for the windows, O(n^2) for the matrix. See docs/optimum.md, "Windows".

    >>> z = np.exp(-0.5 * ((np.arange(300) - 100) / 20) ** 2) + 1e-4
    >>> found = Windowed()(z / z.sum(), epsilon="1")
    >>> found.gap < 0.001
    True
    """

    error: Any = "absolute"
    """Count error that is minimised: see `metrics.error_weights`."""

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target and budget."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        if len(z) <= window_rows(float(exact)):
            # Ctrl-C must stop a release, not publish what there is
            optimal = Optimal(error=self.error, interruptible=False)
            return optimal_or_heuristic(optimal, z, exact)
        weights = error_weights(self.error, z)
        best = Heuristic(error=self.error)(target, epsilon=exact)
        bound = window_bound(weights, z, float(exact))
        near = relative_gap(best.count_error, bound) <= NEAR
        for reserve in () if near else RESERVES:
            with suppress(HoldfastError), one_thread():
                matrix = _joined(weights, z, float(exact), reserve)
                error = count_error(matrix, z, weights)
                if error >= best.count_error:
                    break  # a larger reserve costs more, and this one sufficed
                best = replace(
                    best,
                    matrix=matrix,
                    count_error=error,
                    method="Windowed()",
                    representation=None,
                )
        return replace(best, lower_bound=bound, gap=relative_gap(best.count_error, bound))


def _joined(weights: Floats, z: Floats, epsilon: float, reserve: float) -> Floats:
    within = (1 - reserve) * epsilon
    merge = merged_rows(len(z), epsilon)
    if merge > 1:
        x = _spread(_columns(*merged(weights, z, merge), merge * within), merge, len(z))
    else:
        x = _columns(weights, z, within)
    live = z > 0
    matrix = np.zeros_like(x)
    matrix[:, live] = _fitted(x[:, live], z, epsilon, (1 - reserve / 10) * epsilon)
    return feasible_matrix(matrix, z, epsilon)


def _fitted(x: Floats, z: Floats, epsilon: float, aim: float) -> Floats:
    """Raise what is not private and balance, in turn, until both hold."""
    share = z[z > 0]
    x = _balanced(x, z, share, MANY)
    for _ in range(MOST_CHECKS):
        if missing_share(x, share, epsilon) <= ENOUGH:
            break
        for _ in range(ROUNDS):
            raise_to_private(x, aim)
            x = _balanced(x, z, share, FEW)
    return x


def _columns(weights: Floats, z: Floats, epsilon: float) -> Floats:
    """Every column from the window that it lies deepest in; the sums are not right yet."""
    n = len(z)
    x, first = np.zeros((n, n)), 0
    for part, search in solved_windows(weights, z, epsilon):
        stop = n if part.stop == n else part.stop - (part.stop - part.start) // 4
        first = max(first, part.start)  # windows without mass were left out
        _take_columns(x, part, search.matrix, slice(first, stop), math.exp(-epsilon))
        first = stop
    return x


def _spread(x: Floats, merge: int, n: int) -> Floats:
    """Columns for groups of rows, as columns for rows: geometric between the groups' centres."""
    centres = np.arange(len(x)) * merge + (merge - 1) / 2
    logs = np.log(np.maximum(x, 1e-300))
    rows = np.array([np.interp(np.arange(n), centres, column) for column in logs.T])
    return np.asarray(np.exp(rows).T[:, np.arange(n) // merge])


def _take_columns(x: Floats, part: slice, matrix: Floats, columns: slice, decay: float) -> None:
    """Copy a window's columns, and let them decay outside of it."""
    inside = slice(columns.start - part.start, columns.stop - part.start)
    x[part, columns] = matrix[:, inside]
    above = decay ** np.arange(1, len(x) - part.stop + 1)
    below = decay ** np.arange(part.start, 0, -1)
    x[part.stop :, columns] = np.outer(above, x[part.stop - 1, columns])
    x[: part.start, columns] = np.outer(below, x[part.start, columns])


def _balanced(x: Floats, z: Floats, share: Floats, scalings: int) -> Floats:
    """Sinkhorn's iteration: rows sum to 1, and z x = share."""
    rows, columns = np.ones(len(z)), np.ones(len(share))
    with np.errstate(all="ignore"):
        for _ in range(scalings):
            columns = share / ((z * rows) @ x)
            rows = 1 / (x @ columns)
        balanced = np.asarray(rows[:, None] * x * columns)
    if not np.isfinite(balanced).all():
        raise HoldfastError("the windows are too far apart to be joined.")
    return balanced
