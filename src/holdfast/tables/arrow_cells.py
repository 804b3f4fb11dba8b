"""Arrow columns: their cells as Python objects, as numbers of labels, as keys; tables without what
is written beside the data, which may tell the true counts."""

from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.cell_text import Texts
from holdfast.tables.csv_text import LONGEST_CELL
from holdfast.tables.partition import Coded
from holdfast.tables.spans import Keys, keys_between, text_keys


def without_dictionary(column: Any) -> Any:
    """An Arrow column with its values in place of numbers of them."""
    import pyarrow as pa

    labels = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if labels else column


def without_notes(table: Any) -> Any:
    """The same columns; the metadata of the schema and of its fields is gone.

    >>> import pyarrow as pa
    >>> field = pa.field("n", pa.int64(), metadata={"sum": "4"})
    >>> table = pa.table([[1, 3]], schema=pa.schema([field], metadata={"total": "4"}))
    >>> schema = without_notes(table).schema
    >>> schema.metadata, schema.field("n").metadata
    (None, None)
    """
    import pyarrow as pa

    schema = pa.schema([field.remove_metadata() for field in table.schema])
    return pa.Table.from_arrays(table.columns, schema=schema)


def plain(table: Any) -> Any:
    """For a file: without notes; extension types as what they hold, because their parameters are
    notes as well; dictionaries as their values, because the order of those may be that of the
    counts; every NaN with the same bits."""
    import pyarrow as pa

    columns = [one_nan(without_dictionary(_stored(column))) for column in table.columns]
    fields = [
        pa.field(field.name, column.type, field.nullable)
        for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _stored(column: Any) -> Any:
    import pyarrow as pa

    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    kind = column.type.storage_type
    return pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind)


def arrow_codes(series: Any) -> Coded | None:
    """A narwhals series as numbers of cells and the different cells, through an Arrow dictionary;
    None where it is of another kind than text, whole numbers or truth values, or has no Arrow."""
    import narwhals.stable.v2 as nw

    labels = (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
    if not (series.dtype.is_integer() or isinstance(series.dtype, labels)):
        return None
    try:
        column = series.to_arrow()
        codes, values = _dictionary(column)
    except Exception:
        return None
    cells = values.to_pylist()
    gaps = codes < 0
    if gaps.any():
        codes = np.where(gaps, len(cells), codes)
        cells.append(None)
    return codes, cells


def _dictionary(column: Any) -> tuple[Integers, Any]:
    """The place of each cell among the values, below 0 where there is none."""
    encoded = without_dictionary(column).dictionary_encode()  # one dictionary for all chunks
    chunks = _chunks(encoded)
    codes = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
    values = chunks[0].dictionary if chunks else without_dictionary(column).combine_chunks()
    return np.concatenate([np.empty(0, np.int64), *codes]), values


def _chunks(column: Any) -> list[Any]:
    return list(column.chunks) if hasattr(column, "chunks") else [column]


def one_nan(column: Any) -> Any:
    """A column in which every NaN has the same bits, since others can tell counts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), column)


def own_cells(column: Any) -> Any:
    """A column as its rows make it, in memory of its own: nothing is under gaps or beyond its
    ends, every NaN has the same bits, and a dictionary has the labels that it has, in the order in
    which they come, whatever the order in which they were kept.

    >>> import pyarrow as pa
    >>> kept = pa.DictionaryArray.from_arrays(pa.array([2, None, 0], pa.int32()), ["a", "b", "c"])
    >>> own_cells(pa.chunked_array([kept])).chunk(0).dictionary.to_pylist()
    ['c', 'a']
    """
    import pyarrow as pa

    plain, kind = one_nan(without_dictionary(column)), column.type
    own = plain.take(pa.array(np.arange(len(plain))))  # leaves zeros in gaps
    return own.dictionary_encode() if pa.types.is_dictionary(kind) else own


_NONE = np.uint64(0x9E3779B97F4A7C15)  # the key of a label that is missing


def arrow_keys(column: Any) -> Keys:
    """A key for each cell of an Arrow column; a `TypeError` where they cannot be labels."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        parts = [arrow_keys(chunk) for chunk in column.chunks]
        return np.concatenate([np.empty(0, np.uint64), *parts])
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_nested(column.type):
        raise TypeError("lists are no labels")
    if pa.types.is_integer(column.type):
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        data = np.ascontiguousarray(values.astype(np.int64, copy=False)).view(np.uint8)
        ends = np.arange(8, len(data) + 8, 8)
        keys = keys_between(data, ends - 8, ends)
    else:
        keys = _text_keys(column)
    if column.null_count:
        keys[column.is_null().to_numpy(zero_copy_only=False)] = _NONE
    return keys


def _text_keys(column: Any) -> Keys:
    import pyarrow as pa

    try:
        cells = Texts.of_arrow(column.cast(pa.large_string()))
    except pa.ArrowException:  # bytes that are not text, and kinds that have none
        cells = None
    if cells is None:
        return text_keys([repr(cell) for cell in column.to_pylist()])
    return keys_between(cells.data, cells.starts, cells.stops)


def is_writable(column: Any) -> bool:
    """Whether every cell of an Arrow column is text that can be written in a file, or a whole
    number, by a glance."""
    import pyarrow as pa

    for chunk in _chunks(column):
        values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        texts = Texts.of_arrow(values)
        if texts is None:
            if not pa.types.is_integer(values.type):
                return False
        elif len(texts):
            data = texts.data[texts.starts[0] : texts.stops[-1]]
            if not data.all() or (texts.stops - texts.starts).max() > LONGEST_CELL:
                return False
    return True
