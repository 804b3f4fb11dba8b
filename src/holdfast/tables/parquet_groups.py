"""Parquet files whose layout tells nothing: row groups are cut by row number.

How many rows a group has follows from the number of columns alone. Batches in which rows happen to
come, and dictionaries, which may list labels in the order of the counts, leave no trace.
"""

import base64
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

from holdfast.tables.arrow_cells import by_appearance
from holdfast.tables.arrow_schema import plain

ROW_GROUP = 1 << 17  # as many as are read at a time, so that most rows need not be moved
GROUP_CELLS = 1 << 23  # of wide rows there are fewer in a group
DICTIONARY_BYTES = 1 << 17  # a column of more different values is written without one


def cell_bytes(columns: Iterable[Any]) -> int:
    """The size of what Arrow columns hold, however they are kept.

    >>> import pyarrow as pa
    >>> cell_bytes([pa.array([1, None, 3]), pa.array(["a", "bc", None])])
    27
    """
    return sum(map(_bytes_of, columns))


def _bytes_of(column: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        return cell_bytes(column.chunks)
    if isinstance(kind, pa.BaseExtensionType):
        return _bytes_of(column.storage)
    if pa.types.is_dictionary(kind):
        return _bytes_of_labels(column)
    if pa.types.is_null(kind):
        return 0
    if any(is_kind(kind) for is_kind in _text_kinds()):
        return int(pc.sum(pc.binary_length(column)).as_py() or 0)
    return len(column) * max(int(kind.bit_width) // 8, 1)


def _bytes_of_labels(column: Any) -> int:
    import pyarrow.compute as pc

    if not any(is_kind(column.type.value_type) for is_kind in _text_kinds()):
        return _bytes_of(column.dictionary_decode())
    sizes = pc.binary_length(column.dictionary)
    return int(pc.sum(pc.take(sizes, column.indices)).as_py() or 0)


def _text_kinds() -> tuple[Any, ...]:
    import pyarrow.types as kinds

    return kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary


def rows_in_group(columns: int) -> int:
    """How many rows a group has in a table of so many columns."""
    return max(1, min(ROW_GROUP, GROUP_CELLS // columns))


class ParquetGroups:
    """A Parquet file, written in groups of so many rows, however they come; one is encoded while
    the rows of the next come in."""

    def __init__(self, place: Any, schema: Any, rows: int) -> None:
        self._place, self._rows = place, rows
        self._schema = plain(schema.empty_table()).schema
        self._waiting: list[Any] = []
        self._number = 0
        self._writer: Any = None
        self._encoder, self._encoding = ThreadPoolExecutor(1), Future[None]()
        self._encoding.set_result(None)

    def __enter__(self) -> "ParquetGroups":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            with self._encoder:
                if error is None:
                    self._encoding.result()
                    if self._number or self._writer is None:
                        self._encode(self._taken(self._number))
        finally:
            if self._writer is not None:
                self._writer.close()

    def write(self, table: Any) -> None:
        """Take in the next rows; groups that are full are written."""
        self._waiting.append(plain(table, _is_labels))
        self._number += len(table)
        while self._number >= self._rows:
            self._encoding.result()  # before the next is put together, so that two are held
            self._encoding = self._encoder.submit(self._encode, self._taken(self._rows))

    def _taken(self, rows: int) -> Any:
        import pyarrow as pa

        waiting = [table for table in self._waiting if len(table)]
        if any(table.schema != waiting[0].schema for table in waiting):
            waiting = [plain(table) for table in waiting]  # dictionaries in some of them only
        table = pa.concat_tables(waiting) if waiting else self._schema.empty_table()
        self._waiting, self._number = [table.slice(rows)], self._number - rows
        taken = table.slice(0, rows)
        columns = [column if _is_labels(column) else _joined(column) for column in taken.columns]
        return pa.Table.from_arrays(columns, schema=table.schema)

    def _encode(self, table: Any) -> None:
        import pyarrow as pa
        import pyarrow.types as kinds

        if self._writer is None:
            self._writer = self._opened(_repeating(table))
        if len(table):
            schema = self._writer.schema
            columns = [
                _in_order(column) if kinds.is_dictionary(kind) else _cast(column, kind)
                for column, kind in zip(table.columns, schema.types, strict=True)
            ]
            self._writer.write_table(pa.Table.from_arrays(columns, schema=schema), self._rows)

    def _opened(self, repeating: list[str]) -> Any:
        """The writer gets texts that repeat as dictionaries, without their least and greatest,
        which take as long as all the rest; the file says that they are texts."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        texts = {name for name in repeating if self._schema.field(name).type == pa.string()}
        written = pa.schema(
            field.with_type(_labels()) if field.name in texts else field for field in self._schema
        )
        writer = parquet.ParquetWriter(
            self._place,
            written,
            use_dictionary=repeating,
            dictionary_pagesize_limit=DICTIONARY_BYTES,
            write_statistics=not texts or [one for one in written.names if one not in texts],
            store_schema=False,
        )
        schema = base64.b64encode(self._schema.serialize())
        writer.add_key_value_metadata({"ARROW:schema": schema})
        return writer


def _cast(column: Any, kind: Any) -> Any:
    return column if column.type == kind else column.cast(kind)


def _joined(column: Any) -> Any:
    import pyarrow as pa

    return pa.table([column], [""]).combine_chunks().column(0)


def _repeating(table: Any) -> list[str]:
    """The columns that are to have a dictionary: all but numbers and texts that hardly repeat, or
    whose different values are too many for one, in the first group."""
    import pyarrow.types as kinds

    looked_at = (
        *_text_kinds(),
        kinds.is_dictionary,
        kinds.is_integer,
        kinds.is_float32,
        kinds.is_float64,
    )
    return [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if not any(is_kind(column.type) for is_kind in looked_at) or _repeats(column)
    ]


def _repeats(column: Any) -> bool:
    """Whether so few values differ; mostly the first rows have too many already, and to look at
    all of them takes a large table of new memory."""
    import pyarrow.compute as pc

    rows = len(column)
    most = min(rows // 2, (DICTIONARY_BYTES * rows - 1) // max(cell_bytes([column]), 1))
    if _is_labels(column):
        return bool(len(by_appearance(column).chunk(0).dictionary) <= most)
    return all(
        pc.count_distinct(column.slice(0, some)).as_py() <= most
        for some in (min(2 * most, rows), rows)
    )


def _labels() -> Any:
    import pyarrow as pa

    return pa.dictionary(pa.int32(), pa.string())


def _is_labels(column: Any) -> bool:
    return bool(column.type == _labels())


def _in_order(column: Any) -> Any:
    """Texts as a dictionary in the order in which they come; as two, after which pyarrow writes
    values without one, where they are too many."""
    import pyarrow as pa

    found = by_appearance(column if _is_labels(column) else column.dictionary_encode())
    values = found.chunk(0).dictionary
    if len(values) < 2 or cell_bytes([values]) + 4 * len(values) < DICTIONARY_BYTES:
        return found
    parts = (by_appearance(part) for part in (found.slice(0, 1), found.slice(1)))
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks])
