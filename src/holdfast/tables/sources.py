"""Where tables come from: arrays and frames, text tables, files, folders, DuckDB queries; messages
with the numbers that rows have in their file. Whole tables written to files."""

import itertools
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.arrow_files import open_parquet, open_query
from holdfast.tables.cell_text import cell_text
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_file import CsvFolder
from holdfast.tables.csv_text import CsvStyle
from holdfast.tables.formats import FORMATS, TEXT, UNKNOWN, format_of, wrong_ending
from holdfast.tables.frames import open_frame, open_line
from holdfast.tables.options import TableOptions
from holdfast.tables.source import Held, ListRows, Source, refuse_special
from holdfast.tables.spark import SparkTable, is_spark

_DATA_ROW = re.compile(r"\bdata row ([1-9][0-9]*)\b")
_FILE = re.compile(r"`([^`]+)`: ")


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


def as_in_file(message: str, options: TableOptions) -> str:
    """A message that begins with a file and counts rows below its header, with the numbers that
    rows have in the file; as it is where they have none there, as in Parquet."""
    named = _FILE.match(message)
    wanted = set(map(int, _DATA_ROW.findall(message)))
    if named is None or not wanted:
        return message
    path = Path(named[1])
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
