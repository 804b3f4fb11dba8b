"""Parquet files, folders of them, and DuckDB queries as a stream of Arrow batches."""

import hashlib
import os
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.tables.arrow_schema import plain
from holdfast.former.tables.columns import Wanted, called
from holdfast.former.tables.count_values import MISSING, BadCount, series_counts
from holdfast.former.tables.frames import no_pyarrow
from holdfast.former.tables.order import Ranking
from holdfast.former.tables.parquet_groups import ParquetGroups, cell_bytes, rows_in_group
from holdfast.former.tables.stream.arrow_columns import dictionary_columns, label_keys, python_cells
from holdfast.former.tables.stream.arrow_memory import kept_memory
from holdfast.former.tables.stream.lookout import Lookout
from holdfast.former.tables.stream.sorted_rows import SortedRows
from holdfast.former.tables.stream.source import Draw, Part, in_order
from holdfast.former.tables.structural_zeros import check_marks

ROWS = 1 << 17
BATCH_BYTES = 1 << 24  # of wide rows there are fewer at a time


@dataclass(frozen=True)
class Batch:
    """Some rows of a table, and where they stand."""

    data: Any
    file: str
    row: int
    done: float | None


@dataclass(frozen=True)
class Kept:
    """All rows of a batch, checked, and which of them are in the subset that was named."""

    batch: Batch
    counts: Integers
    marks: Marks | None
    subset: Marks | None
    others: tuple[Integers, ...] = ()
    """The counts of further columns."""

    def inside(self) -> "Kept":
        """The rows of the subset alone; all of them where none was named."""
        import pyarrow as pa

        some = self.subset
        if some is None:
            return self
        return Kept(
            replace(self.batch, data=self.batch.data.filter(pa.array(some))),
            self.counts[some],
            None if self.marks is None else self.marks[some],
            None,
            tuple(one[some] for one in self.others),
        )


@dataclass(frozen=True)
class Reader:
    """How batches are got, as often as they are asked for."""

    name: str
    schema: Any
    open: Callable[[list[str], Collection[str]], Iterator[tuple[Any, str]]]
    """Given the columns that are wanted, and which of them may come as dictionaries: that takes
    less time where few of their cells are looked at."""
    length: int | None
    query: bool = False
    """Whether a query is run whenever batches are asked for."""
    files: tuple[str, ...] = ()
    """What it is kept in, in the order in which it is read."""


class ArrowSource:
    """A table in Arrow batches; other columns that are published are kept as they are."""

    suffix = "parquet"

    def __init__(self, reader: Reader, wanted: Wanted) -> None:
        self._reader, self.name = reader, reader.name
        self.roles = wanted.roles(reader.schema.names)
        self.column, self._where = self.roles.count, called(wanted.count)
        self._check_kinds()
        self._length, self._marker = reader.length, wanted.structural_zero
        self._missing = wanted.missing
        self._ranking, self._bytes, self._rows = Ranking(len(self.roles.ordering)), 0, 0
        self.order: Integers | None = None

    def _check_kinds(self) -> None:
        """Refuse, before anything is paid or drawn, what Parquet cannot hold."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        for field in map(self._reader.schema.field, self.roles.others):
            try:
                empty = plain(pa.schema([field]).empty_table())
                parquet.write_table(empty, pa.BufferOutputStream())
            except (pa.ArrowException, NotImplementedError):
                raise HoldfastError(
                    f"the column {field.name!r} cannot be written as Parquet: it is {field.type}. "
                    "Hint: cast it in the query, or withhold it."
                ) from None

    def digest(self) -> bytes | None:
        """The bytes of all files, and their names, condensed; None for a query."""
        if self._reader.query:
            return None
        found = hashlib.sha256()
        for path in self._reader.files:
            name = os.path.relpath(path, self._reader.name)  # a folder's name may hold its keys
            found.update(name.encode(errors="surrogateescape") + b"\0")
            try:
                with Path(path).open("rb") as file:
                    found.update(hashlib.file_digest(file, "sha256").digest())
            except OSError as error:
                raise self._unreadable(error, path, 0) from None
        return found.digest()

    def read(self, lookout: Lookout | None = None) -> Iterator[Part]:
        """The first pass: counts and marks, checked."""
        with kept_memory():
            yield from self._read(lookout)

    def rewrite(
        self, draw: Draw, path: Path, threads: int, more: Sequence[Draw] = ()
    ) -> Iterator[Part]:
        """The second pass: every batch with new count columns."""
        with kept_memory():
            yield from self._rewrite(draw, path, threads, more)

    def _read(self, lookout: Lookout | None) -> Iterator[Part]:
        rows = self._rows = 0
        labels = None if lookout is None else lookout.labels

        def work(batch: Batch) -> tuple[Kept, Part, int, Any]:
            whole = self._kept(batch)
            kept = whole.inside()
            part = Part(counts=kept.counts, marks=kept.marks, done=batch.done, others=kept.others)
            if lookout is None:
                return whole, part, 0, None
            part = replace(part, cells=_cells_of(kept.batch, self.roles.grouping))
            keys = label_keys(batch.data.column(labels.category)) if labels is not None else None
            return whole, part, cell_bytes(map(kept.batch.data.column, self.roles.others)), keys

        columns = self._needed() if lookout is not None else self._counted()
        looked_at = self.roles.others if lookout is not None else ()
        for whole, part, size, keys in in_order(work, self._batches(columns, looked_at)):
            rows += len(whole.batch.data)
            self._rows += len(part.counts)
            if lookout is not None:
                self._show(whole, lookout)
                self._ranking.see(_cells_of(whole.batch, self.roles.ordering))
                self._bytes += size
            if labels is not None:
                labels.see(keys)
            yield part
        self._length = rows

    def _rewrite(
        self, draw: Draw, path: Path, threads: int, more: Sequence[Draw]
    ) -> Iterator[Part]:
        import pyarrow as pa

        names, counted = self.roles.written, (self.column, *self.roles.wanted.other_counts)
        schema = pa.schema([self._reader.schema.field(name) for name in names])
        for name in counted:
            schema = schema.set(names.index(name), pa.field(name, pa.int64()))

        def work(batch: Batch) -> tuple[Batch, Any, Part]:
            kept = self._kept(batch).inside()
            batch, marks = kept.batch, kept.marks
            groups = _cells_of(batch, self.roles.grouping)
            pairs = zip((draw, *more), (kept.counts, *kept.others), strict=True)
            released = [one(counts, marks, groups) for one, counts in pairs]
            columns = [batch.data.column(name) for name in names]
            for name, new in zip(counted, released, strict=True):
                unknown = new == MISSING
                columns[names.index(name)] = pa.array(new, mask=unknown if unknown.any() else None)
            part = Part(
                counts=kept.counts,
                marks=marks,
                released=released[0],
                done=batch.done,
                cells=groups,
                others=kept.others,
                other_released=tuple(released[1:]),
            )
            fields = [field.with_type(one.type) for field, one in zip(schema, columns, strict=True)]
            return batch, pa.Table.from_arrays(columns, schema=pa.schema(fields)), part

        rows = self._rows or 1
        group = rows_in_group(rows, self._bytes + rows * 8 * len(counted))
        with ParquetGroups(path, schema, group) as file:
            ordered = SortedRows(path.parent, _gathered)
            batches = self._batches(self._needed(), self.roles.others)
            for batch, table, part in in_order(work, batches, threads):
                if self.roles.ordering:
                    keys = self._ranking.keys(_cells_of(batch, self.roles.ordering))
                    ordered.add(keys, plain(table), table.nbytes)
                else:
                    file.write(table)
                yield part
            for table in ordered.chunks():
                file.write(table)
            self.order = ordered.order if self.roles.ordering else None

    def _counted(self) -> list[str]:
        return [self.column, *self.roles.wanted.other_counts]

    def _needed(self) -> list[str]:
        """What is read: the published columns, and that of the marks."""
        return list(dict.fromkeys([*self.roles.written, *[self._marker][: bool(self._marker)]]))

    def _show(self, kept: "Kept", lookout: Lookout) -> None:
        data = kept.batch.data

        def cells(rows: Integers) -> list[list[Any]]:
            return [python_cells(data.column(name).take(rows)) for name in lookout.columns]

        lookout.see(kept.counts, kept.marks, cells, kept.subset, kept.others)

    def _kept(self, batch: Batch) -> "Kept":
        counts, marks = self._checked(batch)
        subset, inside = self.roles.wanted.subset, None
        if subset is not None:
            inside = subset.among(python_cells(batch.data.column(subset.column)), batch.row)
        others = tuple(
            self._counts(batch, name, called(name)) for name in self.roles.wanted.other_counts
        )
        for own in others:
            check_marks(marks, own, batch.row, batch.file)
        return Kept(batch, counts, marks, inside, others)

    def _batches(
        self, columns: list[str], looked_at: Collection[str] = ()
    ) -> Generator[Batch, None, None]:
        row, before, rows = 0, "", 0
        try:
            for data, file in self._reader.open(columns, looked_at):
                row = row if file == before else 0
                rows += len(data)
                done = min(rows / self._length, 1.0) if self._length else None
                if len(data):
                    yield Batch(data, file, row, done)
                row, before = row + len(data), file
        except HoldfastError:
            raise
        except Exception as error:
            raise self._unreadable(error, before, row) from None

    def _unreadable(self, error: Exception, file: str, row: int) -> HoldfastError:
        last = f"; data row {row} of `{file}` was the last" if file else ""
        return HoldfastError(
            f"`{self.name}` cannot be read to its end{last} ({type(error).__name__}). "
            "Hint: is it all still there, whole, and of one kind?"
        )

    def _counts(self, batch: Batch, name: str, where: str) -> Integers:
        import narwhals.stable.v2 as nw
        import pyarrow as pa

        column = pa.chunked_array([batch.data.column(name)])
        try:
            return series_counts(nw.from_native(column, series_only=True), where, self._missing)
        except BadCount as bad:
            raise bad.after(batch.row, batch.file) from None

    def _checked(self, batch: Batch) -> tuple[Integers, Marks | None]:
        counts = self._counts(batch, self.column, self._where)
        marks = self._marks(batch) if self._marker else None
        check_marks(marks, counts, batch.row, batch.file)
        return counts, marks

    def _marks(self, batch: Batch) -> Marks | None:
        cells = batch.data.column(self._marker).to_numpy(zero_copy_only=False)
        flat = cells.dtype.kind in "biuf"
        good = (cells == 0) | (cells == 1) if flat else np.zeros(len(cells), np.bool_)
        if batch.data.column(self._marker).null_count or not good.all():
            raise HoldfastError(
                f"`{batch.file}`: `structural_zero` column {self._marker!r} must hold true or "
                f"false, data row {batch.row + int(good.argmin()) + 1} does not. "
                "Hint: fill in true and false, or 1 and 0."
            )
        return np.asarray(cells, dtype=np.bool_)


def _cells_of(batch: Batch, names: Sequence[str]) -> list[list[Any]]:
    return [python_cells(batch.data.column(name)) for name in names]


def _gathered(pairs: Sequence[tuple[Any, int]]) -> Any:
    """Rows of several tables in one."""
    import pyarrow as pa

    tables = {id(table): table for table, _ in pairs}
    starts = dict(zip(tables, np.cumsum([0, *map(len, tables.values())]).tolist(), strict=False))
    chosen = [starts[id(table)] + at for table, at in pairs]
    return pa.concat_tables(tables.values()).combine_chunks().take(chosen)


def open_parquet(path: Path) -> Reader:
    """A Parquet file, or a folder of them; partitions named key=value become columns."""
    try:
        import pyarrow as pa
        import pyarrow.dataset as arrow
    except ImportError:
        raise no_pyarrow("Parquet files need") from None
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

    def batches(columns: list[str], looked_at: Collection[str]) -> Iterator[tuple[Any, str]]:
        wanted = pa.schema(list(map(schema.field, columns)))
        for fragment in dataset.get_fragments():
            keys = arrow.get_partition_keys(fragment.partition_expression)
            for batch in _batches_of(fragment.path, wanted, looked_at):
                yield _fitted(batch, wanted, keys, looked_at), fragment.path

    files = tuple(fragment.path for fragment in dataset.get_fragments())
    return Reader(str(path), schema, batches, length, files=files)


def _batches_of(path: str, schema: Any, looked_at: Collection[str]) -> Iterator[Any]:
    import pyarrow.parquet as parquet

    # read ahead of nothing: a dataset's scanner would hold much of the file
    metadata = parquet.read_metadata(path)
    few = dictionary_columns(metadata, [schema.field(name) for name in looked_at])
    with parquet.ParquetFile(
        path, metadata=metadata, pre_buffer=False, read_dictionary=few
    ) as file:
        there = [name for name in schema.names if name in file.schema_arrow.names]
        groups = range(file.num_row_groups)
        for some in map(list, zip(groups) if few else [groups]):  # each has a dictionary of its own
            yield from file.iter_batches(_rows_at_a_time(metadata), some, columns=there)


def _rows_at_a_time(metadata: Any) -> int:
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    size = max(1, sum(int(group.total_byte_size) for group in groups))
    return max(1, min(ROWS, BATCH_BYTES * int(metadata.num_rows) // size))


def _fitted(batch: Any, schema: Any, keys: dict[str, Any], looked_at: Collection[str]) -> Any:
    """A batch with the columns of the whole folder: those of its path, null where it has none."""
    import pyarrow as pa

    def column(field: Any) -> Any:
        if field.name in keys:
            return pa.repeat(pa.scalar(keys[field.name]).cast(field.type), len(batch))
        if field.name not in batch.schema.names:
            return pa.nulls(len(batch), field.type)
        found = batch.column(field.name)
        if field.name in looked_at and pa.types.is_dictionary(found.type):
            return found
        return found if found.type == field.type else found.cast(field.type)

    columns = [column(field) for field in schema]
    fields = [field.with_type(one.type) for field, one in zip(schema, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def open_duckdb(relation: Any) -> Reader:
    """A DuckDB relation: the query runs once for each pass."""

    def batches(columns: list[str], _: Collection[str]) -> Iterator[tuple[Any, str]]:
        quoted = ('"' + name.replace('"', '""') + '"' for name in columns)
        for batch in relation.project(", ".join(quoted)).to_arrow_reader(ROWS):
            yield batch, "the query"

    try:
        schema = relation.limit(0).to_arrow_table().schema
    except ImportError:
        raise no_pyarrow("DuckDB relations need") from None
    return Reader("the query", schema, batches, None, query=True)
