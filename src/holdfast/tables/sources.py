"""Where tables come from: arrays and frames, text tables, files, folders, DuckDB queries."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.counts import MISSING
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_file import CsvFile
from holdfast.tables.csv_part import Lines
from holdfast.tables.files import refuse_special
from holdfast.tables.formats import Format, endings, format_of
from holdfast.tables.frames import Frame, Line, open_frame, open_line
from holdfast.tables.options import FILE_OPTIONS, TableOptions
from holdfast.tables.rows import ListRows
from holdfast.tables.source import Piece, Source
from holdfast.tables.text_rows import TextRows


@dataclass(frozen=True)
class FrameSource:
    """A data frame: one batch."""

    frame: Frame
    name = "`table`"
    in_memory = True

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self.frame.columns

    def settle(self, published: Sequence[str], numbers: Collection[str]) -> None:
        """Nothing is to be decided."""

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows."""
        yield Piece(self.frame.rows)

    def take(self, rows: Integers) -> "FrameSource":
        """Other rows, or the same in another order."""
        return FrameSource(self.frame.take(rows))

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """The same kind of frame."""
        return self.frame.replace(names, counts)

    def digest(self) -> bytes | None:
        """A frame has no bytes of its own."""
        return None


@dataclass(frozen=True)
class LineSource:
    """Counts in one dimension: one batch without columns."""

    line: Line
    name = "`table`"
    in_memory = True
    columns = ()

    def settle(self, published: Sequence[str], numbers: Collection[str]) -> None:
        """Nothing is to be decided."""

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All counts."""
        yield Piece(self.line.rows)

    def take(self, rows: Integers) -> "LineSource":
        """A line is not put in order, for it has no columns."""
        raise HoldfastError("`table` has no columns by which rows could be chosen.")

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """The same kind of line."""
        return self.line.back(next(iter(counts.values())))

    def digest(self) -> bytes | None:
        """An array has no bytes of its own."""
        return None


@dataclass(frozen=True)
class TextSource:
    """A text table in memory: one batch."""

    table: CsvTable
    name = "`table`"
    in_memory = True

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self.table.columns

    def settle(self, published: Sequence[str], numbers: Collection[str]) -> None:
        """Nothing is to be decided."""

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows."""
        yield Piece(ListRows(self.table.header, TextRows.of(self.table.rows).columns))

    def take(self, rows: Integers) -> "TextSource":
        """Other rows, or the same in another order."""
        taken = [
            [cells[at] for at in rows.tolist()] for cells in TextRows.of(self.table.rows).columns
        ]
        return TextSource(replace(self.table, rows=TextRows(taken)))

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """A text table."""
        table = self.table.select(names)
        for name, new in counts.items():
            table = table.with_column(name, ("" if c == MISSING else c for c in new.tolist()))
        return table

    def digest(self) -> bytes | None:
        """It is not known by its bytes."""
        return None


def open_source(source: Any, options: TableOptions) -> Source:
    """What holds a table, from what the steward gave."""
    if not isinstance(source, str | os.PathLike):
        _refuse_file_options(options, ())
        return _open_object(source)
    path = Path(source)
    refuse_special(path)
    kind = format_of(path)
    if path.is_dir() or kind is Format.PARQUET:
        _refuse_file_options(options, ())
        return _open_arrow(path)
    lines = Lines(options.header_row, options.last_row, tuple(options.leave_out))
    if kind is Format.TEXT:
        _refuse_file_options(options, set(FILE_OPTIONS) - {"sheet"})
        return CsvFile(path, lines, options.thousands, options.decimal)
    if kind is Format.EXCEL:
        from holdfast.tables.excel import read_excel

        _refuse_file_options(options, {"sheet", "header_row", "last_row", "leave_out"})
        return TextSource(read_excel(path, options.sheet, lines))
    raise HoldfastError(
        f"`{path}` must be a folder or end in one of {endings(*Format)}. "
        "Hint: save the table as CSV or Parquet."
    )


def _open_object(source: Any) -> Source:
    if isinstance(source, CsvTable):
        return TextSource(source)
    duckdb = sys.modules.get("duckdb")  # who has a relation has loaded it
    if duckdb is not None and isinstance(source, duckdb.DuckDBPyRelation):
        pass  # collected: a query is run once
    frame = open_frame(source)
    return LineSource(open_line(source)) if frame is None else FrameSource(frame)


def _open_arrow(path: Path) -> Source:
    raise NotImplementedError


def _refuse_file_options(options: TableOptions, taken: Collection[str]) -> None:
    """Raise for what is said of a file of another kind."""
    odd = next((name for name in options.file_options if name not in taken), None)
    if odd is None:
        return
    kinds = {"sheet": "Excel workbooks", "thousands": "CSV files", "decimal": "CSV files"}
    raise HoldfastError(f"`{odd}` is for {kinds.get(odd, 'CSV files and Excel workbooks')}.")
