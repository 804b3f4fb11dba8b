"""The table of a bundle in Parquet: written, and read in batches, none of which is larger than it
should be."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from os import fstat
from pathlib import Path
from typing import IO, Any

from holdfast.errors import HoldfastError, needed
from holdfast.release.csv_files import texts_of
from holdfast.release.record import BATCH_BYTES, BATCH_ROWS, PARQUET_RATIO
from holdfast.release.release import Release, RowBatch
from holdfast.tables.arrow_files import ParquetGroups, rows_in_group
from holdfast.tables.cell_text import Texts

with needed("a table in Parquet needs pyarrow", "parquet"):
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.parquet import ParquetFile

NOTES = {b"ARROW:schema", b"PARQUET:field_id"}
"""Metadata that pyarrow writes; there is no other."""


class ParquetTable:
    """The table as a Parquet file, whose groups of rows are cut by row number."""

    def __init__(
        self, place: Path, header: Sequence[str], release: Release, stack: ExitStack
    ) -> None:
        self._place, self._header, self._release, self._stack = place, header, release, stack
        self._types = list[Any]()
        self._file: ParquetGroups | None = None

    def write(self, batch: RowBatch) -> None:
        """Write the next rows."""
        release = self._release
        cells = [batch.cells[name] for name in release.published]
        self._types = self._types or list(map(self._type, release.published, cells))
        columns = list(map(_as_arrow, cells, self._types))
        for column in release.columns:
            counts = batch.counts[column.name]
            columns.append(pa.array(release.shown(counts), mask=counts < 0))
        table = pa.Table.from_arrays(columns, names=self._header)
        if self._file is None:
            groups = ParquetGroups(self._place, table.schema, rows_in_group(len(self._header)))
            self._file = self._stack.enter_context(groups)
        self._file.write(table)

    def _type(self, name: str, cells: Any) -> Any:
        """The type of a column: its own, or what all of a list of Python objects can be."""
        if isinstance(cells, Texts) or (isinstance(cells, list) and set(map(type, cells)) <= {str}):
            return pa.string()
        if not isinstance(cells, list):
            return cells.type
        try:
            return pa.array(self._release.cells[name]).type
        except (pa.ArrowException, OverflowError):
            return pa.string()


def _as_arrow(cells: Any, kind: Any) -> Any:
    if not isinstance(cells, list | Texts):
        return cells
    return pa.array(texts_of(cells).to_pylist() if kind == pa.string() else cells, kind)


def read_batches(
    file: IO[bytes], name: str, names: Sequence[str], rows: int
) -> Iterator[list[Any]]:
    """The columns of a file, which must have these names and so many rows, batch after batch.

    A text that is stored once may be repeated in every row, so texts are read as dictionaries and
    counted before they are spread: in each group of rows anew, as the reader makes one dictionary
    of all that it has read.
    """
    try:
        source = ParquetFile(file)
        _check(source, name, names, rows, fstat(file.fileno()).st_size)
        kinds = (pa.string(), pa.binary())
        texts = [field.name for field in source.schema_arrow if field.type in kinds]
        source = ParquetFile(file, read_dictionary=texts)
        for group in range(source.num_row_groups):
            for batch in source.iter_batches(BATCH_ROWS, row_groups=[group]):
                yield [_plain(column, name) for column in batch.columns]
    except pa.ArrowException:
        raise HoldfastError(f"`{name}` cannot be read as Parquet.") from None


def _check(source: Any, name: str, names: Sequence[str], rows: int, size: int) -> None:
    metadata = source.metadata
    if metadata.num_rows != rows or source.schema_arrow.names != list(names):
        raise HoldfastError(f"`{name}` is not the table that release.json speaks of.")
    fields = [field.metadata or {} for field in source.schema_arrow]
    notes = {*(source.schema_arrow.metadata or ()), *(metadata.metadata or ())}
    if notes.union(*fields) - NOTES or not metadata.created_by.startswith("parquet-cpp-arrow "):
        raise HoldfastError(f"`{name}` holds notes, which are no part of a release.")
    sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    whole, left = divmod(rows, rows_in_group(len(names)))
    if sizes != [rows_in_group(len(names))] * whole + [left] * (left > 0):
        raise HoldfastError(f"`{name}` is not cut into groups of rows as a release is.")
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            stored = chunk.total_compressed_size
            most = min(PARQUET_RATIO * stored, BATCH_BYTES)
            if not 0 <= stored <= size or chunk.total_uncompressed_size > most:
                raise _too_much(name)
            if chunk.is_stats_set or chunk.has_column_index:  # which nobody has compared
                raise HoldfastError(f"`{name}` has statistics beside its rows.")
    if any(map(pa.types.is_nested, source.schema_arrow.types)):  # whose cells may take any room
        raise HoldfastError(f"`{name}` has cells that hold several values.")


def _plain(column: Any, name: str) -> Any:
    if not isinstance(column, pa.DictionaryArray):
        return column
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    if (pc.sum(lengths.cast(pa.int64())).as_py() or 0) > BATCH_BYTES:
        raise _too_much(name)
    return column.dictionary_decode()


def _too_much(name: str) -> HoldfastError:
    return HoldfastError(f"`{name}` speaks of more data than its rows can hold.")
