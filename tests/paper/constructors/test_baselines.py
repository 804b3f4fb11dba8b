"""The baselines: their laws, their certificates, and their releases."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.paper.constructors.baselines import DiscreteGaussian, Staircase, TruncatedGeometric
from holdfast.paper.privatizers.gaussian import smallest_scale

UNIFORM = np.full(12, 1 / 12)
COUNTS = np.random.default_rng(3).poisson(3, 400)
BASELINES = {
    "geometric": TruncatedGeometric(),
    "staircase": Staircase(),
    "gaussian": DiscreteGaussian(),
}


@pytest.mark.parametrize("epsilon", ["0.02", "0.5", "2", "10"])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_a_staircase_of_half_steps_is_the_truncated_geometric(n, epsilon):
    z = np.full(n, 1 / n)
    halves = Staircase(gamma=0.5)(z, epsilon=epsilon)
    geometric = TruncatedGeometric()(z, epsilon=epsilon)
    np.testing.assert_allclose(halves.matrix, geometric.matrix, rtol=1e-12, atol=0)
    if n > 1:
        other = Staircase()(z, epsilon=epsilon).matrix
        assert np.abs(other - geometric.matrix).max() > 1e-8


def staircase_density(x: np.ndarray, epsilon: float, gamma: float) -> np.ndarray:
    """The density of Geng et al., as they print it."""
    b = math.exp(-epsilon)
    a = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    step, inside = np.divmod(np.abs(x), 1)
    return a * b ** (step + (inside >= gamma))


@pytest.mark.parametrize("gamma", [None, 0.0, 0.2, 0.7, 1.0])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_staircase_is_its_density_rounded_and_clamped(epsilon, gamma):
    default = 1 / (1 + math.exp(epsilon / 2))
    fine = 2000
    x = (np.arange(-130 * fine, 130 * fine) + 0.5) / fine
    mass = staircase_density(x, epsilon, default if gamma is None else gamma) / fine
    matrix = Staircase(gamma=gamma)(UNIFORM, epsilon=epsilon).matrix
    for i in (0, 5, 11):
        outputs = np.clip(np.rint(i + x), 0, 11).astype(int)
        np.testing.assert_allclose(
            matrix[i], np.bincount(outputs, weights=mass, minlength=12), atol=4e-4
        )


def test_the_default_gamma_has_the_least_expected_noise():
    x = (np.arange(-60_000, 60_000) + 0.5) / 1000
    best = 1 / (1 + math.exp(0.5))
    noise = [
        float((np.abs(x) * staircase_density(x, 1.0, gamma)).sum())
        for gamma in (best - 0.05, best, best + 0.05)
    ]
    assert noise[1] < noise[0] and noise[1] < noise[2]


@pytest.mark.parametrize("epsilon", ["0.000001", "0.02", "0.5", "2", "10"])
@pytest.mark.parametrize("constructor", [TruncatedGeometric(), Staircase(), Staircase(gamma=1)])
def test_pure_baselines_are_certified_pure(constructor, epsilon):
    for n in (1, 2, 31, 200):
        mechanism = constructor(np.full(n, 1 / n), epsilon=epsilon).mechanism
        assert mechanism.certificate.epsilon <= mechanism.epsilon
        assert mechanism.delta == mechanism.certificate.delta == 0


def exact_delta_of_noise(sigma: float, epsilon: Fraction, reach: int) -> Decimal:
    with localcontext() as context:
        context.prec = 50
        factor = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        spread = 2 * Decimal(sigma) ** 2
        law = [(-Decimal(x * x) / spread).exp() for x in range(-reach, reach + 1)]
        gains = [max(a - factor * b, Decimal(0)) for a, b in zip(law[1:], law[:-1], strict=True)]
        return sum(gains) / sum(law)


@pytest.mark.parametrize("delta", [Fraction(1, 5), Fraction(1, 3137), Fraction(1, 10**9)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_the_gaussian_meets_its_delta_to_a_trillionth(epsilon, delta):
    found = DiscreteGaussian(delta=delta)(np.full(2, 0.5), epsilon=epsilon)
    sigma = float(found.method.split("sigma=")[1].rstrip(")"))
    assert sigma == pytest.approx(smallest_scale(epsilon, delta), rel=1e-5)
    sigma = smallest_scale(epsilon, delta)
    reach = math.ceil(16 * sigma) + 5
    assert abs(float(exact_delta_of_noise(sigma, epsilon, reach)) - float(delta)) < 1e-12
    assert exact_delta_of_noise(0.99 * sigma, epsilon, reach) > float(delta)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "5", "10"])
def test_the_certified_delta_of_the_integers_is_the_requested_one_to_a_trillionth(epsilon):
    mechanism = DiscreteGaussian(rows=3136)(np.full(60, 1 / 60), epsilon=epsilon).mechanism
    assert mechanism.delta == Fraction(1, 3137)
    assert 0 <= mechanism.delta - mechanism.certificate.delta < Fraction(1, 10**12)


def test_the_gaussian_is_noise_clamped():
    found = DiscreteGaussian(delta="0.01")(UNIFORM, epsilon=1)
    sigma = smallest_scale(Fraction(1), Fraction(1, 100))
    x = np.arange(-80, 81)
    pmf = np.exp(-(x**2) / (2 * sigma**2))
    for i in range(12):
        clamped = np.bincount(np.clip(i + x, 0, 11), weights=pmf / pmf.sum(), minlength=12)
        np.testing.assert_allclose(found.matrix[i], clamped, atol=1e-11)
    assert found.method == f"DiscreteGaussian(delta=0.01, sigma={sigma:.6g})"


def test_what_a_gaussian_needs_is_asked_for():
    with pytest.raises(HoldfastError, match=r"`delta` is missing.*`rows`"):
        DiscreteGaussian()(UNIFORM, epsilon=1)
    with pytest.raises(HoldfastError, match="wider than"):
        DiscreteGaussian(delta="1e-12")(UNIFORM, epsilon="0.000001")


@pytest.mark.parametrize("field", [{"delta": 0}, {"delta": 1}, {"delta": "x"}, {"rows": 0}])
def test_bad_settings_of_the_gaussian_are_errors(field):
    with pytest.raises(HoldfastError, match=f"`{next(iter(field))}`"):
        DiscreteGaussian(**field)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, "x", True, float("nan"), [1]])
def test_a_bad_gamma_is_an_error(gamma):
    with pytest.raises(HoldfastError, match="`gamma`"):
        Staircase(gamma=gamma)
