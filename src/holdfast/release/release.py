"""What `holdfast.privatize` returns: a measurement, its promise, a table that has the estimate."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError, decimal_or_fraction, listed_names, numbered
from holdfast.fit.estimate import Estimate, fit
from holdfast.fit.histogram import Histogram, added, collected
from holdfast.match.match import Matcher
from holdfast.measure.measurement import Measurement, Tally
from holdfast.privacy.budget import Budget
from holdfast.privacy.promise import Promise
from holdfast.release.answering import Answering
from holdfast.release.csv_files import Dialect
from holdfast.release.frames import as_table, typed
from holdfast.release.record import BATCH_ROWS
from holdfast.tables.partition import Partition

Cells = Any
"""Of a published column: a list, or an Arrow array where the table has types."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """One column of counts: what was measured of it, and what follows from that.

    Arrays are in row order, over all rows of the table; rows that were not measured are marked.

    >>> import holdfast
    >>> release = holdfast.privatize([0, 5, 1, 0, 30, 2], epsilon=8, seed=1)
    >>> column = release.columns[0]
    >>> column.noisy.tolist(), column.measurement.noise.epsilon == column.budget.counts
    ([0, 5, 1, 0, 30, 2], True)
    """

    name: str
    """Of the column, in every file; `count` where it had none."""
    budget: Budget
    measurement: Measurement = field(repr=False)
    measured: Marks = field(repr=False)
    """Rows that have a noisy count: neither missing nor publicly known to be zero."""
    missing: Marks = field(repr=False)
    """Rows whose count is not known; public."""
    noisy: Integers = field(repr=False)
    """Noisy counts as measured; 0 in rows that were not measured."""
    group: Integers = field(repr=False)
    """The group of each row, -1 where it is in none."""
    ties: int
    """The public seed that orders equal noisy counts; no seed of noise."""
    published: tuple[Histogram, ...] | None = field(default=None, repr=False)
    """The histograms that a bundle has, which another fit may make differently."""
    relations: tuple[int, ...] = ()
    """Weights of earlier columns in the values that rank the rows; empty where noisy counts do."""
    ranking: Integers | None = field(default=None, repr=False)
    """The values that rank the rows, with these weights."""

    def __repr__(self) -> str:
        return f"Column({self.name!r}, {np.count_nonzero(self.measured):,} measured rows)"

    @cached_property
    def estimate(self) -> Estimate:
        """The distribution of counts, of the table and of each group."""
        return fit(self.measurement)

    @property
    def histograms(self) -> tuple[Histogram, ...]:
        """By group, how many measured rows have each released count, exactly."""
        return self.estimate.histograms if self.published is None else self.published

    @cached_property
    def distribution(self) -> Histogram:
        """How many measured rows have each released count."""
        return added(self.histograms)

    def matcher(self) -> Matcher:
        """What gives the released counts of measured rows, batch after batch in row order."""
        tally = self.measurement.tally
        if self.ranking is not None:
            rows = _wide(self.ranking[self.measured], self.group[self.measured])
            tally = Tally.of_rows(*rows, groups=tally.groups)
        return Matcher(tally, self.histograms, self.ties)

    @property
    def by_rank(self) -> Integers:
        """What rows are ranked by."""
        return self.noisy if self.ranking is None else self.ranking

    @cached_property
    def counts(self) -> Integers:
        """Released counts: structural zeros are 0, missing ones -1."""
        return released(self.matcher(), self.by_rank, self.group, self.measured, self.missing)


def released(
    matcher: Matcher, by_rank: Integers, group: Integers, measured: Marks, missing: Marks
) -> Integers:
    """Released counts of the next rows: 0 where they are known to be, -1 where they are missing."""
    counts = np.where(missing, -1, 0).astype(np.int64)
    counts[measured] = matcher(*_wide(by_rank[measured], group[measured]))
    return counts


def _wide(*arrays: Integers) -> Iterator[Integers]:
    """Integers of 64 bits: tables of many rows hold them in fewer."""
    return (array.astype(np.int64, copy=False) for array in arrays)


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """One group of a release.

    >>> import holdfast, pandas
    >>> table = pandas.DataFrame({"state": ["NE", "KS"] * 3, "n": [0, 5, 1, 0, 30, 2]})
    >>> release = holdfast.privatize(table, epsilon=8, count="n", within="state", seed=1)
    >>> release.groups["NE"].distribution.counts().tolist()
    [0, 1, 30]
    """

    name: str
    number: int
    """In the order of the groups."""
    label: tuple[str, ...]
    """A text for each column of `within`."""
    columns: tuple[Column, ...]

    def __getitem__(self, column: str) -> Histogram:
        return next(each.histograms[self.number] for each in self.columns if column == each.name)

    @property
    def distribution(self) -> Histogram:
        """How many measured rows of the group have each released count; of the first column of
        counts where there are several, and `group["murder"]` of the others."""
        return self.columns[0].histograms[self.number]

    def __repr__(self) -> str:
        return f"Group({self.name!r}, {self.distribution.size:,} measured rows)"


class Groups(dict[str, Group]):
    """The groups of a release by name, in their order."""

    def __missing__(self, name: str) -> Group:
        raise HoldfastError(f"this release has no group {name!r:.60}. Hint: {listed_names(self)}.")


@dataclass(frozen=True, kw_only=True, eq=False)
class RowBatch:
    """Consecutive rows of a release as they are written."""

    start: int
    """The number of its first row, from 0."""
    cells: dict[str, Cells]
    """The published columns, by name."""
    counts: dict[str, Integers]
    """Released counts by column; -1 where missing."""
    noisy: dict[str, Integers]
    structural_zero: Marks
    missing: dict[str, Marks]
    group: Integers
    """The group of each row, -1 where it is in none."""

    def __len__(self) -> int:
        return len(self.structural_zero)


@dataclass(frozen=True, kw_only=True, eq=False)
class Release(Answering):
    """A private table of counts: one column or several, in groups or in one.

    >>> import holdfast
    >>> release = holdfast.privatize([0, 5, 1, 0, 30, 2], epsilon=4, seed=1)
    >>> sorted(release.counts) == sorted(release.distribution.counts())
    True
    >>> answer = release.ask("mean")
    >>> answer.interval[0] < answer.estimate < answer.interval[1]
    True
    >>> release.row(4).interval, release.top(1)[0].label, release.compare(4, 1).first_more > 0.99
    ((30.0, 30.0), '4', True)
    """

    promise: Promise
    """Epsilon, who is protected, and the exact budget of each column of counts."""
    columns: tuple[Column, ...]
    """One for each column of counts, such as `release["homicides"]`."""
    partition: Partition
    """Which groups were declared; a table without `within` is one group."""
    rows: int
    """All rows of the table."""
    structural_zero: Marks = field(repr=False)
    """Rows publicly known to be zero, in row order."""
    category: str | None = None
    """The column that says whose count it is."""
    published: tuple[str, ...] = ()
    """Columns published as they are, the category first where there is one."""
    top_code: int | None = None
    """Counts from here on are shown as "50 or more", where a steward asked for `top=50`."""
    period: Any = None
    """The time that the counts are of."""
    notes: tuple[str, ...] = ()
    """What its readers should know of the table."""
    repeated: bool = False
    """Whether it was shown again from a ledger: then nothing was measured or paid."""
    receipt: str | None = None
    """By which it knows its spend in a ledger."""
    made_with: str = ""
    """The version of holdfast that measured it."""
    request: dict[str, Any] | None = field(default=None, repr=False)
    """What was asked for, in plain values."""
    dialect: Dialect = field(default_factory=Dialect, repr=False)
    """How the CSV files of its bundle are written."""
    table_format: str = "csv"
    """The format in which its table is saved: csv, or parquet where columns have types."""
    regrouped: bool = False
    """Whether its groups were chosen after the measurement."""
    known_zeros: Integers | None = field(default=None, repr=False)
    """How many rows are publicly known to be zero: of each group, then of rows in none; None where
    `structural_zero` says it."""
    _cells: Callable[[], Iterator[dict[str, Any]]] = field(repr=False)
    """Batches of the published columns, in row order."""
    _replace: Callable[[dict[str, Integers]], Any] = field(repr=False)
    """The same kind of table as came in, with these counts."""

    def __getitem__(self, name: str | None) -> Column:
        if name is None:
            return self.only
        for column in self.columns:
            if name == column.name:
                return column
        raise HoldfastError(
            f"`{name!s:.60}` is no column of counts of this release. "
            f"Hint: {listed_names(column.name for column in self.columns)}."
        )

    def __len__(self) -> int:
        return self.rows

    def __reduce__(self) -> NoReturn:
        """It still knows the table that it was made of: what is handed on is its bundle."""
        raise HoldfastError(
            "a release cannot be pickled or copied, for it knows the true table. Hint: "
            "release.save(folder), then holdfast.load(folder)."
        )

    @property
    def only(self) -> Column:
        """The column of counts, where there is one."""
        if len(self.columns) > 1:
            names = listed_names(column.name for column in self.columns)
            raise HoldfastError(
                "this release has several columns of counts. Hint: name one by `of`, --of on the "
                f"command line: {names}."
            )
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

    @property
    def group_names(self) -> tuple[str, ...]:
        """A name for each group, in their order; all are different."""
        return self.partition.names

    @property
    def groups(self) -> Groups:
        """The groups by name, such as `release.groups["NE"].distribution`."""
        named = zip(self.group_names, self.partition.labels, strict=True)
        return Groups(
            {
                name: Group(name=name, number=number, label=label, columns=self.columns)
                for number, (name, label) in enumerate(named)
            }
        )

    def zeros(self, group: int | None = None) -> int:
        """How many rows are publicly known to be zero, in all or in a group.

        Parameters:
            group: Its number in the order of the groups.
        """
        return int(self._zeros.sum() if group is None else self._zeros[group])

    @cached_property
    def _zeros(self) -> Integers:
        if self.known_zeros is not None:
            return self.known_zeros
        return zeros_by_group(self.columns[0].group[self.structural_zero], len(self.partition))

    def histogram(self, column: Column, group: int | None = None) -> Histogram:
        """How many rows of the released table have each count, in all or in a group: those
        publicly known to be zero are in, missing ones are not.

        Parameters:
            column: Of counts, such as `release["homicides"]`.
            group: Its number in the order of the groups; None for all rows.
        """
        measured = column.distribution if group is None else column.histograms[group]
        return collected(np.append(measured.values, 0), np.append(measured.rows, self.zeros(group)))

    @cached_property
    def cells(self) -> dict[str, list[Any]]:
        """The published columns by name, all rows of them."""
        return joined(self._cells(), self.published)

    def batches(self) -> Iterator[RowBatch]:
        """The rows in their order, some at a time."""
        matchers = {column.name: column.matcher() for column in self.columns}
        for start, cells in self._published():
            size = len(next(iter(cells.values()))) if cells else BATCH_ROWS
            some = slice(start, min(start + size, self.rows))
            (group,) = _wide(self.columns[0].group[some])
            yield RowBatch(
                start=start,
                cells=cells,
                counts={
                    column.name: released(
                        matchers[column.name],
                        *(column.by_rank[some], group),
                        *(column.measured[some], column.missing[some]),
                    )
                    for column in self.columns
                },
                noisy={column.name: column.noisy[some].astype(np.int64) for column in self.columns},
                structural_zero=self.structural_zero[some],
                missing={column.name: column.missing[some] for column in self.columns},
                group=group,
            )

    def _published(self) -> Iterator[tuple[int, dict[str, Cells]]]:
        """The published cells in batches that are not too long, and where each begins."""
        if not self.published:
            yield from ((start, {}) for start in range(0, self.rows, BATCH_ROWS))
            return
        start = 0
        for batch in self._cells():
            size = len(batch[self.published[0]])
            for at in range(0, size, BATCH_ROWS):
                some = {name: batch[name][at : at + BATCH_ROWS] for name in self.published}
                yield start + at, some
            start += size

    @cached_property
    def table(self) -> Any:
        """The table that came in, with released counts in place of the counts."""
        return self._replace({column.name: self.shown(column.counts) for column in self.columns})

    def shown(self, counts: Integers) -> Integers:
        """Counts as a table shows them: at most `top_code`.

        Parameters:
            counts: Released counts.
        """
        return counts if self.top_code is None else np.minimum(counts, self.top_code)

    def head(self, rows: int = 5) -> Any:
        """The first rows of the table: a pandas data frame, or of text where there is no pandas.

        Parameters:
            rows: How many.
        """
        batch = next(self.batches())
        cells = {name: typed(as_list(cells))[:rows] for name, cells in batch.cells.items()}
        return as_table(cells, {n: self.shown(c)[:rows] for n, c in batch.counts.items()})

    def to_pandas(self) -> Any:
        """The published columns and the released counts as a pandas data frame; numbers of a CSV
        file become numbers, and codes with zeros in front stay texts."""
        if find_spec("pandas") is None:
            raise HoldfastError(
                "this needs pandas. Hint: pip install 'holdfast[pandas]'; release.table needs none."
            )
        counts = {column.name: self.shown(column.counts) for column in self.columns}
        return as_table(self.cells, counts)

    def by(self, within: Any) -> "Release":
        """The same measurement, matched again within other groups, by any published columns: each
        group then has a distribution of its own in the table. Costs nothing.

        Parameters:
            within: What `holdfast.privatize` takes: a column, `holdfast.classes("population", 8)`,
                or a list of them. Such as `release.by("region").groups["West"].distribution`.
        """
        from holdfast.release.relations import regrouped

        return regrouped(self, within)

    def related(self) -> "Release":
        """The same measurement, each column of counts after the first matched such that the table
        has its correlations with those before it, as `ask` says them. Each column keeps its
        distribution; single counts of the further columns are farther off. Costs nothing.
        """
        from holdfast.release.relations import related

        return related(self)

    def plot(self, *, of: str | None = None, group: str | None = None) -> Any:
        """The distribution of a column of counts, of all rows or of a group, with its intervals,
        as a matplotlib figure.

        Parameters:
            of: The column of counts, where there are several.
            group: The name of a group; all rows by default.
        """
        from holdfast.release.picture import plot

        return plot(self, of=of, group=group)

    def save(self, folder: str | os.PathLike[str], *, table_format: str | None = None) -> Path:
        """Write the bundle as a new folder, all of it or nothing; see docs/bundle.md.

        Parameters:
            folder: Where it is to be; raises if something is there.
            table_format: csv or parquet; by default as the table that came in.
        """
        from holdfast.release.bundle import write

        wanted = self if table_format is None else replace(self, table_format=table_format)
        return write(wanted, wanted.batches(), folder)

    def __repr__(self) -> str:
        names = listed_names(column.name for column in self.columns)
        groups = f", {numbered(len(self.group_names), 'group')}" * bool(self.partition.within.parts)
        warning = "SIMULATION, protects nobody; " * self.promise.simulated
        return (
            f"Release({warning}{names}: {numbered(self.rows, 'row')}{groups}, "
            f"epsilon = {decimal_or_fraction(self.promise.epsilon)} for one "
            f"{self.promise.persons.unit})"
        )


def zeros_by_group(group: Integers, groups: int) -> Integers:
    """How many of these rows are in each group, and in none."""
    return np.bincount(np.where(group < 0, groups, group), minlength=groups + 1)


def as_list(cells: Cells) -> list[Any]:
    """Cells of a published column as Python objects."""
    return cells if isinstance(cells, list) else list(cells.to_pylist())


def joined(batches: Iterable[dict[str, Cells]], names: Iterable[str]) -> dict[str, list[Any]]:
    """Published columns from batches of their cells."""
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for batch in batches:
        for name, column in columns.items():
            column += as_list(batch[name])
    return columns
