"""Privelet and the hierarchical mechanism: their trees, and what is estimated from them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HoldfastError
from holdfast.paper.privatizers import Hierarchical, Privelet
from holdfast.paper.privatizers.laplace import haar, inverse_haar
from silence import Silence

histograms = st.lists(st.integers(0, 1000), min_size=1, max_size=70).filter(any).map(np.array)
TREES = [Privelet(), Hierarchical(), Hierarchical(branching=2), Hierarchical(branching=3)]


@given(st.sampled_from(TREES), histograms)
def test_without_noise_the_estimate_is_the_histogram(tree, eta):
    measured = tree.measure(eta, Fraction(1), Silence())
    np.testing.assert_allclose(tree.estimate(measured, len(eta), eta.sum()), eta, atol=1e-9)


@given(st.sampled_from(TREES), histograms, st.integers(0, 99))
def test_the_estimate_adds_up_to_the_public_total(tree, eta, seed):
    noise = np.random.default_rng(seed).integers(-50, 51, 200)
    measured = tree.measure(eta, Fraction(1), Silence())
    estimate = tree.estimate(measured + noise[: len(measured)], len(eta), eta.sum())
    assert estimate.sum() == pytest.approx(eta.sum(), abs=1e-8)


def design(tree, bins: int) -> np.ndarray:
    """The matrix that takes a histogram to what the tree measures."""
    unit = np.eye(bins, dtype=np.int64)
    return np.array([tree.measure(row, Fraction(1), Silence()) for row in unit]).T


@pytest.mark.parametrize("branching", [2, 3, 16])
@pytest.mark.parametrize("bins", [2, 5, 9, 17, 35])
def test_the_hierarchical_estimate_is_the_least_squares_fit_with_the_total_known(branching, bins):
    tree, rng = Hierarchical(branching=branching), np.random.default_rng(bins)
    A = design(tree, bins).astype(float)
    noisy, total = rng.integers(-20, 100, len(A)), 500
    ones = np.ones((bins, 1))  # Lagrange's conditions for min |A x - y|^2 with 1'x = total
    system = np.block([[A.T @ A, ones], [ones.T, np.zeros((1, 1))]])
    best = np.linalg.solve(system, np.append(A.T @ noisy, total))[:bins]
    np.testing.assert_allclose(tree.estimate(noisy, bins, total), best, atol=1e-8)


def test_the_nodes_are_those_of_opendps_tree_without_its_root():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    eta = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5])
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = dp.t.make_b_ary_tree(*space, leaf_count=9, branching_factor=3)
    ours = Hierarchical(branching=3).measure(eta, Fraction(1), Silence())
    assert ours.tolist() == theirs(eta.tolist())[4:] + theirs(eta.tolist())[1:4]
    assert theirs.map(2) == Hierarchical(branching=3).sensitivity(9) + 2  # it measures the root


def test_padding_costs_privelet_nothing():
    """Coefficients beyond the last bin are known, so n bins have n - 1 of them."""
    for bins in range(1, 40):
        assert sum(map(len, haar(np.arange(bins)))) == bins - 1
    assert Privelet().sensitivity(81) == 13 < 2 * 7
    assert Privelet().sensitivity(128) == 14
    eta = np.arange(11)
    assert inverse_haar(np.concatenate(haar(eta)), 11, 55).tolist() == eta.tolist()


@pytest.mark.parametrize("branching", [1, 0, -2, 2.5, "16", True])
def test_a_tree_needs_branches(branching):
    with pytest.raises(HoldfastError, match="`branching`"):
        Hierarchical(branching=branching)
