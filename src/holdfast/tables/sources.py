"""Where tables come from: arrays and frames, text tables, files, folders, DuckDB queries; and the
numbers that rows have in their file, as an editor or Excel shows them. Whole tables written to
files."""

import itertools
import os
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.arrow_files import open_parquet, open_query
from holdfast.tables.cell_text import cell_text
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_file import CsvFile, CsvFolder
from holdfast.tables.csv_part import Lines, Record, find_lines, records_of, row_numbers
from holdfast.tables.csv_text import CsvStyle, find_encoding
from holdfast.tables.formats import Format, format_of, refuse_special, unreadable, wrong_ending
from holdfast.tables.frames import open_frame, open_line
from holdfast.tables.options import FILE_OPTIONS, TableOptions
from holdfast.tables.source import Held, ListRows, Source
from holdfast.tables.spark import SparkTable, is_spark

_DATA_ROW = re.compile(r"\bdata row ([1-9][0-9]*)\b")
_FILE = re.compile(r"`([^`]+)`: ")
_TAKEN: dict[Format | None, Collection[str]] = {
    Format.TEXT: set(FILE_OPTIONS) - {"sheet"},
    Format.EXCEL: {"sheet", "header_row", "last_row", "leave_out"},
}
"""Which of the options that say where in its file a table lies go with a format."""


def open_source(source: Any, options: TableOptions) -> Source:
    """What holds a table, from what the steward gave."""
    if not isinstance(source, str | os.PathLike):
        _refuse_file_options(options, ())
        if isinstance(source, CsvTable):
            return source
        duckdb = sys.modules.get("duckdb")  # who has a relation has loaded it
        if duckdb is not None and isinstance(source, duckdb.DuckDBPyRelation):
            return open_query(source)
        if is_spark(source):
            return SparkTable(source)
        frame = open_frame(source)
        return open_line(source) if frame is None else frame
    path = Path(source)
    refuse_special(path)
    kind = None if path.is_dir() else format_of(path)
    if kind is None and not path.is_dir():
        raise wrong_ending(path, *Format)
    _refuse_file_options(options, _TAKEN.get(kind, ()))
    if kind is None:
        return _open_folder(path)
    if kind is Format.PARQUET:
        return open_parquet(path)
    if kind is Format.TEXT:
        return CsvFile(path, options.lines, options.thousands, options.decimal)
    return _open_workbook(path, options.lines, options.sheet)


def _open_folder(path: Path) -> Source:
    files = sorted(file for file in path.iterdir() if not file.name.startswith((".", "_")))
    if files and all(format_of(file) is Format.TEXT for file in files):
        return CsvFolder(path, files)
    return open_parquet(path)


def _open_workbook(path: Path, lines: Lines, sheet: str | None) -> CsvTable:
    from holdfast.tables.excel import numbered_rows

    try:
        header, rows = numbered_rows(path.read_bytes(), sheet, lines)
    except OSError as error:
        raise unreadable(path, error.strerror) from None
    except HoldfastError as error:
        raise HoldfastError(f"`{path}`: {error}") from None
    columns = [[cells[at] for _, cells in rows] for at in range(len(header))]
    return CsvTable(ListRows(header, columns), file=str(path))


def _refuse_file_options(options: TableOptions, taken: Collection[str]) -> None:
    """Raise for what is said of a file of another kind."""
    odd = next((name for name in options.file_options if name not in taken), None)
    if odd is None:
        return
    kinds = {"sheet": "Excel workbooks", "thousands": "CSV files", "decimal": "CSV files"}
    raise HoldfastError(f"`{odd}` is for {kinds.get(odd, 'CSV files and Excel workbooks')}.")


def as_in_file(message: str, lines: Lines, sheet: str | None = None) -> str:
    """A message that begins with a file and counts rows below its header, with the numbers that
    rows have in the file; as it is where they have none there, as in Parquet."""
    named = _FILE.match(message)
    wanted = set(map(int, _DATA_ROW.findall(message)))
    if named is None or not wanted:
        return message
    with suppress(HoldfastError, OSError, ValueError):
        rows = itertools.islice(row_numbers_in(Path(named[1]), lines, sheet), max(wanted))
        for row, number in enumerate(rows, 1):
            if row in wanted:
                message = re.sub(rf"\bdata row {row}\b", f"row {number} of the file", message)
    return message


def row_numbers_in(path: Path, lines: Lines, sheet: str | None = None) -> Iterator[int]:
    """The number of each row of a table in its file; none for Parquet."""
    kind = format_of(path)
    if kind is Format.EXCEL:
        from holdfast.tables.excel import numbered_rows

        _, rows = numbered_rows(path.read_bytes(), sheet, lines)
        yield from (number for number, _ in rows)
    elif kind is Format.TEXT:
        encoding = find_encoding(lambda: _pieces(path))
        with path.open(encoding=encoding.name, newline="") as text:
            yield from row_numbers(text, lines)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            yield piece


def file_records(path: Path, sheet: str | None = None) -> list[Record]:
    """The records of a file as they lie in it, whatever they hold; none for Parquet."""
    kind = format_of(path)
    if kind is Format.EXCEL:
        from holdfast.tables.excel import sheet_rows

        rows = enumerate(sheet_rows(path.read_bytes(), sheet), 1)
        return [(number, number, cells) for number, cells in rows]
    return records_of(path.read_bytes()) if kind is Format.TEXT else []


def find_part(path: Path, sheet: str | None = None) -> dict[str, int]:
    """Which lines of a file seem to be its table: `header_row` and `last_row`, where there is
    more in it. In a workbook lines of a single cell above the table are passed over anyway."""
    records = file_records(path, sheet)
    if format_of(path) is Format.EXCEL:
        records = list(itertools.dropwhile(lambda record: sum(map(bool, record[2])) < 2, records))
    return {name: number for name, number in vars(find_lines(records)).items() if number}


def write_file(table: Any, path: Path) -> None:
    """Writes a `CsvTable` or a data frame as text."""
    if format_of(path) is not Format.TEXT:
        raise wrong_ending(path, Format.TEXT)
    data = _text_bytes(open_source(table, TableOptions()).held(), path.suffix.lower())
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise HoldfastError(f"`{path}` exists already. Hint: remove it or name another.") from None
    except OSError as error:
        raise HoldfastError(f"`{path}` cannot be written: {error.strerror}.") from None


def write_whole(path: Path, data: bytes) -> Path:
    """Write a file beside its place and rename it, so that it is there whole or not at all."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise HoldfastError(f"`{path}` cannot be written ({error.strerror}).") from None
    return path


def _text_bytes(table: Held, suffix: str) -> bytes:
    if isinstance(table, CsvTable):
        return table.to_bytes()
    for name in table.columns:
        table.body.refuse_unwritable(name)
    cells = [list(map(cell_text, table.body.cells(name))) for name in table.columns]
    style = CsvStyle("\t" if suffix == ".tsv" else ",")
    return CsvTable(ListRows(list(map(str, table.columns)), cells), style).to_bytes()
