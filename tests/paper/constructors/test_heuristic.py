"""Algorithm 1 in clock form, against the algorithm as printed in exact arithmetic."""

import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from families import FAMILIES, SELECTORS, binomial, hump, powerlaw
from holdfast.errors import HoldfastError
from holdfast.paper.constructors import Heuristic, clock, heuristic
from holdfast.paper.constructors.heuristic import ORDERS, fill_precisely
from oracle import algorithm_1, is_extreme_in_f, is_in_f

# n, family, epsilon, then the absolute deviation of max, min, sandwich: reference numbers
REFERENCE = [
    (21, binomial, 0.5, 2.02135, 1.64096, 1.64096),
    (21, hump, 0.5, 2.95353, 1.94749, 1.95934),
    (21, powerlaw, 0.5, 1.13213, 1.45295, 1.15521),
    (51, binomial, 0.1, 3.70536, 3.56267, 3.56267),
    (51, binomial, 2, 2.54718, 0.32650, 0.32650),
    (51, hump, 0.1, 9.31506, 8.17841, 8.06960),
    (51, powerlaw, 2, 0.24202, 0.25513, 0.24215),
    (81, binomial, 0.5, 3.72073, 2.17622, 2.17622),
    (81, hump, 2, 0.86759, 0.28263, 0.28201),
    (201, hump, 0.5, 4.18086, 1.97353, 1.96744),
    (201, powerlaw, 0.5, 1.22078, 1.52033, 1.22148),
]


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: f"{row[1].__name__}-{row[0]}-{row[2]}")
def test_count_errors_match_the_reference_numbers(row):
    n, family, epsilon, *expected = row
    found = [Heuristic(selector=name)(family(n), epsilon=epsilon).count_error for name in SELECTORS]
    assert np.round(found, 5).tolist() == expected


targets = st.lists(st.integers(0, 12), min_size=1, max_size=7).filter(any)


@settings(max_examples=60)
@given(targets, st.sampled_from(SELECTORS), st.sampled_from(["2", "3/2", "11/10", "9"]))
def test_the_matrix_is_the_printed_algorithms_and_an_extreme_point(shares, selector, grow):
    z = [Fraction(share, sum(shares)) for share in shares]
    grow = Fraction(grow)
    floats = np.array([float(share) for share in z])
    order = ORDERS[selector](np.array(shares, dtype=float)).tolist()
    exact = algorithm_1(z, grow, order)
    assert is_in_f(exact, z, grow)
    assert is_extreme_in_f(exact, z, grow)
    found = Heuristic(selector=selector)(floats, epsilon=math.log(grow))
    np.testing.assert_allclose(found.matrix, np.array(exact, dtype=float), rtol=0, atol=1e-11)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("family", [binomial, hump, powerlaw])
def test_the_pieces_add_up_to_the_matrix(family, selector):
    found = Heuristic(selector=selector)(family(31), epsilon=0.7)
    pieces = found.representation
    np.testing.assert_allclose(pieces.matrix(), found.matrix, rtol=0, atol=1e-13)
    assert len(pieces) <= 2 * 31 - 1
    for column, pattern, amount in pieces:
        assert 0 <= column < 31
        assert set(pattern.tolist()) <= {-1, 1}
        assert amount > 0
    first = pieces.pattern(0)
    j = pieces.columns[0]
    assert (first == np.where(np.arange(30) < j, 1, -1)).all()
    assert pieces.scale(0).sum() == pytest.approx(1)


def ulp_ties(n, seed):
    z = np.full(n, 1 / n) * (1 + np.random.default_rng(seed).integers(-2, 3, n) * 2.0**-52)
    return z / z.sum()


@pytest.mark.parametrize("n, epsilon", [(10, 10), (40, 5), (101, 1)])
@pytest.mark.parametrize("seed", range(20))
def test_random_orders_over_ties_are_filled_exactly(n, epsilon, seed):
    """Chains of near-ties, which doubles cannot resolve for a large epsilon."""
    z = ulp_ties(n, seed)
    order = iter([*np.random.default_rng(seed).permutation(n).tolist()] * 2)  # it may start anew
    found = Heuristic(selector=lambda z, r, c, a: next(order))(z, epsilon=epsilon)
    assert np.abs(found.matrix.sum(axis=1) - 1).max() <= 1e-9
    assert np.abs(z @ found.matrix - z).max() <= 1e-9
    assert found.mechanism.certificate.epsilon <= epsilon


def clipped(n, seed):
    """A binomial histogram after the paper's stage 1: half zeros, and multiples of one number."""
    rng = np.random.default_rng([n, seed])
    counts = np.bincount(rng.binomial(n - 1, 0.5, 10_000), minlength=n)
    noise = np.rint(rng.laplace(0, 10, n))
    z = np.maximum(counts + noise - np.roll(noise, 1), 0)
    return z / z.sum()


@pytest.mark.parametrize(("epsilon", "seed"), [(0.36, 0), (0.57, 1), (2, 2), (4.5, 0)])
def test_clipped_targets_never_need_the_integers(epsilon, seed, monkeypatch):
    monkeypatch.setattr(heuristic, "fill_precisely", lambda *a: pytest.fail("took minutes"))
    for selector in SELECTORS:
        found = Heuristic(selector=selector)(clipped(2000, seed), epsilon=epsilon)
        assert np.abs(found.matrix.sum(axis=1) - 1).max() <= 1e-10
        assert np.abs(found.target @ found.matrix - found.target).max() <= 1e-12


@pytest.mark.parametrize(("seed", "direction"), [(7, 1), (12, -1), (38, 1)])
def test_in_doubles_a_clipped_target_gives_the_matrix_of_the_integers(seed, direction):
    z, epsilon = clipped(351, seed), Fraction(2, 5)
    order = np.ascontiguousarray(np.flatnonzero(z)[::direction])
    clocks, columns = clock.start(z, float(epsilon)), np.zeros((351, 351))
    clock.fill_columns(clocks, order)
    clock.add_pieces(columns, clocks, 0)
    columns_left = iter(order.tolist())
    exact, _ = fill_precisely(z, epsilon, lambda state: next(columns_left))
    np.testing.assert_allclose(columns.T, exact, rtol=0, atol=1e-11)


def test_the_fixed_point_algorithm_agrees_with_rationals_and_with_the_kernel():
    grow = Fraction(3)
    for shares in ([1, 1, 1, 1, 1], [5, 0, 2, 7, 0, 1], [1], [1, 3], [2, 1, 1, 2]):
        z = [Fraction(share, sum(shares)) for share in shares]
        exact = algorithm_1(z, grow, ORDERS["min"](np.array(shares, dtype=float)).tolist())
        floats = np.array([float(share) for share in z])
        order = iter(ORDERS["min"](floats).tolist())
        matrix, pieces = fill_precisely(
            floats, Fraction(math.log(3)), lambda state, order=order: next(order)
        )
        np.testing.assert_allclose(matrix, np.array(exact, dtype=float), atol=1e-13)
        np.testing.assert_allclose(pieces.matrix(), matrix, atol=1e-13)
    kernel = Heuristic(selector="min")(hump(60), epsilon=2)
    order = iter(ORDERS["min"](hump(60)).tolist())
    matrix, _ = fill_precisely(hump(60), Fraction(2), lambda state: next(order))
    np.testing.assert_allclose(matrix, kernel.matrix, atol=1e-12)


def test_best_does_without_an_order_that_would_take_minutes(monkeypatch):
    monkeypatch.setattr(heuristic, "LARGEST_PRECISE", 5)
    monkeypatch.setattr(heuristic, "fill_precisely", lambda *a: pytest.fail("took minutes"))
    kept = heuristic._keeps
    calls = iter([True, False, True, False, False])  # max, min, sandwich, and the further orders
    monkeypatch.setattr(heuristic, "_keeps", lambda m, z: next(calls) and kept(m, z))
    found = Heuristic()(hump(21), epsilon=0.5)
    assert found.method in ("Heuristic(max)", "Heuristic(sandwich)")


@pytest.mark.parametrize("error", ["absolute", "squared"])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2, 5])
@pytest.mark.parametrize("family", FAMILIES)
def test_best_is_the_best_order(family, epsilon, error):
    z = FAMILIES[family](40)
    errors = [Heuristic(selector=s, error=error)(z, epsilon=epsilon).count_error for s in SELECTORS]
    found = Heuristic(error=error)(z, epsilon=epsilon)
    assert found.lower_bound <= found.count_error <= min(errors)
    np.testing.assert_allclose(found.representation.matrix(), found.matrix, atol=1e-12)


def test_best_compares_by_a_given_weight_matrix():
    rng = np.random.default_rng(7)
    z, weights = hump(21), rng.normal(size=(21, 21))
    errors = [Heuristic(selector=s, error=weights)(z, epsilon=0.5).count_error for s in SELECTORS]
    assert Heuristic(error=weights)(z, epsilon=0.5).count_error <= min(errors)


def test_a_callable_selector_sees_z_r_c_and_a():
    z = hump(12)
    seen = []

    def largest_left(z_, r, c, a):
        np.testing.assert_allclose(r, 1 - a.sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(c, z_ - z_ @ a, atol=1e-12)
        seen.append(int(np.argmax(c)))
        return seen[-1]

    found = Heuristic(selector=largest_left)(z, epsilon=0.5)
    expected = Heuristic(selector="max")(z, epsilon=0.5)
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-13)
    assert len(seen) == 12
    assert found.method == "Heuristic(one's own largest_left)"


def test_a_callable_that_returns_a_full_column_is_an_error():
    with pytest.raises(HoldfastError, match="c\\[j\\] > 0"):
        Heuristic(selector=lambda z, r, c, a: 0)(hump(5), epsilon=1)


def test_an_unknown_selector_is_named():
    with pytest.raises(HoldfastError, match="middle"):
        Heuristic(selector="middle")


@pytest.mark.parametrize(
    "target", [[], [[0.5, 0.5]], [0.5, 0.6], [-0.1, 1.1], [np.nan, 1], ["a"], [0.0, 0.0]]
)
def test_a_target_that_is_no_distribution_is_an_error(target):
    with pytest.raises(HoldfastError, match="target"):
        Heuristic()(target, epsilon=1)


def test_shares_too_small_for_integer_weights_become_zero():
    found = Heuristic()([0.5, 1e-14, 0.5 - 1e-14], epsilon=1)
    assert found.target[1] == 0
    assert (found.matrix[:, 1] == 0).all()


def test_a_share_of_1e_12_is_kept():
    found = Heuristic()([0.5, 1e-12, 0.5 - 1e-12], epsilon=1)
    assert found.mechanism.matrix[:, 1].min() > 0
    assert (found.target @ found.mechanism.matrix)[1] == pytest.approx(1e-12, rel=1e-3)


def test_max_selector_from_left_to_right_matches_for_decreasing_z():
    z = np.sort(powerlaw(30))[::-1]
    by_index = Heuristic(selector=lambda z, r, c, a: int(np.flatnonzero(c)[0]))(z, epsilon=1)
    by_share = Heuristic(selector="max")(z, epsilon=1)
    np.testing.assert_allclose(by_index.matrix, by_share.matrix, atol=1e-13)


def test_without_numba_the_same_code_gives_the_same_matrix():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from holdfast.paper.constructors import Heuristic\n"
        "z = [0.3, 0.1, 0.25, 0.05, 0.2, 0.1]\n"
        "print(Heuristic(selector='sandwich')(z, epsilon='0.5').matrix.tolist())"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    compiled = Heuristic(selector="sandwich")([0.3, 0.1, 0.25, 0.05, 0.2, 0.1], epsilon="0.5")
    np.testing.assert_allclose(json.loads(ran.stdout), compiled.matrix, rtol=1e-12)
