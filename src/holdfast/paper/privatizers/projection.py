"""Noisy histogram -> probability distribution. Post-processing: it costs no privacy.

A projection takes a noisy histogram that adds up to N.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError

NoisyHistogram = Integers | Floats


def clip(noisy: NoisyHistogram) -> Floats:
    """Negative entries become 0 and the rest is scaled to sum 1: what the paper does.

    >>> clip(np.array([6, -2, 4])).tolist()
    [0.6, 0.0, 0.4]
    """
    positive = np.maximum(noisy, 0)
    return np.asarray(positive / positive.sum())


def isotonic(noisy: NoisyHistogram) -> Floats:
    """The distribution whose cumulative histogram is nearest to the noisy one.

    The noise sits on the cumulative histogram, which never decreases and lies in [0, N]:
    least-squares isotonic regression, clamped to that range (Hay et al. 2010).

    >>> isotonic(np.array([6, -2, 4])).tolist()
    [0.625, 0.0, 0.375]
    """
    total = noisy.sum()
    if len(noisy) == 1:
        return np.ones(1)
    fitted = nearest_rising(np.cumsum(noisy)[:-1])
    cumulative = np.concatenate([[0], np.clip(fitted, 0, total), [total]])
    shares = np.maximum(np.diff(cumulative), 0)
    return np.asarray(shares / shares.sum())


def nearest_rising(values: ArrayLike) -> Floats:
    """Least-squares isotonic regression: what falls is pooled into blocks with its mean. O(n).

    >>> nearest_rising([1, 3, 2, 4]).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        mean, size = value, 1
        while means and means[-1] >= mean:
            total = mean * size + means.pop() * sizes[-1]
            size += sizes.pop()
            mean = total / size
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)


PROJECTIONS: dict[str, Callable[[NoisyHistogram], Floats]] = {
    "clip": clip,
    "isotonic": isotonic,
}


def find_projection(name: str) -> Callable[[NoisyHistogram], Floats]:
    """The projection of this name."""
    if name not in PROJECTIONS:
        raise HoldfastError(
            f"`projection` must be one of {', '.join(PROJECTIONS)}, got {name!r:.40}."
        )
    return PROJECTIONS[name]
