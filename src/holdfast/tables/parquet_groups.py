"""Parquet files whose layout tells nothing: groups of rows are cut by row number.

How many rows a group has follows from the number of columns alone. Batches in which rows happen to
come, and dictionaries, which may list labels in the order of the counts, leave no trace.
"""

import base64
from types import TracebackType
from typing import Any

from holdfast.tables.arrow_cells import plain

ROW_GROUP = 1 << 17
GROUP_CELLS = 1 << 23  # of wide rows there are fewer in a group


def rows_in_group(columns: int) -> int:
    """How many rows a group has in a table of so many columns."""
    return max(1, min(ROW_GROUP, GROUP_CELLS // columns))


class ParquetGroups:
    """A Parquet file, written in groups of so many rows, however they come."""

    def __init__(self, place: Any, schema: Any, rows: int) -> None:
        empty = plain(schema.empty_table())
        self._rows, self._waiting, self._number = rows, [empty], 0
        self._place, self._schema = place, empty.schema
        self._writer: Any = None

    def __enter__(self) -> "ParquetGroups":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            if error is None and (self._number or self._writer is None):
                self._write(self._number)
        finally:
            if self._writer is not None:
                self._writer.close()

    def write(self, table: Any) -> None:
        """Take in the next rows; groups that are full are written."""
        self._waiting.append(plain(table).cast(self._schema))
        self._number += len(table)
        while self._number >= self._rows:
            self._write(self._rows)

    def _write(self, rows: int) -> None:
        import pyarrow as pa

        table = pa.concat_tables(self._waiting)
        self._waiting, self._number = [table.slice(rows)], self._number - rows
        group = table.slice(0, rows).combine_chunks()
        self._writer = self._writer or self._opened(group)
        self._writer.write_table(group, max(rows, 1))

    def _opened(self, group: Any) -> Any:
        """The writer, whose file begins with these rows. Texts that hardly repeat among them have
        no dictionary: to make one takes three times as long as to write them."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as parquet

        texts = (pa.string(), pa.large_string())
        labels = [
            field.name
            for field, cells in zip(group.schema, group.columns, strict=True)
            if field.type not in texts or 2 * pc.count_distinct(cells).as_py() < len(cells)
        ]
        writer = parquet.ParquetWriter(
            self._place, self._schema, store_schema=False, use_dictionary=labels or False
        )
        schema = base64.b64encode(self._schema.serialize())
        writer.add_key_value_metadata({"ARROW:schema": schema})
        return writer
