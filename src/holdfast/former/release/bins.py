"""Bins for people: single counts on short ranges, wider and wider ones on long ranges."""

import numpy as np

from holdfast.arrays import Integers

LONG = 1000  # the highest count up to which a picture shows every count
PER_DECADE = 8


def wide_bins(n: int) -> Integers:
    """Where bins of the counts 0 to n - 1 begin; the highest count has one to itself.

    >>> wide_bins(5).tolist()
    [0, 1, 2, 3, 4]
    >>> wide_bins(100_001)[:14].tolist()
    [0, 1, 2, 3, 4, 5, 7, 10, 13, 17, 23, 31, 42, 56]
    """
    return np.arange(n) if n <= LONG + 1 else widening(n)


def widening(n: int) -> Integers:
    """Bins that are wider and wider, eight of them from a power of ten to the next; 0 and the
    highest count have one each."""
    powers = np.arange(0, PER_DECADE * 7 + 1)
    starts = np.unique(np.floor(10.0 ** (powers / PER_DECADE) + 1e-9).astype(np.int64))
    return np.concatenate([[0], starts[starts < n - 1], [n - 1]])
