"""What groups would gain: releases of a public prior, with and without groups, side by side."""

from typing import Any

import numpy as np

from holdfast.analysis.whole_histogram import whole_histogram
from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.studies.compare.by_group import GroupedCounts, grouped_counts
from holdfast.tables.groups import Partition
from holdfast.tables.table import read_table


def prior_groups(
    prior: Any, *, rows: int, max_count: int, count: str | None, within: Any, totals: Any
) -> GroupedCounts:
    """The groups of a prior, which must be a table, brought to this number of rows: each keeps its
    share of them and its distribution."""
    try:
        table = read_table(prior, count=count, within=within)
    except HoldfastError as error:
        raise HoldfastError(
            f"`within` needs a prior that is a table with these columns: {error}"
        ) from None
    found = grouped_counts(table, max_count=max_count, within=within, totals=totals)
    return found if len(found.counts) == rows else _resized(found, rows)


def _resized(groups: GroupedCounts, rows: int) -> GroupedCounts:
    known = groups.partition
    sizes = whole_histogram(known.sizes / known.sizes.sum(), rows)
    left = np.flatnonzero(sizes)
    counts = [_stretched(np.sort(groups.counts[groups.members == g]), int(sizes[g])) for g in left]
    return GroupedCounts(
        counts=np.concatenate(counts),
        members=np.repeat(np.arange(len(left)), sizes[left]),
        partition=Partition(
            within=known.within, labels=tuple(known.labels[g] for g in left), sizes=sizes[left]
        ),
    )


def _stretched(ordered: Integers, size: int) -> Integers:
    """As many counts, evenly from these."""
    return ordered[(2 * np.arange(size) + 1) * len(ordered) // (2 * size)]
