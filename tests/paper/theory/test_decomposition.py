"""Lemma 1 made constructive: round trips, and at most n scales a column."""

import random
from collections import Counter

import numpy as np
import pytest

from families import binomial, hump, sparse
from holdfast.errors import HoldfastError
from holdfast.paper import theory
from holdfast.paper.constructors import Heuristic
from oracle import algorithm_1, is_in_f
from theory_examples import (
    LN2,
    THIRD,
    element_of_u,
    mixed_with_f,
    peaked_extremes,
    random_budget,
    random_z,
)


def check_round_trip(matrix, epsilon):
    parts = theory.decompose(matrix, epsilon)
    n = len(matrix)
    assert (parts.matrix() == matrix).all()
    assert all(amount > 0 for _, _, amount in parts)
    assert max(Counter(column for column, _, _ in parts).values()) <= n
    return parts


def test_random_elements_of_u_and_f_come_back_exactly_from_at_most_n_scales():
    rng = random.Random(1)
    most = 0
    for trial in range(40):
        n, epsilon = 12 if trial % 40 == 0 else rng.randint(1, 7), random_budget(rng)
        in_u = (peaked_extremes if trial % 2 else element_of_u)(rng, n, epsilon)
        assert theory.is_member(in_u, "U", epsilon=epsilon)
        most = max(most, len(check_round_trip(in_u, epsilon)) / n**2)
        z = random_z(rng, n, zeros=trial % 3 == 0)
        orders = [rng.sample(range(n), n) for _ in range(2)]
        in_f = mixed_with_f(rng, [np.array(algorithm_1(z, epsilon.ratio, o)) for o in orders], z)
        assert is_in_f(in_f.tolist(), z, epsilon.ratio)
        parts = check_round_trip(in_f, epsilon)
        if n <= 4:
            assert theory.is_member(parts.dense(), "R_F", z=z, epsilon=epsilon)
    assert most > 0.5


def test_the_dense_representation_maps_back_by_psi():
    rng = random.Random(2)
    matrix = peaked_extremes(rng, 5, LN2)
    dense = theory.decompose(matrix, LN2).dense()
    assert theory.is_member(dense, "R_U", epsilon=LN2)
    assert (theory.scale_matrix(5, LN2) @ dense == matrix).all()
    again = theory.from_dense(dense, LN2)
    assert (again.dense() == dense).all()


def test_any_peak_decomposes_a_column():
    column = [3, 4, 4, 5, 3]
    for peak in range(5):
        pieces = theory.decompose_column(column, LN2, peak=peak)
        assert pieces[0][0] == theory.single_peaked(5, peak)
        assert len(pieces) <= 5
        total = sum(amount * theory.scale(pattern, LN2) for pattern, amount in pieces)
        assert (total == np.array(column)).all()


def test_a_zero_column_needs_no_scale_and_a_scale_one():
    assert theory.decompose_column([0, 0, 0], LN2) == []
    assert theory.decompose_column([2, 4, 2], LN2, peak=0) == [((1, -1), 8)]
    assert theory.decompose_column([7], LN2) == [((), 7)]


def test_a_column_that_is_not_private_is_refused():
    with pytest.raises(HoldfastError, match=r"column 1 is not .* at row 0"):
        theory.decompose([["1/2", "1/2"], ["7/8", "1/8"]], LN2)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2, 5])
@pytest.mark.parametrize("family", [hump, binomial, sparse])
def test_floats_come_back_to_rounding_also_where_they_are_tiny(family, epsilon):
    z, n = family(40), 40
    found = [Heuristic(selector=s)(z, epsilon=epsilon).matrix for s in ("min", "max")]
    matrix = (found[0] + found[1]) / 2
    parts = theory.decompose(matrix, epsilon)
    assert all(amount > 0 for _, _, amount in parts)
    assert max(Counter(column for column, _, _ in parts).values()) <= n
    np.testing.assert_allclose(parts.matrix(), matrix, rtol=0, atol=1e-13)
    ordinary = matrix > 1e-25
    np.testing.assert_allclose(parts.matrix()[ordinary], matrix[ordinary], rtol=1e-6)


def test_a_uniform_mechanism_splits_into_peaked_scales_up_to_a_choice():
    parts = theory.decompose([THIRD] * 3, LN2)
    assert sum(amount for column, _, amount in parts if column == 0) == 1
