"""How many rows have each count: in whole rows, and as draws from a posterior. From expected rows
to whole rows: one table, and groups that add up to it."""

from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.fit.cells import Cells

LEVEL = 0.9  # of every interval, unless another is asked for


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """How many rows have each count.

    >>> histogram = Histogram(values=np.array([0, 2]), rows=np.array([3, 1]))
    >>> histogram.size, histogram.total
    (4, 2)
    >>> histogram.counts()
    array([0, 0, 0, 2])
    """

    values: Integers
    """Distinct counts, rising."""
    rows: Integers
    """Rows with each, positive."""

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def total(self) -> int:
        """Sum of all counts."""
        return int(sum(int(v) * int(r) for v, r in zip(self.values, self.rows, strict=True)))

    def counts(self) -> Integers:
        """The count of every row, rising."""
        return np.repeat(self.values, self.rows)


def collected(values: Integers, rows: Integers) -> Histogram:
    """The histogram of values that may repeat, with rows that may be zero.

    >>> collected(np.array([3, 1, 3, 2]), np.array([1, 2, 1, 0]))
    Histogram(values=array([1, 3]), rows=array([2, 2]))
    """
    distinct, place = np.unique(values, return_inverse=True)
    sums = np.bincount(place, weights=rows, minlength=len(distinct)).astype(np.int64)
    return Histogram(values=distinct[sums > 0].astype(np.int64), rows=sums[sums > 0])


def added(histograms: list[Histogram] | tuple[Histogram, ...]) -> Histogram:
    """The histogram of all rows of several histograms."""
    return collected(
        np.concatenate([histogram.values for histogram in histograms]),
        np.concatenate([histogram.rows for histogram in histograms]),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """Draws from the posterior of a table's histogram."""

    support: Integers
    """Counts, rising."""
    rows: Floats
    """Rows with each count, of shape (draws, counts)."""


def together(several: list[Draws]) -> Draws:
    """Draws of several groups of rows together."""
    if len(several) == 1:
        return several[0]
    support = np.unique(np.concatenate([draws.support for draws in several]))
    rows: Floats = np.zeros((max(len(draws.rows) for draws in several), len(support)))
    for draws in several:
        place = np.searchsorted(support, draws.support)
        rows[:, place] += np.resize(draws.rows, (len(rows), len(draws.support)))
    return Draws(support=support, rows=rows)


def with_zeros(draws: Draws, zeros: int) -> Draws:
    """Draws with so many rows that are known to be zero."""
    if not zeros:
        return draws
    known = Draws(support=np.zeros(1, dtype=np.int64), rows=np.full((1, 1), float(zeros)))
    return together([draws, known])


def whole_rows(expected: Floats, cells: Cells, value: Integers, rows: Integers) -> Histogram:
    """The histogram nearest to `expected` rows of each cell, for a tally of noisy counts.

    Rows are in the order of their noisy counts. Those without need of a density keep their noisy
    count, where that does not break the order; C of the others is rounded to whole rows.
    """
    total = int(rows.sum())
    below = int(rows[value < cells.lowest].sum())
    above = int(rows[value > cells.highest].sum())
    cumulative = np.rint(np.cumsum(np.maximum(expected, 0.0)) * (total / expected.sum()))
    ends = np.clip(cumulative, below, total - above).astype(np.int64)
    ends[-1] = total - above
    inside = spread(np.diff(ends, prepend=below), cells)
    low, high = value < cells.lowest, value > cells.highest
    least, most = (int(inside.values[end]) if inside.size else 0 for end in (0, -1))
    lowest, highest = np.clip(value[low], 0, least), np.maximum(value[high], most)
    return collected(
        np.concatenate([lowest, inside.values, highest]),
        np.concatenate([rows[low], inside.rows, rows[high]]),
    )


Total = tuple[int, float]
"""A noisy total, and the variance of its noise."""


def steered(histogram: Histogram, high: int, total: Total, variance: float) -> Histogram:
    """The histogram whose `high` highest rows, each read with noise of this variance, give way to
    a noisy total: by their share of the variance of what is left between it and theirs."""
    away = (total[0] - histogram.total) * high * variance / (high * variance + total[1])
    if not high:
        return histogram
    counts = histogram.counts()
    least = int(counts[-high - 1]) if high < len(counts) else 0
    each, rest = divmod(round(away), high)
    counts[-high:] += each
    counts[len(counts) - rest :] += 1
    counts[-high:] = np.maximum(counts[-high:], least)
    return collected(counts, np.ones_like(counts))


def spread(rows: Integers, cells: Cells) -> Histogram:
    """Counts and rows with each, from rows in each cell: evenly over the counts of a cell."""
    widths = cells.widths
    narrow = (widths == 1) & (rows > 0)
    wide = (widths > 1) & (rows > 0)
    number, start = rows[wide], np.repeat(np.cumsum(rows[wide]) - rows[wide], rows[wide])
    place = np.arange(int(number.sum())) - start
    inside = ((2 * place + 1) * np.repeat(widths[wide], number)) // (2 * np.repeat(number, number))
    values = np.concatenate([cells.edges[narrow], np.repeat(cells.edges[wide], number) + inside])
    each = np.concatenate([rows[narrow], np.ones(len(place), dtype=np.int64)])
    return collected(values, each)


def raked(expected: Floats, sizes: Floats, target: Floats, rounds: int = 50) -> Floats:
    """Rows of groups (G, cells) whose sums over groups are `target` and over cells `sizes`.

    Iterative proportional fitting, ended on the cells.
    """
    found = np.maximum(expected, 0.0) + 1e-9 * sizes[:, None] * (target > 0) / len(target)
    found[:, target <= 0] = 0.0
    for _ in range(rounds):
        found *= (sizes / np.maximum(found.sum(axis=1), 1e-300))[:, None]
        found *= target / np.maximum(found.sum(axis=0), 1e-300)
    return np.asarray(found)


def shared_out(expected: Floats, target: Integers) -> Integers:
    """Whole rows of groups, adding up to whole `target` rows of each value, from expected rows.

    Value by value, rows go one by one to the group that lacks most of what it should have up to
    there. Expected rows add up to `target` and each group's to a whole number, so no group gets
    more than it has and all are served at the end.
    """
    groups, number = expected.shape
    due = np.cumsum(expected, axis=1)
    sizes = np.rint(due[:, -1]).astype(np.int64)
    have = np.zeros(groups, dtype=np.int64)
    found = np.zeros((groups, number), dtype=np.int64)
    for place in range(number):
        lack = np.asarray(np.minimum(due[:, place], sizes) - have, dtype=np.float64)
        given = _largest(lack, int(target[place]), sizes - have)
        found[:, place] = given
        have += given
    return found


def _largest(lack: Floats, units: int, room: Integers) -> Integers:
    """Units given one by one to the largest lack, which then falls by 1."""
    given = np.clip(np.floor(lack), 0, room).astype(np.int64)
    while rest := units - int(given.sum()):
        unit, able = (1, given < room) if rest > 0 else (-1, given > 0)
        left = np.where(able, unit * (lack - given), -np.inf)
        given[np.argsort(-left, kind="stable")[: min(abs(rest), int(able.sum()))]] += unit
    return np.asarray(given)
