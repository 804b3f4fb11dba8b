"""Noisy histogram -> probability distribution. Post-processing: it costs no privacy.

A projection takes a noisy histogram that adds up to N.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError

Noisy = NDArray[np.int64] | NDArray[np.float64]
Projection = Callable[[Noisy], NDArray[np.float64]]


def clip(noisy: Noisy) -> NDArray[np.float64]:
    """Negative entries become 0 and the rest is scaled to sum 1: what the paper does.

    >>> clip(np.array([6, -2, 4])).tolist()
    [0.6, 0.0, 0.4]
    """
    positive = np.maximum(noisy, 0)
    return np.asarray(positive / positive.sum())


def simplex(noisy: Noisy) -> NDArray[np.float64]:
    """The nearest distribution in Euclidean distance: one number is taken off every entry.

    >>> simplex(np.array([6, -2, 4])).tolist()
    [0.625, 0.0, 0.375]
    """
    total = noisy.sum()
    ordered = np.sort(noisy)[::-1]
    excess = np.cumsum(ordered) - total
    kept = np.arange(1, len(noisy) + 1)
    last = int(np.flatnonzero(kept * ordered > excess)[-1])
    return np.asarray(np.maximum(noisy - excess[last] / kept[last], 0) / total)


def isotonic(noisy: Noisy) -> NDArray[np.float64]:
    """The distribution whose cumulative histogram is nearest to the noisy one.

    The noise sits on the cumulative histogram, which never decreases and lies in [0, N]:
    least-squares isotonic regression, clamped to that range (Hay et al. 2010).

    >>> isotonic(np.array([6, -2, 4])).tolist()
    [0.625, 0.0, 0.375]
    """
    from scipy.optimize import isotonic_regression

    total = noisy.sum()
    if len(noisy) == 1:
        return np.ones(1)
    fitted = isotonic_regression(np.cumsum(noisy)[:-1]).x
    cumulative = np.concatenate([[0], np.clip(fitted, 0, total), [total]])
    shares = np.maximum(np.diff(cumulative), 0)
    return np.asarray(shares / shares.sum())


PROJECTIONS: dict[str, Projection] = {"clip": clip, "simplex": simplex, "isotonic": isotonic}


def find_projection(name: str) -> Projection:
    """The projection of this name."""
    if name not in PROJECTIONS:
        raise HoldfastError(
            f"`projection` must be one of {', '.join(PROJECTIONS)}, got {name!r:.40}."
        )
    return PROJECTIONS[name]
