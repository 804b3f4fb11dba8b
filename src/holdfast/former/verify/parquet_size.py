"""How much room table.parquet would take once it is read, found out in little room."""

import os
from typing import IO, Any

from holdfast.former.verify.report import Damage

ALWAYS_ALLOWED, PER_BYTE, PER_CELL = 1 << 26, 100, 256
_LARGEST_BATCH = 1 << 16


def check_size(source: Any, file: IO[bytes], name: str) -> None:
    """Raise if the table would grow beyond what is usual for its rows and its length on disk.

    64 MiB, 100 times its length and 256 bytes per cell are allowed together; 16 bytes per count. A
    text that is stored once may be repeated in every row, so texts are counted as they are read.
    """
    size, metadata = os.fstat(file.fileno()).st_size, source.metadata
    allowed = ALWAYS_ALLOWED + PER_BYTE * size + PER_CELL * metadata.num_rows * metadata.num_columns
    columns = (source.schema.column(i) for i in range(len(source.schema)))
    widths = {column.path: max(column.length or 0, 8) for column in columns}
    texts: dict[str, int] = {}
    total = 0
    for chunk, rows in _chunks(metadata):
        stored, path = chunk.total_uncompressed_size, chunk.path_in_schema
        if path == name and stored > 16 * rows + (1 << 16):
            raise _too_much()
        if not 0 <= chunk.total_compressed_size <= size or not 0 <= stored <= allowed:
            raise _too_much()
        if chunk.physical_type == "BYTE_ARRAY":
            texts[path] = max(texts.get(path, 0), stored)
        total += max(stored, chunk.num_values * widths.get(path, 8))
    if total > allowed:
        raise _too_much()
    _check_texts(file, source.metadata, texts, allowed - total)
    file.seek(0)


def _chunks(metadata: Any) -> Any:
    for group in (metadata.row_group(g) for g in range(metadata.num_row_groups)):
        for chunk in (group.column(c) for c in range(group.num_columns)):
            yield chunk, group.num_rows


def _check_texts(file: IO[bytes], metadata: Any, texts: dict[str, int], allowed: int) -> None:
    """Texts, as long as they are in all rows; no batch is larger than what is allowed."""
    import pyarrow.parquet

    values = sum(chunk.num_values for chunk, _ in _chunks(metadata))
    if values * max(texts.values(), default=0) <= allowed:
        return
    source = pyarrow.parquet.ParquetFile(file, read_dictionary=list(texts))
    for path, longest in texts.items():
        rows = max(1, min(_LARGEST_BATCH, allowed // max(longest, 1)))
        for batch in source.iter_batches(batch_size=rows, columns=[path]):
            allowed -= sum(_length(column) for column in batch.columns)
            if allowed < 0:
                raise _too_much()


def _length(column: Any) -> int:
    """The bytes of all texts in an array, nested or not, each as often as it occurs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.DictionaryArray):
        lengths = pc.binary_length(column.dictionary).take(column.indices)
        return pc.sum(lengths.cast(pa.int64())).as_py() or 0
    if isinstance(column, pa.StructArray):
        return sum(_length(part) for part in column.flatten())
    if isinstance(column, pa.MapArray):
        return _length(column.keys) + _length(column.items)
    if isinstance(column, pa.lib.BaseListArray):
        return _length(column.flatten())
    return int(column.nbytes)


def _too_much() -> Damage:
    return Damage("table.parquet speaks of more data than its rows can hold.")
