"""Parquet files, folders of files, and DuckDB queries as sources of Arrow batches; and
Parquet files as they are written."""

import base64
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from holdfast.errors import HoldfastError, needed
from holdfast.tables.arrow_cells import plain
from holdfast.tables.frames import Frame, FrameRows, arrow_rows
from holdfast.tables.source import Piece, Source

ROWS = 1 << 17
BATCH_BYTES = 1 << 24  # of wide rows there are fewer at a time
FEW = 1 << 20
"""Rows of a query that are held in memory; one with more is run again for each pass."""
ROW_GROUP = 1 << 17
GROUP_CELLS = 1 << 23  # of wide rows there are fewer in a group


class ParquetFiles(Source):
    """A Parquet file, or a folder of them; partitions named key=value become columns."""

    def __init__(self, path: Path, schema: Any, fragments: Sequence[Any], length: int) -> None:
        self.path, self.name, self.schema = path, f"`{path}`", schema
        self.columns = list(schema.names)
        self._fragments, self._length = fragments, length
        self.paths = [Path(fragment.path) for fragment in fragments]

    @property
    def is_small(self) -> bool:
        """Whether it is small enough to be held in memory."""
        return self._length <= FEW

    def held(self) -> Frame:
        """All rows as a table of Arrow."""
        return Frame(arrow_rows(whole_table(self)), lambda new: new.to_native())

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """The rows, some at a time."""
        import pyarrow as pa
        import pyarrow.dataset as arrow

        wanted = pa.schema([self.schema.field(name) for name in self.columns if name in names])
        rows = 0
        for fragment in self._fragments:
            keys = arrow.get_partition_keys(fragment.partition_expression)
            row, path = 0, fragment.path
            with to_its_end(f"`{path}`"):
                for batch in _batches_of(path, wanted):
                    done = min((rows + row + len(batch)) / max(self._length, 1), 1.0)
                    if len(batch):
                        yield Piece(arrow_rows(_fitted(batch, wanted, keys)), row, path, done)
                    row += len(batch)
            rows += row


def open_parquet(path: Path) -> ParquetFiles:
    """A Parquet file, or a folder of nothing else."""
    with needed("Parquet files need pyarrow", "parquet"):
        import pyarrow as pa
        import pyarrow.dataset as arrow
    try:
        hive = "hive" if path.is_dir() else None  # folders above a file say nothing about it
        dataset = arrow.dataset(path, format="parquet", partitioning=hive)
        length = dataset.count_rows()
        kinds = [fragment.physical_schema for fragment in dataset.get_fragments()]
        schema = pa.unify_schemas([dataset.schema, *kinds], promote_options="permissive")
    except Exception as error:
        raise HoldfastError(
            f"`{path}` cannot be read as Parquet ({type(error).__name__}). Hint: is it whole, and "
            "does the folder hold nothing else, and columns of one kind?"
        ) from None
    if not kinds:
        raise HoldfastError(f"`{path}` cannot be read: it is a folder without tables.")
    return ParquetFiles(path, schema, list(dataset.get_fragments()), length)


def _batches_of(path: str, schema: Any) -> Iterator[Any]:
    import pyarrow.parquet as parquet

    # read ahead of nothing: a dataset's scanner would hold much of the file
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        there = [name for name in schema.names if name in file.schema_arrow.names]
        yield from file.iter_batches(_rows_at_a_time(file.metadata), columns=there)


def _rows_at_a_time(metadata: Any) -> int:
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    size = max(1, sum(int(group.total_byte_size) for group in groups))
    return max(1, min(ROWS, BATCH_BYTES * int(metadata.num_rows) // size))


def _fitted(batch: Any, schema: Any, keys: dict[str, Any]) -> Any:
    """A batch with the columns of the whole folder: those of its path, null where it has none."""
    import pyarrow as pa

    def column(field: Any) -> Any:
        if field.name in keys:
            return pa.repeat(pa.scalar(keys[field.name]).cast(field.type), len(batch))
        if field.name not in batch.schema.names:
            return pa.nulls(len(batch), field.type)
        cells = batch.column(field.name)
        return cells if cells.type == field.type else cells.cast(field.type)

    columns = [column(field) for field in schema]
    return pa.Table.from_arrays(columns, names=schema.names)


class Query(Source):
    """A DuckDB relation with many rows: it is run once for each pass."""

    name = "the query"

    def __init__(self, relation: Any) -> None:
        self._relation, self.columns = relation, list(relation.columns)

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """The rows, some at a time."""
        import pyarrow as pa

        quoted = ['"' + name.replace('"', '""') + '"' for name in self.columns if name in names]
        row = 0
        with to_its_end(self.name):
            for batch in self._relation.project(", ".join(quoted)).to_arrow_reader(ROWS):
                if len(batch):
                    yield Piece(arrow_rows(pa.Table.from_batches([batch])), row, self.name)
                row += len(batch)

    def held(self) -> Frame:
        """All rows, from a run of their own."""
        return _duckdb_frame(self._relation, whole_table(self))


def whole_table(source: Source) -> Any:
    """All rows of a source of Arrow batches."""
    import pyarrow as pa

    rows = [piece.rows for piece in source.read(source.columns)]
    parts = [part.data.to_native() for part in rows if isinstance(part, FrameRows)]
    return pa.concat_tables(parts, promote_options="permissive")


def open_query(relation: Any) -> Source:
    """A DuckDB relation; in memory where it has few rows."""
    with needed("DuckDB relations need pyarrow", "parquet"):
        import pyarrow as pa
    try:
        reader = relation.limit(FEW + 1).to_arrow_reader(ROWS)
        table = pa.Table.from_batches(reader, reader.schema)
    except Exception:
        raise HoldfastError("`table`: the duckdb query failed. Hint: run it by itself.") from None
    return _duckdb_frame(relation, table) if len(table) <= FEW else Query(relation)


def _duckdb_frame(relation: Any, table: Any) -> Frame:
    """A DuckDB relation, from what it gave as an Arrow table."""
    types = {name: str(t) for name, t in zip(relation.columns, relation.types, strict=True)}
    return Frame(arrow_rows(table), lambda new: _to_duckdb(new, types))


def _to_duckdb(frame: Any, types: dict[str, str]) -> Any:
    import duckdb
    import narwhals.stable.v2 as nw

    casts = []
    for name in frame.columns:
        quoted = '"' + name.replace('"', '""') + '"'
        kind = "BIGINT" if frame.schema[name] == nw.Int64 else types[name]
        if kind.startswith("ENUM("):  # of the labels that there are, as they come
            labels = dict.fromkeys(cell for cell in frame[name].to_list() if cell is not None)
            texts = ", ".join("'" + label.replace("'", "''") + "'" for label in labels)
            kind = f"ENUM({texts})" if labels else "VARCHAR"
        casts.append(f"{quoted}::{kind} AS {quoted}")
    # Arrow has no enums or UUIDs of DuckDB's kind: the casts bring them back.
    return duckdb.from_arrow(frame.to_native()).project(", ".join(casts))


@contextmanager
def to_its_end(name: str) -> Iterator[None]:
    """Reading a source, which may break off."""
    try:
        yield
    except Exception as error:
        raise HoldfastError(
            f"{name} cannot be read to its end ({type(error).__name__}). "
            "Hint: is it all still there, whole, and of one kind?"
        ) from None


def rows_in_group(columns: int) -> int:
    """How many rows a group has in a table of so many columns."""
    return max(1, min(ROW_GROUP, GROUP_CELLS // columns))


class ParquetGroups:
    """A Parquet file whose layout tells nothing: groups of so many rows are cut by row number.

    How many rows a group has follows from the number of columns alone. Batches in which rows happen
    to come, and dictionaries, which may list labels in the order of the counts, leave no trace.
    """

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
        silent = {"store_schema": False, "write_statistics": False}
        writer = parquet.ParquetWriter(
            self._place, self._schema, use_dictionary=labels or False, **silent
        )
        schema = base64.b64encode(self._schema.serialize())
        writer.add_key_value_metadata({"ARROW:schema": schema})
        return writer
