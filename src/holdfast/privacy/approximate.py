"""Approximate privacy: delta as an exact number, and discrete Gaussian noise."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.privacy.randomness import Randomness, SystemEntropy, measured, vectors
from holdfast.privacy.rational import exact_fraction

SMALLEST_DELTA = Fraction(1, 10**12)


def exact_delta(delta: Any, *, least: Fraction | int = SMALLEST_DELTA) -> Fraction:
    """Delta as a Fraction, 0 for pure privacy; a float means the decimal that it prints as.

    `least` is the smallest that the arithmetic of a caller can tell from 0, here that of integer
    weights; with 0 every delta will do.

    >>> exact_delta("1e-6"), exact_delta(0)
    (Fraction(1, 1000000), Fraction(0, 1))
    """
    value = exact_fraction(delta, "delta")
    if value != 0 and not least <= value < 1:
        allowed = f"0, or from {float(least):g} to below 1" if least else "0 or more and below 1"
        raise HoldfastError(
            f"`delta` must be {allowed}, got {delta!s:.40}. "
            "Hint: well below one over the number of people; 1e-6 is usual."
        )
    return value


def add_gaussian(values: Integers, scale: float, source: Randomness) -> Integers:
    """Values plus discrete Gaussian noise: P(x) in proportion to exp(-x^2 / 2 scale^2).

    It is OpenDP's, and in a simulation by rejection from discrete Laplace draws.
    """
    if isinstance(source, SystemEntropy):
        return measured(_gaussian(scale), values)
    width = math.floor(scale) + 1  # Canonne, Kamath and Steinke 2020, Algorithm 3
    noise = np.empty(0, dtype=np.int64)
    while len(noise) < len(values):
        proposed = source.add_laplace(np.zeros(2 * len(values) + 8, int), Fraction(1, width))
        distance = (np.abs(proposed) - scale**2 / width) / scale
        kept = source.generator.random(len(proposed)) < np.exp(-(distance**2) / 2)
        noise = np.append(noise, proposed[kept])
    return np.asarray(values + noise[: len(values)])


@lru_cache(maxsize=64)
def _gaussian(scale: float) -> Any:
    """OpenDP's discrete Gaussian on integers."""
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance

    return make_gaussian(vectors(), l2_distance(T="i64"), scale=scale)
