"""Spark frames: the rows of each partition are batches, and memory is one partition's batch.

Tasks pack the rows of their partition, and the driver unpacks them one partition after the other.
Noise is added there: a plan of Spark is computed as often as Spark likes, and a row must not get
noise twice. The released table is a frame of the same session whose tasks put released counts into
the rows of their partition. Executors need pyarrow, not holdfast.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from holdfast.arrays import Integers
from holdfast.tables.arrow_files import arrow_rows, unreadable
from holdfast.tables.frames import Frame
from holdfast.tables.source import Piece, Source

Batches = Iterator[Any]
"""Of Arrow, as `mapInArrow` gives and takes them."""
PACKED = "partition int, rows binary"


def is_spark(source: Any) -> bool:
    """Whether this is a Spark frame, of a session of one's own or through Connect."""
    pyspark = sys.modules.get("pyspark")  # who has a frame has loaded it
    return pyspark is not None and any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"
        for kind in type(source).__mro__
    )


class SparkTable(Source):
    """A Spark frame: it is computed once for each pass, partition by partition."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._counts: list[str] = []
        self._partitions: dict[int, tuple[int, int, int]] = {}
        """Of each its first row, its rows, and a sum of its counts by which it is known again."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return list(self._frame.columns)

    def settle(self, published: Sequence[str], numbers: Collection[str]) -> None:
        """Hear which columns hold counts: numbers that are not published as they are."""
        self._counts = [name for name in self.columns if name in numbers and name not in published]

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """The rows, some of a partition at a time."""
        import pyarrow as pa

        row, seen = 0, dict[int, tuple[int, int, int]]()
        packed = self._select([name for name in self.columns if name in names])
        try:
            for number, data in packed.mapInArrow(_packed(), PACKED).toLocalIterator():
                table = pa.ipc.open_stream(bytes(data)).read_all()
                first, rows, known = seen.get(number, (row, 0, 0))
                known = _condensed()(table.select(self._counts), known)
                seen[number] = (first, rows + len(table), known)
                if len(table):
                    yield Piece(arrow_rows(table), row, self.name)
                row += len(table)
        except Exception as error:
            if not type(error).__module__.startswith(("pyspark", "py4j", "pyarrow")):
                raise
            raise unreadable(self.name, error, row, self.name) from None
        self._partitions = seen

    def held(self) -> Frame:
        """All rows; what is given back is a frame of the same session."""
        import pyarrow as pa

        parts = [piece.rows.data.to_native() for piece in self.read(self.columns)]  # type: ignore[attr-defined]
        return Frame(arrow_rows(pa.concat_tables(parts)), self._given_back)

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """The frame with these columns, released counts put in by the tasks of each partition."""
        names = [name for name in self.columns if name in names]
        wanted = list(dict.fromkeys([*names, *self._counts]))
        schema = _schema_of(self._select(names), counts)
        if type(self._frame).__module__.startswith("pyspark.sql.connect"):
            values: Callable[[], Any] = lambda counts=dict(counts): counts  # noqa: E731
        else:
            shared = self._frame.sparkSession.sparkContext.broadcast(dict(counts))
            values = lambda: shared.value  # noqa: E731
        task = _replaced(names, values, self._partitions, self._counts)
        return self._select(wanted).mapInArrow(task, schema)

    def _select(self, names: Sequence[str]) -> Any:
        return self._frame.select(*("`" + name.replace("`", "``") + "`" for name in names))

    def _given_back(self, data: Any) -> Any:
        import pyspark

        table, session = data.to_arrow(), self._frame.sparkSession
        arrow = int(pyspark.__version__.split(".")[0]) >= 4
        return session.createDataFrame(table if arrow else table.to_pandas())


# What tasks run are functions made here, which Spark takes along whole: executors need no holdfast


def _packed() -> Callable[[Batches], Batches]:
    def pack(batches: Batches) -> Batches:
        import pyarrow as pa
        from pyspark import TaskContext

        for batch in batches:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            number = pa.array([TaskContext.get().partitionId()], pa.int32())
            rows = pa.array([sink.getvalue().to_pybytes()], pa.binary())
            yield pa.RecordBatch.from_arrays([number, rows], names=["partition", "rows"])

    return pack


def _condensed() -> Callable[[Any, int], int]:
    def condense(counts: Any, before: int) -> int:
        cells = (f"{cell!r}\n" for column in counts.columns for cell in column.to_pylist())
        return crc32("".join(cells).encode(), before)

    return condense


def _replaced(
    names: Sequence[str],
    values: Callable[[], Mapping[str, Integers]],
    partitions: Mapping[int, tuple[int, int, int]],
    counted: Sequence[str],
) -> Callable[[Batches], Batches]:
    condensed = _condensed()

    def replace(batches: Batches) -> Batches:
        import pyarrow as pa
        from pyspark import TaskContext

        counts = values()
        row, rows, known = partitions.get(TaskContext.get().partitionId(), (0, 0, 0))
        seen, sums = 0, 0
        for batch in batches:
            some = slice(row + seen, row + seen + batch.num_rows)
            seen, sums = seen + batch.num_rows, condensed(batch.select(counted), sums)
            new = {name: pa.array(own[some], mask=own[some] < 0) for name, own in counts.items()}
            columns = [new.get(name, batch.column(name)) for name in names]
            if seen <= rows:
                yield pa.RecordBatch.from_arrays(columns, names=names)
        if (seen, sums) != (rows, known):
            raise ValueError("the table changed since it was released")

    return replace


def _schema_of(frame: Any, counts: Collection[str]) -> Any:
    """The schema of a frame without notes, its counts long."""
    from pyspark.sql.types import StructType

    described = _without_notes(frame.schema.jsonValue())
    for field in described["fields"]:
        if field["name"] in counts:
            field.update(type="long", nullable=True)
    return StructType.fromJson(described)


def _without_notes(described: Any) -> Any:
    if isinstance(described, list):
        return [_without_notes(part) for part in described]
    if not isinstance(described, dict):
        return described
    return {
        name: {} if name == "metadata" else _without_notes(part) for name, part in described.items()
    }
