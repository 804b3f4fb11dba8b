"""A release matched again within other groups: the same measurement, at no cost."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError, listed_names
from holdfast.measure.measurement import Measurement, Tally
from holdfast.release.record import check_size
from holdfast.tables.groups import read_within
from holdfast.tables.partition import Partition, partition

if TYPE_CHECKING:
    from holdfast.release.release import Column, Release


def regrouped(release: "Release", by: Any) -> "Release":
    """The release within groups by these published columns, or classes of them."""
    within = read_within(by)
    if within is None:
        raise HoldfastError("`by` needs a published column. Hint: release.by('region').")
    unknown = [name for name in within.columns if name not in release.published]
    if unknown:
        raise HoldfastError(
            f"`by` must name published columns, got {unknown[0]!r:.60}. "
            f"Hint: {listed_names(release.published)}."
        )
    groups, group = partition(within, [release.cells[name] for name in within.columns])
    check_size(release.rows, len(release.columns), groups.labels, release.published)
    columns = tuple(_regrouped(column, groups, group) for column in release.columns)
    again = replace(release, columns=columns, partition=groups, regrouped=True)
    return again.related() if any(column.relations for column in release.columns) else again


def _regrouped(column: "Column", groups: Partition, group: Integers) -> "Column":
    """A column whose measurement has the tally of other groups, and what is known of the whole."""
    old, measured = column.measurement, column.measured
    noisy = column.noisy[measured].astype(np.int64)
    tally = Tally.of_rows(noisy, group[measured], groups=len(groups))
    whole = old.whole if old.groups > 1 else old.sums[0]
    measurement = Measurement(
        column=old.column,
        noise=old.noise,
        tally=tally,
        sums=(whole,) if len(groups) == 1 else (None,) * len(groups),
        whole=None if len(groups) == 1 else whole,
        totals=old.totals and old.totals.of_whole(),
    )
    return replace(
        column, measurement=measurement, group=group, published=None, relations=(), ranking=None
    )
