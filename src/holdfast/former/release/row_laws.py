"""What a released count says of the true one, given what was known before: in plain sums."""

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.release.row_prior import LONG

SAME = 1e-9  # what a sum of rounded shares may be off by
STRIP = 1 << 21  # shares held at once


def columns_of(mechanism: Mechanism, counts: Integers) -> Floats:
    """For each true count, the probability of being released as each of these."""
    if len(mechanism) <= LONG:
        return np.asarray(mechanism.matrix[:, counts])
    found = np.empty((len(mechanism), len(counts)))
    for place, count in enumerate(counts.tolist()):
        found[:, place] = mechanism.expected(np.eye(1, len(mechanism), count)[0])
    return np.maximum(found, 0.0, out=found)


def laws(before: Floats, shown: Floats) -> Floats:
    """Of the true count given each released one: a column each; 0 where nothing can show it."""
    joint = before[:, None] * shown
    return np.asarray(joint / np.maximum(joint.sum(axis=0), 1e-300))


def shortest_run(probabilities: Floats, level: float) -> tuple[int, int]:
    """The shortest run with at least this probability; of several, the most probable.

    >>> shortest_run(np.array([0.05, 0.5, 0.4, 0.05]), 0.9)
    (1, 2)
    """
    first, last = shortest_runs(probabilities[:, None], level)[0]
    return int(first), int(last)


def shortest_runs(laws: Floats, level: float) -> Integers:
    """For each law (columns), the ends of its shortest run."""
    n, number = laws.shape
    below = np.vstack([np.zeros(number), np.cumsum(laws, axis=0)]).T
    needed = below[:, :-1] + level * below[:, -1:] - SAME
    apart = 2.0 * np.arange(number)[:, None]  # all columns one after the other, still ascending
    ends = np.searchsorted((below + apart).ravel(), (needed + apart).ravel()).reshape(number, n)
    ends -= (n + 1) * np.arange(number)[:, None]  # the first end with enough between
    starts = np.arange(n)
    lengths = np.where(ends <= n, ends - starts, n + 1)
    between = np.take_along_axis(below, np.minimum(ends, n), axis=1) - below[:, :-1]
    short = lengths == lengths.min(axis=1, keepdims=True)
    best = np.argmax(np.where(short, between, -1.0), axis=1)
    last = np.take_along_axis(ends, best[:, None], axis=1)[:, 0] - 1
    return np.column_stack([best, last]).astype(np.int64)


def taken(before: Floats, matrix: Floats, level: float) -> Marks:
    """For each true count (rows), the released counts that are nothing unusual.

    Released counts are taken in the order of $T_{ij} / (zT)_j$ until they have the level: j is
    taken if those before it have less.
    """
    ratio = matrix / np.maximum(before @ matrix, 1e-300)
    sums = np.empty_like(matrix)
    for i, (ratios, shares) in enumerate(zip(ratio, matrix, strict=True)):
        order = np.argsort(-ratios, kind="stable")
        ahead = np.searchsorted(-ratios[order], -ratios * (1 + SAME))  # ties are not ahead
        sums[i] = np.append(0.0, np.cumsum(shares[order]))[ahead]
    return np.asarray(sums < np.maximum(level - SAME, sums.min(axis=0) + SAME))


def ends_that_take(marks: Marks) -> Integers:
    """The first and the last true count that took each released one (columns)."""
    last = marks.shape[0] - 1 - np.argmax(marks[::-1], axis=0)
    return np.column_stack([np.argmax(marks, axis=0), last]).astype(np.int64)


def row_ends(
    before: Floats,
    mechanism: Mechanism,
    counts: Integers,
    *,
    level: float,
    every: bool,
    known: float = 0.0,
) -> tuple[Floats, Integers]:
    """For each of these released counts, the expected true one and the ends of its interval; of the
    rows that show 0 a part may be publicly known to be zero."""
    means, ends = np.empty(len(counts)), np.empty((len(counts), 2), dtype=np.int64)
    steps = np.arange(len(before), dtype=np.float64)
    width = max(1, STRIP // len(before))
    for start in range(0, len(counts), width):
        some = slice(start, start + width)
        found = laws(before, columns_of(mechanism, counts[some]))
        zero = counts[some] == 0
        found[:, zero] *= 1 - known
        found[0, zero] += known
        means[some] = steps @ found
        if not every:
            ends[some] = shortest_runs(found, level)
    if every:
        ends = ends_that_take(taken(before, np.asarray(mechanism.matrix), level)[:, counts])
    return means, ends
