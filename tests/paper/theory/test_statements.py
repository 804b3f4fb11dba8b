"""Lemmas and theorems of the paper that no function answers for: each is tried on small cases."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from families import FAMILIES
from holdfast.paper import theory
from holdfast.paper.constructors import Heuristic
from holdfast.paper.theory.linear_algebra import independent

LN2, THIRD = theory.log(2), ["1/3"] * 3


@pytest.mark.parametrize("seed", range(10))
def test_conic_combinations_of_indistinguishable_vectors_are_indistinguishable(seed):
    rng = np.random.default_rng(seed)
    scales = theory.scale_matrix(5, LN2)
    amounts = [Fraction(int(a), 7) for a in rng.integers(0, 4, scales.shape[1])]
    total = sum(a * column for a, column in zip(amounts, scales.T, strict=True))
    assert theory.is_indistinguishable(total, LN2)
    broken = total.copy()
    broken[2] = 3 * max(total[1], total[3]) + 1
    assert not theory.is_indistinguishable(broken, LN2)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_one_constraint_of_each_step_and_the_sum_are_linearly_independent(n):
    constraints = theory.constraint_matrix(n, LN2)
    for signs in itertools.product((0, 1), repeat=n - 1):
        chosen = [constraints[2 * i + sign] for i, sign in enumerate(signs)]
        ones = np.array([Fraction(1)] * n, dtype=object)
        assert len(independent([*chosen, ones])) == n


def test_a_positive_mechanism_is_extreme_in_u_exactly_if_its_columns_are_independent_scales():
    corners = theory.vertices("U", n=3, epsilon=LN2)
    positive = [corner for corner in corners if (corner > 0).all()]
    assert positive
    for corner in positive:
        for column in corner.T:
            theory.pattern_of(column, LN2)  # raises for what is no multiple of a scale
        assert len(independent(list(corner.T))) == 3
    middle = sum(corners) / len(corners)
    assert (middle > 0).all() and not theory.is_extreme(middle, "U", epsilon=LN2)


@pytest.mark.parametrize("seed", range(20))
def test_step_8_is_the_least_of_the_paper_s_quotients(seed):
    """q_0, ..., q_(n-2) and c_j / zs; the paper's list runs one too far."""
    rng = np.random.default_rng(seed)
    n, grow = int(rng.integers(2, 7)), 2.0
    r = sum(rng.random() * theory.scale(p, np.log(2)) for p in theory.patterns(n))
    pattern = list(theory.patterns(n))[int(rng.integers(2 ** (n - 1)))]
    s, z, c = theory.scale(pattern, np.log(2)), rng.dirichlet(np.ones(n)), rng.random()
    quotients = [c / (z @ s)]
    for i, up in enumerate(pattern):
        near, far = (i + 1, i) if up == 1 else (i, i + 1)
        quotients.append((grow * r[near] - r[far]) / (grow * s[near] - s[far]))
    q = min(quotients)
    assert theory.is_indistinguishable(r - q * (1 - 1e-9) * s, np.log(2))
    assert q * (z @ s) <= c * (1 + 1e-12)
    more = r - q * (1 + 1e-6) * s
    assert not theory.is_indistinguishable(more, np.log(2)) or q == quotients[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_algorithm_1_takes_at_most_2n_minus_1_scales(family):
    for n in (1, 2, 30, 101):
        for selector in ("max", "min", "sandwich"):
            found = Heuristic(selector=selector)(FAMILIES[family](n), epsilon="0.5")
            assert len(found.representation) <= 2 * n - 1


def test_each_column_of_algorithm_1_has_the_largest_diagonal_that_earlier_columns_leave():
    """The lemma on the first mismatch, and that the column is extreme among those possible: over
    all corners of F, which hold every mechanism between them."""
    z = ["1/2", "1/3", "1/6"]
    corners = theory.vertices("F", z=z, epsilon=LN2)
    shares = [1 / 2, 1 / 3, 1 / 6]
    for selector in ("max", "min", "sandwich"):
        found = Heuristic(selector=selector)(shares, epsilon=LN2)
        exact = theory.exact_amounts(found.representation, z=z, epsilon=LN2).matrix()
        order = list(dict.fromkeys(int(j) for j, _, _ in found.representation))
        left = corners
        for j in order:
            most = max(corner[j, j] for corner in left)
            assert exact[j, j] == most
            left = [corner for corner in left if corner[j, j] == most]
            assert all((corner[:, j] == exact[:, j]).all() for corner in left)
        assert len(left) == 1
