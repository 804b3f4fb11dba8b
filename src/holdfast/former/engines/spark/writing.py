"""The second pass: mechanisms from what was tallied, draws in tasks, and files written once."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.former.engines.spark.columns import Columns, quoted
from holdfast.former.engines.spark.groups import SeenGroups
from holdfast.former.engines.spark.place import told_by_spark
from holdfast.former.engines.spark.tally import Seen
from holdfast.former.engines.spark.tasks import Task, ToDraw, changed, drawing
from holdfast.former.engines.stages import Staged, Stages
from holdfast.former.tables.group_rows import GroupReader


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A column of counts with a certified mechanism."""

    columns: Columns
    staged: Staged
    reader: GroupReader | None
    """What says which group a row is in."""


def made_ready(columns: Columns, stages: Stages, seen: Seen, groups: SeenGroups | None) -> Ready:
    """Steps 1 to 3 of a column that was tallied."""
    if groups is not None:
        staged = stages(groups.histograms, groups.totals)
        return Ready(columns=columns, staged=staged, reader=groups.reader)
    totals: tuple[int, ...] = ()
    if stages.budget.totals:
        with told_by_spark("read", "`df`"):
            totals = (columns.total(),)
    return Ready(columns=columns, staged=stages(seen.histogram, totals), reader=None)


def draws(df: Any, ready: Sequence[Ready], width: int) -> Task:
    """What tasks do with the rows of a table: the first columns of it, with counts drawn."""
    columns, shared = ready[0].columns, df.sparkSession.sparkContext.broadcast
    marker = None if columns.marker is None else df.columns.index(columns.marker)
    wanted = [_to_draw(one, df.columns) for one in ready]
    return drawing(shared((secrets.token_hex(8), wanted)), marker, columns.codes, width)


def _to_draw(one: Ready, names: list[str]) -> ToDraw:
    grouping = () if one.reader is None else one.reader.within.columns
    return ToDraw(
        at=names.index(one.columns.count),
        top=one.staged.top,
        mechanism=one.staged.mechanism,
        groups=one.reader,
        grouping=tuple(names.index(name) for name in grouping),
    )


def write(df: Any, path: str) -> None:
    """Compute a table once, into files."""
    # version 1: the files of a task come into place when the whole job is done, not before
    options = {"mapreduce.fileoutputcommitter.algorithm.version": "1"}
    df.write.mode("errorifexists").options(**options).parquet(path)


def released_counts(columns: Columns, seen: Seen, path: str, top: int) -> Integers:
    """How many rows were written with each count; raises where they are not those that were
    tallied."""
    histogram, missing, zeros = np.zeros(top + 1, dtype=np.int64), 0, seen.structural_zeros
    table = columns.df.sparkSession.read.parquet(path)
    for key, rows in table.groupBy(quoted(columns.count)).count().collect():
        if key is None:
            missing = rows
        else:
            histogram[key] = rows
    if (int(histogram.sum()) - zeros, missing) != (seen.rows, seen.missing) or histogram[0] < zeros:
        raise changed()
    return histogram
