"""table.parquet: opened, and held to what a release may say in it, before a row is read."""

import base64
from collections.abc import Iterator
from typing import IO, Any

from holdfast.former.verify.report import Damage, NotChecked, shown

_SCHEMA = b"ARROW:schema"
_FIELD_ID = b"PARQUET:field_id"  # a number that pyarrow gives to every column


def open_parquet(file: IO[bytes]) -> Any:
    """The file as pyarrow sees it; raises where it says more than its columns do."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise NotChecked(
            "table.parquet cannot be checked without pyarrow. "
            "Hint: pip install 'holdfast[parquet]'."
        ) from None
    try:
        source = pyarrow.parquet.ParquetFile(file)
        schemas = [source.schema_arrow, *_stored_schemas(source.metadata.metadata or {})]
        notes = [*(source.metadata.metadata or {}), *_chunk_notes(source.metadata)]
    except Exception:
        raise Damage("table.parquet cannot be read as Parquet.") from None
    for note in (*notes, *(note for schema in schemas for note in _notes(schema))):
        if note not in (_SCHEMA, _FIELD_ID):
            raise Damage(f"table.parquet holds notes beside its columns: {shown(note)}.")
    return source


def read_columns(source: Any, names: list[str]) -> Iterator[tuple[Any, ...]]:
    """The cells of some columns, row by row, a batch of rows at a time."""
    try:
        for batch in source.iter_batches(batch_size=1 << 16, columns=names):
            columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
            yield from zip(*(column.to_pylist() for column in columns), strict=True)
    except Exception:
        raise Damage("table.parquet cannot be read as Parquet.") from None


def _stored_schemas(notes: dict[bytes, bytes]) -> list[Any]:
    """The Arrow schema that is packed into the file, which may have notes of its own."""
    import pyarrow as pa

    if _SCHEMA not in notes:
        return []
    return [pa.ipc.read_schema(pa.py_buffer(base64.b64decode(notes[_SCHEMA])))]


def _chunk_notes(metadata: Any) -> Iterator[bytes]:
    for group in (metadata.row_group(g) for g in range(metadata.num_row_groups)):
        for chunk in (group.column(c) for c in range(group.num_columns)):
            yield from chunk.metadata or ()


def _notes(schema: Any) -> Iterator[bytes]:
    """The keys of all metadata in a schema, those of nested fields and extension types too."""
    import pyarrow as pa

    yield from schema.metadata or ()
    fields = list(schema)
    while fields:
        field = fields.pop()
        yield from field.metadata or ()
        kind = field.type
        if isinstance(kind, pa.BaseExtensionType):
            yield b"ARROW:extension:name"
        fields += [kind.field(i) for i in range(kind.num_fields)]
