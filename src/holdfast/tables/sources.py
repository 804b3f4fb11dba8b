"""Where tables come from: arrays and frames, text tables, files, folders, DuckDB queries."""

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.arrow_files import open_parquet, open_query
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_file import CsvFile, CsvFolder
from holdfast.tables.csv_part import Lines
from holdfast.tables.formats import Format, format_of, refuse_special, unreadable, wrong_ending
from holdfast.tables.frames import open_frame, open_line
from holdfast.tables.options import FILE_OPTIONS, TableOptions
from holdfast.tables.source import Source
from holdfast.tables.spark import SparkTable, is_spark

_TAKEN: dict[Format | None, Collection[str]] = {
    Format.TEXT: set(FILE_OPTIONS) - {"sheet"},
    Format.EXCEL: {"sheet", "header_row", "last_row", "leave_out"},
}
"""Which of the options that say where in its file a table lies go with a format."""


def open_source(source: Any, options: TableOptions) -> Source:
    """What holds a table, from what the steward gave."""
    if not isinstance(source, str | os.PathLike):
        _refuse_file_options(options, ())
        table = open_columns(source)
        return open_line(source) if table is None else table
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


def open_columns(source: Any) -> Source | None:
    """What holds a table with columns, and is no path; None for anything else."""
    if isinstance(source, CsvTable):
        return source
    duckdb = sys.modules.get("duckdb")  # who has a relation has loaded it
    if duckdb is not None and isinstance(source, duckdb.DuckDBPyRelation):
        return open_query(source)
    return SparkTable(source) if is_spark(source) else open_frame(source)


def _open_folder(path: Path) -> Source:
    files = sorted(file for file in path.iterdir() if not file.name.startswith((".", "_")))
    if files and all(format_of(file) is Format.TEXT for file in files):
        return CsvFolder(path, files)
    return open_parquet(path)


def _open_workbook(path: Path, lines: Lines, sheet: str | None) -> CsvTable:
    from holdfast.tables.excel import parse_excel

    try:
        return CsvTable(parse_excel(path.read_bytes(), sheet, lines), file=str(path))
    except OSError as error:
        raise unreadable(path, error.strerror) from None
    except HoldfastError as error:
        raise HoldfastError(f"`{path}`: {error}") from None


def _refuse_file_options(options: TableOptions, taken: Collection[str]) -> None:
    """Raise for what is said of a file of another kind."""
    odd = next((name for name in options.file_options if name not in taken), None)
    if odd is None:
        return
    kinds = {"sheet": "Excel workbooks", "thousands": "CSV files", "decimal": "CSV files"}
    raise HoldfastError(f"`{odd}` is for {kinds.get(odd, 'CSV files and Excel workbooks')}.")
