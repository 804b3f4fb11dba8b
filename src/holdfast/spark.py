"""Tables in Spark: the histogram by groupBy, the draws in tasks, and the result written once.

A Spark plan is computed as often as Spark likes: again for every action, and again for every task
that is lost. Draws in such a plan would give a row a second released count, and two of them tell
more than one. So nothing here hands out a plan with draws in it: `privatize` writes the drawn
table to files in one job whose commit keeps one attempt of each task, and what it returns
reads those files.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrow_schema import plain
from holdfast.bundle import complete, new_bundle
from holdfast.csv_table import find_column, suggest
from holdfast.errors import COUNTED, HoldfastError
from holdfast.ledger import ABANDONED, check_name, open_ledger
from holdfast.mechanism import Mechanism
from holdfast.private_quantile import PrivateQuantile
from holdfast.privatizers import Privatizer
from holdfast.randomness import SystemEntropy
from holdfast.release import ReleaseFacts, StreamedRelease
from holdfast.sampling import Sampler
from holdfast.spending import mark_done, pay
from holdfast.stages import Constructor, Staged, stages
from holdfast.streaming.arrow_source import ROW_GROUP

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE, "float", "double", "decimal")
_PROBLEMS = {
    -1: "a row where it is missing. Hint: fill in the count, 0 where there is nobody",
    -2: "a negative number. Hint: correct it in the source",
    -3: "a number above 2^53. Hint: it looks like an identifier",
    -4: "a number that is not whole. Hint: give counts, not rates or averages",
    -5: "a number other than zero in a row marked as publicly known to be zero",
    -6: "a row whose mark for `structural_zero` is missing",
}
_KNOWN_ZERO = -7


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparkRelease(ReleaseFacts):
    """A release whose table is in files that Spark wrote, once."""

    histogram: NDArray[np.int64]
    """How many rows have each released count, structural zeros included."""
    path: str
    """The folder of Parquet files."""
    columns: tuple[str, ...]
    """All columns, in order."""
    session: Any
    """The Spark session that made it."""

    @property
    def released_histogram(self) -> NDArray[np.int64]:
        """How many rows have each released count, structural zeros included."""
        return self.histogram

    @property
    def table(self) -> Any:
        """The released table as a DataFrame that reads the files: however often it is computed,
        a row has one released count."""
        return self.session.read.parquet(self.path).select(*map(_quoted, self.columns))

    def save(self, directory: str) -> StreamedRelease:
        """Write the bundle of this release as a new folder of the driver's file system.

        The table comes to the driver a partition at a time, into one Parquet file.
        """
        import pyarrow as pa
        import pyarrow.parquet as parquet

        with new_bundle(directory) as folder:
            rows = self.table.mapInArrow(_packed, "data binary").toLocalIterator()
            batches = (b for row in rows for b in pa.ipc.open_stream(bytes(row.data)))
            group = [next(batches)]
            schema = plain(pa.Table.from_batches(group)).schema
            with parquet.ParquetWriter(folder / "table.parquet", schema) as writer:
                for batch in batches:
                    if sum(map(len, group)) >= ROW_GROUP:
                        writer.write_table(plain(pa.Table.from_batches(group)))
                        group = []
                    group.append(batch)
                writer.write_table(plain(pa.Table.from_batches(group)))
            fields = {name: getattr(self, name) for name in ReleaseFacts.__dataclass_fields__}
            release = StreamedRelease(histogram=self.histogram, folder=Path(directory), **fields)
            complete(release, folder, list(self.columns))
        return release


def privatize(
    df: Any,
    path: str,
    *,
    epsilon: Any,
    max_count: int | PrivateQuantile,
    count: str | None = None,
    structural_zero: str | None = None,
    contributions: int = 1,
    privatizer: Privatizer | None = None,
    constructor: Constructor | None = None,
    split: Any = None,
    ledger: Any = None,
    dataset: str | None = None,
) -> SparkRelease:
    """`holdfast.privatize` for a Spark DataFrame; its released table is written to `path`.

    `df` is computed twice, once for the histogram and once for the draws, and must give the same
    rows both times; where the number of rows differs nothing is released. Executors need holdfast
    too. There is no seed: tasks draw from the operating system of the machine they run on, and a
    task that is run again draws afresh, while only one run of it is kept.

    Parameters:
        df: A DataFrame of a classic Spark session, 3.5 or later.
        path: New folder for Parquet files, on any file system that Spark writes to.
        structural_zero: A boolean column that marks rows publicly known to be zero.
        ledger, dataset: As in `holdfast.privatize`, but a release is never recognised as one
            made before: every call pays.

    The others are those of `holdfast.privatize`.
    """
    table = _Table(df, path, count, structural_zero)
    asked = stages(
        epsilon=epsilon,
        max_count=max_count,
        contributions=contributions,
        privatizer=privatizer,
        constructor=constructor,
        split=split,
    )
    if (ledger is None) != (dataset is None):
        raise HoldfastError("`ledger` and `dataset` go together: give both, or neither.")
    histogram, zeros = table.tally(asked.highest)
    asked = asked.for_rows(int(histogram.sum()))
    if ledger is None or dataset is None:
        return table.release(asked(histogram), zeros)
    book, request = open_ledger(ledger), asked.request(int(histogram.sum()), zeros)
    spend = pay(book, check_name(dataset), request, request.words)
    try:
        staged = asked(histogram)
        request.check(staged.privacy)
        release = table.release(staged, zeros)
    except BaseException as error:
        error.add_note(COUNTED)
        with suppress(HoldfastError):  # if even this fails it stays open, and counts as well
            book.finish(spend, ABANDONED)
        raise
    mark_done(book, spend)
    return release


class _Table:
    """A DataFrame of counts, checked as far as its schema goes, and the place for its release."""

    def __init__(self, df: Any, path: str, count: str | None, marker: str | None) -> None:
        self.session: Any = getattr(df, "sparkSession", None)
        if not hasattr(self.session, "_jvm"):
            raise HoldfastError(
                "`df` must be a DataFrame of a classic Spark session. Hint: Spark Connect cannot "
                "say where files are; run holdfast on the driver."
            )
        self.df, self.path, self.marker = df, str(path), marker
        self.columns = list(df.columns)
        if count is None and len(self.columns) != 1:
            raise HoldfastError(
                f"`count` must name the column that holds the counts. Hint: {suggest(self.columns)}"
            )
        self.column = self.columns[0] if count is None else count
        find_column(self.columns, self.column, "count")
        kind = dict(df.dtypes)[self.column]
        if not kind.startswith(_NUMBERS):
            raise HoldfastError(f"`count` column {self.column!r} must hold numbers, it is {kind}.")
        self.whole = kind in _WHOLE
        if marker is not None:
            find_column(self.columns, marker, "structural_zero")
            if dict(df.dtypes)[marker] != "boolean" or marker == self.column:
                raise HoldfastError(
                    f"`structural_zero` column {marker!r} must be a boolean column of its own."
                )
        if self._exists(self.path):
            raise HoldfastError(
                f"`{self.path}` exists already; nothing was drawn. Hint: name a new folder."
            )

    def tally(self, highest: int) -> tuple[NDArray[np.int64], int]:
        """The histogram of counts by groupBy, and how many structural zeros there are."""
        histogram, zeros = np.zeros(highest + 1, dtype=np.int64), 0
        for key, rows in self.df.groupBy(self._key(highest).alias("key")).count().collect():
            if key in _PROBLEMS:
                raise HoldfastError(
                    f"`count` column {self.column!r} must hold whole numbers from 0 to 2^53, but "
                    f"there is {_PROBLEMS[key]}."
                )
            if key == _KNOWN_ZERO:
                zeros = rows
            else:
                histogram[key] = rows
        if not histogram.any():
            raise HoldfastError("`df` has no rows to release. Hint: one row per category.")
        return histogram, zeros

    def release(self, staged: Staged, zeros: int) -> SparkRelease:
        """Draw and write in one job, check what was written, and give it its name."""
        partial = f"{self.path}.partial-{secrets.token_hex(8)}"
        try:
            self._draw(staged, partial)
            released = self._released(partial, staged.top)
            if int(released.sum()) != staged.rows + zeros or released[0] < zeros:
                raise HoldfastError(
                    "`df` gave other rows the second time; nothing was released. "
                    "Hint: write it to files first, and read those."
                )
            if self._exists(self.path) or not self._move(partial):
                raise HoldfastError(f"`{self.path}` exists already; nothing was released.")
        finally:
            self._remove(partial)
        drawn = released.copy()
        drawn[0] -= zeros
        return SparkRelease(
            histogram=released,
            path=self.path,
            columns=tuple(self.columns),
            session=self.session,
            structural_zeros=zeros,
            count_column=self.column,
            unchanged_columns=tuple(name for name in self.columns if name != self.column),
            **staged.facts(drawn),
        )

    def _key(self, highest: int) -> Any:
        from pyspark.sql import functions as F

        value = F.col(_quoted(self.column))
        key = F.when(value.isNull() | (F.lit(False) if self.whole else F.isnan(value)), -1)
        key = key.when(value < 0, -2).when(value > 2**53, -3)
        if not self.whole:
            key = key.when(value != F.floor(value), -4)
        if self.marker is not None:
            mark = F.col(_quoted(self.marker))
            key = key.when(mark.isNull(), -6).when(mark & (value != 0), -5)
            key = key.when(mark, _KNOWN_ZERO)
        return key.otherwise(F.least(value.cast("bigint"), F.lit(highest)))

    def _draw(self, staged: Staged, partial: str) -> None:
        from pyspark.sql.types import LongType, StructField, StructType

        kept = self.df.schema.fields
        fields = [StructField(f.name, LongType()) if f.name == self.column else f for f in kept]
        mechanism = staged.construction.mechanism
        shared = self.session.sparkContext.broadcast(
            (secrets.token_hex(8), mechanism.weights, mechanism.epsilon, mechanism.delta)
        )
        places = self.columns.index(self.column), staged.top
        marker = None if self.marker is None else self.columns.index(self.marker)
        drawn = self.df.mapInArrow(_task(shared, *places, marker), StructType(fields))
        # version 1: the files of a task come into place when the whole job is done, not before
        options = {"mapreduce.fileoutputcommitter.algorithm.version": "1"}
        drawn.write.mode("errorifexists").options(**options).parquet(partial)

    def _released(self, partial: str, top: int) -> NDArray[np.int64]:
        histogram = np.zeros(top + 1, dtype=np.int64)
        table = self.session.read.parquet(partial)
        for key, rows in table.groupBy(_quoted(self.column)).count().collect():
            histogram[key] = rows
        return histogram

    def _file_system(self, path: str) -> tuple[Any, Any]:
        jvm = self.session._jvm
        place = jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self.session._jsc.hadoopConfiguration()), place

    def _exists(self, path: str) -> bool:
        system, place = self._file_system(path)
        return bool(system.exists(place))

    def _move(self, partial: str) -> bool:
        system, place = self._file_system(partial)
        return bool(system.rename(place, self._file_system(self.path)[1]))

    def _remove(self, partial: str) -> None:
        system, place = self._file_system(partial)
        system.delete(place, True)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _task(
    shared: Any, at: int, top: int, marker: int | None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What an executor does with its batches."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        draw, source = _sampler(*shared.value), SystemEntropy()
        for batch in batches:
            counts = np.minimum(batch.column(at).cast(pa.int64()).to_numpy(), top)
            released = np.zeros(len(counts), dtype=np.int64)
            marks = np.zeros(len(counts), dtype=np.bool_)
            if marker is not None:
                marks = batch.column(marker).to_numpy(zero_copy_only=False).astype(np.bool_)
            released[~marks] = draw(counts[~marks], source)
            columns = list(batch.columns)
            columns[at] = pa.array(released)
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    return run


@lru_cache(maxsize=2)
def _by_key(key: str) -> list[Sampler]:
    return []


def _sampler(key: str, weights: NDArray[np.int64], epsilon: Fraction, delta: Fraction) -> Sampler:
    """The mechanism certified again where it is used; once for each process."""
    made = _by_key(key)
    if not made:
        made.append(Sampler(Mechanism(weights=weights, epsilon=epsilon, delta=delta)))
    return made[0]


def _packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Every batch as one cell of bytes: Arrow's own stream format."""
    import pyarrow as pa

    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()])], ["data"])
