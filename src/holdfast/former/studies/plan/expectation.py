"""Expected errors of a release, computed from its mechanism and the table's histogram."""

import math
from collections.abc import Sequence

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.studies.settings import DISTANCES

Moments = Sequence[Sequence[float]]
"""(bias, standard deviation) of an answer's error, one per simulated stage 1."""

DRAWS = 4  # of all rows, per mechanism, for the distances between distributions


def question_moments(
    mechanism: Mechanism, histogram: Integers, weights: Floats
) -> tuple[float, float]:
    r"""Bias and standard deviation of a linear answer, given the mechanism.

    The rows are drawn independently, so with q the weights and ζ = η/N the error of q·ẑ has the
    mean $\zeta T q - \zeta q$ and the variance $\sum_i \zeta_i (T q^2 - (Tq)^2)_i / N$.

    >>> blind = Mechanism(weights=np.full((2, 2), 2**61), epsilon=1)
    >>> question_moments(blind, np.array([3, 1]), np.array([1.0, 0.0]))
    (-0.25, 0.25)
    """
    rows = histogram.sum()
    zeta = histogram / rows
    mean = mechanism.expected(weights)
    variance = zeta @ np.maximum(mechanism.expected(weights**2) - mean**2, 0) / rows
    return float(zeta @ (mean - weights)), math.sqrt(float(variance))


def probability_within(moments: Moments, tolerance: float) -> float:
    """How often an answer is off by at most `tolerance`, by the normal law given each stage 1.

    >>> round(probability_within([(0.0, 1.0)], 1.959964), 6)
    0.95
    """
    from scipy.special import ndtr

    bias, spread = np.array(moments, dtype=np.float64).T
    spread = np.maximum(spread, 1e-300)
    with np.errstate(over="ignore"):
        inside = ndtr((tolerance - bias) / spread) - ndtr((-tolerance - bias) / spread)
    return float(inside.mean())


def expected_errors(moments: Moments, name: str) -> dict[str, float]:
    """Expected absolute error, mean error, and what the error stays within 9 times in 10."""
    bias, spread = np.array(moments, dtype=np.float64).T
    return {
        f"error of {name}": float(_folded_mean(bias, spread).mean()),
        f"bias of {name}": float(bias.mean()),
        f"9 in 10 of {name}": _quantile(moments, 0.9),
    }


def expected_distances(mechanism: Mechanism, counts: Integers, seed: int) -> dict[str, float]:
    """Mean W1, KS and TV of released distributions, over a few draws of all rows."""
    rng, n = np.random.default_rng([seed, 1]), len(mechanism)
    zeta = np.bincount(counts, minlength=n) / len(counts)
    published = [
        np.bincount(mechanism.sample(counts, rng=rng), minlength=n) / len(counts)
        for _ in range(DRAWS)
    ]
    return {
        name: float(np.mean([distance(zeta, z) for z in published]))
        for name, distance in DISTANCES.items()
    }


def errors_by_size(mechanism: Mechanism, histogram: Integers) -> dict[str, float]:
    """How far a count is expected to be off, for counts of 0, of 1 to 9, of 10 to 99, …

    >>> blind = Mechanism(weights=np.full((2, 2), 2**61), epsilon=1)
    >>> errors_by_size(blind, np.array([3, 1]))
    {'0': 0.5, '1': 0.5}
    """
    found, start, n = {}, 0, len(histogram)
    while start < n:
        end = min(max(10 * start, 1 if start == 0 else 10), n)
        part = np.zeros(n)
        part[start:end] = histogram[start:end]
        name = str(start) if end == start + 1 else f"{start}-{end - 1}"
        if part.any():
            found[name] = mechanism.count_error(part / part.sum())
        start = end
    return found


def _folded_mean(bias: Floats, spread: Floats) -> Floats:
    """E|X| of a normal X."""
    from scipy.special import erf

    scaled = np.abs(bias) / np.maximum(spread, 1e-300)
    near = np.minimum(scaled, 40)  # beyond, E|X| is |bias|
    normal = spread * math.sqrt(2 / math.pi) * np.exp(-(near**2) / 2)
    return np.asarray(normal + np.abs(bias) * erf(near / math.sqrt(2)))


def _quantile(moments: Moments, probability: float) -> float:
    bias, spread = np.array(moments, dtype=np.float64).T
    low, high = 0.0, float((np.abs(bias) + 10 * spread).max())
    for _ in range(60):
        middle = (low + high) / 2
        if probability_within(moments, middle) >= probability:
            high = middle
        else:
            low = middle
    return high
