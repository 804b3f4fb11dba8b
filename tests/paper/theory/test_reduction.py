"""Walks to extreme points."""

import random

import numpy as np
import pytest

from families import hump
from holdfast.paper import theory
from holdfast.paper.distributions import count_error
from oracle import is_extreme_in_f, is_in_f
from theory_examples import LN2, THIRD, error_weights, peaked_extremes, random_budget, random_z


def start(z):
    return np.array([z] * len(z), dtype=object)


@pytest.mark.parametrize("error", [None, "absolute", "squared", "random"])
def test_any_element_of_f_walks_to_an_extreme_point_and_no_error_rises(error):
    rng = random.Random(str(error))
    fell = 0
    for n in (1, 2, 3, 4, 5, 6):
        z, epsilon = random_z(rng, n, zeros=n == 5), random_budget(rng)
        weights = np.array([[rng.randint(-9, 9) for _ in range(n)] for _ in range(n)])
        if error in ("absolute", "squared"):
            weights = error_weights(z, error)
        given = weights if error == "random" else error
        found = theory.reduce_mechanism(start(z), z=z, epsilon=epsilon, error=given)
        assert is_in_f(found.tolist(), z, epsilon.ratio)
        assert is_extreme_in_f(found.tolist(), z, epsilon.ratio)
        if error is not None:
            before, after = (weights * start(z)).sum(), (weights * found).sum()
            assert after <= before
            fell += after < before
    assert fell >= 4 or error is None


def test_an_extreme_point_stays_where_it_is():
    for corner in theory.vertices("F", z=THIRD, epsilon=LN2):
        assert (theory.reduce_mechanism(corner, z=THIRD, epsilon=LN2) == corner).all()


def test_elements_of_u_walk_to_extreme_points_of_u():
    rng = random.Random(8)
    for n in (2, 3, 5):
        matrix = peaked_extremes(rng, n, LN2)
        found = theory.reduce_mechanism(matrix, "U", epsilon=LN2)
        assert theory.is_extreme(found, "U", epsilon=LN2)


@pytest.mark.parametrize("name", ["R_F", "R_U"])
def test_representations_walk_to_extreme_ones_on_their_own_support(name):
    rng = random.Random(name)
    for n in (1, 2, 3, 4, 6):
        z, epsilon = random_z(rng, n), random_budget(rng)
        parts = theory.decompose(start(z), epsilon)
        weights = error_weights(z, "absolute")
        found = theory.reduce_representation(parts, name, z=z, epsilon=epsilon, error="absolute")
        assert theory.is_extreme(found, name, z=z, epsilon=epsilon)
        assert {piece[:2] for piece in found} <= {piece[:2] for piece in parts}
        assert (weights * found.matrix()).sum() <= (weights * parts.matrix()).sum()
        fewest, most = theory.positive_entry_bounds(name, z=z)
        assert fewest <= len(found) <= most


@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_floats_walk_too(epsilon):
    z, n = hump(9), 9
    found = theory.reduce_mechanism(np.tile(z, (n, 1)), z=z, epsilon=epsilon, error="absolute")
    assert theory.is_member(found, "F", z=z, epsilon=epsilon)
    assert theory.is_extreme(found, "F", z=z, epsilon=epsilon)
    assert count_error(found, z) < count_error(np.tile(z, (n, 1)), z)
    parts = theory.reduce_representation(
        theory.decompose(np.tile(z, (n, 1)), epsilon), z=z, epsilon=epsilon
    )
    assert len(parts) <= 2 * n - 1
    assert theory.is_member(parts.matrix(), "F", z=z, epsilon=epsilon)


def check_float_walk(matrix, name, z, epsilon, weights):
    found = theory.reduce_mechanism(matrix, name, z=z, epsilon=epsilon, error=weights)
    assert theory.why_not(found, name, z=z, epsilon=epsilon) is None
    assert theory.is_extreme(found, name, z=z, epsilon=epsilon)
    assert (weights * found).sum() <= (weights * matrix).sum() + 1e-12
    return found


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize("name", ["U", "F"])
def test_random_float_starts_end_at_extreme_points_and_leave_no_dust(name, epsilon):
    rng = np.random.default_rng(12)
    emptied = 0
    for trial in range(7):
        n = 2 + trial % 7
        z = rng.dirichlet(np.ones(n))
        weights = rng.integers(-3, 4, (n, n))
        found = check_float_walk(np.tile(z, (n, 1)), name, z, epsilon, weights)
        empty = found.max(axis=0) < 1e-13
        assert not found[:, empty].any()
        emptied += empty.sum()
    assert emptied > 7 or name == "F"


def test_a_column_whose_segments_join_as_it_dies_leaves_nothing():
    z = np.array([0.3519102446735455, 0.4395673119733382, 0.20852244335311643])
    weights = np.array([[3, -3, 0], [-1, -3, 2], [3, 2, -1]])
    found = check_float_walk(np.tile(z, (3, 1)), "U", z, 0.5, weights)
    assert found[:, 0].tolist() == [0, 0, 0]
