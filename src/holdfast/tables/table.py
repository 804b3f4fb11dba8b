"""Tables of counts: opened from anywhere, checked in one pass, read in batches, written again.

`open_table` reads all rows once and refuses whatever must not be published, before anything is
paid. It keeps counts, marks and groups, some bytes a row, so that what is measured is what was
checked. Published columns are read again, as often as asked: a frame is one batch, a file many, and
memory is one batch; that the rows are still the same is checked. They come in the order in which
they are published: of a large file with `order_by`, DuckDB puts the published columns in order, on
disk if need be.
"""

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.checks import FirstPass, Reading
from holdfast.tables.counts import MISSING
from holdfast.tables.csv_file import CsvFile
from holdfast.tables.formats import as_in_file, open_source
from holdfast.tables.frames import CountsLine
from holdfast.tables.options import Roles, TableOptions
from holdfast.tables.partition import Partition, changed, rows_by
from holdfast.tables.sorting import Sorted, in_order, uses_sorter
from holdfast.tables.source import Batch, Held, Kept, Source

__all__ = ["Batch", "Table", "TableOptions", "open_table", "whose"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Table(Roles):
    """A table whose counts may be measured and whose other columns may be published.

    >>> table = open_table([3, 0, 1])
    >>> table.rows, [batch.counts["count"].tolist() for batch in table.batches()]
    (3, [[3, 0, 1]])
    """

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
    source: Source = field(repr=False)
    """Where the rows come from."""
    _reading: Reading | Sorted = field(repr=False)
    kept: Kept = field(repr=False)
    """Counts, marks and groups of all rows."""
    _state: list[tuple[int, int]] = field(repr=False)

    @property
    def category(self) -> str | None:
        """The column that says whose each row is."""
        return self.options.category

    def batches(self, *, published: bool = False, withheld: bool = False) -> Iterator[Batch]:
        """All rows, some at a time; with the cells of the published columns where that is said, and
        with those of the columns that nobody else may see."""
        if published or withheld:
            return self._again([*self.others * published, *self.withheld * withheld])
        return self.kept.batches()

    def _again(self, names: Sequence[str]) -> Iterator[Batch]:
        """The rows with the cells of these columns, which are read again."""
        yield from self._reading.again(names, self.kept)
        if self.source.state != self._state:
            raise changed()

    def replace(self, counts: Mapping[str, Integers]) -> Any:
        """The same kind of table as came in: its published columns, with these counts. Rows of a
        file are read into memory."""
        for _ in self._again(()):  # for the rows must be the same
            pass
        new = {}
        for name, column in counts.items():
            known = np.where(self.kept.structural_zero, 0, column)
            new[name] = np.where(self.kept.counts[name] == MISSING, MISSING, known).astype(np.int64)
        return self._as_published().replace(self.published, new)

    def _as_published(self) -> Source:
        """The rows that are published, in their order: in memory where those are not all as they
        come."""
        subset, later = self.options.subset, isinstance(self._reading, Sorted)
        if subset is None and not later:
            return self.source
        source = self.source.held()
        if later:
            source = _in_order(source, self)
        if subset is None:
            return source
        (piece,) = source.read((subset.column,))
        return source.take(np.flatnonzero(subset.marks(piece.rows, 0)))


def open_table(source: Any, options: TableOptions | None = None, **words: Any) -> Table:
    """A table of counts, from whatever holds it, checked; what is asked is `TableOptions`.

    `source` is one-dimensional (list, array, series), a data frame (pandas, polars, pyarrow), a
    DuckDB relation, a `CsvTable`, the path of a CSV, Parquet or Excel file, or a folder of CSV or
    Parquet files.

    >>> from holdfast.tables.csv import CsvTable, ListRows
    >>> text = CsvTable(ListRows(("county", "deaths"), [["Kent", "Ely"], ["3", "0"]]))
    >>> table = open_table(text, count=("deaths",), category="county", structural_zero=["Ely"])
    >>> table.published, table.measured["deaths"].tolist()
    (('county', 'deaths'), [1])
    """
    asked = TableOptions(**words) if options is None else dataclasses.replace(options, **words)
    try:
        return _checked(source, asked)
    except HoldfastError as error:
        said = as_in_file(str(error), asked, source)
        raise (error if said == str(error) else HoldfastError(said)) from None


def _checked(source: Any, asked: TableOptions) -> Table:
    opened = open_source(source, asked)
    names = list(opened.columns)
    roles = asked.roles(names)
    opened.settle(roles.others, roles.counts)
    if isinstance(opened, CsvFile):
        opened.refuse_unexplained(roles.others)
    if names != list(opened.columns):  # they are read in another encoding
        roles = asked.roles(list(opened.columns))
    later = bool(roles.ordering) and uses_sorter(opened)
    if roles.ordering and not later:
        opened = _in_order(opened.held(), roles)
    reading = Reading(opened, roles)
    first, state = FirstPass(reading, sorting=later), opened.state
    for batch in reading.rows(first.names):
        first.see(batch)
    partition, kept, notes = first.finish()
    measured = {name: np.zeros(len(partition), dtype=np.int64) for name in roles.counts}
    for batch in kept.batches():
        for name, marks in batch.measured.items():
            measured[name] += np.bincount(batch.group[marks], minlength=len(partition))
    rows: Reading | Sorted = reading
    if later:
        rows, kept = in_order(reading, kept, first.as_text)
    return Table(
        **vars(roles),
        partition=partition,
        measured=measured,
        rows=len(kept.group),
        structural_zeros=int(kept.structural_zero.sum()),
        missing={name: int((own == MISSING).sum()) for name, own in kept.counts.items()},
        notes=notes,
        source=opened,
        _reading=rows,
        kept=kept,
        _state=state,
    )


def _in_order(source: Held, roles: Roles) -> Held:
    (piece,) = source.read(roles.ordering)
    return source.take(rows_by([piece.rows.order_codes(name) for name in roles.ordering]))


@dataclass(frozen=True, kw_only=True)
class Whose:
    """All of a table but its counts, condensed."""

    rows: bytes
    """Every cell in row order, withheld ones too; of a large file all of its bytes."""
    columns: dict[str, bytes]
    """Each column by itself; none of a large file."""


def whose(table: Table) -> Whose | None:
    """What tells whose each row is; None where rows may come in another order the next time.

    >>> from holdfast.tables.csv import CsvTable, ListRows
    >>> rows = [ListRows(("place", "n"), [[place], ["3"]]) for place in ("Kent", "Kent", "Ely")]
    >>> same, again, other = (whose(open_table(CsvTable(each), count=("n",))) for each in rows)
    >>> same == again, same == other
    (True, False)
    """
    source = table.source
    if not source.is_small:
        stored = source.digest()
        return None if stored is None else Whose(rows=stored, columns={})
    names = (*table.others, *table.withheld)
    hashed = {name: hashlib.sha256(repr(name).encode()) for name in names}
    batches = (batch.rows for batch in table.batches(published=True, withheld=True))
    if isinstance(table._reading, Sorted):  # which has the published columns alone
        batches = (piece.rows for piece in table._as_published().read(names))
    for rows in batches:
        for name, column in hashed.items():
            cells = "\n".join(map(repr, rows.cells(name)))
            column.update(f"{cells}\n".encode(errors="surrogatepass"))
    columns = {name: column.digest() for name, column in hashed.items()}
    called = repr(source.title if isinstance(source, CountsLine) else None).encode()
    return Whose(rows=hashlib.sha256(called + b"".join(columns.values())).digest(), columns=columns)
