"""Tables in Spark: the histogram by groupBy, the draws in tasks, and the result written once.

A Spark plan is computed as often as Spark likes: again for every action, and again for every task
that is lost. Draws in such a plan would give a row a second released count, and two of them tell
more than one. So nothing here hands out a plan with draws in it: `privatize` writes the drawn
table to files in one job whose commit keeps one attempt of each task, and what it returns
reads those files.
"""

import itertools
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.constructors import Construction
from holdfast.engines.rehearsal import rehearse
from holdfast.engines.spark.columns import Columns, Seen, quoted
from holdfast.engines.spark.groups import SeenGroups, check_kinds, tally_groups
from holdfast.engines.spark.tasks import changed, drawing, packed
from holdfast.engines.stages import Staged, Stages, check_parameters
from holdfast.errors import HoldfastError
from holdfast.ledger.periods import period_notes, read_period
from holdfast.ledger.spending import Run, find_account, pay_and_draw
from holdfast.privatizers import Privatizer
from holdfast.privatizers.private_quantile import PrivateQuantile
from holdfast.release.bundle import complete, new_bundle
from holdfast.release.facts import ReleaseFacts
from holdfast.release.release import StreamedRelease
from holdfast.release.row_marks import MOST_ROWS
from holdfast.tables.columns import Wanted
from holdfast.tables.count_values import check_codes
from holdfast.tables.group_rows import GroupReader
from holdfast.tables.parquet_groups import ROW_GROUP, ParquetGroups


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
    order_keys: tuple[Any, ...] = ()
    """What its rows are sorted by, where a column was named."""

    @property
    def released_histogram(self) -> NDArray[np.int64]:
        """How many rows have each released count, structural zeros included."""
        return self.histogram

    @property
    def table(self) -> Any:
        """The released table as a DataFrame that reads the files: however often it is computed,
        a row has one released count."""
        table = self.session.read.parquet(self.path).select(*map(quoted, self.columns))
        return table.orderBy(*self.order_keys) if self.order_keys else table

    def save(self, directory: str) -> StreamedRelease:
        """Write the bundle of this release as a new folder of the driver's file system.

        The table comes to the driver a partition at a time, into one Parquet file.
        """
        import pyarrow as pa

        gaps: list[NDArray[np.bool_]] = []
        with new_bundle(directory) as folder:
            rows = self.table.mapInArrow(packed, "data binary").toLocalIterator()
            batches = (b for row in rows for b in pa.ipc.open_stream(bytes(row.data)))
            first = pa.Table.from_batches([next(batches)])
            with ParquetGroups(folder / "table.parquet", first.schema, ROW_GROUP) as file:
                for table in itertools.chain(
                    [first], (pa.Table.from_batches([b]) for b in batches)
                ):
                    file.write(table)
                    empty = table.column(self.count_column).is_null()
                    gaps.append(np.asarray(empty.to_numpy(), dtype=np.bool_))
            facts = {field.name: vars(self)[field.name] for field in fields(ReleaseFacts)}
            if self.missing and sum(map(len, gaps)) <= MOST_ROWS:
                facts["missing_rows"] = np.concatenate(gaps)
            release = StreamedRelease(histogram=self.histogram, folder=Path(directory), **facts)
            complete(release, folder, list(self.columns))
        return release


def privatize(
    df: Any,
    path: str,
    *,
    epsilon: Any,
    max_count: int | str | PrivateQuantile,
    count: str | None = None,
    category: str | None = None,
    keep: Sequence[str] = (),
    publish_anyway: Sequence[str] = (),
    order_by: str | None = None,
    repeated_categories: bool = False,
    missing: Sequence[Any] = (),
    structural_zero: str | None = None,
    contributions: int = 1,
    privatizer: Privatizer | None = None,
    constructor: Callable[..., Construction] | None = None,
    split: Any = None,
    ledger: Any = None,
    dataset: str | None = None,
    within: Any = None,
    totals: Any = None,
    subset: Any = None,
    period: Any = None,
) -> SparkRelease:
    """`holdfast.privatize` for a Spark DataFrame; its released table is written to `path`.

    `df` is computed twice, once for the histogram and once for the draws, and must give the same
    rows both times; where the number of rows differs nothing is released. Executors need holdfast
    too. There is no seed: tasks draw from the operating system of the machine they run on, and a
    task that is run again draws afresh, while only one run of it is kept.

    Parameters:
        df: A DataFrame of a classic Spark session, 3.5 or later.
        path: New folder for Parquet files, on any file system that Spark writes to.
        category: Name of the category column, which is published; looking for labels that repeat
            takes another pass. What `keep` publishes is looked through in a sample of the rows.
        order_by: As in `holdfast.privatize`. Without it rows are written as `df` has them, which
            must not be in the order of the counts; looking for that takes another pass.
        missing: As in `holdfast.privatize`: numbers, and None or "" for null and NaN.
        structural_zero: A boolean column that marks rows publicly known to be zero.
        ledger, dataset: As in `holdfast.privatize`, but a release is never recognised as one
            made before: every call pays.
        within: As in `holdfast.privatize`; labels are text, whole numbers or booleans. Each
            column takes another pass, and classes as much memory on the driver as there are
            different numbers.
        subset: As in `holdfast.privatize`; its column takes two passes more.

    The others are those of `holdfast.privatize`.
    """
    account, span = find_account(ledger, dataset, column=count), read_period(period)
    parameters = check_parameters(
        epsilon=epsilon,
        max_count=max_count,
        contributions=contributions,
        privatizer=privatizer,
        constructor=constructor,
        split=split,
        within=within,
        totals=totals,
    )
    check_codes(missing, parameters.highest)
    place = _Place(df, path)
    wanted = Wanted(
        count=count,
        category=category,
        keep=keep,
        publish_anyway=publish_anyway,
        order_by=order_by,
        repeated_categories=repeated_categories,
        missing=missing,
        structural_zero=structural_zero,
        within=parameters.within,
        subset=subset,
    )
    columns = Columns(df, wanted)
    if parameters.within is not None:
        check_kinds(columns, parameters.within)
    groups = None
    with _spark("read", "`df`"):
        seen = columns.tally(parameters.highest)
        if wanted.subset is not None:  # which must not follow from the counts of all rows either
            columns, notes = columns.only(wanted.subset), (wanted.subset.note, *seen.notes)
            seen = replace(columns.tally(parameters.highest), notes=notes)
        seen = replace(seen, notes=(*period_notes(span), *seen.notes))
        settled = parameters.within_for(seen.rows)
        if settled is not None:
            groups = tally_groups(columns, settled, parameters.highest)
    stages = parameters.for_rows(seen.rows, None if groups is None else groups.partition)
    with _spark(
        "write", f"`{place.path}`"
    ):  # what can be known to fail must fail before it is paid
        place.probe()
        columns.df.mapInArrow(lambda batches: batches, columns.released_schema())
    run = SparkRun(columns=columns, place=place, stages=stages, seen=seen, groups=groups)
    request = replace(stages.request(seen.structural_zeros), subset=wanted.subset, period=span)
    return pay_and_draw(run, request, account)


@dataclass(frozen=True, kw_only=True)
class SparkRun(Run[SparkRelease]):
    """A DataFrame that was tallied, between the histogram and the draws."""

    columns: Columns
    place: "_Place"
    stages: Stages
    seen: Seen
    groups: SeenGroups | None = None

    def _staged(self) -> Staged:
        if self.groups is not None:
            return self.stages(self.groups.histograms, self.groups.totals)
        totals: tuple[int, ...] = ()
        if self.stages.budget.totals:
            with _spark("read", "`df`"):
                totals = (self.columns.total(),)
        return self.stages(self.seen.histogram, totals)

    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> SparkRelease:
        """Draw and write in one job, check what was written, and give it its name."""
        staged, zeros = self._staged(), self.seen.structural_zeros
        released = self._write(staged)
        drawn = released.copy()
        drawn[0] -= zeros
        facts = staged.facts(drawn)
        return SparkRelease(
            histogram=released,
            path=self.place.path,
            columns=tuple(self.columns.names),
            session=self.place.session,
            structural_zeros=zeros,
            missing=self.seen.missing,
            order_keys=self.columns.order_keys,
            count_column=self.columns.count,
            unchanged_columns=self.columns.roles.others,
            category=self.columns.category,
            receipt=receipt,
            **facts | {"notes": (*self.seen.notes, *facts["notes"], *notes)},
        )

    def prepare(self) -> None:
        """Load what building the mechanism needs; the draws are the executors'."""
        rehearse(self.stages)

    def _write(self, staged: Staged) -> NDArray[np.int64]:
        place, zeros = self.place, self.seen.structural_zeros
        partial = f"{place.path}.partial-{secrets.token_hex(8)}"
        try:
            with _spark("write", f"`{place.path}`"):
                reader = None if self.groups is None else self.groups.reader
                _draw(self.columns, staged, partial, reader)
                released, missing = _released(self.columns, partial, staged.top)
            drawn = int(released.sum()) - zeros
            if (drawn, missing) != (self.seen.rows, self.seen.missing) or released[0] < zeros:
                raise changed()
            place.take(partial)
        finally:
            place.remove(partial)
        return released


def _draw(columns: Columns, staged: Staged, partial: str, groups: GroupReader | None) -> None:
    mechanism, df = staged.mechanism, columns.placed
    shared = df.sparkSession.sparkContext.broadcast((secrets.token_hex(8), mechanism, groups))
    at = columns.names.index(columns.count)
    marker = None if columns.marker is None else df.columns.index(columns.marker)
    grouping = tuple(columns.names.index(name) for name in columns.roles.grouping)
    task = drawing(shared, at, staged.top, marker, columns.codes, len(columns.names), grouping)
    drawn = df.mapInArrow(task, columns.released_schema())
    # version 1: the files of a task come into place when the whole job is done, not before
    options = {"mapreduce.fileoutputcommitter.algorithm.version": "1"}
    drawn.write.mode("errorifexists").options(**options).parquet(partial)


def _released(columns: Columns, partial: str, top: int) -> tuple[NDArray[np.int64], int]:
    """How many rows were written with each count, and how many with none."""
    histogram, missing = np.zeros(top + 1, dtype=np.int64), 0
    table = columns.df.sparkSession.read.parquet(partial)
    for key, rows in table.groupBy(quoted(columns.count)).count().collect():
        if key is None:
            missing = rows
        else:
            histogram[key] = rows
    return histogram, missing


@contextmanager
def _spark(what: str, which: str) -> Iterator[None]:
    """What Spark raises may quote cells: it stays in Spark's own log."""
    try:
        yield
    except HoldfastError:
        raise
    except Exception as error:
        raise HoldfastError(
            f"Spark could not {what} {which} ({type(error).__name__}); nothing was released. "
            "Hint: Spark's log says why."
        ) from None


def _is_classic(df: Any) -> bool:
    try:
        from pyspark.sql import DataFrame, SparkSession
    except ImportError:
        raise HoldfastError(
            "a DataFrame of Spark needs pyspark. Hint: pip install 'holdfast[spark]'."
        ) from None
    return isinstance(df, DataFrame) and isinstance(df.sparkSession, SparkSession)


class _Place:
    """A new folder of a file system that Spark writes to."""

    def __init__(self, df: Any, path: str) -> None:
        if not _is_classic(df):
            raise HoldfastError(
                "`df` must be a DataFrame of a classic Spark session. Hint: Spark Connect cannot "
                "say where files are; run holdfast on the driver."
            )
        self.session, self.path = df.sparkSession, str(path)
        if self._exists():
            raise HoldfastError(
                f"`{self.path}` exists already; nothing was drawn. Hint: name a new folder."
            )

    def probe(self) -> None:
        """Raise if no folder can be made there."""
        partial = f"{self.path}.partial-{secrets.token_hex(8)}"
        system, folder = self._file_system(partial)
        if not system.mkdirs(folder):
            raise HoldfastError(
                f"`{self.path}` cannot be made; nothing was drawn or spent. Hint: may Spark write "
                "there?"
            )
        self.remove(partial)

    def take(self, partial: str) -> None:
        """Give what was written its name."""
        system, folder = self._file_system(partial)
        if self._exists() or not system.rename(folder, self._file_system(self.path)[1]):
            raise HoldfastError(f"`{self.path}` exists already; nothing was released.")

    def remove(self, partial: str) -> None:
        """Leave nothing behind."""
        system, folder = self._file_system(partial)
        system.delete(folder, True)

    def _exists(self) -> bool:
        system, folder = self._file_system(self.path)
        return bool(system.exists(folder))

    def _file_system(self, path: str) -> tuple[Any, Any]:
        folder = self.session._jvm.org.apache.hadoop.fs.Path(path)
        return folder.getFileSystem(self.session._jsc.hadoopConfiguration()), folder
