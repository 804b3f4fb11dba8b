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
from holdfast.tables.frames import FrameRows, as_list, check_flat, no_pyarrow
from holdfast.tables.parquet_groups import ParquetGroups, rows_in_group
from holdfast.tables.rows import ListRows
from holdfast.tables.source import Held
from holdfast.tables.sources import open_columns


def write_file(table: Any, path: str | os.PathLike[str]) -> None:
    """Writes a `CsvTable`, a data frame or an array, as the suffix of `path` says.

    Text columns of a `CsvTable` become integers in Parquet where nothing is lost by it.
    """
    path = Path(path)
    if format_of(path) not in STREAMED:
        raise wrong_ending(path, *STREAMED)
    held = table_of(table)
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


def table_of(table: Any) -> Held:
    """A text table, or a data frame of any library, with the index of a pandas frame as columns;
    of an array or a series one column."""
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_pandas_like_series(table) or nw.dependencies.is_polars_series(table):
        table = table.to_frame(table.name or "count")
    source = open_columns(table)
    if source is not None:
        return source.held()
    cells = as_list(table, "table")
    check_flat(cells)
    return CsvTable.of(ListRows(("count",), [[str(cell) for cell in cells]]))


def _text_bytes(table: Held, suffix: str) -> bytes:
    if isinstance(table, CsvTable):
        return table.to_bytes()
    for name in table.columns:
        table.body.refuse_unwritable(name)
    cells = [list(map(cell_text, table.body.cells(name))) for name in table.columns]
    style = CsvStyle("\t" if suffix == ".tsv" else ",")
    return CsvTable.of(ListRows(list(map(str, table.columns)), cells), style).to_bytes()


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
