"""The baselines' matrices against independent samplers; `benchmarks/baseline_laws.py` draws more.

They accept the truth and reject noise that is 2 % wider or narrower.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from baseline_laws import geng_staircase, opendp_gaussian, opendp_laplace, worst_p
from holdfast.paper.constructors.baselines import DiscreteGaussian, Staircase, TruncatedGeometric
from holdfast.paper.privatizers.gaussian import smallest_scale

FALSE_ALARM = 1e-6
UNIFORM = np.full(21, 1 / 21)
EPSILON, DELTA = 0.5, Fraction(1, 1000)


def geometric_noise(draws: int, wider: float = 1.0) -> np.ndarray:
    rng, p = np.random.default_rng(2), -math.expm1(-EPSILON / wider)
    return rng.geometric(p, draws) - rng.geometric(p, draws)


def gaussian_noise(draws: int, wider: float = 1.0) -> np.ndarray:
    sigma = wider * smallest_scale(Fraction(EPSILON), DELTA)
    x = np.arange(-math.ceil(12 * sigma), math.ceil(12 * sigma) + 1)
    law = np.exp(-((x / sigma) ** 2) / 2)
    return np.random.default_rng(3).choice(x, draws, p=law / law.sum())


def staircase_noise(draws: int, wider: float = 1.0) -> np.ndarray:
    return geng_staircase(EPSILON / wider, 1 / (1 + math.exp(EPSILON / 2)), draws)


CASES = {
    "geometric": (TruncatedGeometric(), geometric_noise),
    "staircase": (Staircase(), staircase_noise),
    "gaussian": (DiscreteGaussian(delta=DELTA), gaussian_noise),
}


@pytest.mark.parametrize("name", CASES)
def test_a_million_draws_agree_with_the_matrix(name):
    constructor, noise = CASES[name]
    matrix = constructor(UNIFORM, epsilon=EPSILON).matrix
    assert worst_p(matrix, noise(1_000_000)) > FALSE_ALARM
    for wider in (0.98, 1.02):
        assert worst_p(matrix, noise(1_000_000, wider)) < FALSE_ALARM


def test_opendp_draws_agree_with_the_matrices():
    geometric = TruncatedGeometric()(UNIFORM, epsilon=EPSILON).matrix
    assert worst_p(geometric, opendp_laplace(EPSILON, 20_000)) > FALSE_ALARM
    assert worst_p(geometric, opendp_laplace(1.2 * EPSILON, 20_000)) < FALSE_ALARM
    gaussian = DiscreteGaussian(delta=DELTA)(UNIFORM, epsilon=EPSILON).matrix
    scale = smallest_scale(Fraction(EPSILON), DELTA)
    assert worst_p(gaussian, opendp_gaussian(scale, 20_000)) > FALSE_ALARM
    assert worst_p(gaussian, opendp_gaussian(1.2 * scale, 20_000)) < FALSE_ALARM


def test_the_certified_integers_are_drawn_by_the_matrix_too():
    for name in CASES:
        constructor, _ = CASES[name]
        found = constructor(UNIFORM, epsilon=EPSILON)
        drawn = found.mechanism.sample(np.full(1_000_000, 4), rng=9)
        observed = np.bincount(drawn, minlength=21)
        expected = 1_000_000 * found.matrix[4]
        assert np.abs(observed - expected).max() < 6 * math.sqrt(expected.max())
