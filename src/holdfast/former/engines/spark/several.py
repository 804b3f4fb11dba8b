"""Several columns of counts on Spark: one payment, and for all that are drawn apart one job."""

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.former.engines.chain import Chain
from holdfast.former.engines.rehearsal import rehearse
from holdfast.former.engines.several import SeveralStages, check_several, not_together
from holdfast.former.engines.spark.columns import Columns, quoted
from holdfast.former.engines.spark.groups import tally_groups
from holdfast.former.engines.spark.looking import Looked, look_through
from holdfast.former.engines.spark.place import Place, told_by_spark
from holdfast.former.engines.spark.release import (
    SparkRelease,
    SparkTableRelease,
    files_of,
    release_of,
)
from holdfast.former.engines.spark.sealed import opening, sealing
from holdfast.former.engines.spark.tasks import Task
from holdfast.former.engines.spark.writing import Ready, draws, made_ready, released_counts, write
from holdfast.former.ledger.periods import read_period
from holdfast.former.ledger.spending import Account, Run, pay_and_draw
from holdfast.former.privacy.persons import PersonIn
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.count_values import Codes


def privatize_several(
    df: Any,
    path: str,
    count: Sequence[str],
    names: dict[str, Any],
    options: dict[str, Any],
    account: Account | None,
    told: dict[str, Any],
) -> SparkTableRelease:
    """`holdfast.spark.privatize` for several columns of counts."""
    parameters, span = check_several(count, **options), read_period(told.get("period"))
    place = Place(df, path)
    named = names | {"within": parameters.columns[0].within}
    named |= {"apart": parameters.persons.person_in is PersonIn.ONE}
    wanted = [
        Wanted(count=name, other_counts=tuple(n for n in count if n != name), **named)
        for name in count
    ]
    looked = look_through(df, place, wanted, parameters.columns, span)
    if parameters.joint:
        _check_together(looked.columns)
    stages = parameters.for_rows(looked.rows, looked.partitions)
    run = SeveralOnSpark(looked=looked, place=place, stages=stages)
    told |= wanted[0].for_ledger | {"period": span}
    request = stages.request(looked.seen[0].structural_zeros, **told)
    return pay_and_draw(run, request, account)


def _check_together(columns: Sequence[Columns]) -> None:
    """Raise unless the same rows are drawn in all columns."""
    first = columns[0]
    if not first.roles.wanted.missing:
        return
    with told_by_spark("read", "`df`"):
        apart = [one.open_count.isNull() != first.open_count.isNull() for one in columns[1:]]
        odd = any(first.df.where(condition).limit(1).collect() for condition in apart)
    if odd:
        raise not_together()


def _one_after_the_other(first: Task, then: Task) -> Task:
    return lambda batches: then(first(batches))


def _sealed_schema(columns: Columns, df: Any, standing: tuple[str, str]) -> Any:
    """What is written while counts wait: all columns, and where a row stands."""
    from pyspark.sql.types import LongType, StructField, StructType

    plain = columns.released_schema().fields
    rest = df.select(*map(quoted, df.columns[len(plain) :])).schema.fields
    return StructType([*plain, *rest, *(StructField(name, LongType()) for name in standing)])


@dataclass(frozen=True, kw_only=True)
class SeveralOnSpark(Run[SparkTableRelease]):
    """A DataFrame that was tallied, before anything is drawn."""

    looked: Looked
    place: Place
    stages: SeveralStages

    def prepare(self) -> None:
        """Load what building the mechanisms needs; the draws are the executors'."""
        for one in self.stages.columns:
            rehearse(one)

    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> SparkTableRelease:
        """Draw and write, check what was written, and give it its name."""
        with ExitStack() as partials:
            if self.stages.parameters.joint:
                ready, partial = self._written_in_turn(partials)
            else:
                ready, partial = self._written_at_once(partials)
            with told_by_spark("read", "what was written"):
                released = [
                    released_counts(one.columns, seen, partial, one.staged.top)
                    for one, seen in zip(ready, self.looked.seen, strict=True)
                ]
            self.place.take(partial)
        return self._release(ready, released, notes, receipt)

    def _written_at_once(self, partials: ExitStack) -> tuple[list[Ready], str]:
        looked, first = self.looked, self.looked.columns[0]
        parts = zip(looked.columns, self.stages.columns, looked.seen, looked.groups, strict=True)
        ready, path = [made_ready(*part) for part in parts], self._partial(partials)
        df = first.placed
        with told_by_spark("write", f"`{self.place.path}`"):
            task = draws(df, ready, len(first.names))
            write(df.mapInArrow(task, first.released_schema()), path)
        return ready, path

    def _written_in_turn(self, partials: ExitStack) -> tuple[list[Ready], str]:
        """Every column by itself, given those before: the others wait, sealed."""
        looked, first, names = self.looked, self.looked.columns[0], self.stages.names
        groups = looked.groups[0]
        chain = Chain(self.stages.classes, None if groups is None else groups.partition.within)
        ready = [made_ready(first, self.stages.columns[0], looked.seen[0], groups)]
        chain.add(names[0], ready[0].staged)
        df, path, key = first.placed, self._partial(partials), self._share(secrets.token_bytes(32))
        waiting = tuple(map(df.columns.index, names[1:]))
        token = secrets.token_hex(8)  # no column is called so
        standing = f"standing-{token}", f"attempt-{token}"
        seal = sealing(key, waiting, first.codes, standing)
        with told_by_spark("write", f"`{self.place.path}`"):
            task = _one_after_the_other(draws(df, ready, len(df.columns)), seal)
            write(df.mapInArrow(task, _sealed_schema(first, df, standing)), path)
        for k, name in enumerate(names[1:], 1):
            last, sealed = k == len(names) - 1, self.place.session.read.parquet(path)
            opened = sealed.mapInArrow(opening(key, waiting[k - 1]), sealed.schema)
            with told_by_spark("read", "what was written"):
                ready.append(self._given(chain, k, opened))
            chain.add(name, ready[-1].staged)
            path = self._partial(partials)
            rows = opened.orderBy(quoted(standing[0])) if last else opened
            schema = first.released_schema() if last else sealed.schema
            with told_by_spark("write", f"`{self.place.path}`"):
                task = draws(rows, ready[-1:], len(schema.fields))
                write(rows.mapInArrow(task, schema), path)
        return ready, path

    def _given(self, chain: Chain, k: int, df: Any) -> Ready:
        """A column within classes of what is released of those before it."""
        own = self.looked.columns[k]
        codes = Codes((None,) if own.roles.wanted.missing else ())
        columns, stages = own.among(df, codes), self.stages.columns[k]
        groups = tally_groups(columns, chain.within, stages.highest)
        highs = groups.reader.highs(len(chain.within.parts) - 1) or []
        stages = chain.given(stages, groups.partition, highs)
        return made_ready(columns, stages, self.looked.seen[k], groups)

    def _share(self, value: Any) -> Any:
        return self.place.session.sparkContext.broadcast(value)

    def _partial(self, partials: ExitStack) -> str:
        return partials.enter_context(self.place.partial())

    def _release(
        self,
        ready: Sequence[Ready],
        released: Sequence[Any],
        notes: tuple[str, ...],
        receipt: str | None,
    ) -> SparkTableRelease:
        files, columns = files_of(self.looked.columns[0], self.place), dict[str, SparkRelease]()
        for k, (name, one) in enumerate(zip(self.stages.names, ready, strict=True)):
            column = release_of(one, self.looked.seen[k], released[k], files, receipt=receipt)
            others = self.stages.among_others(k, one.staged.stages)
            shown = tuple(n for n in files.columns if n not in others["later"])
            columns[name] = replace(column, files=replace(files, columns=shown), **others)
        return SparkTableRelease(
            columns=columns,
            privacy=self.stages.privacy(columns),
            joint=self.stages.parameters.joint,
            notes=(*self.looked.seen[0].notes, *notes),
            receipt=receipt,
            files=files,
        )
