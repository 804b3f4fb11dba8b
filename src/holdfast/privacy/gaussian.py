"""Discrete Gaussian noise, for privacy with a delta."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.privacy.randomness import Randomness, SystemEntropy, measured, vectors


def add_gaussian(values: Integers, scale: float, source: Randomness) -> Integers:
    """Values plus discrete Gaussian noise: P(x) in proportion to exp(-x^2 / 2 scale^2).

    It is OpenDP's, and in a simulation by rejection from discrete Laplace draws.
    """
    if isinstance(source, SystemEntropy):
        return measured(gaussian_measurement(scale), values)
    width = math.floor(scale) + 1  # Canonne, Kamath and Steinke 2020, Algorithm 3
    noise = np.empty(0, dtype=np.int64)
    while len(noise) < len(values):
        proposed = source.add_laplace(np.zeros(2 * len(values) + 8, int), Fraction(1, width))
        distance = (np.abs(proposed) - scale**2 / width) / scale
        kept = source.generator.random(len(proposed)) < np.exp(-(distance**2) / 2)
        noise = np.append(noise, proposed[kept])
    return np.asarray(values + noise[: len(values)])


@lru_cache(maxsize=64)
def gaussian_measurement(scale: float) -> Any:
    """OpenDP's discrete Gaussian on integers."""
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance

    return make_gaussian(vectors(), l2_distance(T="i64"), scale=scale)
