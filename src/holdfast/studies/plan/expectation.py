"""Expected errors of a release, computed from its mechanism and the table's histogram."""

import math
from collections.abc import Sequence

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.privacy.metrics import kolmogorov_smirnov, total_variation, wasserstein

Moments = Sequence[Sequence[float]]
"""(bias, standard deviation) of an answer's error, one per simulated stage 1."""

DRAWS = 4  # of all rows, per mechanism, for the distances between distributions


def question_moments(matrix: Floats, histogram: Integers, weights: Floats) -> tuple[float, float]:
    r"""Bias and standard deviation of a linear answer, given the mechanism.

    The rows are drawn independently, so with q the weights and ζ = η/N the error of q·ẑ has the
    mean $\zeta T q - \zeta q$ and the variance $\sum_i \zeta_i (T q^2 - (Tq)^2)_i / N$.

    >>> question_moments(np.eye(2), np.array([3, 1]), np.array([1.0, 0.0]))
    (0.0, 0.0)
    """
    rows = histogram.sum()
    zeta = histogram / rows
    mean = matrix @ weights
    variance = zeta @ np.maximum(matrix @ weights**2 - mean**2, 0) / rows
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


def expected_distances(matrix: Floats, histogram: Integers, seed: int) -> dict[str, float]:
    """Mean W1, KS and TV of released distributions, over a few draws of all rows."""
    rng, rows = np.random.default_rng([seed, 1]), histogram.sum()
    zeta = histogram / rows
    law = matrix / matrix.sum(axis=1, keepdims=True)
    drawn = rng.multinomial(histogram[:, None], law[:, None, :], size=(len(law), DRAWS)).sum(axis=0)
    published = drawn / rows
    return {
        name: float(np.mean([distance(zeta, z) for z in published]))
        for name, distance in (
            ("w1", wasserstein),
            ("ks", kolmogorov_smirnov),
            ("tv", total_variation),
        )
    }


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
