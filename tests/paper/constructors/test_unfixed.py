import numpy as np
import pytest
from scipy.optimize import linprog

from families import FAMILIES
from holdfast.errors import HoldfastError
from holdfast.paper.constructors import Optimal, UnfixedOptimum, baselines
from holdfast.paper.constructors.noise_and_map import noisy_law
from holdfast.paper.distributions import error_weights


def least_over_u(weights: np.ndarray, epsilon: float) -> float:
    n = len(weights)
    here, above = np.eye(n - 1, n), np.eye(n - 1, n, k=1)
    chain = np.vstack([here - np.exp(epsilon) * above, above - np.exp(epsilon) * here])
    return linprog(
        weights.ravel(),
        A_ub=np.kron(chain, np.eye(n)),
        b_ub=np.zeros(2 * (n - 1) * n),
        A_eq=np.kron(np.eye(n), np.ones((1, n))),
        b_eq=np.ones(n),
    ).fun


def convex_weights(rng: np.random.Generator, z: np.ndarray) -> np.ndarray:
    """z_i f(|i-j|) with a convex f that does not fall and f(0) = 0."""
    f = np.concatenate([[0], np.cumsum(np.sort(rng.random(len(z) - 1)))])
    return z[:, None] * f[np.abs(np.subtract.outer(range(len(z)), range(len(z))))]


@pytest.mark.parametrize("seed", range(12))
def test_no_private_mechanism_has_a_smaller_count_error(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    z = rng.dirichlet(np.full(n, 0.4)) * (rng.random(n) > 0.2) + (np.arange(n) == 0) * 1e-6
    z /= z.sum()
    epsilon = float(rng.choice([0.05, 0.5, 1, 3]))
    for error in ("absolute", "squared", convex_weights(rng, z)):
        found = UnfixedOptimum(error=error)(z, epsilon=epsilon)
        least = least_over_u(error_weights(error, z), epsilon)
        assert found.count_error == pytest.approx(least, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_private_certified_and_beats_every_fixed_point(family):
    for n in (1, 2, 3, 40):
        for epsilon in ("0.02", "0.5", "5"):
            z = FAMILIES[family](n)
            found = UnfixedOptimum()(z, epsilon=epsilon)
            assert np.abs(found.matrix.sum(axis=1) - 1).max() <= 1e-12
            assert found.mechanism.certificate.epsilon <= found.epsilon
            assert found.target is None and found.mechanism.fixed_point is None
            assert found.count_error <= Optimal()(z, epsilon=epsilon).count_error + 1e-12


class Counted(np.ndarray):
    """Weights that count the inner products that are taken of them."""

    taken = 0

    def __matmul__(self, other):
        Counted.taken += 1
        return np.asarray(self) @ other


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [2, 9, 120])
def test_it_takes_at_most_2n_inner_products(family, n):
    Counted.taken = 0
    weights = error_weights("absolute", FAMILIES[family](n)).view(Counted)
    matrix = baselines._place(weights, noisy_law(n, 0.5))
    assert 0 < Counted.taken <= 2 * n
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)


def test_weights_that_do_not_concentrate_are_refused():
    far = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    with pytest.raises(HoldfastError, match="concentrating"):
        UnfixedOptimum(error=3 - far)(np.full(4, 0.25), epsilon=1)
    lopsided = far + 0.1 * np.triu(np.ones((4, 4)), 1)
    with pytest.raises(HoldfastError, match="concentrating"):
        UnfixedOptimum(error=lopsided)(np.full(4, 0.25), epsilon=1)


def test_weights_that_are_not_convex_are_refused():
    capped = np.minimum(np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))), 1)
    with pytest.raises(HoldfastError, match="convex"):
        UnfixedOptimum(error=capped)(np.full(5, 0.2), epsilon=1)
