"""Where tables come from: arrays and frames, text tables, files, folders, DuckDB queries; messages
with the numbers that rows have in their file. Whole tables written to files.

The kinds of files that hold tables are told by how their names end: a class for each opens them,
and knows the numbers that rows have in them, as an editor or Excel shows them.
"""

import itertools
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.arrow_files import open_parquet, open_query
from holdfast.tables.cell_text import cell_text
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_file import CsvFile, CsvFolder
from holdfast.tables.csv_part import Record, find_lines, records_of, row_numbers
from holdfast.tables.csv_text import CsvStyle
from holdfast.tables.excel import numbered_rows, sheet_names, sheet_rows
from holdfast.tables.frames import open_frame, open_line
from holdfast.tables.options import TableOptions
from holdfast.tables.source import Held, ListRows, Source, refuse_special, unreadable
from holdfast.tables.spark import SparkTable, is_spark

_DATA_ROW = re.compile(r"\bdata row ([1-9][0-9]*)\b")
_FILE = re.compile(r"`([^`]+)`: ")


class Format:
    """Files of one kind; those of this class are of no kind that is known."""

    title = ""
    """What an error calls them."""
    endings: tuple[str, ...] = ()
    """How their names end."""
    options: tuple[str, ...] = ()
    """Which of `FILE_OPTIONS` go with them."""
    table_format = "csv"
    """How the table of a release of such a file is written, where nothing else is asked for."""
    from_excel = False
    """Whether a release of such a file is meant to be read by Excel."""

    def open(self, path: Path, options: TableOptions) -> Source:
        """What holds the table in a file."""
        raise NotImplementedError

    def records(self, path: Path, options: TableOptions) -> list[Record]:
        """What stands in a file, whatever that is; none where rows have no numbers in it."""
        return []

    def row_numbers(self, path: Path, options: TableOptions) -> Iterator[int]:
        """The number that each row of the table has in its file; none where they have none."""
        return iter(())

    def sheets(self, path: Path) -> tuple[str, ...]:
        """The sheets of a file that hold something, where it has sheets."""
        return ()

    def part(self, records: Sequence[Record]) -> dict[str, int]:
        """Which of the records of a file seem to be its table: `header_row` and `last_row`, where
        there is more in it."""
        return {name: number for name, number in vars(find_lines(records)).items() if number}


class TextFiles(Format):
    """Text with delimiters."""

    title = "CSV files"
    endings = (".csv", ".tsv", ".txt")
    options = ("header_row", "last_row", "leave_out", "thousands", "decimal")

    def open(self, path: Path, options: TableOptions) -> Source:
        """A source that reads the file as often as asked."""
        return CsvFile(path, options.lines, options.thousands, options.decimal)

    def records(self, path: Path, options: TableOptions) -> list[Record]:
        """Its records, with the first and the last line of each."""
        return records_of(path.read_bytes())

    def row_numbers(self, path: Path, options: TableOptions) -> Iterator[int]:
        """The lines in which rows begin."""
        encoding = CsvFile(path, options.lines).encoding
        with path.open(encoding=encoding.name, errors="replace", newline="") as text:
            yield from row_numbers(text, options.lines)


class ParquetFormat(Format):
    """Parquet files, in which rows have no numbers."""

    title = "Parquet files"
    endings = (".parquet", ".pq")
    table_format = "parquet"

    def open(self, path: Path, options: TableOptions) -> Source:
        """A source that reads the file as often as asked."""
        return open_parquet(path)


class Workbooks(Format):
    """Excel workbooks."""

    title = "Excel workbooks"
    endings = (".xlsx", ".xlsm")
    options = ("sheet", "header_row", "last_row", "leave_out")
    from_excel = True

    def open(self, path: Path, options: TableOptions) -> Source:
        """The table in a sheet, with its cells as text."""
        try:
            header, rows = numbered_rows(path.read_bytes(), options.sheet, options.lines)
        except OSError as error:
            raise unreadable(path, error.strerror) from None
        except HoldfastError as error:
            raise HoldfastError(f"`{path}`: {error}") from None
        columns = [[cells[at] for _, cells in rows] for at in range(len(header))]
        return CsvTable(ListRows(header, columns), file=str(path))

    def records(self, path: Path, options: TableOptions) -> list[Record]:
        """The rows of a sheet."""
        rows = enumerate(sheet_rows(path.read_bytes(), options.sheet), 1)
        return [(number, number, cells) for number, cells in rows]

    def row_numbers(self, path: Path, options: TableOptions) -> Iterator[int]:
        """The numbers that Excel shows."""
        _, rows = numbered_rows(path.read_bytes(), options.sheet, options.lines)
        return (number for number, _ in rows)

    sheets = staticmethod(sheet_names)

    def part(self, records: Sequence[Record]) -> dict[str, int]:
        """Likewise; lines of a single cell above the table are passed over anyway."""
        filled = itertools.dropwhile(lambda record: sum(map(bool, record[2])) < 2, records)
        return super().part(list(filled))


TEXT, UNKNOWN = TextFiles(), Format()
FORMATS: list[Format] = [TEXT, ParquetFormat(), Workbooks()]
"""A new kind of file is a class above, and stands here."""


def format_of(path: Any) -> Format:
    """The format of a file; `UNKNOWN` where it does not end like a table, or is no path.

    >>> format_of("counts.CSV").title, format_of("Kent") is UNKNOWN
    ('CSV files', True)
    """
    suffix = Path(path).suffix.lower() if isinstance(path, str | os.PathLike) else ""
    return next((each for each in FORMATS if suffix in each.endings), UNKNOWN)


def wrong_ending(path: Path, *formats: Format) -> HoldfastError:
    """The error for a file that does not end like a table."""
    endings = ", ".join(suffix for each in formats for suffix in each.endings)
    return HoldfastError(f"`{path}` must end in one of {endings}. Hint: save the table as CSV.")


def open_source(source: Any, options: TableOptions) -> Source:
    """What holds a table, from what the steward gave."""
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if path is not None:
        refuse_special(path)
    folder = path is not None and path.is_dir()
    kind = UNKNOWN if folder else format_of(path)
    if kind is UNKNOWN and path is not None and not folder:
        raise wrong_ending(path, *FORMATS)
    for name in options.file_options:
        if name not in kind.options:
            kinds = " and ".join(each.title for each in FORMATS if name in each.options)
            raise HoldfastError(f"`{name}` is for {kinds}.")
    if path is None:
        return _open_object(source)
    return _open_folder(path) if folder else kind.open(path, options)


def _open_object(source: Any) -> Source:
    if isinstance(source, CsvTable):
        return source
    duckdb = sys.modules.get("duckdb")  # who has a relation has loaded it
    if duckdb is not None and isinstance(source, duckdb.DuckDBPyRelation):
        return open_query(source)
    if is_spark(source):
        return SparkTable(source)
    frame = open_frame(source)
    return open_line(source) if frame is None else frame


def _open_folder(path: Path) -> Source:
    files = sorted(file for file in path.iterdir() if not file.name.startswith((".", "_")))
    if files and all(format_of(file) is TEXT for file in files):
        return CsvFolder(path, files)
    return open_parquet(path)


def as_in_file(message: str, options: TableOptions, source: Any) -> str:
    """A message that counts rows below the header of a file, with the numbers that rows have in the
    file: the one that it begins with, or the source of all rows in their order. As it is where they
    have none there, as in Parquet."""
    named = _FILE.match(message)
    wanted = set(map(int, _DATA_ROW.findall(message)))
    whole = options.subset is None and options.order_by is None
    if not wanted or not (named or (whole and isinstance(source, str | os.PathLike))):
        return message
    path = Path(named[1] if named else source)
    with suppress(HoldfastError, OSError, ValueError):
        rows = format_of(path).row_numbers(path, options)
        for row, number in enumerate(itertools.islice(rows, max(wanted)), 1):
            if row in wanted:
                message = re.sub(rf"\bdata row {row}\b", f"row {number} of the file", message)
    return message


def write_file(table: Any, path: Path) -> None:
    """Writes a `CsvTable` or a data frame as text."""
    if format_of(path) is not TEXT:
        raise wrong_ending(path, TEXT)
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
