"""Arrow schemas without what is written beside the data: notes that may tell the true counts."""

from typing import Any


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
    counts."""
    import pyarrow as pa

    columns = list(map(_plain, table.columns))
    fields = [
        pa.field(field.name, column.type, field.nullable)
        for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _plain(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        kind = column.type.storage_type
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind)
    labels = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if labels else column
