"""What every constructor must satisfy, on a grid of targets and budgets."""

from functools import partial

import numpy as np
import pytest

from families import FAMILIES, SELECTORS
from holdfast.paper.constructors import (
    Frontier,
    Heuristic,
    LinearProgram,
    Optimal,
    UnfixedOptimum,
)
from holdfast.paper.constructors.baselines import DiscreteGaussian, Staircase, TruncatedGeometric
from holdfast.paper.distributions import count_error

EPSILONS = ("0.02", "0.1", "0.5", "2", "5")
FAST = {f"Heuristic-{name}": partial(Heuristic, selector=name) for name in SELECTORS}
SOLVERS = {
    "Optimal": Optimal,
    "LinearProgram-simplex": LinearProgram,
}
UNFIXED = {
    "Frontier": partial(Frontier, price="0.4"),
    "TruncatedGeometric": TruncatedGeometric,
    "Staircase": Staircase,
    "DiscreteGaussian": partial(DiscreteGaussian, rows=100),
    "UnfixedOptimum": UnfixedOptimum,
}
FIXED = FAST | SOLVERS
ALL = FIXED | UNFIXED
# HiGHS calls some of these infeasible, and LinearProgram says so
GIVEN_UP = {("LinearProgram-simplex", "sparse")}
LARGEST = dict.fromkeys(FAST, 501) | dict.fromkeys(SOLVERS, 201)
LARGEST |= {"Heuristic-sandwich": 2000, "LinearProgram-simplex": 21}


CASES = [
    (constructor, family, n)
    for constructor in FIXED
    for family in FAMILIES
    for n in (1, 2, 3, 21, 201, 501, 2000)
    if n <= LARGEST[constructor] and (constructor, family) not in GIVEN_UP
]


def close_to_private(matrix: np.ndarray, epsilon: float, slack: float) -> bool:
    grow = np.exp(epsilon) * (1 + 1e-9)
    a, b = matrix[:-1], matrix[1:]
    return bool((a <= grow * b + slack).all() and (b <= grow * a + slack).all())


@pytest.mark.parametrize(("constructor", "family", "n"), CASES)
def test_the_matrix_and_its_integers_are_private_and_keep_their_target(constructor, family, n):
    z = FAMILIES[family](n)
    for epsilon in EPSILONS[:: 1 if n <= 21 else 2 if n <= 201 else 3]:
        found = FIXED[constructor]()(z, epsilon=epsilon)
        assert np.abs(found.matrix.sum(axis=1) - 1).max() <= 1e-9
        assert np.abs(z @ found.matrix - z).max() <= 1e-9
        assert found.matrix.min() >= 0
        # a solver's entries are right to the rounding of a row sum, the kernel's to their own
        slack = 1e-200 if constructor in FAST else 1e-15
        assert close_to_private(found.matrix, float(epsilon), slack)
        if n <= 501:
            check_integers(found, z, uses_all_of_epsilon=constructor in FAST)


def check_integers(found, z, *, uses_all_of_epsilon):
    """The certified integers stay close to the matrix."""
    mechanism = found.mechanism
    assert mechanism.certificate.epsilon <= mechanism.epsilon
    # the optimum need not use all of epsilon where next to nothing is gained by it
    if uses_all_of_epsilon and np.count_nonzero(found.target) >= 2:
        assert mechanism.certificate.epsilon > mechanism.epsilon * 999 / 1000
    assert np.abs(z @ mechanism.matrix - z).max() <= 1e-9
    sampled = count_error(mechanism.matrix, found.target)
    assert sampled <= found.count_error * 1.001 + 1e-12
    assert (mechanism.weights.sum(axis=1) == 2**62).all()


@pytest.mark.parametrize("epsilon", ["0.00001", "0.001", "10"])
@pytest.mark.parametrize("family", FAMILIES)
def test_extreme_budgets_are_certified_too(family, epsilon):
    for n in (2, 51, 300):
        found = Heuristic(selector="min")(FAMILIES[family](n), epsilon=epsilon)
        assert found.mechanism.certificate.epsilon <= found.epsilon


@pytest.mark.parametrize("constructor", ALL)
def test_a_constructor_returns_the_same_shape_of_result(constructor):
    found = ALL[constructor]()(FAMILIES["hump"](9), epsilon="1/2")
    assert found.matrix.shape == (9, 9)
    assert found.mechanism.weights.dtype == np.int64
    assert found.mechanism.epsilon == found.epsilon
    if found.gap is not None:
        assert found.lower_bound <= found.count_error
        assert found.gap == pytest.approx(1 - found.lower_bound / found.count_error, abs=1e-12)
    assert found.count_error == pytest.approx(
        (
            FAMILIES["hump"](9)[:, None]
            * found.matrix
            * np.abs(np.subtract.outer(range(9), range(9)))
        ).sum()
    )


def test_the_truncated_geometric_is_geometric_noise_clamped():
    epsilon, n = 0.7, 6
    matrix = TruncatedGeometric()(np.full(n, 1 / n), epsilon=epsilon).matrix
    alpha = np.exp(-epsilon)
    noise = np.arange(-200, 201)
    pmf = (1 - alpha) / (1 + alpha) * alpha ** np.abs(noise)
    for i in range(n):
        clamped = np.bincount(np.clip(i + noise, 0, n - 1), weights=pmf, minlength=n)
        np.testing.assert_allclose(matrix[i], clamped, atol=1e-12)
    assert TruncatedGeometric()([1.0], epsilon=1).mechanism.certificate.epsilon == 0
