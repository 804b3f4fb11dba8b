"""Spark frames: the rows of each partition are batches, and memory is one partition's batch.

Tasks pack the rows of their partition, and the driver unpacks them one partition after the other.
Noise is added there: a plan of Spark is computed as often as Spark likes, and a row must not get
noise twice. The released table is a frame of the same session whose tasks put released counts into
the rows of their partition. Executors need pyarrow, not holdfast.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from zlib import crc32

from holdfast.arrays import Integers
from holdfast.tables.arrow_files import to_its_end, whole_table
from holdfast.tables.frames import Frame, arrow_rows
from holdfast.tables.partition import changed
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
        self._frame, self.columns = frame, list(frame.columns)
        self._counts: list[str] = []
        self._rows: Any = None
        """The columns of the first pass. All take these: with others, rows that Spark deals out
        among partitions may come in another order."""
        self._checksum = 0
        """A sum of the counts as they were read last, by which the rows are known again."""

    def settle(self, published: Sequence[str], counts: Collection[str]) -> None:
        """Hear which columns hold counts."""
        self._counts = [name for name in self.columns if name in counts]

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """The rows, some of a partition at a time."""
        if self._rows is None or not set(names) <= set(self._rows.columns):
            self._rows = self._select([name for name in self.columns if name in names])
        row, checksum = 0, 0
        for _, table in self._batches(self._rows):
            checksum = _condensed()(table.select(self._counts), checksum)
            if len(table):
                yield Piece(arrow_rows(table), row, self.name)
            row += len(table)
        self._checksum = checksum

    def _batches(self, frame: Any) -> Iterator[tuple[int, Any]]:
        """Tables of Arrow, each with the number of its partition, in their order."""
        import pyarrow as pa

        with to_its_end(self.name):
            for number, data in frame.mapInArrow(_packed(), PACKED).toLocalIterator():
                yield number, pa.ipc.open_stream(bytes(data)).read_all()

    def held(self) -> Frame:
        """All rows; what is given back is a frame of the same session."""
        return Frame(arrow_rows(whole_table(self)), self._given_back)

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """The frame with these columns, released counts put in by the tasks of each partition.

        Spark persists what it is made of: computed again, rows could be in other partitions.
        """
        names = [name for name in self.columns if name in names]
        frame = self._rows.persist()
        partitions, row, checksum = dict[int, tuple[int, int, int]](), 0, 0
        for number, table in self._batches(frame.select(*map(_quoted, self._counts))):
            first, rows, sums = partitions.get(number, (row, 0, 0))
            partitions[number] = (first, rows + len(table), _condensed()(table, sums))
            row, checksum = row + len(table), _condensed()(table, checksum)
        if checksum != self._checksum:
            raise changed()
        shared: Any = SimpleNamespace(value=dict(counts))
        if not type(self._frame).__module__.startswith("pyspark.sql.connect"):
            shared = self._frame.sparkSession.sparkContext.broadcast(shared.value)
        task = _replaced(names, shared, partitions, self._counts)
        return frame.mapInArrow(task, _schema_of(self._select(names), counts))

    def _select(self, names: Sequence[str]) -> Any:
        return self._frame.select(*map(_quoted, names))

    def _given_back(self, data: Any) -> Any:
        import pyspark

        table, session = data.to_arrow(), self._frame.sparkSession
        arrow = int(pyspark.__version__.split(".")[0]) >= 4
        return session.createDataFrame(table if arrow else table.to_pandas())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


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
    shared: Any,
    partitions: Mapping[int, tuple[int, int, int]],
    counted: Sequence[str],
) -> Callable[[Batches], Batches]:
    condensed = _condensed()

    def replace(batches: Batches) -> Batches:
        import pyarrow as pa
        from pyspark import TaskContext

        row, rows, checksum = partitions.get(TaskContext.get().partitionId(), (0, 0, 0))
        seen, sums = 0, 0
        for batch in batches:
            some = slice(row + seen, row + seen + batch.num_rows)
            seen, sums = seen + batch.num_rows, condensed(batch.select(counted), sums)
            new = {
                name: pa.array(column[some], mask=column[some] < 0)
                for name, column in shared.value.items()
            }
            columns = [new.get(name, batch.column(name)) for name in names]
            if seen <= rows:
                yield pa.RecordBatch.from_arrays(columns, names=names)
        if (seen, sums) != (rows, checksum):
            raise ValueError("the table changed since it was released")

    return replace


def _schema_of(frame: Any, counts: Collection[str]) -> Any:
    """The schema of a frame without notes, its counts long. No column is nested, with notes of its
    parts: such are not published."""
    from pyspark.sql.types import LongType, StructField, StructType

    long = LongType()
    return StructType(
        [
            StructField(field.name, long if field.name in counts else field.dataType)
            for field in frame.schema.fields
        ]
    )
