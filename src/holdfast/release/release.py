"""What `holdfast.privatize` returns: a measurement, its promise, and a table that has the estimate."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.fit.estimate import Estimate, fit
from holdfast.fit.histogram import Histogram
from holdfast.match.match import match
from holdfast.measure.measurement import Measurement
from holdfast.privacy.budget import Budget
from holdfast.privacy.promise import Promise
from holdfast.tables.groups import Partition


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """One column of counts: what was measured of it, and what follows from that.

    Arrays are in row order, over all rows of the table; rows that were not measured are marked.
    """

    name: str | None
    """Of the column; None for a plain array."""
    budget: Budget
    measurement: Measurement = field(repr=False)
    measured: Marks = field(repr=False)
    """Rows that have a noisy count: neither missing nor publicly known to be zero."""
    missing: Marks = field(repr=False)
    """Rows whose count is not known; public."""
    noisy: Integers = field(repr=False)
    """Noisy counts as measured; 0 in rows that were not measured."""
    group: Integers = field(repr=False)
    """The group of each row."""
    ties: int
    """The public seed that orders equal noisy counts; no seed of noise."""

    @cached_property
    def estimate(self) -> Estimate:
        """The distribution of counts, of the table and of each group."""
        return fit(self.measurement)

    @cached_property
    def counts(self) -> Integers:
        """Released counts: structural zeros are 0, missing ones -1."""
        released = np.where(self.missing, -1, 0).astype(np.int64)
        released[self.measured] = match(
            self.noisy[self.measured],
            self.group[self.measured],
            self.estimate.histograms,
            self.ties,
        )
        return released

    @property
    def distribution(self) -> Histogram:
        """How many measured rows have each released count."""
        return self.estimate.whole


@dataclass(frozen=True, kw_only=True, eq=False)
class RowBatch:
    """Consecutive rows of a release as they are written."""

    start: int
    """The number of its first row, from 0."""
    cells: dict[str, list[Any]]
    """The published columns, by name."""
    counts: dict[str | None, Integers]
    """Released counts by column; -1 where missing."""
    noisy: dict[str | None, Integers]
    structural_zero: Marks
    missing: dict[str | None, Marks]
    group: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """A private table of counts: one column or several, in groups or in one."""

    promise: Promise
    columns: tuple[Column, ...]
    groups: Partition
    """The declared groups; a table without `within` is one group."""
    rows: int
    """All rows of the table."""
    structural_zero: Marks = field(repr=False)
    """Rows publicly known to be zero, in row order."""
    category: str | None = None
    published: tuple[str, ...] = ()
    """Columns published as they are, the category first where there is one."""
    top: int | None = None
    """Counts above are shown as "`top` or more"."""
    period: Any = None
    notes: tuple[str, ...] = ()
    repeated: bool = False
    """Whether it was shown again from a ledger: then nothing was measured or paid."""
    receipt: str | None = None
    made_with: str = ""
    _cells: Callable[[], Iterator[dict[str, list[Any]]]] = field(repr=False)
    """Batches of the published columns, in row order."""
    _replace: Callable[[dict[str | None, Integers]], Any] = field(repr=False)
    """The same kind of table as came in, with these counts."""

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise HoldfastError(
            f"`{name}` is no column of counts of this release. "
            f"Hint: {', '.join(str(column.name) for column in self.columns)}."
        )

    def __len__(self) -> int:
        return self.rows

    @property
    def only(self) -> Column:
        """The column of counts, where there is one."""
        if len(self.columns) > 1:
            names = ", ".join(str(column.name) for column in self.columns)
            raise HoldfastError(f"this release has several columns of counts. Hint: {names}.")
        return self.columns[0]

    @property
    def counts(self) -> Integers:
        """Released counts in row order."""
        return self.only.counts

    @property
    def noisy(self) -> Integers:
        """Noisy counts in row order, as measured."""
        return self.only.noisy

    @property
    def distribution(self) -> Histogram:
        """How many measured rows have each released count."""
        return self.only.distribution

    @cached_property
    def cells(self) -> dict[str, list[Any]]:
        """The published columns by name, all rows of them."""
        columns: dict[str, list[Any]] = {name: [] for name in self.published}
        for batch in self._cells():
            for name, cells in columns.items():
                cells += batch[name]
        return columns

    @cached_property
    def table(self) -> Any:
        """The table that came in, with released counts in place of the counts."""
        return self._replace({column.name: column.counts for column in self.columns})
