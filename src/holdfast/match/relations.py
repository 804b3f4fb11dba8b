r"""What rows of a further column of counts are ranked by, so that the table has its relations.

Noise moves ranks, so a column that is matched by itself keeps its distribution and loses much of
its relation to others. Its rows are ranked, then, by

    SCALE y + sum over earlier columns j of w_j Q_j(a_j),

with y the noisy count and a_j the released count of column j, which Q_j carries to the count of
equal rank in this column. If the errors of both are normal, this is proportional to the expected
true count given y and a. Weights are whole numbers: anybody computes the same ranks.
"""

from collections.abc import Callable, Sequence

import numpy as np

from holdfast.arrays import Integers
from holdfast.fit.histogram import Histogram

SCALE = 256
LARGEST_WEIGHT = 1 << 14
LARGEST_RANKED = 1 << 40  # count that is ranked so: no product leaves 64 bits
ROUNDS = 4  # over the weights of several columns


def ranking(
    noisy: Integers,
    own: Histogram,
    earlier: Sequence[tuple[Integers, Histogram]],
    weights: Sequence[int],
) -> Integers:
    """What rows are ranked by, from noisy counts and released counts of earlier columns, -1 where
    missing.

    >>> murders = Histogram(values=np.array([0, 5]), rows=np.array([2, 2]))
    >>> rapes = Histogram(values=np.array([1, 8, 9]), rows=np.array([2, 1, 1]))
    >>> ranking(np.array([3, 4]), rapes, [(np.array([5, 0]), murders)], [256]).tolist()
    [3072, 1280]
    """
    found = SCALE * noisy.astype(np.int64)
    for (counts, histogram), weight in zip(earlier, weights, strict=True):
        found += weight * same_rank(counts, histogram, own)
    return found


def same_rank(counts: Integers, histogram: Histogram, other: Histogram) -> Integers:
    """The counts of another column that have the ranks of these; its median for missing ones."""
    upto = np.cumsum(histogram.rows)
    middle = np.append(2 * upto - histogram.rows, histogram.size)  # twice it
    place = np.where(counts < 0, len(upto), np.searchsorted(histogram.values, counts))
    rank = middle[place] * other.size // (2 * max(histogram.size, 1))
    return other.values[np.searchsorted(np.cumsum(other.rows), rank, side="right")]


def weights_for(
    correlations: Callable[[Sequence[int]], Sequence[float]], wanted: Sequence[float]
) -> list[int]:
    """Weights at which the correlations with earlier columns are those that are wanted.

    Each rises with its own weight, and is found by bisection; NaN asks for nothing.
    """
    weights = [0] * len(wanted)
    for _ in range(ROUNDS if len(wanted) > 1 else 1):
        for at, each in enumerate(wanted):
            low, high = -LARGEST_WEIGHT, LARGEST_WEIGHT
            while high - low > 1 and each == each:
                weights[at] = (low + high) // 2
                if correlations(weights)[at] < each:
                    low = weights[at]
                else:
                    high = weights[at]
    return weights
