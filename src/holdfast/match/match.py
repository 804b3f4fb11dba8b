"""Released counts by rank: the noisy counts of a group get the values of its histogram in order."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.match.permutation import permuted, tie_keys
from holdfast.measure.tally import Tally

MOST_CELLS = 1 << 22  # of a direct table from noisy counts to ties


class Histogram(Protocol):
    """Whole rows by count: `values` ascend, `rows` are positive."""

    @property
    def values(self) -> Integers:
        """Counts, ascending."""

    @property
    def rows(self) -> Integers:
        """How many rows have each."""


def match(noisy: Integers, group: Integers, histograms: Sequence[Histogram], seed: int) -> Integers:
    """Released counts of a table: those of each group have exactly its histogram.

    Rows are ranked within their group by noisy count. Equal ones are ordered by a permutation that
    the public seed determines.

    >>> from types import SimpleNamespace
    >>> histogram = SimpleNamespace(values=np.array([0, 4]), rows=np.array([3, 1]))
    >>> match(np.array([2, -1, 7, 0]), np.zeros(4, int), [histogram], seed=1)
    array([0, 0, 4, 0])
    """
    noisy, group = np.asarray(noisy, dtype=np.int64), np.asarray(group, dtype=np.int64)
    tally = Tally.of_rows(noisy, group, groups=len(histograms))
    return Matcher(tally, histograms, seed)(noisy, group)


class Matcher:
    """Released counts of batches in the order of the table, which come out as those of `match`.

    `tally` is that of the noisy counts of the whole table; `before` that of the rows before the
    first batch, for a part of the table that is matched by itself.
    """

    def __init__(
        self,
        tally: Tally,
        histograms: Sequence[Histogram],
        seed: int,
        before: Tally | None = None,
    ) -> None:
        self._tally = tally
        _check_rows(tally, histograms)
        # A slot is a place in the sorted values of all groups, one after the other.
        self._values = np.concatenate([histogram.values for histogram in histograms])
        self._ends = np.cumsum(np.concatenate([histogram.rows for histogram in histograms]))
        self._first = np.cumsum(tally.rows) - tally.rows
        self._keys = tie_keys(seed, tally.group, tally.value, tally.rows)
        lowest = np.searchsorted(self._ends, self._first, side="right")
        highest = np.searchsorted(self._ends, self._first + tally.rows - 1, side="right")
        self._decided, self._lowest = lowest == highest, self._values[lowest]
        self._cells = _Cells(tally)
        self._seen = np.zeros(len(tally.rows), dtype=np.int64)
        if before is not None:
            self._seen[self._cells(before.value, before.group)] = before.rows

    def __call__(self, noisy: Integers, group: Integers) -> Integers:
        """Released counts of the next batch."""
        cell = self._cells(noisy, group)
        released = self._lowest[cell]
        open_rows = np.flatnonzero(~self._decided[cell])
        tie = cell[open_rows]
        slot = permuted(self._numbers(tie), self._tally.rows[tie], self._keys[tie])
        place = np.searchsorted(self._ends, self._first[tie] + slot, side="right")
        released[open_rows] = self._values[place]
        return np.asarray(released)

    def _numbers(self, tie: Integers) -> Integers:
        """The how-manieth row of its ties each row is, counted over all batches."""
        order = np.argsort(tie, kind="stable")
        ordered = tie[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        many = np.diff(np.append(first, len(ordered)))
        number = np.empty(len(tie), dtype=np.int64)
        number[order] = np.arange(len(ordered)) - np.repeat(first, many) + self._seen[ordered]
        self._seen[ordered[first]] += many
        return number


class _Cells:
    """The number of a group and noisy count in a tally."""

    def __init__(self, tally: Tally) -> None:
        self._low = int(tally.value.min(initial=0))
        self._span = int(tally.value.max(initial=0)) - self._low + 1
        keys = tally.group * self._span + (tally.value - self._low)
        self._direct = tally.groups * self._span <= MOST_CELLS
        self._table = keys
        if self._direct:
            self._table = np.zeros(tally.groups * self._span, dtype=np.int64)
            self._table[keys] = np.arange(len(keys))

    def __call__(self, value: Integers, group: Integers) -> Integers:
        keys = group * self._span + (value - self._low)
        return self._table[keys] if self._direct else np.searchsorted(self._table, keys)


def _check_rows(tally: Tally, histograms: Sequence[Histogram]) -> None:
    wanted = [int(histogram.rows.sum()) for histogram in histograms]
    if wanted != tally.rows_by_group().tolist():
        raise HoldfastError("a histogram must have as many rows as its group.")
