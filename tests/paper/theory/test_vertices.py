"""Vertex enumeration: against brute force, and as the exact optimum of linear programs."""

import random
from fractions import Fraction
from itertools import combinations, pairwise
from math import lcm

import numpy as np
import pytest
from scipy.optimize import linprog

from holdfast.errors import HoldfastError
from holdfast.paper import theory
from holdfast.paper.constructors import LinearProgram
from theory_examples import LN2, random_budget, random_z


def highs_optimum(weights, z, grow):
    """The smallest <W, T> over F by SciPy's HiGHS, from the definition of F."""
    n = len(z)
    equal, right, bounds = [], [], []
    for i in range(n):
        row, column = np.zeros((n, n)), np.zeros((n, n))
        row[i, :], column[:, i] = 1, z
        equal += [row.ravel(), column.ravel()]
        right += [1, z[i]]
    for high, low in [*pairwise(range(n)), *pairwise(range(n - 1, -1, -1))]:
        for j in range(n):
            bound = np.zeros((n, n))
            bound[high, j], bound[low, j] = 1, -grow
            bounds.append(bound.ravel())
    zeros = np.zeros(len(bounds))
    return linprog(weights.ravel(), A_ub=bounds, b_ub=zeros, A_eq=equal, b_eq=right).fun


def exact_optima(corners, weights):
    """min <W, T> over the corners for every W, in integers over one denominator."""
    entries = np.array([corner.ravel() for corner in corners])
    shared = lcm(*(value.denominator for value in entries.flat))
    whole = np.array([[int(value * shared) for value in row] for row in entries], dtype=object)
    errors = whole @ np.array([w.ravel() for w in weights]).T
    return [Fraction(value, shared) for value in errors.min(axis=0)]


@pytest.mark.parametrize("n", [3, 4])
def test_the_best_vertex_is_the_linear_programs_optimum_for_random_weights(n):
    rng = random.Random(n)
    z, epsilon = random_z(rng, n), random_budget(rng)
    weights = [
        np.array([[rng.randint(0, 50) for _ in z] for _ in z], dtype=object) for _ in range(16)
    ]
    optima = exact_optima(theory.vertices("F", z=z, epsilon=epsilon), weights)
    floats = np.array(z, dtype=float)
    for w, best in zip(weights, optima, strict=True):
        optimum = highs_optimum(w.astype(float), floats, float(epsilon.ratio))
        assert optimum == pytest.approx(float(best), abs=1e-7)
        found = LinearProgram(error=w.astype(float))(floats, epsilon=epsilon)
        assert found.count_error == pytest.approx(float(best), rel=1e-5)


def test_a_corner_left_out_would_be_noticed():
    rng = random.Random(9)
    z = random_z(rng, 3)
    corners = theory.vertices("F", z=z, epsilon=LN2)
    for corner in corners:  # each is the only best one for some weights
        weights = -separating(corner)
        values = sorted((weights * other).sum() for other in corners)
        assert values[0] == (weights * corner).sum() < values[1]


def separating(corner):
    """The sum of the privacy constraints that bind: largest at this corner alone."""
    pi = theory.constraint_matrix(len(corner), LN2)
    return pi.T @ (pi @ corner == 0).astype(int)


def test_double_description_agrees_with_trying_every_basis():
    rng = random.Random(10)
    z, epsilon = random_z(rng, 3), random_budget(rng)
    found = {tuple(b.flat) for b in theory.vertices("R_F", z=z, epsilon=epsilon)}
    places = [(j, pattern) for j in range(3) for pattern in theory.patterns(3)]
    expected = set()
    for size in range(3, 6):
        for some in combinations(places, size):
            try:
                pieces = [(j, pattern, 1) for j, pattern in some]
                parts = theory.exact_amounts(pieces, z=z, epsilon=epsilon)
            except HoldfastError:
                continue
            expected.add(tuple(parts.dense().flat))
    assert found == expected


def test_columns_without_a_share_stay_empty():
    z = ["1/2", "0", "1/2"]
    corners = theory.vertices("F", z=z, epsilon=LN2)
    assert len(corners) > 2
    for corner in corners:
        assert not corner[:, 1].any()
        assert theory.is_extreme(corner, "F", z=z, epsilon=LN2)
    for b in theory.vertices("R_F", z=z, epsilon=LN2):
        assert 2 <= (b > 0).sum() <= 4
    alone = [1, 0, 0, 0, 0]  # 80 constraints, 16 of them in the live column
    (only,) = theory.vertices("F", z=alone, epsilon=LN2)
    assert (only == np.array([alone] * 5)).all()
    for b in theory.vertices("R_F", z=alone, epsilon=LN2):
        assert 1 <= (b > 0).sum() <= 5
        assert (theory.from_dense(b, LN2).matrix() == only).all()


def test_positive_entries_stay_within_the_bounds_for_other_targets_and_n_4():
    rng = random.Random(11)
    for _ in range(2):
        z, epsilon = random_z(rng, 3, zeros=True), random_budget(rng)
        fewest, most = theory.positive_entry_bounds("R_F", z=z)
        for b in theory.vertices("R_F", z=z, epsilon=epsilon):
            assert fewest <= (b > 0).sum() <= most
    for b in theory.vertices("R_U", n=4, epsilon=LN2):
        assert 1 <= (b > 0).sum() <= 4
        assert ((b > 0).sum(axis=1) <= 1).all()


@pytest.mark.parametrize("name", ["F", "U", "R_F", "R_U"])
def test_one_count_has_one_mechanism(name):
    (only,) = theory.vertices(name, z=[1], epsilon=LN2)
    assert only.tolist() == [[1]]


def test_floats_and_large_n_are_refused():
    with pytest.raises(HoldfastError, match="exact"):
        theory.vertices("F", z=[0.5, 0.5], epsilon=1)
    with pytest.raises(HoldfastError, match="too many constraints"):
        theory.vertices("U", n=9, epsilon=LN2)
    for name in ("F", "U"):
        with pytest.raises(HoldfastError, match=r"40, with n = 5 .* grow exponentially"):
            theory.vertices(name, z=["1/5"] * 5, epsilon=LN2)
