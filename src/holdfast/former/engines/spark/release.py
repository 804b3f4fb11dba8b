"""Releases whose table is in files that Spark wrote, once."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.former.engines.spark.columns import Columns, quoted
from holdfast.former.engines.spark.place import Place
from holdfast.former.engines.spark.tally import Seen
from holdfast.former.engines.spark.tasks import packed
from holdfast.former.engines.spark.writing import Ready
from holdfast.former.release.bundle import check_whole, complete, new_bundle
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.release import StreamedRelease
from holdfast.former.release.row_marks import MOST_ROWS
from holdfast.former.release.several import SeveralFacts, StreamedTableRelease
from holdfast.former.release.several_bundle import complete_several
from holdfast.former.tables.parquet_groups import ROW_GROUP, ParquetGroups


@dataclass(frozen=True, kw_only=True, eq=False)
class Files:
    """A table in a folder of Parquet files."""

    path: str
    """The folder."""
    columns: tuple[str, ...]
    """All columns, in order."""
    session: Any
    """The Spark session that made it."""
    order_keys: tuple[Any, ...] = ()
    """What its rows are sorted by, where a column was named."""

    @property
    def table(self) -> Any:
        """A DataFrame that reads the files: however often it is computed, a row has one released
        count."""
        table = self.session.read.parquet(self.path).select(*map(quoted, self.columns))
        return table.orderBy(*self.order_keys) if self.order_keys else table

    def bring(self, folder: Path, counts: Sequence[str]) -> dict[str, Marks]:
        """Write one Parquet file in a folder of the driver, a partition at a time; for each column
        of counts the rows that have none."""
        import pyarrow as pa

        gaps: dict[str, list[Marks]] = {name: [] for name in counts}
        rows = self.table.mapInArrow(packed, "data binary").toLocalIterator()
        batches = (b for row in rows for b in pa.ipc.open_stream(bytes(row.data)))
        tables = (pa.Table.from_batches([batch]) for batch in batches)
        first = next(tables)
        with ParquetGroups(folder / "table.parquet", first.schema, ROW_GROUP) as file:
            for table in itertools.chain([first], tables):
                file.write(table)
                for name, marks in gaps.items():
                    empty = table.column(name).is_null().to_numpy()
                    marks.append(np.asarray(empty, dtype=np.bool_))
        return {name: np.concatenate(marks) for name, marks in gaps.items()}


def files_of(columns: Columns, place: Place) -> Files:
    """Where a table was written."""
    return Files(
        path=place.path,
        columns=tuple(columns.names),
        session=place.session,
        order_keys=columns.order_keys,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _InFiles:
    """What has its table in files that Spark wrote, once."""

    files: Files = field(repr=False)

    @property
    def path(self) -> str:
        """The folder of Parquet files."""
        return self.files.path

    @property
    def table(self) -> Any:
        """The released table as a DataFrame that reads the files: however often it is computed,
        a row has one released count in each column."""
        return self.files.table


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparkRelease(_InFiles, ReleaseFacts):
    """A release whose table is in files that Spark wrote, once."""

    histogram: NDArray[np.int64]
    """How many rows have each released count, structural zeros included."""

    @property
    def released_histogram(self) -> NDArray[np.int64]:
        """How many rows have each released count, structural zeros included."""
        return self.histogram

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in order."""
        return self.files.columns

    def save(self, directory: str) -> StreamedRelease:
        """Write the bundle of this release as a new folder of the driver's file system.

        The table comes to the driver a partition at a time, into one Parquet file.
        """
        check_whole(self)
        with new_bundle(directory) as folder:
            gaps = self.files.bring(folder, [self.count_column or ""])
            release = self.streamed(Path(directory), *gaps.values())
            complete(release, folder, list(self.columns))
        return release

    def streamed(self, folder: Path, gaps: Marks) -> StreamedRelease:
        """The same in a folder; `gaps` are the rows without a count."""
        facts = {field.name: vars(self)[field.name] for field in fields(ReleaseFacts)}
        if self.missing and len(gaps) <= MOST_ROWS:
            facts["missing_rows"] = gaps
        return StreamedRelease(histogram=self.histogram, folder=folder, **facts)


def release_of(
    ready: Ready,
    seen: Seen,
    released: Integers,
    files: Files,
    notes: tuple[str, ...] = (),
    receipt: str | None = None,
) -> SparkRelease:
    """The release of a column, from the histogram of what was written."""
    drawn = released.copy()
    drawn[0] -= seen.structural_zeros
    facts = ready.staged.facts(drawn)
    return SparkRelease(
        histogram=released,
        files=files,
        structural_zeros=seen.structural_zeros,
        missing=seen.missing,
        count_column=ready.columns.count,
        unchanged_columns=ready.columns.roles.others,
        category=ready.columns.category,
        receipt=receipt,
        **facts | {"notes": (*seen.notes, *facts["notes"], *notes)},
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparkTableRelease(_InFiles, SeveralFacts[SparkRelease]):
    """A release of several counts whose table is in files that Spark wrote."""

    def save(self, directory: str) -> StreamedTableRelease:
        """Write the bundle of this release as a new folder of the driver's file system, with a
        folder in it for each column of counts.

        The table comes to the driver a partition at a time, into one Parquet file.
        """
        place = Path(directory)
        with new_bundle(place) as folder:
            gaps = self.files.bring(folder, list(self.columns))
            release = StreamedTableRelease(
                columns={name: self[name].streamed(place, gaps[name]) for name in self.columns},
                privacy=self.privacy,
                joint=self.joint,
                notes=self.notes,
                receipt=self.receipt,
                folder=place,
            )
            complete_several(release, folder, list(self.files.columns))
        return release
