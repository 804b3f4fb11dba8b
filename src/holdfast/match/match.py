"""Released counts by rank: the noisy counts of a group get the values of its histogram in order."""

from collections.abc import Sequence

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError, whole_number
from holdfast.fit.histogram import Histogram
from holdfast.match.permutation import Ties
from holdfast.measure.measurement import Tally

MOST_CELLS = 1 << 22  # of a direct table from noisy counts to ties
LARGEST_KEY = 1 << 62
NOT_IN_TALLY = "`noisy` has counts, or more rows of a count, that the tally does not have."
STEPS = 3  # from one value of a histogram to the next, before it is searched
AT_A_TIME = 1 << 15  # rows side by side, which a processor's cache holds


def match(noisy: Integers, group: Integers, histograms: Sequence[Histogram], seed: int) -> Integers:
    """Released counts of a table: those of each group have exactly its histogram.

    Rows are ranked within their group by noisy count. Equal ones are ordered by a permutation that
    the public seed determines.

    >>> histogram = Histogram(values=np.array([0, 4]), rows=np.array([3, 1]))
    >>> match(np.array([2, -1, 7, 0]), np.zeros(4, int), [histogram], seed=1)
    array([0, 0, 4, 0])
    """
    tally = Tally.of_rows(noisy, group, groups=len(histograms))
    return Matcher(tally, histograms, seed)(noisy, group)


class Matcher:
    """Released counts of batches in the order of the table, which come out as those of `match`."""

    def __init__(self, tally: Tally, histograms: Sequence[Histogram], seed: int) -> None:
        """`tally` is that of the noisy counts of the whole table."""
        self._tally = tally
        _check_rows(tally, histograms)
        # A slot is a place in the sorted values of all groups, one after the other.
        self._values = np.concatenate([histogram.values for histogram in histograms])
        self._ends = np.cumsum(np.concatenate([histogram.rows for histogram in histograms]))
        self._first = np.cumsum(tally.rows) - tally.rows
        seed = whole_number(seed, "seed", most=(1 << 64) - 1)
        self._ties = Ties(seed, tally.group, tally.value, tally.rows)
        self._place = np.searchsorted(self._ends, self._first, side="right")
        self._lowest = self._values[self._place]
        self._decided = self._first + tally.rows <= self._ends[self._place]
        self._cells = _Cells(tally)
        self._seen = np.zeros(len(tally.rows), dtype=np.int64)

    def __call__(self, noisy: Integers, group: Integers) -> Integers:
        """Released counts of the next batch."""
        cell = self._cells(np.asarray(noisy, dtype=np.int64), np.asarray(group, dtype=np.int64))
        released: Integers = self._lowest[cell]
        for start in range(0, len(cell), AT_A_TIME):
            part = slice(start, start + AT_A_TIME)
            self._order_ties(cell[part], released[part])
        return released

    def _order_ties(self, cell: Integers, released: Integers) -> None:
        """Correct the counts of rows whose ties get several values."""
        rows = np.flatnonzero(~self._decided[cell])
        tie = cell[rows]
        slot = self._first[tie] + self._ties.place(tie, self._numbers(tie))
        released[rows] = self._values[self._places(tie, slot)]

    def _places(self, tie: Integers, slot: Integers) -> Integers:
        """The place in the histogram of each slot: mostly few steps from the first of its ties."""
        place: Integers = self._place[tie]
        for _ in range(STEPS):
            place += slot >= self._ends[place]
        far = np.flatnonzero(slot >= self._ends[place])
        place[far] = np.searchsorted(self._ends, slot[far], side="right")
        return place

    def _numbers(self, tie: Integers) -> Integers:
        """The number of each row among its ties, from 0, counted over all batches."""
        order = np.argsort(tie.astype(np.uint16), kind="stable")  # 16 bits are sorted by radix
        if len(self._seen) > 1 << 16:
            order = order[np.argsort((tie >> 16).astype(np.uint16)[order], kind="stable")]
        ordered = tie[order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        many = np.diff(first, append=len(ordered))
        number = np.empty(len(tie), dtype=np.int64)
        number[order] = np.arange(len(ordered)) - np.repeat(first, many) + self._seen[ordered]
        self._seen[ordered[first]] += many
        if (self._seen[ordered[first]] > self._tally.rows[ordered[first]]).any():
            raise HoldfastError(NOT_IN_TALLY)
        return number


class _Cells:
    """The place of a group and noisy count in a tally."""

    def __init__(self, tally: Tally) -> None:
        self._groups = tally.groups
        self._low = int(tally.value.min(initial=0))
        self._span = int(tally.value.max(initial=0)) - self._low + 1
        self._distinct: Integers | None = None
        """Noisy counts, where they lie too far apart to be numbered themselves."""
        if self._groups * self._span > LARGEST_KEY:
            self._distinct = np.unique(tally.value)
            self._span = len(self._distinct)
        self._keys = tally.group * self._span + self._beyond(tally.value)
        self._direct: Integers | None = None
        if self._groups * self._span <= MOST_CELLS:
            self._direct = np.zeros(self._groups * self._span, dtype=np.int64)
            self._direct[self._keys] = np.arange(len(self._keys))

    def __call__(self, value: Integers, group: Integers) -> Integers:
        beyond = self._beyond(value)
        if not (within(beyond, self._span) and within(group, self._groups)):
            raise HoldfastError(NOT_IN_TALLY)
        keys = group * self._span + beyond
        cell = self._searched(keys) if self._direct is None else self._direct[keys]
        if (self._keys[cell] != keys).any():
            raise HoldfastError(NOT_IN_TALLY)
        return np.asarray(cell)

    def _beyond(self, value: Integers) -> Integers:
        """The number of each noisy count, from 0 on; too large for those that the tally lacks."""
        if self._distinct is None:
            return value - self._low
        place = np.searchsorted(self._distinct, value)
        same = self._distinct[np.minimum(place, self._span - 1)] == value
        return np.where(same, place, self._span)

    def _searched(self, keys: Integers) -> Integers:
        order = np.argsort(keys)  # then a search finds its way in the cache
        cell = np.empty(len(keys), dtype=np.int64)
        cell[order] = np.searchsorted(self._keys, keys[order])
        return cell  # within the table, as no key is above its last one


def within(numbers: Integers, size: int) -> bool:
    """Whether all numbers lie from 0 to size - 1."""
    return len(numbers) == 0 or (int(numbers.min()) >= 0 and int(numbers.max()) < size)


def _check_rows(tally: Tally, histograms: Sequence[Histogram]) -> None:
    wanted = [int(histogram.rows.sum()) for histogram in histograms]
    if wanted != tally.rows_by_group().tolist():
        raise HoldfastError("a histogram must have as many rows as its group.")
