"""Counts -> histogram of counts -> distribution of counts."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, whole_number

LARGEST_MAX_COUNT = 1_000_000
SMALLEST_SHARE = 2.0**-40  # a share below this cannot be told from 0 in weights of 62 bits


def check_max_count(max_count: Any) -> int:
    """The highest count that is published, as an int."""
    hint = "choose it without looking at the data; higher counts are published as `max_count`."
    return whole_number(max_count, "max_count", least=1, most=LARGEST_MAX_COUNT, hint=hint)


def top_code(counts: Integers, max_count: int) -> Integers:
    """Counts with everything above `max_count` set to it."""
    return np.minimum(counts, max_count)


def histogram_of_counts(counts: Integers, max_count: int) -> Integers:
    """How many rows have count 0, 1, ..., max_count: the paper's eta.

    >>> histogram_of_counts(np.array([0, 2, 2, 9]), 3)
    array([1, 0, 2, 1])
    """
    return np.bincount(top_code(counts, max_count), minlength=max_count + 1).astype(np.int64)


def check_histogram(histogram: ArrayLike) -> Integers:
    """A histogram of counts as int64; raises if it is not one."""
    array = np.asarray(histogram)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise HoldfastError("`histogram` must be a 1-D array of whole numbers, one per count.")
    if (array < 0).any() or not 0 < array.sum(dtype=np.float64) <= 2**53:
        raise HoldfastError("`histogram` must have entries of 0 or more that add up to 1 to 2^53.")
    return array.astype(np.int64)


def check_target(target: ArrayLike) -> Floats:
    """A target distribution as float64 that sums to 1.

    Shares below 2^-40 become 0: in integer weights of 62 bits they cannot be kept.

    >>> check_target([0.25, 0.75])
    array([0.25, 0.75])
    """
    try:
        z = np.array(target, dtype=np.float64)
    except (TypeError, ValueError):
        raise HoldfastError("`target` must be a 1-D array of numbers.") from None
    if z.ndim != 1 or len(z) == 0:
        raise HoldfastError("`target` must be a 1-D array with at least one entry.")
    if not np.isfinite(z).all() or (z < 0).any() or abs(z.sum() - 1) > 1e-9:
        raise HoldfastError(
            "`target` must be a probability distribution: non-negative numbers that sum to 1."
        )
    z /= z.sum()
    z[z < SMALLEST_SHARE] = 0.0
    return np.asarray(z / z.sum())


def whole_histogram(shares: Floats, rows: int) -> Integers:
    """The histogram of `rows` rows that is nearest to these shares in its cumulative sums.

    >>> whole_histogram(np.array([0.5, 0.3, 0.2]), 4).tolist()
    [2, 1, 1]
    """
    cumulative = np.rint(np.cumsum(shares) * rows).astype(np.int64)
    cumulative[-1] = rows
    return np.diff(cumulative, prepend=0)
