"""Labels in Arrow batches: hashes of their cells, and columns that are read as dictionaries."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NONE = np.uint64(0x9E3779B97F4A7C15)  # the hash of a label that is missing


def label_keys(column: Any) -> NDArray[np.uint64] | None:
    """The hashes of the cells; None where they cannot be labels, such as lists."""
    import pyarrow as pa

    from holdfast.former.tables.stream.label_kernel import keys_between

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_nested(column.type):
        return None
    keys = np.empty(len(column), dtype=np.uint64)
    keys_between(*(_whole(column) if pa.types.is_integer(column.type) else _texts(column)), keys)
    if column.null_count:
        keys[column.is_null().to_numpy(zero_copy_only=False)] = _NONE
    return keys


def _whole(column: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of whole numbers, eight each, and where they end."""
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    data = np.ascontiguousarray(values.astype(np.int64, copy=False)).view(np.uint8)
    return data, np.arange(0, len(data) + 1, 8)


def _texts(column: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all cells, and where each ends."""
    cells = _as_bytes(column)
    _, offsets, data = cells.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
    return np.frombuffer(data or b"", dtype=np.uint8), ends


def _as_bytes(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return column.cast(pa.large_string()).cast(pa.large_binary())
    except pa.ArrowException:  # bytes that are not text, and kinds that have none
        cells = (None if cell is None else repr(cell).encode() for cell in column.to_pylist())
        return pa.array(cells, pa.large_binary())


def python_cells(column: Any) -> list[Any]:
    """What `to_pylist` gives, sooner: most columns are numbers or texts without gaps.

    >>> import pyarrow as pa
    >>> python_cells(pa.array([1, 2])), python_cells(pa.array(["a", None]))
    ([1, 2], ['a', None])
    """
    import pyarrow.types as kinds

    if kinds.is_dictionary(column.type):
        column = column.dictionary_decode()
    quick = (kinds.is_integer, kinds.is_float32, kinds.is_float64, kinds.is_string)
    if column.null_count or not any(is_kind(column.type) for is_kind in quick):
        return list(column.to_pylist())
    return list(column.to_numpy(zero_copy_only=False).tolist())


def dictionary_columns(metadata: Any, fields: Iterable[Any]) -> list[str]:
    """Those columns of texts that a Parquet file has as dictionaries alone: less than the length of
    a text is kept for each row."""
    import pyarrow as pa

    texts = {field.name for field in fields if field.type == pa.string()}
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    columns = range(metadata.num_columns if groups else 0)
    places = {groups[0].column(at).path_in_schema: at for at in columns}
    return [
        name
        for name in places.keys() & texts
        if all(_is_short(group.column(places[name])) for group in groups)
    ]


def _is_short(chunk: Any) -> bool:
    return bool(chunk.total_uncompressed_size < 4 * chunk.num_values)
