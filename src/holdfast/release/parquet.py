"""The table of a bundle in Parquet: read in batches, none of which is larger than it should be."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, needed
from holdfast.release.record import BATCH_BYTES, BATCH_ROWS, PARQUET_RATIO
from holdfast.tables.arrow_files import rows_in_group

NOTES = {b"ARROW:schema", b"PARQUET:field_id"}
"""Metadata that pyarrow writes; there is no other."""


def read_batches(path: Path, names: Sequence[str], rows: int) -> Iterator[list[Any]]:
    """The columns of the file, which must have these names and so many rows, batch after batch.

    A text that is stored once may be repeated in every row, so texts are read as dictionaries and
    counted before they are spread: in each group of rows anew, as the reader makes one dictionary
    of all that it has read.
    """
    with needed("a table in Parquet needs pyarrow", "parquet"):
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    try:
        source = ParquetFile(path)
        _check(source, names, rows, path)
        kinds = (pa.string(), pa.binary())
        texts = [field.name for field in source.schema_arrow if field.type in kinds]
        source = ParquetFile(path, read_dictionary=texts)
        for group in range(source.num_row_groups):
            for batch in source.iter_batches(BATCH_ROWS, row_groups=[group]):
                yield [_plain(column) for column in batch.columns]
    except pa.ArrowException:
        raise HoldfastError(f"`{path.name}` cannot be read as Parquet.") from None


def _check(source: Any, names: Sequence[str], rows: int, path: Path) -> None:
    import pyarrow as pa

    metadata, size = source.metadata, path.stat().st_size
    if metadata.num_rows != rows or source.schema_arrow.names != list(names):
        raise HoldfastError(f"`{path.name}` is not the table that release.json speaks of.")
    fields = [field.metadata or {} for field in source.schema_arrow]
    notes = {*(source.schema_arrow.metadata or ()), *(metadata.metadata or ())}
    if notes.union(*fields) - NOTES or not metadata.created_by.startswith("parquet-cpp-arrow "):
        raise HoldfastError(f"`{path.name}` holds notes, which are no part of a release.")
    sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    whole, left = divmod(rows, rows_in_group(len(names)))
    if sizes != [rows_in_group(len(names))] * whole + [left] * (left > 0):
        raise HoldfastError(f"`{path.name}` is not cut into groups of rows as a release is.")
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            stored = chunk.total_compressed_size
            most = min(PARQUET_RATIO * stored, BATCH_BYTES)
            if not 0 <= stored <= size or chunk.total_uncompressed_size > most:
                raise _too_much(path.name)
    if any(map(pa.types.is_nested, source.schema_arrow.types)):  # whose cells may take any room
        raise HoldfastError(f"`{path.name}` has cells that hold several values.")


def _plain(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, pa.DictionaryArray):
        return column
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    if (pc.sum(lengths.cast(pa.int64())).as_py() or 0) > BATCH_BYTES:
        raise _too_much("table.parquet")
    return column.dictionary_decode()


def _too_much(name: str) -> HoldfastError:
    return HoldfastError(f"`{name}` speaks of more data than its rows can hold.")
