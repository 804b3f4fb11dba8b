"""Which weights of curves `verify` need not look at: what it finds is what all of them give."""

from fractions import Fraction

import numpy as np
import pytest

from curve_sets import all_weights, one_tail, optimal_curves, some_curves, worst_of_all
from holdfast.former.constructors import Optimal
from holdfast.former.verify.certificate import worst_ratio
from holdfast.former.verify.curve_table import CurveTable
from holdfast.former.verify.curves import exact_powers
from holdfast.former.verify.exact import exp_from_below, part
from holdfast.former.verify.mechanism import TOTAL
from holdfast.former.verify.report import Damage


def table_of(curves):
    powers = exact_powers(Fraction(curves.epsilon), len(curves.turns))
    return CurveTable(*curves[:3], lift=curves.lift, powers=powers)


def check(curves):
    """That `verify` says what all weights say, and what that is."""
    columns = all_weights(curves)
    expected = worst_of_all(columns)
    try:
        ratio, i, k, j = worst_ratio(table_of(curves))
    except Damage as damage:
        words = ("negative", "impossible") if expected == "negative" else (expected,)
        assert isinstance(expected, str) and any(word in str(damage) for word in words)
        return expected
    assert ratio == expected
    assert ratio == Fraction(columns[j][i], columns[j][k]) and (ratio == 1 or abs(i - k) == 1)
    return ratio


@pytest.mark.parametrize("seed", range(8))
def test_any_curves_have_the_worst_ratio_of_all_their_weights(seed):
    random = np.random.default_rng(seed)
    found = [check(some_curves(random)) for _ in range(150)]
    assert sum(isinstance(ratio, Fraction) for ratio in found) > 30


@pytest.mark.parametrize("seed", range(8))
def test_curves_that_are_off_by_a_unit_are_told_apart(seed):
    random = np.random.default_rng(seed)
    found = [check(curves) for _ in range(40) for curves in optimal_curves(random)]
    assert len(found) > 150


def test_without_the_bound_on_what_follows_the_worst_ratio_is_missed(monkeypatch):
    monkeypatch.setattr(CurveTable, "_most_settled", lambda self, f, worst: TOTAL)
    random, missed = np.random.default_rng(3), 0
    for _ in range(200):
        try:
            check(some_curves(random))
        except AssertionError:
            missed += 1
    assert missed > 5


@pytest.mark.parametrize("epsilon", ["1/10", "1/3", "1", "4"])
def test_a_tail_is_left_only_where_nothing_worse_follows_by_exact_fractions(epsilon):
    left, steepest, n = 0, exp_from_below(Fraction(epsilon)), 20 + int(30 / Fraction(epsilon))
    for f in (3, 4, 5, 7, 10, 30, 70, 1 << 30):
        for height in (9, 77, 1 << 20, (1 << 61) + 1):
            curves = one_tail(f, height, epsilon, n)
            table, column, follows = table_of(curves), all_weights(curves)[0], Fraction(1)
            for i in reversed(range(n - 1)):
                pair = column[i : i + 2]
                follows = max(follows, Fraction(max(pair), min(pair)))
                place = np.array([0]), np.array([i])
                assert not table._settled(*place, follows - Fraction(1, 1 << 130))[0]
                left += int(table._settled(*place, steepest)[0])
    assert left > 100


@pytest.mark.parametrize("f", [3, 4, 5])
def test_steps_down_to_a_low_floor_are_found_however_far_out_they_are(f):
    curves = one_tail(f, TOTAL >> 2, "1/10", 450)
    ratio, i, _, _ = worst_ratio(table_of(curves))
    assert ratio == check(curves) > Fraction(111, 100) and i > 300


@pytest.mark.parametrize("epsilon", ["1", "1/10", "1/30"])
def test_few_weights_of_a_long_range_are_looked_at_however_small_epsilon_is(epsilon):
    n = 5001
    z = (1.0 + np.arange(n)) ** -1.6
    curves = Optimal()(z / z.sum(), epsilon=epsilon).mechanism.curves
    powers = exact_powers(Fraction(epsilon), n)
    table = CurveTable(curves.turns, curves.heights, curves.floors, lift=0, powers=powers)
    worst = worst_ratio(table)[0]
    looked = sum(len(pairs.rows) for pairs in table.pairs(lambda: worst))
    assert 3 * n < looked < 8 * n < sum(len(pairs.rows) for pairs in table.pairs())


def test_products_are_exact_to_the_last_bit():
    random, edges = np.random.default_rng(2), [0, 1, 2**31 - 1, 2**31, 2**61, 2**62 - 1, 2**62]
    a = np.array([*edges, *random.integers(0, 2**62, 3000).tolist()], dtype=np.uint64)
    b = [*edges, 2**63 - 1, 2**63, *random.integers(0, 2**63, 91, dtype=np.uint64).tolist()]
    for factor in b:
        exact = [x * factor >> 62 for x in a.tolist()]
        assert part(a, np.full(len(a), factor, dtype=np.uint64)).tolist() == exact


@pytest.mark.parametrize("lift", [0, 1 << 20, 1 << 55, 1 << 62])
def test_sums_over_curves_are_those_of_exact_fractions(lift):
    random = np.random.default_rng(5)
    for _ in range(15):
        curves = some_curves(random)
        curves = curves._replace(epsilon="1/3", lift=min(lift, curves.keep))
        z = random.dirichlet(np.full(len(curves.turns), 0.3))
        found, shares = table_of(curves).sums(z), [Fraction(share) for share in z]
        below = [0] * len(z)
        for j, column in enumerate(all_weights(curves)):
            below = [a + b for a, b in zip(below, column, strict=True)]
            terms = [share * b / TOTAL for share, b in zip(shares, below, strict=True)]
            assert abs(Fraction(found.below[j]) - sum(terms)) < found.error
            crossing = sum(terms[j + 1 :]) + sum(shares[: j + 1]) - sum(terms[: j + 1])
            assert abs(Fraction(found.crossing[j]) - crossing) < 2 * found.error
