"""Arrow schemas without what is written beside the data: notes that may tell the true counts."""

from collections.abc import Callable
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


def plain(table: Any, keep: Callable[[Any], bool] = lambda _: False) -> Any:
    """For a file: without notes, also inside of nested types; extension types as what they hold,
    because their parameters are notes as well; dictionaries as their values, because the order of
    those may be that of the counts. Columns that are to be kept have nothing inside."""
    import pyarrow as pa

    columns = [_stored(column) for column in table.columns]
    fields = [
        pa.field(
            field.name, column.type if keep(column) else _plain_type(column.type), field.nullable
        )
        for field, column in zip(table.schema, columns, strict=True)
    ]
    bare = [_cast(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.Table.from_arrays(bare, schema=pa.schema(fields))


def _cast(column: Any, kind: Any) -> Any:
    """Nested types may be equal and have notes inside all the same."""
    return column if column.type == kind and not kind.num_fields else column.cast(kind)


def _stored(column: Any) -> Any:
    import pyarrow as pa

    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    kind = column.type.storage_type
    return pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind)


def _plain_type(kind: Any) -> Any:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(field) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_plain_field(kind.key_field), _plain_field(kind.item_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: Any) -> Any:
    import pyarrow as pa

    return pa.field(field.name, _plain_type(field.type), field.nullable)
