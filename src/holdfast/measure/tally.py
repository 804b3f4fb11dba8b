"""Rows by group and count, sparse: the histogram of every group at once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError, whole_number

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

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        arrays = {name: getattr(self, name).tolist() for name in ("group", "value", "rows")}
        return {"groups": self.groups, **arrays}

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Tally":
        """The inverse of `to_dict`."""
        return Tally(**{name: record[name] for name in ("groups", "group", "value", "rows")})


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
