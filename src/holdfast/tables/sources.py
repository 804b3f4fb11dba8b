"""Where tables come from: arrays and frames, text tables, files, folders, DuckDB queries."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.arrow_files import FEW, ParquetFiles, Query, few_rows, open_parquet
from holdfast.tables.counts import MISSING
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_file import CsvFile, CsvFolder
from holdfast.tables.csv_part import Lines
from holdfast.tables.csv_scan import SpanRows
from holdfast.tables.csv_text import Encoding
from holdfast.tables.files import read_file, wrong_ending
from holdfast.tables.formats import Format, format_of, refuse_special
from holdfast.tables.frames import Frame, FrameRows, Line, duckdb_frame, open_frame, open_line
from holdfast.tables.options import FILE_OPTIONS, TableOptions
from holdfast.tables.rows import ListRows
from holdfast.tables.source import Held, Piece, Source
from holdfast.tables.spark import is_spark, open_spark
from holdfast.tables.text_rows import TextRows

SMALL = 1 << 26  # bytes of files of text that are held in memory to be put in order


@dataclass(frozen=True)
class FrameSource:
    """A data frame: one batch."""

    frame: Frame
    name = "`table`"
    notes = ()
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
    notes = ()
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

    rows: ListRows
    head: CsvTable
    """How the table is written."""
    name: str = "`table`"
    file: str = ""
    """What it was read from."""
    notes: tuple[str, ...] = ()
    in_memory = True

    @staticmethod
    def of(table: CsvTable) -> "TextSource":
        """The source of a table.

        What is left of one in Windows-1252 could be taken for UTF-8: it is written as UTF-8."""
        columns = TextRows.of(table.rows, len(table.header)).columns
        encoding = "utf-8" if table.encoding == "cp1252" else table.encoding
        return TextSource(ListRows(table.header, columns), replace(table, encoding=encoding))

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self.rows.names

    def settle(self, published: Sequence[str], numbers: Collection[str]) -> None:
        """Nothing is to be decided."""

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows."""
        yield Piece(self.rows, file=self.file)

    def take(self, rows: Integers) -> "TextSource":
        """Other rows, or the same in another order."""
        return replace(self, rows=self.rows.take(rows))

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> CsvTable:
        """A text table."""
        columns = [
            ["" if c == MISSING else str(c) for c in counts[name].tolist()]
            if name in counts
            else self.rows.cells(name)
            for name in names
        ]
        return replace(self.head, header=tuple(names), rows=TextRows(columns))

    def digest(self) -> bytes | None:
        """It is not known by its bytes."""
        return None


def held(source: Source) -> Held:
    """The same table in memory, all of it."""
    if isinstance(source, FrameSource | LineSource | TextSource):
        return source
    rows = [piece.rows for piece in source.read(list(source.columns))]
    if isinstance(source, CsvFile | CsvFolder):
        return _held_text(source, [part for part in rows if isinstance(part, SpanRows | ListRows)])
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    parts = [part.data.to_native() for part in rows if isinstance(part, FrameRows)]
    whole = pa.concat_tables(parts, promote_options="permissive")
    if isinstance(source, Query):
        return FrameSource(duckdb_frame(source.relation, whole))
    frame = FrameRows(nw.from_native(whole, eager_only=True))
    return FrameSource(Frame(frame, lambda new: new.to_native()))


def _held_text(source: CsvFile | CsvFolder, rows: Sequence[SpanRows | ListRows]) -> TextSource:
    columns = [
        list(chain.from_iterable(part.cells_at(at) for part in rows))
        for at in range(len(source.columns))
    ]
    unmarked = next((part.unmarked for part in rows if isinstance(part, ListRows)), None)
    return TextSource(ListRows(source.columns, columns, unmarked), head_of(source))


def is_small(source: Source) -> bool:
    """Whether a file is small enough to be held in memory."""
    if isinstance(source, CsvFile):
        return source.path.stat().st_size <= SMALL
    if isinstance(source, CsvFolder):
        return sum(file.path.stat().st_size for file in source.files) <= SMALL
    return isinstance(source, ParquetFiles) and source.length <= FEW


def head_of(source: Source) -> CsvTable:
    """How a table is written as CSV: as it came, where it was text.

    What is left of a file in Windows-1252 could be taken for UTF-8, so it is written as UTF-8.
    """
    names = tuple(str(name) for name in source.columns)
    if isinstance(source, TextSource):
        return source.head
    if not isinstance(source, CsvFile | CsvFolder):
        return CsvTable(names, [])
    encoding, header = source.encoding, source.header
    encoding = Encoding("utf-8") if encoding.name == "cp1252" else encoding
    return CsvTable(names, [], header.delimiter, header.newline, encoding.name, encoding.bom)


def open_source(source: Any, options: TableOptions) -> Source:
    """What holds a table, from what the steward gave."""
    if not isinstance(source, str | os.PathLike):
        _refuse_file_options(options, ())
        return open_columns(source) or LineSource(open_line(source))
    path = Path(source)
    refuse_special(path)
    kind = format_of(path)
    if path.is_dir():
        _refuse_file_options(options, ())
        return _open_folder(path)
    if kind is Format.PARQUET:
        _refuse_file_options(options, ())
        return open_parquet(path)
    lines = Lines(options.header_row, options.last_row, tuple(options.leave_out))
    if kind is Format.TEXT:
        _refuse_file_options(options, set(FILE_OPTIONS) - {"sheet"})
        return CsvFile(path, lines, options.thousands, options.decimal)
    if kind is Format.EXCEL:
        _refuse_file_options(options, {"sheet", "header_row", "last_row", "leave_out"})
        found = TextSource.of(read_file(path, lines, options.sheet))
        return replace(found, name=f"`{path}`", file=str(path))
    raise wrong_ending(path, *Format)


def open_columns(source: Any) -> Source | None:
    """What holds a table with columns, and is no path; None for anything else."""
    if isinstance(source, CsvTable):
        return TextSource.of(source)
    duckdb = sys.modules.get("duckdb")  # who has a relation has loaded it
    if duckdb is not None and isinstance(source, duckdb.DuckDBPyRelation):
        table = few_rows(source)
        return Query(source) if table is None else FrameSource(duckdb_frame(source, table))
    frame = open_spark(source) if is_spark(source) else open_frame(source)
    return None if frame is None else FrameSource(frame)


def _open_folder(path: Path) -> Source:
    files = sorted(file for file in path.iterdir() if not file.name.startswith((".", "_")))
    if files and all(format_of(file) is Format.TEXT for file in files):
        return CsvFolder(path, files)
    return open_parquet(path)


def _refuse_file_options(options: TableOptions, taken: Collection[str]) -> None:
    """Raise for what is said of a file of another kind."""
    odd = next((name for name in options.file_options if name not in taken), None)
    if odd is None:
        return
    kinds = {"sheet": "Excel workbooks", "thousands": "CSV files", "decimal": "CSV files"}
    raise HoldfastError(f"`{odd}` is for {kinds.get(odd, 'CSV files and Excel workbooks')}.")
