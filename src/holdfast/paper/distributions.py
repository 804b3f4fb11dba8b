"""The paper's η and z: histograms and distributions of counts, checked; and errors as it measures
them, of a distribution and of counts."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


POWERS = {"absolute": 1, "squared": 2}
LARGEST_WEIGHT = 1e150


def wasserstein(first: ArrayLike, second: ArrayLike) -> float:
    """Wasserstein-1 distance of two distributions of counts: the L1 distance of their CDFs.

    >>> wasserstein([1, 0, 0], [0, 0, 1])
    2.0
    """
    return float(np.abs(_cdf_difference(first, second)).sum())


def kolmogorov_smirnov(first: ArrayLike, second: ArrayLike) -> float:
    """Largest distance of the CDFs.

    >>> kolmogorov_smirnov([1, 0, 0], [0.5, 0, 0.5])
    0.5
    """
    return float(np.abs(_cdf_difference(first, second)).max())


def total_variation(first: ArrayLike, second: ArrayLike) -> float:
    """Half the L1 distance.

    >>> total_variation([1, 0, 0], [0.5, 0, 0.5])
    0.5
    """
    return float(np.abs(np.asarray(first, float) - np.asarray(second, float)).sum() / 2)


def count_error(matrix: ArrayLike, distribution: ArrayLike, error: Any = "absolute") -> float:
    """<W, T> for W = z_i |i-j| ("absolute"), z_i (i-j)^2 ("squared"), or a given W.

    With z the distribution of i it is E|i - j| or E(i - j)^2 for j drawn from row i of the matrix.

    >>> count_error([[0.5, 0.5], [0, 1]], [1, 0])
    0.5
    """
    transition = np.asarray(matrix, dtype=np.float64)
    if isinstance(error, str) and error in POWERS:
        z = np.asarray(distribution, dtype=np.float64)
        distance = np.arange(1.0 - len(z), len(z)) ** POWERS[error]
        # row i of the distances |i-j|^p is a window of one long vector
        windows = np.lib.stride_tricks.sliding_window_view(np.abs(distance), len(z))[::-1]
        return float(z @ np.einsum("ij,ij->i", windows, transition))
    return float(np.einsum("ij,ij->", error_weights(error, distribution), transition))


def error_weights(error: Any, distribution: ArrayLike) -> NDArray[np.float64]:
    """The weight matrix W of a count error; a given matrix is taken as it is."""
    z = np.asarray(distribution, dtype=np.float64)
    n = len(z)
    if isinstance(error, str):
        if error not in POWERS:
            raise HoldfastError(
                f"`error` must be 'absolute', 'squared' or a weight matrix, got {error!r:.40}."
            )
        distance = np.abs(np.arange(n)[:, None] - np.arange(n)).astype(np.float64)
        return np.asarray(z[:, None] * distance ** POWERS[error])
    try:
        weights = np.array(error, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (n, n) or not np.isfinite(weights).all():
        raise HoldfastError(f"`error` must be a finite {n} x {n} weight matrix.")
    if np.abs(weights).max(initial=0) > LARGEST_WEIGHT:
        raise HoldfastError(
            f"`error` must have weights of at most {LARGEST_WEIGHT:g}, or their sum overflows. "
            "Hint: divide the matrix by its largest entry; that changes no mechanism."
        )
    return weights


def _cdf_difference(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    p, q = np.asarray(first, float), np.asarray(second, float)
    if p.shape != q.shape or p.ndim != 1:
        raise HoldfastError("the two distributions must be 1-D and of the same length.")
    return np.asarray(np.cumsum(p - q))
