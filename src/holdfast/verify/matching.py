"""Every released count once more, in integers: noisy counts ranked within their group, equal ones
in the public order that docs/match.md has."""

import math
from itertools import pairwise, starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, narrowed
from holdfast.fit.histogram import Histogram
from holdfast.release.load import NO_ROWS, Table
from holdfast.verify.report import Damage
from holdfast.verify.rows import RowsFile

DISTRIBUTION = "distribution.csv"
ALL_ROWS = "all rows"
Words = NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_FEW, _ROUNDS = 32, 8
AT_A_TIME = 1 << 18  # rows of ties whose places are held


def histograms(table: Table, record: dict[str, Any], rows: RowsFile, k: int) -> list[Histogram]:
    """Histograms of the measured rows of each group of a column, once they add up to that of all
    rows."""
    name, names = record["counts"][k]["name"], record["groups"]["names"]
    of_groups = [
        table.get((name, group), NO_ROWS) for group in (names if len(names) > 1 else [ALL_ROWS])
    ]
    place = rows.group + 1 if len(names) > 1 else np.ones_like(rows.group)
    zeros = place[rows.zero & ~rows.missing[k]]
    outside, *zeros_of = np.bincount(zeros, minlength=len(names) + 1).tolist()
    _, *measured = np.bincount(place[rows.measured[k]], minlength=len(names) + 1).tolist()
    zero = np.zeros(int(outside > 0), dtype=np.int64)  # no floats: counts may be above 2^53
    values = np.concatenate([zero, *(each.values for each in of_groups)])
    numbers = np.concatenate([[outside] * bool(outside), *(each.rows for each in of_groups)])
    values, at = np.unique(values, return_inverse=True)
    whole, sums = table.get((name, ALL_ROWS), NO_ROWS), np.bincount(at, numbers)
    if not (np.array_equal(values, whole.values) and np.array_equal(sums, whole.rows)):
        raise Damage(f"the groups of {DISTRIBUTION} do not add up to all rows.")
    of_groups = list(map(_without, of_groups, zeros_of))
    if [each.size for each in of_groups] != measured:
        raise Damage(f"{DISTRIBUTION} does not have as many rows as a group has.")
    return of_groups


def _without(histogram: Histogram, zeros: int) -> Histogram:
    """A histogram less rows that are publicly known to be zero."""
    values, rows = histogram.values, histogram.rows.copy()
    if not zeros:
        return histogram
    if not len(values) or values[0] != 0 or rows[0] < zeros:
        raise Damage(f"{DISTRIBUTION} has fewer rows of 0 than are publicly known to be zero.")
    rows[0] -= zeros
    return Histogram(values=values[rows > 0], rows=rows[rows > 0])


def released(
    rows: RowsFile,
    k: int,
    said: dict[str, Any],
    of_groups: list[Histogram],
    earlier: list[tuple[Integers, Integers]],
) -> Integers:
    """The counts that the table must have, 0 where known to be, -1 where missing; `earlier` are
    the counts of earlier columns, and those of their measured rows in order."""
    every = narrowed(np.concatenate([each.counts() for each in of_groups]))
    counts = np.where(rows.missing[k], -1, 0).astype(every.dtype)
    at = np.flatnonzero(rows.measured[k])
    group, noisy = rows.group[at], rows.noisy[k][at]
    if said["relations"]:
        noisy = 256 * noisy.astype(np.int64)
        for (others, ordered), weight in zip(earlier, said["relations"], strict=True):
            noisy += weight * _same_rank(others[at], ordered, np.sort(every).astype(np.int64))
    order = _order(noisy, group)
    at = at[order]
    group = group[order]
    noisy = noisy[order]
    del order
    first = np.flatnonzero(np.append(True, (group[1:] != group[:-1]) | (noisy[1:] != noisy[:-1])))
    ties = np.diff(first, append=len(at))
    cuts = np.searchsorted(first, np.arange(0, len(at), AT_A_TIME))
    for some in starmap(slice, pairwise(np.unique([*cuts, len(first)]).tolist())):
        start, number = first[some], ties[some]
        place = places(int(said["ties"]), group[start], noisy[start], number)
        tied = at[start[0] : start[-1] + number[-1]]
        counts[tied] = every[np.repeat(start, number) + place]
    return counts


def _order(*keys: Integers) -> Integers:
    """The rows by the last of some keys, where they tie by those before it, then by their number:
    by 16 bits after the other, as these are sorted without comparisons."""
    order = np.arange(len(keys[0]))
    for key in keys:
        low, high = int(key.min()), int(key.max())
        for shift in range(0, (high - low).bit_length(), 16):
            above = np.subtract(key, low, dtype=np.int64)
            digit = np.right_shift(above, shift, out=above).astype(np.uint16)[order]
            del above
            order = order[np.argsort(digit, kind="stable")]
    return order


def _same_rank(counts: Integers, ordered: Integers, other: Integers) -> Integers:
    """Of all counts of another column, in order, those whose ranks these have in their column."""
    ends = [np.searchsorted(ordered, counts, side=side) for side in ("left", "right")]
    twice = np.where(counts < 0, len(ordered), ends[0] + ends[1])
    return np.asarray(other[twice * len(other) // (2 * len(ordered))])


def _hash(word: Words) -> Words:
    """The last step of SplitMix64."""
    word = (word ^ word >> np.uint64(30)) * _FIRST
    word = (word ^ word >> np.uint64(27)) * _SECOND
    return word ^ word >> np.uint64(31)


def places(seed: int, group: Integers, noisy: Integers, rows: Integers) -> Integers:
    """The place of each row among its ties, tie after tie: the arrays say of which group, noisy
    count and number of rows each tie is, and its rows stand in table order.

    >>> places(7, np.zeros(2, int), np.zeros(2, int), np.array([5, 1])).tolist()
    [2, 0, 1, 4, 3, 0]
    >>> sorted(places(7, np.zeros(1, int), np.array([3]), np.array([40]))) == list(range(40))
    True
    """
    key = np.zeros(len(rows), dtype=np.uint64)
    for part in (np.full(len(rows), seed, dtype=np.uint64), group, noisy, rows):
        key = _hash((key + _GOLDEN) ^ part.astype(np.uint64))
    tie = np.repeat(np.arange(len(rows)), rows)
    number = np.arange(len(tie)) - np.repeat(np.cumsum(rows) - rows, rows)
    few = np.flatnonzero(rows[tie] <= _FEW)
    hashes = _hash(key[tie[few]] + number[few].astype(np.uint64))
    place = number.astype(np.uint64)
    place[few[np.lexsort((hashes, tie[few]))]] = number[few]
    outside = np.flatnonzero(rows[tie] > _FEW)
    high = np.array([math.isqrt(size - 1) + 1 for size in rows.tolist()])
    while len(outside):
        ties = tie[outside]
        place[outside] = _turned(key[ties], rows[ties], high[ties], place[outside])
        outside = outside[place[outside] >= rows[ties]]
    return place.astype(np.int64)


def _turned(key: Words, rows: Integers, high: Integers, place: Words) -> Words:
    """Eight turns of the columns and rows of the rectangles in which the places stand."""
    wide, tall = (-(-rows // high)).astype(np.uint64), high.astype(np.uint64)
    down, across = np.divmod(place, wide)
    for turn in range(1, _ROUNDS + 1):
        key = key + _GOLDEN
        if turn % 2:
            down = (down + _amount(across + key, tall)) % tall
        else:
            across = (across + _amount(down + key, wide)) % wide
    return np.asarray(down * wide + across)


def _amount(word: Words, size: Words) -> Words:
    """Pseudorandom amounts below size."""
    word = word * _FIRST
    word = (word ^ word >> _HALF) * _SECOND
    return (word >> _HALF) * size >> _HALF
