"""Compiled kernel: what released counts say of true ones, each by the few rows it may come from."""

import numpy as np

from holdfast.compiled import compiled
from holdfast.former.mechanism.curve_kernel import rows_of_column, weights_of_column

MEAN, ZERO, TOP, ABOVE, HELD, OUTSIDE = range(6)


@compiled(nogil=True)
def laws_of_columns(turns, heights, floors, keep, powers, before, counts, level, above, same):
    """For each released count, numbers of the law of its true count, and ends and median.

    The law is z_i T_ij, over its sum, in the rows in which T_ij is more than its floor. How much of
    it the floor has in all other rows stands under OUTSIDE, and is left out.
    """
    n, zero_lift = len(turns), np.int64(0)
    numbers, ends = np.zeros((len(counts), 6)), np.zeros((len(counts), 3), np.int64)
    below = np.zeros(n + 1)
    for i in range(n):
        below[i + 1] = below[i] + before[i]
    for at in range(len(counts)):
        j = counts[at]
        first, end = rows_of_column(j, turns, powers)
        weights = np.empty(end - first, np.int64)
        weights_of_column(j, first, turns, heights, floors, keep, zero_lift, powers, weights)
        law, whole = np.empty(end - first), 0.0
        for k in range(end - first):
            law[k] = before[first + k] * weights[k]
            whole += law[k]
        outside = (below[n] - below[end] + below[first]) * floors[j]
        if whole <= 0:
            numbers[at, OUTSIDE] = 1.0
            continue
        numbers[at, OUTSIDE] = outside / (whole + outside)
        sums = np.zeros(len(law) + 1)
        for k in range(len(law)):
            law[k] /= whole
            sums[k + 1] = sums[k] + law[k]
            numbers[at, MEAN] += law[k] * (first + k)
            if first + k >= above:
                numbers[at, ABOVE] += law[k]
        numbers[at, ZERO] = law[0] if first == 0 else 0.0
        numbers[at, TOP] = law[-1] if end == n else 0.0
        ends[at, 2] = first + min(np.searchsorted(sums[1:], 0.5 - 1e-12), len(law) - 1)
        low, high = _shortest_run(sums, level, same)
        ends[at, 0], ends[at, 1] = first + low, first + high
        for k in range(low, high + 1):
            numbers[at, HELD] += law[k]
    return numbers, ends


@compiled(nogil=True)
def _shortest_run(sums, level, same):
    """The ends of the shortest run with at least this probability; of several, the most probable.

    As `holdfast.release.row_laws.shortest_runs` has it, in one pass.
    """
    size, end = len(sums) - 1, 0
    best, low, high = size + 1, 0, size - 1
    most = -1.0
    for start in range(size):
        needed = sums[start] + level * sums[size] - same
        while end <= size and sums[end] < needed:
            end += 1
        if end > size:
            break
        between = sums[end] - sums[start]
        if end - start < best or (end - start == best and between > most):
            best, most, low, high = end - start, between, start, end - 1
    return low, high


@compiled(nogil=True)
def draw_from_columns(turns, heights, floors, keep, powers, before, counts, uniform):
    """A true count for each of these released ones, drawn from the law that `laws_of_columns` has;
    what the floor has beyond its rows is drawn from z."""
    n, zero_lift, drawn = len(turns), np.int64(0), np.empty(len(counts), np.int64)
    below = np.cumsum(before)
    for at in range(len(counts)):
        j = counts[at]
        first, end = rows_of_column(j, turns, powers)
        weights = np.empty(end - first, np.int64)
        weights_of_column(j, first, turns, heights, floors, keep, zero_lift, powers, weights)
        sums, whole = np.empty(end - first), 0.0
        for k in range(end - first):
            whole += before[first + k] * weights[k]
            sums[k] = whole
        outside = below[-1] - below[end - 1] + (below[first - 1] if first else 0.0)
        u = uniform[at] * (whole + outside * floors[j])
        if u < whole:
            drawn[at] = first + np.searchsorted(sums, u, side="right")
        else:
            far = (u - whole) / (outside * floors[j]) * below[-1]
            drawn[at] = min(np.searchsorted(below, far, side="right"), n - 1)
    return drawn


@compiled(nogil=True)
def near_columns(turns, heights, floors, keep, powers, counts, reach):
    """The weights of each released count j in the rows j - reach to j + reach; 0 where there is no
    such row."""
    n, zero_lift = len(turns), np.int64(0)
    found = np.zeros((len(counts), 2 * reach + 1))
    for at in range(len(counts)):
        first, end = max(counts[at] - reach, 0), min(counts[at] + reach + 1, n)
        weights = np.empty(end - first, np.int64)
        weights_of_column(
            counts[at], first, turns, heights, floors, keep, zero_lift, powers, weights
        )
        for k in range(end - first):
            found[at, first + k - (counts[at] - reach)] = weights[k]
    return found


@compiled(nogil=True)
def means_of_columns(turns, heights, floors, keep, powers, before, counts, values):
    """For each released count, the mean of each of these functions of the true one, by the law that
    `laws_of_columns` has; where that has nothing, the function at the released count."""
    zero_lift, found = np.int64(0), np.zeros((len(values), len(counts)))
    for at in range(len(counts)):
        j = counts[at]
        first, end = rows_of_column(j, turns, powers)
        weights = np.empty(end - first, np.int64)
        weights_of_column(j, first, turns, heights, floors, keep, zero_lift, powers, weights)
        whole = 0.0
        for k in range(end - first):
            law = before[first + k] * weights[k]
            whole += law
            for f in range(len(values)):
                found[f, at] += law * values[f, first + k]
        for f in range(len(values)):
            found[f, at] = found[f, at] / whole if whole > 0 else values[f, j]
    return found
