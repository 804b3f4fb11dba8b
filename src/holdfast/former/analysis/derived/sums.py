"""The true sum of several counts of a row, given what was released of each."""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.former.analysis.every_count import UNSURE_NOTE
from holdfast.former.analysis.pairs.joint_law import (
    Channel,
    Pairs,
    channel_of,
    check_room_for_pairs,
)
from holdfast.former.analysis.row_intervals import Intervals
from holdfast.former.release.row_laws import shortest_run
from holdfast.former.release.row_prior import does_without

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

STEPS = 1  # more of them fit the noise of these very rows, and their intervals become too short
Rows = tuple[Floats, Integers, Floats, tuple[str, ...]]
"""Expected sums, lower and upper ends, and what a reader should know."""
OPEN = (
    "a count published as the highest is that or any above it: rows in which it may be have no "
    "upper end (inf)"
)


def row_sums(columns: Sequence["Release"], level: float) -> Rows:
    """Of every row; no count may be missing.

    Counts of a row are related, and so are the errors of what is expected of them: their sum is
    found with the law of true pairs, and that of more than two by adding one after the other.
    Where a distribution is itself uncertain, intervals of the columns that do without it are added.
    """
    if len(columns) == 1:
        found = columns[0].intervals(level)
        high = np.where(_reaches(columns[0], found), np.inf, found.high)
        return found.mean, found.low, high, (*found.notes, *_told(high))
    check_room_for_pairs(*(len(one.target) for one in columns))
    total = reduce(add_channels, [channel_of(one) for one in columns])
    laws = total.likelihood * total.prior[:, None]
    laws = laws / laws.sum(axis=0)
    expected = (np.arange(len(laws)) @ laws)[total.kinds]
    if any(does_without(one) for one in columns):
        each = 1 - (1 - level) / len(columns)
        ends = [one.intervals(each, every=True) for one in columns]
        low, high = np.sum([[one.low, one.high] for one in ends], axis=0)
        high = _open(columns, ends, high, level)
        return expected, low, high, (UNSURE_NOTE, *_told(high))
    runs = np.array([shortest_run(law, level) for law in laws.T], dtype=np.int64)[total.kinds]
    high = _open(columns, [one.intervals(level) for one in columns], runs[:, 1], level)
    return expected, runs[:, 0], high, _told(high)


def _open(
    columns: Sequence["Release"], ends: Sequence[Intervals], high: Integers, level: float
) -> Floats:
    """Upper ends of sums; none where a count may be the highest, or any of them is too probably."""
    tops = [each.at_least(len(one.target) - 1) for one, each in zip(columns, ends, strict=True)]
    reached = np.any([_reaches(*each) for each in zip(columns, ends, strict=True)], axis=0)
    return np.where(reached | (np.sum(tops, axis=0) > (1 - level) / 2), np.inf, high)


def _reaches(release: "Release", found: Intervals) -> Marks:
    return np.asarray(found.high >= len(release.target) - 1)


def _told(high: Floats) -> tuple[str, ...]:
    return (OPEN,) if np.isinf(high).any() else ()


def add_channels(one: Channel, other: Channel) -> Channel:
    """What the released counts of two columns say of the sum of the true ones."""
    pairs = Pairs.of(one, other)
    law = pairs.fit(pairs.start, steps=STEPS)
    size = len(law) + law.shape[1] - 1
    places = np.add.outer(np.arange(len(law)), np.arange(law.shape[1])).ravel()
    prior: Floats = np.bincount(places, law.ravel(), minlength=size).astype(np.float64)
    combined = one.kinds * other.likelihood.shape[1] + other.kinds
    seen, kinds = np.unique(combined, return_inverse=True)
    first, second = np.divmod(seen, other.likelihood.shape[1])
    likelihood = np.zeros((size, len(seen)))
    for place, (a, b) in enumerate(zip(first, second, strict=True)):
        both = one.likelihood[:, a, None] * other.likelihood[None, :, b] * law
        likelihood[:, place] = np.bincount(places, both.ravel(), minlength=size)
    likelihood /= np.maximum(prior, 1e-300)[:, None]
    return Channel(
        likelihood=likelihood,
        kinds=kinds,
        shown=one.shown[first] + other.shown[second],
        groups=np.zeros(len(seen), dtype=np.int64),
        laws=np.broadcast_to(prior, (len(seen), size)),
        prior=prior,
    )
