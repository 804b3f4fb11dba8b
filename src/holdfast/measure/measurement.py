"""All that leaves the room: noisy counts by group as a sparse tally, noisy sums, noisy totals."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError, whole_number
from holdfast.privacy.noise import Noise

DENSE = 8  # cells of a dense histogram for each row or cell: beyond, sorting is quicker
LEAST_DENSE = 1 << 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """How many rows of each group have each count, sorted by group and count.

    >>> tally = Tally.of_rows(np.array([5, -1, 5, 0]), np.array([0, 1, 0, 1]), groups=2)
    >>> tally.group.tolist(), tally.value.tolist(), tally.rows.tolist()
    ([0, 1, 1], [5, -1, 0], [2, 1, 1])
    >>> tally.of(1)
    (array([-1,  0]), array([1, 1]))
    """

    groups: int
    """How many groups there are; one may be without rows."""
    group: Integers
    value: Integers
    rows: Integers
    """Positive."""

    def __post_init__(self) -> None:
        whole_number(self.groups, "groups", least=1)
        for name in ("group", "value", "rows"):
            object.__setattr__(self, name, frozen_integers(getattr(self, name)))
        if not len(self.group) == len(self.value) == len(self.rows):
            raise HoldfastError("a tally needs a group, a value and a number of rows everywhere.")
        same = self.group[1:] == self.group[:-1]
        rises = np.where(same, self.value[1:] > self.value[:-1], self.group[1:] > self.group[:-1])
        if not rises.all():
            raise HoldfastError("a tally must be sorted by group and value, each of them once.")
        if len(self.group) and not 0 <= self.group[0] <= self.group[-1] < self.groups:
            raise HoldfastError("a tally has a group that does not exist.")
        if self.rows.min(initial=1) < 1:
            raise HoldfastError("a tally must not list what no row has.")

    @staticmethod
    def of_rows(value: Integers, group: Integers, *, groups: int) -> "Tally":
        """Tally of single rows."""
        value, group = np.asarray(value, dtype=np.int64), np.asarray(group, dtype=np.int64)
        return _summed(value, group, None, groups)

    @staticmethod
    def joined(tallies: Iterable["Tally"], *, groups: int) -> "Tally":
        """Tally of the rows of several."""
        several = [Tally.empty(groups), *tallies]
        value, group, rows = (
            np.concatenate([getattr(tally, name) for tally in several])
            for name in ("value", "group", "rows")
        )
        return _summed(value, group, rows, groups)

    @staticmethod
    def empty(groups: int) -> "Tally":
        """Tally of no rows."""
        none = np.empty(0, dtype=np.int64)
        return Tally(groups=groups, group=none, value=none, rows=none)

    @cached_property
    def _starts(self) -> Integers:
        return np.searchsorted(self.group, np.arange(self.groups + 1))

    def of(self, group: int) -> tuple[Integers, Integers]:
        """Counts of one group, ascending, and how many rows have each."""
        inside = slice(self._starts[group], self._starts[group + 1])
        return self.value[inside], self.rows[inside]

    def rows_by_group(self) -> Integers:
        """How many rows each group has."""
        before = np.append(0, np.cumsum(self.rows))
        return np.diff(before[self._starts])

    def whole(self) -> "Tally":
        """The same rows as one group."""
        if self.groups == 1:
            return self
        return _summed(self.value, np.zeros_like(self.value), self.rows, 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    r"""Noisy sums of a cumulative histogram over blocks of counts.

    Block b holds the counts from `edges[b]` to `edges[b + 1] - 1`. Its value is
    $\sum_i C_i + X_b$ over the counts i in it, where $C_i$ rows have a count of i or less.
    """

    edges: Integers
    """Ascending; one more than there are blocks."""
    values: Integers
    """One for each block."""
    noise: Noise

    def __post_init__(self) -> None:
        for name in ("edges", "values"):
            object.__setattr__(self, name, frozen_integers(getattr(self, name)))
        if len(self.edges) != len(self.values) + 1 or len(self.values) == 0:
            raise HoldfastError("sums need one edge more than values, and a value at least.")
        check_edges(self.edges)


def check_edges(edges: Integers) -> None:
    """Refuse blocks that overlap or hold no count."""
    if len(edges) and (edges[0] < 0 or (edges[1:] <= edges[:-1]).any()):
        raise HoldfastError("edges of blocks must be 0 or more and ascend.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Totals:
    """Noisy totals of the counts of each group, and of the whole table."""

    values: Integers
    """One for each group; none for groups that were chosen later."""
    noise: Noise
    """Of each group's."""
    whole: int | None = None
    """Measured beside many groups; None where the groups' say it as well."""
    whole_noise: Noise | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen_integers(self.values))
        if (self.whole is None) != (self.whole_noise is None):
            raise HoldfastError("a total of the whole needs its noise.")

    @property
    def of_all(self) -> tuple[int, float]:
        """The total of the whole table, and the variance of its noise."""
        if self.whole is not None and self.whole_noise is not None:
            return self.whole, self.whole_noise.variance
        return sum(self.values.tolist()), len(self.values) * self.noise.variance

    def of_whole(self) -> "Totals | None":
        """What is left for groups that are chosen later; nothing of totals of several groups."""
        none = self.values[:0]
        if self.whole is None and len(self.values) != 1:
            return None
        if self.whole is not None:
            return replace(self, values=none)
        return Totals(
            values=none, noise=self.noise, whole=int(self.values[0]), whole_noise=self.noise
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """Everything that was measured of one column of counts; the rest is post-processing."""

    noise: Noise
    """Of every single count."""
    tally: Tally
    """Rows by group and noisy count."""
    whole: Sums | None = None
    """Noisy sums of the whole table."""
    sums: tuple[Sums | None, ...] = ()
    """Noisy sums of each group beside them, None for a group that is too small to have some; empty
    in a table of one group, and where none were measured."""
    totals: Totals | None = None

    def __post_init__(self) -> None:
        if self.sums and not 1 < self.groups == len(self.sums):
            raise HoldfastError("sums must be those of several groups, or None, for each of them.")
        if self.totals and len(self.totals.values) not in (0, self.groups):
            raise HoldfastError("a measurement needs totals for every group, or none.")

    @property
    def groups(self) -> int:
        """How many groups there are; a table without groups has one."""
        return self.tally.groups


def _summed(value: Integers, group: Integers, rows: Integers | None, groups: int) -> Tally:
    """Tally of cells in any order that may come again, of one row each unless `rows` are given."""
    if len(value) == 0:
        return Tally.empty(groups)
    low = int(value.min())
    span = int(value.max()) - low + 1
    if groups * span <= max(LEAST_DENSE, DENSE * len(value)):
        every = np.bincount(group * span + (value - low), rows, groups * span)  # exact to 2^53
        cell = np.flatnonzero(every)
        together = every[cell].astype(np.int64)
        return Tally(groups=groups, group=cell // span, value=cell % span + low, rows=together)
    if groups * span < 1 << 62:
        order = np.argsort(group * span + (value - low))
    else:
        order = np.lexsort((value, group))
    value, group = value[order], group[order]
    new = np.append(True, (value[1:] != value[:-1]) | (group[1:] != group[:-1]))
    first = np.flatnonzero(new)
    if rows is None:
        together = np.diff(first, append=len(value))
    else:
        together = np.add.reduceat(rows[order], first)
    return Tally(groups=groups, group=group[first], value=value[first], rows=together)


def frozen_integers(values: Any) -> Integers:
    """Integers in an array of their own that nobody can change."""
    array = np.array(values)
    if array.ndim != 1 or (array.size and array.dtype.kind != "i"):
        raise HoldfastError("a measurement needs flat lists of whole numbers below 2^63.")
    array = array.astype(np.int64, copy=False)
    array.setflags(write=False)
    return array
