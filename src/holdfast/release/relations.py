"""A release matched again, at no cost: within other groups, or with its columns of counts ranked
with those before them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, listed_names
from holdfast.match.match import match
from holdfast.match.relations import LARGEST_RANKED, ranking, weights_for
from holdfast.measure.measurement import Tally
from holdfast.release.record import check_size
from holdfast.release.release import Column, Release
from holdfast.tables.csv_part import unmarked_cells
from holdfast.tables.groups import read_within
from holdfast.tables.partition import Partition, partition


def related(release: Release) -> Release:
    """The release with the correlations of noisy counts in its table."""
    columns = list[Column]()
    for column in release.columns:
        columns.append(ranked(column, columns, _weights(column, columns)))
    return replace(release, columns=tuple(columns))


def ranked(column: Column, earlier: Sequence[Column], weights: Sequence[int]) -> Column:
    """The column with its rows ranked by released counts of earlier ones too; by noisy counts alone
    where all weights are 0."""
    histograms, some = column.histograms, any(weights)
    return replace(
        column,
        published=histograms,
        relations=tuple(weights) if some else (),
        ranking=_ranking(column, earlier, weights) if some else None,
    )


def _ranking(column: Column, earlier: Sequence[Column], weights: Sequence[int]) -> Integers:
    others = [(other.counts, other.distribution) for other in earlier]
    return ranking(column.noisy, column.distribution, others, weights)


def _weights(column: Column, earlier: Sequence[Column]) -> list[int]:
    if np.abs(column.noisy).max(initial=0) > LARGEST_RANKED:
        return []
    measured, counts = column.measured, np.zeros(len(column.noisy), dtype=np.int64)
    both = [~column.missing & ~other.missing for other in earlier]

    def correlations(weights: Sequence[int]) -> list[float]:
        by = _ranking(column, earlier, weights)[measured]
        counts[measured] = match(by, column.group[measured], column.histograms, column.ties)
        pairs = zip(earlier, both, strict=True)
        return [_correlation(np.cov(other.counts[rows], counts[rows])) for other, rows in pairs]

    return weights_for(correlations, [correlation(other, column) for other in earlier])


def correlation(first: Column, second: Column) -> float:
    """Pearson's correlation of the true counts, from noisy ones without their noise; NaN where that
    hides how much they differ."""
    rows = ~first.missing & ~second.missing
    if not rows.any():
        return float("nan")
    products = np.cov([first.noisy[rows], second.noisy[rows]], bias=True)
    for at, each in enumerate((first, second)):
        products[at, at] -= each.measurement.noise.variance * each.measured[rows].mean()
    return _correlation(products)


def _correlation(products: Floats) -> float:
    """From variances and a covariance; NaN where a variance is not above 0."""
    spread = products[0, 0] * products[1, 1]
    if min(products[0, 0], products[1, 1]) <= 0:
        return float("nan")
    return float(np.clip(products[0, 1] / np.sqrt(spread), -1.0, 1.0))


def regrouped(release: Release, by: Any) -> Release:
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
    cells: dict[str, Sequence[Any]] = {name: release.cells[name] for name in within.columns}
    cells |= {name: unmarked_cells(cells[name], release.request) for name in within.numbers}
    groups, group = partition(within, list(cells.values()))
    check_size(release.rows, len(release.columns), groups.labels, release.published)
    columns = tuple(_regrouped(column, groups, group) for column in release.columns)
    again = replace(release, columns=columns, partition=groups, regrouped=True)
    return again.related() if any(column.relations for column in release.columns) else again


def _regrouped(column: Column, groups: Partition, group: Integers) -> Column:
    """A column whose measurement has the tally of other groups, and what is known of the whole."""
    old, measured = column.measurement, column.measured
    noisy = column.noisy[measured].astype(np.int64)
    measurement = replace(
        old,
        tally=Tally.of_rows(noisy, group[measured], groups=len(groups)),
        sums=(),
        totals=old.totals and old.totals.of_whole(),
    )
    return replace(
        column, measurement=measurement, group=group, published=None, relations=(), ranking=None
    )
