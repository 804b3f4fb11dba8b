"""Extreme-point tests against an independent rank, and the constructors' outputs."""

import random
from fractions import Fraction

import numpy as np
import pytest

from families import SELECTORS, binomial, hump, powerlaw
from holdfast.errors import HoldfastError
from holdfast.paper import constructors, theory
from holdfast.paper.constructors import Heuristic
from holdfast.paper.constructors.heuristic import ORDERS
from oracle import algorithm_1, is_extreme_in_f, is_in_f
from theory_examples import B1, B6, LN2, THIRD, error_weights, mixed_with_f, random_budget, random_z


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("n", range(1, 9))
def test_every_heuristic_output_is_exactly_an_extreme_point_of_f(n, selector):
    rng = random.Random(f"{n} {selector}")
    for trial in range(3):
        z, epsilon = random_z(rng, n, zeros=trial % 3 == 2), random_budget(rng)
        found = Heuristic(selector=selector)([float(share) for share in z], epsilon=epsilon)
        parts = theory.exact_amounts(found.representation, z=z, epsilon=epsilon)
        exact = parts.matrix()
        np.testing.assert_allclose(found.matrix, exact.astype(float), rtol=0, atol=1e-12)
        assert theory.is_extreme(exact, "F", z=z, epsilon=epsilon)
        assert theory.is_extreme(parts, "R_F", z=z, epsilon=epsilon)
        assert is_in_f(exact.tolist(), z, epsilon.ratio)
        assert is_extreme_in_f(exact.tolist(), z, epsilon.ratio)
        order = ORDERS[selector](np.array([float(share) for share in z])).tolist()
        assert (exact == np.array(algorithm_1(z, epsilon.ratio, order))).all()


def test_the_segment_test_agrees_with_the_rank_of_all_binding_constraints():
    rng = random.Random(3)
    answers = []
    for _ in range(60):
        n, epsilon = rng.randint(2, 5), random_budget(rng)
        z = random_z(rng, n, zeros=True)
        orders = [rng.sample(range(n), n) for _ in range(2)]
        corners = [np.array(algorithm_1(z, epsilon.ratio, order)) for order in orders]
        half = (corners[0] + corners[1]) / 2
        for matrix in (*corners, half, mixed_with_f(rng, corners, z)):
            found = theory.is_extreme(matrix, "F", z=z, epsilon=epsilon)
            assert found == is_extreme_in_f(matrix.tolist(), z, epsilon.ratio)
            floats = [float(share) for share in z]
            assert found == theory.is_extreme(
                matrix.astype(float), "F", z=floats, epsilon=float(epsilon)
            )
            answers.append(found)
    assert 40 < sum(answers) < 200


@pytest.mark.parametrize("epsilon", [0.1, 2])
@pytest.mark.parametrize("family", [binomial, hump, powerlaw])
def test_floats_are_told_apart_too(family, epsilon):
    z = family(30)
    first, second = (Heuristic(selector=s)(z, epsilon=epsilon).matrix for s in ("max", "min"))
    assert theory.is_extreme(first, "F", z=z, epsilon=epsilon)
    assert theory.is_extreme(second, "F", z=z, epsilon=epsilon)
    assert not theory.is_extreme((first + second) / 2, "F", z=z, epsilon=epsilon)


@pytest.mark.parametrize("name", ["R_F", "R_U"])
def test_simplified_no_movement_and_extreme_are_the_same(name):
    rng = random.Random(4)
    corners = theory.vertices(name, z=THIRD, epsilon=LN2)
    for _ in range(100):
        some = rng.sample(corners, rng.randint(1, 2))
        b = sum(some) / len(some)
        extreme = theory.is_extreme(b, name, z=THIRD, epsilon=LN2)
        assert extreme == (len(some) == 1)
        if name == "R_F":
            assert extreme == theory.is_affinely_simplified(b, z=THIRD, epsilon=LN2)
        else:
            assert extreme == theory.is_linearly_simplified(b, epsilon=LN2)
        check_movement(b, name, extreme)


def check_movement(b, name, extreme):
    mu = theory.movement(b, name, z=THIRD, epsilon=LN2)
    assert (mu is None) == extreme
    if mu is not None:
        psi = theory.scale_matrix(3, LN2)
        assert mu.any() and not mu[b == 0].any()
        assert not (psi @ mu).sum(axis=1).any()
        if name == "R_F":
            assert not (np.array(THIRD) @ psi @ mu).any()


def test_the_same_answers_come_without_flint(monkeypatch):
    from holdfast.paper.theory import linear_algebra

    def answers():
        corners = theory.vertices("F", z=["1/2", "1/3", "1/6"], epsilon=LN2)
        middle = sum(corners) / len(corners)
        return corners, theory.reduce_mechanism(
            middle, z=["1/2", "1/3", "1/6"], epsilon=LN2, error="squared"
        )

    fast = answers()
    monkeypatch.setattr(linear_algebra, "_arithmetic", lambda: (Fraction, Fraction))
    slow = answers()
    assert all((a == b).all() for a, b in zip(fast[0], slow[0], strict=True))
    assert (fast[1] == slow[1]).all()
    assert type(slow[1][0, 0]) is type(fast[1][0, 0]) is Fraction


def test_a_piece_that_is_not_needed_is_left_out():
    pieces = [*theory.from_dense(B1, LN2), (0, (1, 1), 1)]
    found = theory.exact_amounts(pieces, z=THIRD, epsilon=LN2)
    assert len(pieces) == 5 and len(found) == 4
    assert (found.dense() == B1).all()


def test_pieces_that_leave_a_choice_or_reach_nothing_are_refused():
    twice = [(j, pattern, 1.0) for j in range(3) for pattern in theory.patterns(3)]
    with pytest.raises(HoldfastError, match="do not determine"):
        theory.exact_amounts(twice, z=THIRD, epsilon=LN2)
    with pytest.raises(HoldfastError, match="no element"):
        theory.exact_amounts([(0, (1, 1), 1.0)], z=THIRD, epsilon=LN2)


def test_representations_and_mechanisms_are_not_mixed_up():
    with pytest.raises(HoldfastError, match="R_F or R_U"):
        theory.movement(B6, "U", epsilon=LN2)
    with pytest.raises(HoldfastError, match="reduce_representation"):
        theory.reduce_mechanism(B1, "R_F", z=THIRD, epsilon=LN2)


@pytest.mark.skipif(not hasattr(constructors, "UnfixedOptimum"), reason="no UnfixedOptimum yet")
@pytest.mark.parametrize("error", ["absolute", "squared"])
def test_the_unfixed_optimum_is_an_extreme_point_of_u_and_optimal(error):
    rng = random.Random(5)
    for n in (2, 3, 4, 6, 8):
        z, epsilon = random_z(rng, n), random_budget(rng)
        found = constructors.UnfixedOptimum(error=error)(
            [float(share) for share in z], epsilon=epsilon
        )
        weights = error_weights(z, error)
        best = theory.place_peaks(theory.best_columns(weights, epsilon), epsilon).matrix()
        # which column holds each single-peaked scale; then the same mechanism, exactly
        amounts = np.linalg.solve(theory.peaked_matrix(n, float(epsilon)), found.matrix)
        exact = theory.place_peaks(amounts.argmax(axis=1).tolist(), epsilon).matrix()
        np.testing.assert_allclose(found.matrix, exact.astype(float), rtol=0, atol=1e-12)
        assert theory.is_extreme(exact, "U", epsilon=epsilon)
        assert (weights * exact).sum() == (weights * best).sum()
        assert found.count_error == pytest.approx(float((weights * best).sum()), rel=1e-9)


def test_a_constructors_representation_can_be_asked_and_reduced():
    z = [0.2, 0.5, 0.3]
    parts = Heuristic(selector="sandwich")(z, epsilon=1).representation
    assert theory.is_extreme(parts, "R_F", z=z, epsilon=1)
    assert theory.movement(parts, "R_F", z=z, epsilon=1) is None
    assert len(theory.reduce_representation(parts, z=z, epsilon=1)) == len(list(parts))
    exact_z = ["1/5", "1/2", "3/10"]
    for ask in (theory.is_extreme, theory.movement, theory.reduce_representation):
        with pytest.raises(HoldfastError, match="exact_amounts"):
            ask(parts, "R_F", z=exact_z, epsilon=LN2)
    with pytest.raises(HoldfastError, match="rows and columns"):
        theory.is_extreme(THIRD, "F", z=THIRD, epsilon=LN2)


def test_differences_are_taken_between_scales_of_equal_share_of_z():
    z = [Fraction(share, 10) for share in (1, 2, 3, 4)]
    places = [
        (0, (1, 1, 1)),
        (0, (-1, -1, -1)),
        (1, (1, 1, -1)),
        (1, (1, -1, -1)),
        (2, (-1, 1, 1)),
        (2, (-1, -1, 1)),
    ]
    pieces = tuple((column, pattern, Fraction(1)) for column, pattern in places)
    parts = theory.Decomposition(n=4, epsilon=LN2, pieces=pieces)
    assert theory.is_affinely_simplified(parts, z=z, epsilon=LN2)


def test_a_representation_of_another_size_is_refused():
    from holdfast.paper.theory.extreme import member
    from holdfast.paper.theory.polytopes import polytope

    with pytest.raises(HoldfastError, match="wrong size"):
        member(theory.from_dense(B6, LN2), polytope("R_U", n=4, epsilon=LN2))


def test_pieces_given_twice_or_with_nothing_in_them_do_not_change_the_answer():
    pieces = theory.from_dense(B1, LN2).pieces
    halves = tuple((j, pattern, amount / 2) for j, pattern, amount in pieces)
    nothing = tuple((j, pattern, Fraction(0)) for j in range(3) for pattern in theory.patterns(3))
    parts = theory.Decomposition(n=3, epsilon=LN2, pieces=(*halves, *halves, *nothing))
    assert theory.is_extreme(parts, "R_F", z=THIRD, epsilon=LN2)
    assert theory.is_extreme(parts.dense(), "R_F", z=THIRD, epsilon=LN2)
    assert theory.is_affinely_simplified(parts, z=THIRD, epsilon=LN2)
    six = theory.from_dense(B6, LN2).pieces
    again = theory.Decomposition(n=3, epsilon=LN2, pieces=(*six, *nothing))
    assert theory.is_linearly_simplified(again, epsilon=LN2)
    dust = B1.astype(float) + 1e-13
    assert theory.is_extreme(dust, "R_F", z=[1 / 3] * 3, epsilon=float(LN2))
    assert theory.movement(dust, "R_F", z=[1 / 3] * 3, epsilon=float(LN2)) is None


@pytest.mark.parametrize("epsilon", [theory.log(3), 1.0, float(LN2)])
def test_pieces_at_another_budget_are_refused(epsilon):
    parts = theory.from_dense(B6, LN2)
    with pytest.raises(HoldfastError, match="but the pieces are at ln 2"):
        theory.is_extreme(parts, "R_U", epsilon=epsilon)
    with pytest.raises(HoldfastError, match="but the pieces are at ln 2"):
        theory.is_linearly_simplified(parts, epsilon=epsilon)


def test_the_bounds_on_positive_entries_read_z_as_numbers_and_check_it():
    assert theory.positive_entry_bounds("R_F", z=["1/2", "0", "1/2"]) == (2, 4)
    assert theory.positive_entry_bounds("R_U", z=["1/2", "0", "1/2"]) == (1, 3)
    for bad in ({"z": "ab"}, {"z": []}, {"n": 0}, {"n": 4, "z": THIRD}, {}):
        for name in ("R_F", "R_U"):
            with pytest.raises(HoldfastError):
                theory.positive_entry_bounds(name, **bad)
