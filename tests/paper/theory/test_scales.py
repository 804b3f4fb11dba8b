"""Patterns, scales and the constraint matrix."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.paper import theory
from theory_examples import LN2, exact

RATIOS = ["2", "3/2", "7"]


def test_the_scale_matrix_is_the_papers():
    expected = exact(["4/7 2/5 1/4 1/7", "2/7 1/5 1/2 2/7", "1/7 2/5 1/4 4/7"])
    assert (theory.scale_matrix(3, LN2) == expected).all()


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_every_scale_is_a_distribution_that_moves_by_the_same_factor(n, ratio):
    psi = theory.scale_matrix(n, theory.log(ratio))
    assert psi.shape == (n, 2 ** (n - 1))
    assert (psi.sum(axis=0) == 1).all()
    assert len({tuple(column) for column in psi.T}) == 2 ** (n - 1)
    for column in psi.T:
        assert all(b / a in (Fraction(ratio), 1 / Fraction(ratio)) for a, b in pairwise(column))


def test_the_pattern_of_a_scale_is_its_place_in_the_matrix():
    psi = theory.scale_matrix(6, LN2)
    for index, pattern in enumerate(theory.patterns(6)):
        assert theory.pattern_index(pattern) == index
        assert theory.pattern_of(3 * psi[:, index], LN2) == pattern


def test_the_pattern_of_what_is_no_scale_names_the_step():
    with pytest.raises(HoldfastError, match="row 1 to row 2"):
        theory.pattern_of([1, 2, 3], LN2)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_the_corrected_weights_of_the_peaked_scales_fill_every_row(n, ratio):
    budget = theory.log(ratio)
    filled = theory.peaked_matrix(n, budget) @ theory.peaked_weights(n, budget)
    assert (filled == 1).all()


def test_the_printed_weights_do_not_fill_the_rows():
    alpha, n = Fraction(1, 2), 4
    sums = [sum(alpha ** abs(i - j) for i in range(n)) for j in range(n)]
    printed = [(1 - alpha) / (1 + 1 / alpha) * total for total in sums]
    for end in (0, n - 1):
        printed[end] /= 1 - 1 / alpha
    assert (theory.peaked_matrix(n, LN2) @ np.array(printed) != 1).all()


def test_floats_and_fractions_agree():
    for function in (theory.scale_matrix, theory.peaked_matrix, theory.constraint_matrix):
        found, expected = function(6, float(LN2)), function(6, LN2).astype(float)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_vector_is_indistinguishable_exactly_if_no_constraint_is_positive():
    pi = theory.constraint_matrix(3, LN2)
    grid = [Fraction(k) for k in range(6)]
    inside = 0
    for vector in np.stack(np.meshgrid(grid, grid, grid), axis=-1).reshape(-1, 3):
        expected = bool((pi @ vector <= 0).all())
        assert theory.is_indistinguishable(vector, LN2) == expected
        inside += expected
    assert 10 < inside < 100


def test_a_walk_says_every_step():
    assert theory.walk((1, -1), LN2) == "1/4 up 1/2 down 1/4"
    assert theory.walk((-1,), 1) == "0.7311 down 0.2689"
    assert theory.walk((), LN2) == "1"


def test_a_float_where_exact_numbers_are_needed_is_refused():
    with pytest.raises(HoldfastError, match="'1/3'"):
        theory.is_indistinguishable([0.1, 0.2], LN2)
    with pytest.raises(HoldfastError, match="above 1"):
        theory.log(1)
    with pytest.raises(HoldfastError, match="finite"):
        theory.is_indistinguishable([float("nan"), 1], 1)
