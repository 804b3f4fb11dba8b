"""Tables in Spark: the histogram by groupBy, the draws in tasks, and the result written once.

A Spark plan is computed as often as Spark likes: again for every action, and again for every task
that is lost. Draws in such a plan would give a row a second released count, and two of them tell
more than one. So nothing here hands out a plan with draws in it: `privatize` writes the drawn
table to files in one job whose commit keeps one attempt of each task, and what it returns
reads those files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack, overload

from holdfast.former.engines.options import Options, check_options, sorted_options
from holdfast.former.engines.rehearsal import rehearse
from holdfast.former.engines.several import refuse_for_one
from holdfast.former.engines.spark.looking import Looked, look_through
from holdfast.former.engines.spark.place import Place, told_by_spark
from holdfast.former.engines.spark.release import (
    SparkRelease,
    SparkTableRelease,
    files_of,
    release_of,
)
from holdfast.former.engines.spark.several import privatize_several
from holdfast.former.engines.spark.writing import draws, made_ready, released_counts, write
from holdfast.former.engines.stages import Stages, check_parameters
from holdfast.former.ledger.periods import read_period
from holdfast.former.ledger.spending import Run, find_account, pay_and_draw
from holdfast.former.tables.columns import Wanted


@overload
def privatize(
    df: Any, path: str, *, count: str | None = None, **options: Unpack[Options]
) -> SparkRelease: ...
@overload
def privatize(
    df: Any, path: str, *, count: Sequence[str], **options: Unpack[Options]
) -> SparkTableRelease: ...
def privatize(
    df: Any, path: str, *, count: str | Sequence[str] | None = None, **options: Unpack[Options]
) -> SparkRelease | SparkTableRelease:
    """`holdfast.privatize` for a Spark DataFrame; its released table is written to `path`.

    `df` is computed twice, once for the histogram and once for the draws, and must give the same
    rows both times; where the number of rows differs nothing is released. Executors need holdfast
    too. There is no seed: tasks draw from the operating system of the machine they run on, and a
    task that is run again draws afresh, while only one run of it is kept.

    Parameters:
        df: A DataFrame of a classic Spark session, 3.5 or later.
        path: New folder for Parquet files, on any file system that Spark writes to.
        count: As in `holdfast.privatize`; of several columns a `SparkTableRelease` is returned,
            otherwise a `SparkRelease`. With joint=True there is a job for each column, and the
            files between them, in which counts that are not drawn yet are sealed, stand beside
            `path` until the run ends.
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

    The others are those of `holdfast.privatize`, except for `seed` and `corrects`.
    """
    check_options(options, Options)
    names, asked, shared, payer, told = sorted_options(options)
    account = find_account(**payer, column=count)
    if count is not None and not isinstance(count, str):
        return privatize_several(df, path, count, names, asked | shared, account, told)
    refuse_for_one(**shared)
    parameters, span = check_parameters(**asked), read_period(told.get("period"))
    place = Place(df, path)
    wanted = Wanted(count=count, within=parameters.within, **names)
    looked = look_through(df, place, [wanted], [parameters], span)
    stages = parameters.for_rows(looked.rows[0], looked.partitions[0])
    run = OnSpark(looked=looked, place=place, stages=stages)
    told |= wanted.for_ledger | {"period": span}
    request = stages.request(looked.seen[0].structural_zeros, **told)
    return pay_and_draw(run, request, account)


@dataclass(frozen=True, kw_only=True)
class OnSpark(Run[SparkRelease]):
    """A DataFrame that was tallied, between the histogram and the draws."""

    looked: Looked
    place: Place
    stages: Stages

    def prepare(self) -> None:
        """Load what building the mechanism needs; the draws are the executors'."""
        rehearse(self.stages)

    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> SparkRelease:
        """Draw and write in one job, check what was written, and give it its name."""
        (columns,), (seen,), (groups,) = self.looked.columns, self.looked.seen, self.looked.groups
        ready, df = made_ready(columns, self.stages, seen, groups), columns.placed
        with self.place.partial() as partial, told_by_spark("write", f"`{self.place.path}`"):
            task = draws(df, [ready], len(columns.names))
            write(df.mapInArrow(task, columns.released_schema()), partial)
            released = released_counts(columns, seen, partial, ready.staged.top)
            self.place.take(partial)
        files = files_of(columns, self.place)
        return release_of(ready, seen, released, files, notes, receipt)
