"""Tables of counts: opened from anywhere, checked in one pass, read in batches, written again.

    table = open_table("deaths.csv", count="deaths", category="county", within="state")
    table.counts                  # ("deaths",): the columns of counts; ("",) for a plain array
    table.partition               # the groups, one at least: labels, names, sizes
    table.rows                    # all that will be written; missing ones and known zeros too
    table.measured["deaths"]      # int64, rows of each group whose count is measured
    for batch in table.batches():
        batch.start               # the number of its first row
        batch.counts["deaths"]    # int64; -1 where it is not known
        batch.structural_zero     # marks: publicly known to be zero
        batch.missing["deaths"], batch.measured["deaths"]   # marks; measured is neither of both
        batch.group               # int64: the group of each row; -1 where no count is measured
        batch.done                # share of the table read so far, None where that is not known
    table.replace({"deaths": released})              # in memory: same kind of table as came in
    with table.writer(folder / "table.csv") as file: # CSV or Parquet, whatever came in
        for batch in table.batches(published=True):
            file.write(batch, {"deaths": released_of_these_rows})

`open_table` reads all rows once and refuses whatever must not be published, before anything is
paid. `batches()` reads them again, as often as asked: a frame is one batch, a file many, and
memory is one batch. That the counts are still those of the first pass is checked. What is released
for rows that are missing or known to be zero is never looked at: they are written as such.

Rows come in the order in which they are published, but of files with `order_by`: these are put in
order by the writer, since only what is released may lie on a disk.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.checks import CheckedRows, FirstPass, Reading, measured_rows, sum_of
from holdfast.tables.counts import MISSING
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_file import CsvFile
from holdfast.tables.csv_scan import NOTHING
from holdfast.tables.options import Roles, TableOptions
from holdfast.tables.order import rows_by
from holdfast.tables.partition import GroupReader, Partition, changed
from holdfast.tables.rows import Rows
from holdfast.tables.source import Held, Source
from holdfast.tables.sources import LineSource, TextSource, open_source
from holdfast.tables.writers import CsvWriter


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Some rows of a table, in their order."""

    start: int
    """So many rows of the table come before them."""
    counts: dict[str, Integers] = field(repr=False)
    """True counts by column; -1 where one is not known."""
    structural_zero: Marks = field(repr=False)
    """Rows publicly known to be zero."""
    group: Integers = field(repr=False)
    """The group of each row, by its number in the partition; -1 where no count is measured."""
    done: float | None = None
    """The share of the table that has been read with them; None where that is not known."""
    rows: Rows = field(repr=False)
    """The cells as they came, for writers."""

    def __len__(self) -> int:
        return len(self.group)

    @cached_property
    def missing(self) -> dict[str, Marks]:
        """By column the rows whose count is not known."""
        return {name: own == MISSING for name, own in self.counts.items()}

    @cached_property
    def measured(self) -> dict[str, Marks]:
        """By column the rows whose count is measured: neither missing nor known to be zero."""
        return {name: measured_rows(own, self.structural_zero) for name, own in self.counts.items()}

    def cells(self, name: str) -> list[Any]:
        """The cells of a column that is published, of batches that were asked for with them."""
        return self.rows.cells(name)

    def released(self, name: str, counts: Integers) -> Integers:
        """Counts of these rows as they are written: -1 where missing, 0 where known to be zero."""
        new = np.array(counts, dtype=np.int64)
        if new.shape != self.group.shape:
            raise HoldfastError("`counts` must have one entry per row of the table.")
        new[self.structural_zero] = 0
        new[self.missing[name]] = MISSING
        return new


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table whose counts may be measured and whose other columns may be published.

    >>> table = open_table([3, 0, 1])
    >>> table.rows, [batch.counts[""].tolist() for batch in table.batches()]
    (3, [[3, 0, 1]])
    """

    options: TableOptions = field(repr=False)
    roles: Roles = field(repr=False)
    partition: Partition = field(repr=False)
    measured: dict[str, Integers] = field(repr=False)
    """By column of counts: rows of each group whose count is measured."""
    rows: int
    """Rows that are published, those whose count is missing or known to be zero included."""
    structural_zeros: int
    missing: dict[str, int]
    """By column of counts: rows whose count is not known."""
    notes: tuple[str, ...] = ()
    """What a reader should know; holds no counts."""
    _reading: Reading = field(repr=False)
    _groups: GroupReader = field(repr=False)
    _sums: tuple[int, ...] = field(repr=False)

    @property
    def counts(self) -> tuple[str, ...]:
        """The columns of counts; one without a name where the table has no columns."""
        return self.roles.counts

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that are written, the counts among them, in the order of the table."""
        return self.roles.published

    @property
    def others(self) -> tuple[str, ...]:
        """What is published beside the counts, as it is."""
        return self.roles.others

    @property
    def withheld(self) -> tuple[str, ...]:
        """The columns that are not published."""
        return self.roles.withheld

    @property
    def category(self) -> str | None:
        """The column that says whose each row is."""
        return self.options.category

    @property
    def name(self) -> str:
        """What an error calls the table: `table`, or the path of a file."""
        return self._source.name

    @property
    def _source(self) -> Source:
        return self._reading.source

    def batches(self, *, published: bool = False) -> Iterator[Batch]:
        """All rows, some at a time; with the cells of the published columns where that is said."""
        names = self.roles.others if published else self.roles.within.columns
        start, sums = 0, iter(self._sums)
        for checked in self._reading.rows(names):
            wanted = checked.wanted()
            if next(sums, None) != sum_of(wanted):
                raise changed()
            if len(wanted.rows):
                yield self._batch(wanted, start)
            start += len(wanted.rows)
        if start != self.rows:
            raise changed()

    def _batch(self, checked: CheckedRows, start: int) -> Batch:
        used = np.logical_or.reduce(list(checked.measured.values()))
        columns = [checked.rows.codes(name) for name in self.roles.within.columns]
        return Batch(
            start=start,
            counts=checked.counts,
            structural_zero=checked.structural_zero,
            group=self._groups.place(columns, used),
            done=checked.done,
            rows=checked.rows,
        )

    def writer(self, path: Path, *, further: Sequence[str] = ()) -> "TableWriter":
        """A CSV or Parquet file, as its name ends, for the published columns with other counts, and
        further columns of whole numbers after them."""
        return TableWriter(self, path, further)

    def replace(self, counts: Mapping[str, Integers]) -> Any:
        """The same kind of table as came in: its published columns, with these counts."""
        if set(counts) != set(self.counts):
            raise HoldfastError("`counts` must have an entry for each column of counts.")
        source = held(self._source)
        (batch,) = self.batches()
        new = {name: batch.released(name, own) for name, own in counts.items()}
        return source.replace(self.published, new)


class TableWriter:
    """A file that a table is written to, a batch at a time; it must not exist."""

    def __init__(self, table: Table, path: Path, further: Sequence[str]) -> None:
        self._table, self._further = table, list(further)
        self._file = path.open("xb")
        names = [str(name) or "count" for name in table.published]
        delimiter = "\t" if path.suffix.lower() == ".tsv" else None
        head = _head_of(table._source, names, delimiter)
        self._writer = CsvWriter(self._file, head, further)

    def __enter__(self) -> "TableWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, batch: Batch, numbers: Mapping[str, Integers]) -> None:
        """Write the rows of a batch: a number for each of them in each column of counts, and in
        each further column, where `NOTHING` is an empty cell. Counts that are missing or known to
        be zero are written as such."""
        written = {name: numbers[name] for name in self._further}
        for name in self._table.counts:
            new = batch.released(name, numbers[name])
            written[name or "count"] = np.where(new == MISSING, NOTHING, new)
        self._writer.write(batch.rows, written)


def _head_of(source: Source, names: list[str], delimiter: str | None) -> CsvTable:
    """How a table is written as CSV: as it came, where it was text."""
    style = CsvTable(tuple(names), [])
    if isinstance(source, CsvFile):
        encoding = "utf-8" if source.encoding.name == "cp1252" else source.encoding.name
        head = source.header
        style = CsvTable(
            tuple(names), [], head.delimiter, head.newline, encoding, source.encoding.bom
        )
    elif isinstance(source, TextSource):
        style = replace(source.table.select(()), header=tuple(names), rows=[])
    return style if delimiter is None else replace(style, delimiter=delimiter)


def open_table(source: Any, options: TableOptions | None = None, **words: Any) -> Table:
    """A table of counts, from whatever holds it, checked; what is asked is `TableOptions`.

    `source` is one-dimensional (list, array, series), a data frame (pandas, polars, pyarrow), a
    DuckDB relation, a `CsvTable`, the path of a CSV, Parquet or Excel file, or a folder of CSV or
    Parquet files.

    >>> from holdfast.tables.csv import CsvTable
    >>> frame = CsvTable(("county", "deaths"), [["Kent", "3"], ["Ely", "0"]])
    >>> table = open_table(frame, count="deaths", category="county", structural_zero=["Ely"])
    >>> table.published, table.measured["deaths"].tolist()
    (('county', 'deaths'), [1])
    """
    asked = TableOptions(**words) if options is None else replace(options, **words)
    found = open_source(source, asked)
    index = tuple(found.line.rows.index) if isinstance(found, LineSource) else ()
    lone = isinstance(found, LineSource)
    roles = asked.roles_of_line() if lone else asked.roles(list(found.columns))
    found.settle(roles.others, (*roles.counts, *roles.within.numbers))
    if roles.ordering and found.in_memory:
        found = _in_order(held(found), roles)
    reading = Reading(found, roles)
    first = FirstPass(reading, index)
    for checked in reading.rows(first.names):
        first.see(checked)
    notes = first.finish()
    partition, measured = first.groups.settle()
    return Table(
        options=asked,
        roles=roles,
        partition=partition,
        measured=dict(zip(roles.counts, measured, strict=True)),
        rows=first.rows,
        structural_zeros=first.structural_zeros,
        missing=first.missing,
        notes=notes,
        _reading=reading,
        _groups=first.groups,
        _sums=tuple(first.sums),
    )


def held(source: Source) -> Held:
    """A source whose rows are in memory."""
    if not isinstance(source, Held):
        raise HoldfastError(f"{source.name} is not in memory.")
    return source


def _in_order(source: Held, roles: Roles) -> Held:
    (piece,) = source.read(roles.ordering)
    return source.take(rows_by([_column(piece.rows, name) for name in roles.ordering]))


def _column(rows: Rows, name: str) -> Any:
    try:
        return rows.codes(name)
    except TypeError:
        return rows.cells(name)
