"""Every released count once more, in integers: noisy counts ranked within their group."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.verify.report import Damage
from holdfast.verify.rows import Number, RowsFile, csv_lines, plain, title
from holdfast.verify.ties import key_of, places

DISTRIBUTION = "distribution.csv"
HEADER = ["column", "group", "count", "rows", "share", "low", "high"]
ALL_ROWS = "all rows"
Table = dict[tuple[str, str], tuple[Integers, Integers]]
"""Counts and rows with each, by column of counts and group."""


def read_distribution(folder: Path, record: dict[str, Any]) -> Table:
    """The histograms that distribution.csv states."""
    names = {ALL_ROWS, *(record["groups"]["names"] if record["groups"]["columns"] else [])}
    titles, number = [title(column) for column in record["counts"]], Number(DISTRIBUTION)
    lines: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    sums: dict[tuple[str, str], int] = {}
    batches = csv_lines(folder, DISTRIBUTION, record)
    if next(batches) != [HEADER]:
        raise Damage(f"the first record of {DISTRIBUTION} does not name its columns.")
    for cells in chain.from_iterable(batches):
        place = plain(cells[0]), plain(cells[1])
        if place[0] not in titles or place[1] not in names:
            raise Damage(f"{DISTRIBUTION} speaks of a column or a group that is not there.")
        values, rows = lines.setdefault(place, ([], []))
        value, each = number(cells[2]), number(cells[3])
        if each < 1 or value < 0 or (values and value <= values[-1]):
            raise Damage(f"the counts of {DISTRIBUTION} do not ascend, or have no rows.")
        sums[place] = sums.get(place, 0) + each
        if sums[place] > record["table"]["rows"]:
            raise Damage(f"{DISTRIBUTION} has more rows than the table.")
        values.append(value)
        rows.append(each)
    return {place: (np.array(values), np.array(rows)) for place, (values, rows) in lines.items()}


def histograms(
    table: Table, record: dict[str, Any], rows: RowsFile, k: int
) -> list[tuple[Integers, Integers]]:
    """Histograms of the measured rows of each group of a column, once they add up to that of all
    rows."""
    name_of, names = title(record["counts"][k]), record["groups"]["names"]
    grouped = bool(record["groups"]["columns"])
    of_groups = list[tuple[Integers, Integers]]()
    sum_of: dict[int, int] = {}
    zeros = rows.zero & ~rows.missing[k]
    place = rows.group + 1 if grouped else np.ones_like(rows.group)
    outside, *zeros_of = np.bincount(place[zeros], minlength=len(names) + 1).tolist()
    _, *measured = np.bincount(place[rows.measured[k]], minlength=len(names) + 1).tolist()
    for number, name in enumerate(names):
        values, number_of = table.get((name_of, name if grouped else ALL_ROWS), _NOTHING)
        for value, each in zip(values.tolist(), number_of.tolist(), strict=True):
            sum_of[value] = sum_of.get(value, 0) + each
        values, number_of = _without(values, number_of, zeros_of[number])
        if int(number_of.sum()) != measured[number]:
            raise Damage(f"{DISTRIBUTION} does not have as many rows as a group has.")
        of_groups.append((values, number_of))
    if outside:
        sum_of[0] = sum_of.get(0, 0) + outside
    values, number_of = table.get((name_of, ALL_ROWS), _NOTHING)
    if dict(zip(values.tolist(), number_of.tolist(), strict=True)) != sum_of:
        raise Damage(f"the groups of {DISTRIBUTION} do not add up to all rows.")
    return of_groups


_NOTHING = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


def _without(values: Integers, rows: Integers, zeros: int) -> tuple[Integers, Integers]:
    """A histogram less rows that are publicly known to be zero."""
    if not zeros:
        return values, rows
    if not len(values) or values[0] != 0 or rows[0] < zeros:
        raise Damage(f"{DISTRIBUTION} has fewer rows of 0 than are publicly known to be zero.")
    rows = rows.copy()
    rows[0] -= zeros
    return values[rows > 0], rows[rows > 0]


def released(
    rows: RowsFile,
    k: int,
    said: dict[str, Any],
    of_groups: list[tuple[Integers, Integers]],
    earlier: list[tuple[Integers, Integers]],
) -> Integers:
    """The counts that the table must have, 0 where known to be, -1 where missing; `earlier` are
    the counts of earlier columns, and those of their measured rows in order."""
    counts = np.where(rows.missing[k], -1, 0).astype(np.int64)
    every = np.concatenate([np.repeat(*histogram) for histogram in of_groups])
    at = np.flatnonzero(rows.measured[k])
    group, noisy = rows.group[at], rows.noisy[k, at]
    if said["relations"]:
        noisy = 256 * noisy
        for (others, ordered), weight in zip(earlier, said["relations"], strict=True):
            noisy += weight * _same_rank(others[at], ordered, np.sort(every))
    order = np.lexsort((at, noisy, group))
    place = _tied(group[order], noisy[order], int(said["ties"]))
    ranked = order[np.lexsort((place, noisy[order], group[order]))]
    counts[at[ranked]] = every
    return counts


def _same_rank(counts: Integers, ordered: Integers, other: Integers) -> Integers:
    """Of all counts of another column, in order, those whose ranks these have in their column."""
    ends = [np.searchsorted(ordered, counts, side=side) for side in ("left", "right")]
    twice = np.where(counts < 0, len(ordered), ends[0] + ends[1])
    return np.asarray(other[twice * len(other) // (2 * len(ordered))])


def _tied(group: Integers, noisy: Integers, seed: int) -> Integers:
    """The place of each row among its ties, for rows sorted by group and noisy count."""
    new = np.append(True, (np.diff(group) != 0) | (np.diff(noisy) != 0))[: len(group)]
    first = np.flatnonzero(new)
    place = np.zeros(len(group), dtype=np.int64)
    sizes = np.diff(first, append=len(group))
    for start, size in zip(first.tolist(), sizes.tolist(), strict=True):
        if size > 1:
            key = key_of(seed, int(group[start]), int(noisy[start]), size)
            place[start : start + size] = places(key, size)
    return place
