"""Whole tables written to files."""

import io
import os
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import cell_text, number_or_text
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_text import CsvStyle
from holdfast.tables.formats import STREAMED, Format, format_of, wrong_ending
from holdfast.tables.frames import FrameRows, no_pyarrow
from holdfast.tables.options import TableOptions
from holdfast.tables.parquet_groups import ParquetGroups, rows_in_group
from holdfast.tables.source import Held, ListRows
from holdfast.tables.sources import open_source


def write_file(table: Any, path: Path) -> None:
    """Writes a `CsvTable` or a data frame as the suffix of `path` says.

    Text columns of a `CsvTable` become integers in Parquet where nothing is lost by it.
    """
    if format_of(path) not in STREAMED:
        raise wrong_ending(path, *STREAMED)
    held = open_source(table, TableOptions()).held()
    if format_of(path) is Format.PARQUET:
        data = _parquet_bytes(held)
    else:
        data = _text_bytes(held, path.suffix.lower())
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


def _parquet_bytes(table: Held) -> bytes:
    try:
        import pyarrow as pa
    except ImportError:
        raise no_pyarrow("Parquet files need") from None
    sink = io.BytesIO()
    try:
        if isinstance(table.body, FrameRows):
            rows = table.body.data.to_arrow()
        else:
            texts = map(table.body.cells_at, range(len(table.columns)))
            columns = [pa.array(number_or_text(cells)) for cells in texts]
            rows = pa.Table.from_arrays(columns, names=list(table.columns))
        with ParquetGroups(sink, rows.schema, rows_in_group(len(rows.columns))) as file:
            file.write(rows)
    except HoldfastError:
        raise
    except Exception:
        raise HoldfastError("`table` has a column that Parquet cannot hold.") from None
    return sink.getvalue()
