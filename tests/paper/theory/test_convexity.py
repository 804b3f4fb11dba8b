"""Count errors, where they put the peaked scales, and the unfixed optimum."""

import random
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from holdfast.paper import theory
from holdfast.paper.distributions import error_weights as float_weights
from theory_examples import LN2, error_weights, random_budget, random_z


def concentrating(rng, n):
    """A random weight matrix that never decreases with the distance, with ties and jumps."""
    rows = []
    for i in range(n):
        steps = [Fraction(rng.choice([0, 0, 1, 3, 20])) for _ in range(n)]
        rows.append([sum(steps[: abs(i - j)]) for j in range(n)])
    return np.array(rows)


@pytest.mark.parametrize("error", ["absolute", "squared"])
def test_the_usual_errors_are_concentrating_and_convex_in_fractions_and_floats(error):
    z = [Fraction(share, 28) for share in range(1, 8)]
    for weights in (error_weights(z, error), float_weights(error, [float(s) for s in z])):
        assert theory.is_row_wise_concentrating(weights)
        assert theory.is_row_wise_convex(weights)


def test_broken_weights_are_recognised():
    zero_one = 1 - np.eye(4, dtype=int)
    assert theory.is_row_wise_concentrating(zero_one)
    assert not theory.is_row_wise_convex(zero_one)
    tilted = np.array([[0, 1, 2], [0, 0, 1], [2, 1, 0]])
    assert not theory.is_row_wise_concentrating(tilted)
    dip = np.array([[0, 2, 1], [1, 0, 1], [2, 1, 0]])
    assert not theory.is_row_wise_concentrating(dip)
    dip_on_the_left = np.array([[0, 1, 2], [1, 0, 1], [1, 2, 0]])
    assert not theory.is_row_wise_concentrating(dip_on_the_left)
    negative = np.array([[-1, 0], [0, -1]])
    assert not theory.is_row_wise_concentrating(negative)


def test_best_columns_never_decrease_for_concentrating_weights():
    rng = random.Random(6)
    spread = set()
    for _ in range(300):
        weights, epsilon = concentrating(rng, rng.randint(1, 8)), random_budget(rng)
        assert theory.is_row_wise_concentrating(weights)
        columns = theory.best_columns(weights, epsilon)
        assert columns == sorted(columns)
        spread.add(tuple(columns))
    assert len(spread) > 20


def test_of_equally_good_columns_the_rightmost_is_taken():
    assert theory.best_columns(np.zeros((3, 3), dtype=int), LN2) == [2, 2, 2]


def test_best_columns_can_decrease_for_other_weights():
    assert theory.best_columns([[1, 0], [0, 1]], LN2) == [1, 0]


def test_the_cost_of_any_scale_is_convex_in_the_column_for_convex_weights():
    z = [Fraction(1, 5)] * 5
    psi = theory.scale_matrix(5, LN2)
    for error in ("absolute", "squared"):
        costs = psi.T @ error_weights(z, error)
        assert (np.diff(costs, n=2, axis=1) >= 0).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_peaked_scales_in_columns_that_never_decrease_make_an_extreme_point(n):
    for columns in combinations_with_replacement(range(n), n):
        matrix = theory.place_peaks(columns, LN2).matrix()
        assert theory.is_extreme(matrix, "U", epsilon=LN2)


def test_peaked_scales_in_other_columns_need_not():
    extreme = [
        theory.is_extreme(theory.place_peaks(columns, LN2).matrix(), "U", epsilon=LN2)
        for columns in product(range(3), repeat=3)
    ]
    assert not all(extreme)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_best_placement_is_optimal_over_all_vertices_of_u(n):
    rng = random.Random(n)
    epsilon = random_budget(rng)
    corners = theory.vertices("U", n=n, epsilon=epsilon)
    cases = [error_weights(random_z(rng, n), error) for error in ("absolute", "squared")] * 3
    for weights in [*cases, *(concentrating(rng, n) for _ in range(6))]:
        best = theory.place_peaks(theory.best_columns(weights, epsilon), epsilon).matrix()
        assert (weights * best).sum() == min((weights * corner).sum() for corner in corners)
