"""Whole tables in files: read into memory, written at once."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import cell_text, number_or_text
from holdfast.tables.csv import CsvTable, parse_csv
from holdfast.tables.csv_part import ALL, Lines, kept_lines
from holdfast.tables.formats import STREAMED, Format, endings, format_of, refuse_special, unreadable
from holdfast.tables.frames import FrameRows, as_list, check_flat, no_pyarrow, open_frame
from holdfast.tables.parquet_groups import ParquetGroups, rows_in_group
from holdfast.tables.text_rows import TextRows


def read_file(path: str | os.PathLike[str], lines: Lines = ALL, sheet: str | None = None) -> Any:
    """The table in a file: a `CsvTable`, or from .parquet and .pq a pyarrow Table."""
    path = Path(path)
    kind = format_of(path)
    if kind is Format.EXCEL:
        from holdfast.tables.excel import parse_excel

        return _parsed(path, lambda data: parse_excel(data, sheet, lines))
    if kind is Format.PARQUET:
        return _parsed(path, _parse_parquet)
    if kind is Format.TEXT:
        return _parsed(path, parse_csv if lines == ALL else lambda data: _part(data, lines))
    raise wrong_ending(path, *Format)


def _part(data: bytes, lines: Lines) -> CsvTable:
    return parse_csv(data, lambda text: kept_lines(text, lines))


def _parsed(path: Path, parse: Callable[[bytes], Any]) -> Any:
    refuse_special(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error.strerror) from None
    except ValueError:
        raise unreadable(path, "not a path") from None
    try:
        return parse(data)
    except HoldfastError as error:
        raise HoldfastError(f"`{path}`: {error}") from None


def _parse_parquet(data: bytes) -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise no_pyarrow("Parquet files need") from None
    try:
        return parquet.ParquetFile(io.BytesIO(data)).read()
    except Exception:
        raise HoldfastError(
            "the file cannot be read as Parquet. Hint: is it whole, and is the suffix right?"
        ) from None


def write_file(table: Any, path: str | os.PathLike[str]) -> None:
    """Writes a `CsvTable`, a data frame or an array, as the suffix of `path` says.

    Text columns of a `CsvTable` become integers in Parquet where nothing is lost by it.
    """
    path = Path(path)
    if format_of(path) not in STREAMED:
        raise wrong_ending(path, *STREAMED)
    found = table_of(table)
    if format_of(path) is Format.PARQUET:
        data = _parquet_bytes(found)
    else:
        data = _text_bytes(found, path.suffix.lower())
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


def wrong_ending(path: Path, *formats: Format) -> HoldfastError:
    """The error for a file that does not end like a table."""
    return HoldfastError(
        f"`{path}` must end in one of {endings(*formats)}. Hint: save the table as CSV or Parquet."
    )


def table_of(table: Any) -> CsvTable | FrameRows:
    """A text table, or a data frame of any library, with the index of a pandas frame as columns;
    of an array or a series one column."""
    import narwhals.stable.v2 as nw

    if isinstance(table, CsvTable):
        return table
    if nw.dependencies.is_pandas_like_series(table) or nw.dependencies.is_polars_series(table):
        table = table.to_frame(table.name or "count")
    frame = open_frame(table)
    if frame is not None:
        return frame.rows
    cells = as_list(table, "table")
    check_flat(cells)
    return CsvTable(("count",), TextRows([[str(cell) for cell in cells]]))


def _text_bytes(table: CsvTable | FrameRows, suffix: str) -> bytes:
    if isinstance(table, CsvTable):
        return table.to_bytes()
    for name in table.columns:
        table.refuse_unwritable(name)
    cells = [list(map(cell_text, table.cells(name))) for name in table.columns]
    names = tuple(str(name) for name in table.columns)
    return CsvTable(names, TextRows(cells), "\t" if suffix == ".tsv" else ",").to_bytes()


def _parquet_bytes(table: CsvTable | FrameRows) -> bytes:
    try:
        import pyarrow as pa
    except ImportError:
        raise no_pyarrow("Parquet files need") from None
    sink = io.BytesIO()
    try:
        if isinstance(table, CsvTable):
            columns = [
                number_or_text(cells)
                for cells in TextRows.of(table.rows, len(table.header)).columns
            ]
            rows = pa.Table.from_arrays([pa.array(cells) for cells in columns], names=table.columns)
        else:
            rows = table.data.to_arrow()
        with ParquetGroups(sink, rows.schema, rows_in_group(len(rows.columns))) as file:
            file.write(rows)
    except HoldfastError:
        raise
    except Exception:
        raise HoldfastError("`table` has a column that Parquet cannot hold.") from None
    return sink.getvalue()
