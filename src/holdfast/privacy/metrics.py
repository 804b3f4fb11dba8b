"""Errors of a distribution and of counts, as the paper measures them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.errors import HoldfastError

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
