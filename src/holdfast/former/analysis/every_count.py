"""Intervals for single rows that hold whatever the true count is."""

from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.analysis.posterior import posterior, prior
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.release.row_laws import ends_that_take, taken
from holdfast.former.release.row_prior import LONG

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

CLASSES = ((0, 0), (1, 4), (5, 9), (10, 19), (20, None))
FALLS_SHORT = 0.1  # of the level, so much that a reader is told
MOST_CHECKED = 200  # counts up to which coverage is worked out


UNSURE_NOTE = (
    "the distribution of counts is itself uncertain, with few rows for this budget, so the "
    "intervals do without it: they hold for rows of each true count"
)


def ends_for_every_count(release: "Release", kinds: Any, level: float) -> Integers:
    """For each kind of row, the true counts for which its released count is nothing unusual.

    For every true count i, released counts are taken in the order of $T_{ij} / (zT)_j$ until they
    have the level; the interval of j is all i that took it. So a row is covered with the level
    whatever its true count, and no distribution is assumed.
    """
    n = len(release.target)
    found: dict[int, Integers] = {}
    ends = []
    for kind in np.asarray(kinds).tolist():
        group, count = divmod(kind, n + 1)
        if count < n and group not in found:
            before, mechanism = prior(release, group)
            found[group] = ends_that_take(taken(before, _held(mechanism), level))
        ends.append((0, 0) if count == n else tuple(found[group][count].tolist()))
    return np.array(ends, dtype=np.int64)


def _held(mechanism: Mechanism) -> Floats:
    if len(mechanism) > LONG:
        raise HoldfastError(
            f"intervals that hold for every count need a max_count below {LONG}. "
            "Hint: leave `every` out: where counts run so far, the released ones say most."
        )
    return mechanism.matrix


def rarely_covered(release: "Release", level: float) -> tuple[str, ...]:
    """Which true counts the intervals on average cover less often than they say."""
    n = len(release.target)
    if release.groups is not None or n > MOST_CHECKED:
        return ()
    before, mechanism = prior(release)
    matrix = mechanism.matrix
    inside = np.zeros((n, n))
    for j in np.flatnonzero(before @ matrix > 0):
        low, high = posterior(release, int(j)).interval(level)
        inside[low : high + 1, j] = 1
    covered = (matrix * inside).sum(axis=1)
    words = [
        f"{_range(low, high, n)}: {share:.0%}"
        for low, high in CLASSES
        if low < n
        for share in [_mean(covered, before, low, high)]
        if share < level - FALLS_SHORT
    ]
    if not words:
        return ()
    return (
        "intervals hold on average over all rows; rows with rare counts are inside theirs less "
        f"often (of rows with a true count of {', '.join(words)}). release.intervals(every=True) "
        "gives wider ones that hold for each count",
    )


def _mean(covered: Floats, before: Floats, low: int, high: int | None) -> float:
    stop = None if high is None else high + 1
    weights = before[low:stop]
    if weights.sum() <= 0:
        return 1.0
    return float(covered[low:stop] @ weights / weights.sum())


def _range(low: int, high: int | None, n: int) -> str:
    if high is None or high >= n - 1:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
