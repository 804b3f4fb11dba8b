"""The paper's η and z: histograms of counts and distributions of counts, checked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, whole_number

LARGEST_N = 10_000  # bins: a matrix of them has 800 MB
SMALLEST_SHARE = 2.0**-40  # a share below this cannot be told from 0 in weights of 62 bits


def check_n(n: Any) -> int:
    """n, the number of possible counts 0 ... n - 1, as an int."""
    hint = "choose it without looking at the data; higher counts become n - 1."
    return whole_number(n, "n", least=1, most=LARGEST_N, hint=hint)


def check_counts(counts: ArrayLike) -> Integers:
    """A table of counts d_0, ..., d_(N-1) as int64; raises if it is not one."""
    array = np.asarray(counts)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise HoldfastError("`counts` must be a 1-D array of whole numbers, one per row.")
    if array.dtype.kind == "i" and (array < 0).any():
        raise HoldfastError("`counts` must be 0 or more.")
    return np.asarray(np.minimum(array, 2**53).astype(np.int64))


def histogram_of_counts(counts: Integers, n: int) -> Integers:
    """η: how many rows have count 0, 1, ..., n - 1; higher counts are top-coded at n - 1.

    >>> histogram_of_counts(np.array([0, 2, 2, 9]), 4)
    array([1, 0, 2, 1])
    """
    return np.bincount(np.minimum(counts, n - 1), minlength=n).astype(np.int64)


def check_histogram(histogram: ArrayLike) -> Integers:
    """A histogram of counts as int64; raises if it is not one."""
    array = np.asarray(histogram)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise HoldfastError("`histogram` must be a 1-D array of whole numbers, one per count.")
    if (array < 0).any() or not 0 < array.sum(dtype=np.float64) <= 2**53:
        raise HoldfastError("`histogram` must have entries of 0 or more that add up to 1 to 2^53.")
    return array.astype(np.int64)


def check_target(target: ArrayLike, name: str = "target") -> Floats:
    """A distribution of counts as float64 that sums to 1.

    Shares below 2^-40 become 0: integer weights of 62 bits cannot keep them.

    >>> check_target([0.25, 0.75])
    array([0.25, 0.75])
    """
    try:
        z = np.array(target, dtype=np.float64)
    except (TypeError, ValueError):
        raise HoldfastError(f"`{name}` must be a 1-D array of numbers.") from None
    if z.ndim != 1 or len(z) == 0:
        raise HoldfastError(f"`{name}` must be a 1-D array with at least one entry.")
    if not np.isfinite(z).all() or (z < 0).any() or abs(z.sum() - 1) > 1e-9:
        raise HoldfastError(
            f"`{name}` must be a probability distribution: non-negative numbers that sum to 1."
        )
    z /= z.sum()
    z[z < SMALLEST_SHARE] = 0.0
    return np.asarray(z / z.sum())
