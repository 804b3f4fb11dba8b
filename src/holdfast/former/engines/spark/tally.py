"""The first passes over a DataFrame: counts are tallied, what is published is looked through."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.former.engines.spark.columns import KNOWN_ZERO, NOT_KNOWN, PROBLEMS, Columns, quoted
from holdfast.former.engines.spark.order import merged_orders, order_of_counts
from holdfast.former.engines.spark.tasks import LARGEST
from holdfast.former.tables.columns import refuse_leaks
from holdfast.former.tables.count_values import Codes
from holdfast.former.tables.leaks import Leak, Watch
from holdfast.former.tables.leaks.watch import SAMPLE, named_total, total_labels
from holdfast.former.tables.table import repeated_notes


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the first pass found. Not for release."""

    histogram: Integers = field(repr=False)
    structural_zeros: int
    missing: int
    notes: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Rows that go through the mechanism."""
        return int(self.histogram.sum())


def tally(columns: Sequence[Columns], highest: Sequence[int]) -> tuple[Seen, ...]:
    """What is found of each column of counts of the same rows: the histograms by one groupBy; then
    samples of the rows are looked through. What gives the counts away is refused."""
    watched, tops = list(columns), list(highest)
    if len(columns) > 1:
        watched, tops = [*columns, _summed(columns)], [*highest, 1]
    seen = _histograms(watched, tops)
    _refuse_leaks(watched, [one.histogram for one in seen])
    notes = _notes(columns[0])
    return tuple(replace(one, notes=notes) for one in seen[: len(columns)])


def _summed(columns: Sequence[Columns]) -> Columns:
    """What several counts add up to, as a column of its own: what is kept may follow from it."""
    from pyspark.sql import functions as F

    first = columns[0]
    total, name = reduce(add, (one.open_count for one in columns)), "sum of the counts"
    while name in first.df.columns:
        name += "_"
    _ = first.order_keys  # found once
    whole = copy(first)
    whole.count, whole.marker = name, None
    whole.roles = replace(first.roles, wanted=replace(first.roles.wanted, apart=False))
    df = first.df.withColumn(name, F.least(total, F.lit(LARGEST)))
    return whole.among(df, Codes((None,)))


def _histograms(columns: Sequence[Columns], highest: Sequence[int]) -> list[Seen]:
    from pyspark.sql import functions as F

    pairs = enumerate(zip(columns, highest, strict=True))
    keys = [F.struct(F.lit(k).alias("at"), one.key(top).alias("key")) for k, (one, top) in pairs]
    cells = columns[-1].df.select(F.explode(F.array(*keys)).alias("cell"))
    found = cells.groupBy("cell.at", "cell.key").agg(F.count(F.lit(1))).collect()
    return [
        _seen(one, {key: rows for at, key, rows in found if at == k}, top)
        for k, (one, top) in enumerate(zip(columns, highest, strict=True))
    ]


def _seen(column: Columns, found: dict[int, int], highest: int) -> Seen:
    for key, problem in PROBLEMS.items():
        if key in found:
            raise HoldfastError(
                f"`count` column {column.count!r} must hold whole numbers from 0 to 2^53, but "
                f"there is {problem}."
            )
    histogram = np.array([found.get(key, 0) for key in range(highest + 1)], dtype=np.int64)
    if not histogram.any():
        raise HoldfastError("`df` has no rows to release. Hint: one row per category.")
    return Seen(
        histogram=histogram,
        structural_zeros=found.get(KNOWN_ZERO, 0),
        missing=found.get(NOT_KNOWN, 0),
        notes=(),
    )


def _refuse_leaks(columns: Sequence[Columns], histograms: Sequence[Integers]) -> None:
    """Raise if something gives the counts away, also those of a sum that stands last."""
    last = columns[-1]
    named = [named_total()] if _has_total(last) else []
    # by names of their own: Spark's for an expression can have a dot in it, which it cannot read
    counts = last.placed.select(*(one.open_count.alias(f"c{k}") for k, one in enumerate(columns)))
    parts = counts.mapInArrow(order_of_counts, "part long, state binary").collect()
    orders = merged_orders([bytes(row.state) for row in sorted(parts)], len(columns))
    for one, order, histogram in zip(columns, orders, histograms, strict=True):
        refuse_leaks([*named, *order, *_sampled_leaks(one, histogram)], one.roles.wanted)


def _sampled_leaks(column: Columns, histogram: Integers) -> list[Leak]:
    """What gives the counts away, in a sample of rows with a count of 0 and one of others."""
    from pyspark.sql import functions as F

    names = [*column.roles.watched, *column.roles.wanted.other_counts]
    if not names:
        return []
    wanted, value = column.roles.wanted, F.col(quoted(column.count))
    watch = Watch(names, helping=() if wanted.apart else wanted.other_counts)
    for part, number in ((value == 0, histogram[0]), (value > 0, histogram[1:].sum())):
        share = min(1.0, 2 * SAMPLE / max(int(number), 1))
        shown = [value.cast("bigint"), *(F.col(quoted(name)) for name in names)]
        sample = column.drawn.where(part).select(*shown).sample(share, seed=0).limit(3 * SAMPLE)
        cells = [list(row) for row in sample.collect()]
        counts = np.array([row[0] for row in cells], dtype=np.int64)
        watch.see(counts, partial(_picked, cells))
    # a sample has neither the order of the rows nor their total
    known = {*names, column.count}
    return [leak for leak in watch.leaks() if set(leak.names) <= known]


def _picked(rows: list[list[Any]], chosen: Integers) -> list[list[Any]]:
    """The cells of some rows, a list for each column after the first."""
    return [list(column) for column in zip(*(rows[at][1:] for at in chosen.tolist()), strict=True)]


def _has_total(column: Columns) -> bool:
    from pyspark.sql import functions as F

    if column.category is None:
        return False
    label = F.lower(F.trim(F.col(quoted(column.category)).cast("string")))
    names = sorted(set(map(str.lower, total_labels())))
    return bool(column.df.where(label.isin(names)).limit(1).collect())


def _notes(column: Columns) -> tuple[str, ...]:
    from pyspark.sql import functions as F

    if column.category is None:
        return ()
    labels = column.df.groupBy(F.col(quoted(column.category)).alias("label"))
    repeated = labels.agg(F.count(F.lit(1)).alias("rows")).where("rows > 1").limit(1)
    return repeated_notes(column.roles.wanted) if repeated.collect() else ()
