"""A release whose further columns of counts are ranked with those before them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.match.match import match
from holdfast.match.relations import LARGEST_RANKED, ranking, weights_for

if TYPE_CHECKING:
    from holdfast.release.release import Column, Release


def related(release: "Release") -> "Release":
    """The release with the correlations of noisy counts in its table."""
    columns = list["Column"]()
    for column in release.columns:
        columns.append(ranked(column, columns, _weights(column, columns)))
    return replace(release, columns=tuple(columns))


def ranked(column: "Column", earlier: Sequence["Column"], weights: Sequence[int]) -> "Column":
    """The column with its rows ranked by released counts of earlier ones too; by noisy counts alone
    where all weights are 0."""
    histograms, some = column.histograms, any(weights)
    return replace(
        column,
        published=histograms,
        relations=tuple(weights) if some else (),
        ranking=_ranking(column, earlier, weights) if some else None,
    )


def _ranking(column: "Column", earlier: Sequence["Column"], weights: Sequence[int]) -> Integers:
    others = [(other.counts, other.distribution) for other in earlier]
    return ranking(column.noisy, column.distribution, others, weights)


def _weights(column: "Column", earlier: Sequence["Column"]) -> list[int]:
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


def correlation(first: "Column", second: "Column") -> float:
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
