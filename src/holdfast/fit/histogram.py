"""How many rows have each count: in whole rows, and as draws from a posterior."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats, Integers

LEVEL = 0.9  # of every interval, unless another is asked for


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """How many rows have each count.

    >>> histogram = Histogram(values=np.array([0, 2]), rows=np.array([3, 1]))
    >>> histogram.size, histogram.total
    (4, 2)
    >>> histogram.counts()
    array([0, 0, 0, 2])
    """

    values: Integers
    """Distinct counts, rising."""
    rows: Integers
    """Rows with each, positive."""

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def total(self) -> int:
        """Sum of all counts."""
        return int(sum(int(v) * int(r) for v, r in zip(self.values, self.rows, strict=True)))

    def counts(self) -> Integers:
        """The count of every row, rising."""
        return np.repeat(self.values, self.rows)


def collected(values: Integers, rows: Integers) -> Histogram:
    """The histogram of values that may repeat, with rows that may be zero.

    >>> collected(np.array([3, 1, 3, 2]), np.array([1, 2, 1, 0]))
    Histogram(values=array([1, 3]), rows=array([2, 2]))
    """
    distinct, place = np.unique(values, return_inverse=True)
    sums = np.bincount(place, weights=rows, minlength=len(distinct)).astype(np.int64)
    return Histogram(values=distinct[sums > 0].astype(np.int64), rows=sums[sums > 0])


def added(histograms: list[Histogram] | tuple[Histogram, ...]) -> Histogram:
    """The histogram of all rows of several histograms."""
    return collected(
        np.concatenate([histogram.values for histogram in histograms]),
        np.concatenate([histogram.rows for histogram in histograms]),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """Draws from the posterior of a table's histogram."""

    support: Integers
    """Counts, rising."""
    rows: Floats
    """Rows with each count, of shape (draws, counts)."""

    def interval(
        self, functional: Callable[[Integers, Floats], Floats], level: float = LEVEL
    ) -> tuple[float, float]:
        """Quantiles of a functional of (support, rows) that has one value for each draw."""
        values = np.asarray(functional(self.support, self.rows))
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)
