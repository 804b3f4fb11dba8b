"""Groups of the rows of a DataFrame: found, tallied and totalled by Spark itself."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.former.engines.spark.columns import LABELS, Columns, is_number, quoted
from holdfast.former.tables.group_rows import GroupReader
from holdfast.former.tables.groups import Partition, Within


@dataclass(frozen=True, kw_only=True)
class SeenGroups:
    """What was found of the groups. The histograms and totals are not for release."""

    partition: Partition
    reader: GroupReader = field(repr=False)
    """What says which group a row is in."""
    histograms: Integers = field(repr=False)
    totals: list[int] = field(repr=False)


def check_kinds(columns: Columns, within: Within) -> None:
    """Refuse columns that hold neither labels nor numbers, before anything is computed."""
    for part, name in zip(within.parts, within.columns, strict=True):
        kind, labels = columns.kind(name), isinstance(part, str)
        if labels and kind not in LABELS:
            raise HoldfastError(
                f"`within` column {name!r} must hold labels: text, whole numbers or booleans, not "
                f"{kind}. Hint: for other numbers name classes of them."
            )
        if not labels and not is_number(kind):
            raise HoldfastError(
                f"`within` column {name!r} must hold numbers to have classes, not {kind}."
            )


def tally_groups(columns: Columns, within: Within, highest: int) -> SeenGroups:
    """The groups, how many rows of each have each count, and their totals.

    A groupBy for each column, and one for all of them and the counts together.
    """
    from pyspark.sql import functions as F

    reader, rows = GroupReader(within), columns.drawn
    for number, name in enumerate(within.columns):
        value = F.col(quoted(name))
        cells = value if isinstance(within.parts[number], str) else value.cast("double")
        found = rows.groupBy(cells.alias("cell")).agg(F.count(F.lit(1))).collect()
        _check_numbers(within, number, [row[0] for row in found])
        weights = np.array([row[1] for row in found], dtype=np.int64)
        reader.see_part(number, [row[0] for row in found], weights)
    texts = [labels for _, labels in reader.settle_parts(within)]
    keys = [_key(reader, number, name) for number, name in enumerate(within.columns)]
    count = F.col(quoted(columns.count)).cast("decimal(38,0)")
    named = [key.alias(f"part{k}") for k, key in enumerate(keys)]
    capped = F.least(count.cast("bigint"), F.lit(highest)).alias("key")
    lines = rows.groupBy(*named, capped).agg(F.count(F.lit(1)), F.sum(count)).collect()
    weights = np.array([line[-2] for line in lines], dtype=np.int64)
    coded = [
        (_codes(reader, number, [line[number] for line in lines]), labels)
        for number, labels in enumerate(texts)
    ]
    partition, inside = reader.combine(coded, weights)
    histograms = np.zeros((len(partition), highest + 1), dtype=np.int64)
    np.add.at(histograms, (inside, [line[-3] for line in lines]), weights)
    totals = [0] * len(partition)
    for group, line in zip(inside.tolist(), lines, strict=True):
        totals[group] += int(line[-1])
    return SeenGroups(partition=partition, reader=reader, histograms=histograms, totals=totals)


def _check_numbers(within: Within, number: int, cells: list[Any]) -> None:
    if isinstance(within.parts[number], str):
        return
    if any(cell is None or not np.isfinite(cell) for cell in cells):
        raise HoldfastError(
            f"`within` column {within.columns[number]!r} must hold a number in every row to have "
            "classes, and there is a row without one. Hint: fill it in."
        )


def _key(reader: GroupReader, number: int, name: str) -> Any:
    """A column's label, or how many classes lie below its number."""
    from pyspark.sql import functions as F

    value, highs = F.col(quoted(name)), reader.highs(number)
    if highs is None:
        return value
    below = F.filter(F.array(*map(F.lit, highs)), lambda high: high < value.cast("double"))
    return F.size(below)


def _codes(reader: GroupReader, number: int, cells: list[Any]) -> Integers:
    if reader.highs(number) is None:
        return reader.placed_part(number, cells)
    return np.array(cells, dtype=np.int64)
