"""Noisy histogram -> probability distribution. Post-processing: it costs no privacy.

A projection takes a noisy histogram that adds up to N and what is known of its noise.
"""

from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.privatizers.pooling import nearest_rising

NoisyHistogram = Integers | Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """The noise on the cumulative histogram C_0, ..., C_(n-2)."""

    variance: Floats
    """Of each of them."""
    law: str
    """"laplace" or "gaussian": discrete, independent, alike; "other" where it is not."""


def clip(noisy: NoisyHistogram, noise: Noise | None = None) -> Floats:
    """Negative entries become 0 and the rest is scaled to sum 1: what the paper does.

    >>> clip(np.array([6, -2, 4])).tolist()
    [0.6, 0.0, 0.4]
    """
    positive = np.maximum(noisy, 0)
    return np.asarray(positive / positive.sum())


def simplex(noisy: NoisyHistogram, noise: Noise | None = None) -> Floats:
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


def isotonic(noisy: NoisyHistogram, noise: Noise | None = None) -> Floats:
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
