"""Which weights of curves `verify` need not look at: what it finds is what all of them give."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from holdfast.constructors import Optimal
from holdfast.verify.certificate import worst_ratio
from holdfast.verify.curve_table import CurveTable
from holdfast.verify.curves import exact_powers
from holdfast.verify.exact import exp_from_below, part
from holdfast.verify.mechanism import TOTAL
from holdfast.verify.report import Damage

EPSILONS = ("1/100", "1/30", "1/10", "1/4", "2/3", "1", "2", "5", "10")


def table_of(turns, heights, floors, epsilon, lift=0):
    arrays = (np.array(numbers, dtype=np.int64) for numbers in (turns, heights, floors))
    return CurveTable(*arrays, lift=lift, powers=exact_powers(Fraction(epsilon), len(turns)))


def all_weights(table):
    """Column by column as docs/bundle.md has them, in Python's integers."""
    n, keep, lift = len(table), table.keep, table.lift
    powers = [*table.powers.tolist(), *[0] * n]

    def tail(height, d):
        return max(((height + lift) * powers[d] >> 62) - lift, 0)

    before, columns = [0] * n, []
    for turn, height, floor in zip(
        table.turns.tolist(), table.heights.tolist(), table.floors.tolist(), strict=True
    ):
        curve = [keep - tail(keep - height, turn - i) for i in range(turn)]
        curve += [tail(height, i - turn) for i in range(turn, n)]
        columns.append([b - a + floor for a, b in zip(before, curve, strict=True)])
        before = curve
    return columns


def worst_of_all(columns):
    """The largest ratio; "negative" or "impossible" where a certificate fails by itself."""
    if min(map(min, columns)) < 0:
        return "negative"
    p, r = 1, 1
    for column in columns:
        if 0 in column and any(column):
            return "impossible"
        for a, b in pairwise(column):
            if max(a, b) * r > p * min(a, b):
                p, r = max(a, b), min(a, b)
    return Fraction(p, r)


def check(table):
    """Whether `verify` says what all weights say, and what that is."""
    columns = all_weights(table)
    expected = worst_of_all(columns)
    try:
        ratio, i, k, j = worst_ratio(table)
    except Damage as damage:
        words = ("negative", "impossible") if expected == "negative" else (expected,)
        assert isinstance(expected, str) and any(word in str(damage) for word in words)
        return expected
    assert ratio == expected
    assert ratio == Fraction(columns[j][i], columns[j][k]) and (ratio == 1 or abs(i - k) == 1)
    return ratio


def some_curves(random):
    """Curves in order, with floors from none to plenty, that most often are far from private."""
    n, epsilon = int(random.integers(2, 40)), str(random.choice(EPSILONS))
    most = int(random.choice([3, 12, 100, 3000, 1 << 30]))
    floors = random.integers(0 if random.random() < 0.1 else 1, most + 1, n)
    if random.random() < 0.6:
        floors[:] = floors[0]
    keep = TOTAL - int(floors.sum())
    turns = np.sort(random.integers(0, n, n))
    if random.random() < 0.6:
        turns[:] = np.arange(n)
    scale = float(random.choice([1.0, 2.0**-10, 2.0**-30, 2.0**-50]))
    heights = (random.random(n) * keep * scale).astype(np.int64)
    middle = keep - keep // 3
    heights = np.where(turns > 0, np.minimum(middle + heights // 8, keep), heights)
    order = np.lexsort((heights, turns))
    turns, heights = turns[order], heights[order]
    turns[-1], heights[-1] = n - 1, keep
    return table_of(turns, heights, floors, epsilon)


@pytest.mark.parametrize("seed", range(8))
def test_any_curves_have_the_worst_ratio_of_all_their_weights(seed):
    random, found = np.random.default_rng(seed), []
    for _ in range(150):
        found.append(check(some_curves(random)))
    assert sum(isinstance(ratio, Fraction) for ratio in found) > 30


def made(random):
    """Optimal curves, and how many units their floors must have for that."""
    n, epsilon = int(random.integers(2, 50)), str(random.choice(EPSILONS))
    z = random.dirichlet(np.full(n, random.choice([0.05, 0.3, 3.0])))
    if random.random() < 0.3:
        z *= random.random(n) < 0.6
    z[0] += 1e-12
    curves = Optimal()(z / z.sum(), epsilon=epsilon).mechanism.curves
    return (curves.turns, curves.heights, curves.floors), epsilon


@pytest.mark.parametrize("seed", range(8))
def test_curves_that_are_off_by_a_unit_are_told_apart(seed):
    random = np.random.default_rng(seed)
    for _ in range(40):
        (turns, heights, floors), epsilon = made(random)
        check(table_of(turns, heights, floors, epsilon))
        for _ in range(3):
            x, at = heights.copy(), int(random.integers(0, max(len(turns) - 1, 1)))
            x[at] += int(random.choice([-(1 << 20), -2, -1, 1, 2, 1 << 20]))
            if x.min() >= 0 and x[-1] == x.max() and (np.diff(x)[np.diff(turns) == 0] >= 0).all():
                check(table_of(turns, x, floors, epsilon))
        lower = np.maximum(floors - int(random.integers(1, 9)), 0)
        last = np.append(heights[:-1], TOTAL - int(lower.sum()))
        check(table_of(turns, last, lower, epsilon))


def columns_with_a_tail(f, height, epsilon, n=400):
    """Two columns with floor f: all of one falls from the first row on, as fast as it may."""
    keep = TOTAL - f * n
    return table_of([0] * (n - 1) + [n - 1], [height] * (n - 1) + [keep], [f] * n, epsilon)


@pytest.mark.parametrize("epsilon", ["1/10", "1/3", "1", "4"])
def test_a_tail_is_left_only_where_nothing_worse_follows_by_exact_fractions(epsilon):
    left, steepest, n = 0, exp_from_below(Fraction(epsilon)), 20 + int(30 / Fraction(epsilon))
    for f in (3, 4, 5, 7, 10, 30, 70, 1 << 30):
        for height in (9, 77, 1 << 20, (1 << 61) + 1):
            table = columns_with_a_tail(f, height, epsilon, n)
            column, follows = all_weights(table)[0], Fraction(1)
            for i in reversed(range(n - 1)):
                pair = column[i : i + 2]
                follows = max(follows, Fraction(max(pair), min(pair)))
                less = follows - Fraction(1, 1 << 130)
                place = np.array([0]), np.array([i])
                assert not table._settled(*place, less)[0]
                left += int(table._settled(*place, steepest)[0])
    assert left > 100


def test_a_column_that_gets_by_one_unit_too_steep_in_its_tail_is_found():
    for f in (3, 4, 5):  # the last steps down to so low a floor are steeper than e^ε
        table = columns_with_a_tail(f, TOTAL >> 2, "1/10")
        ratio, i, _, _ = worst_ratio(table)
        assert ratio == check(table) > Fraction(111, 100) and i > 300


def test_without_the_bound_on_what_follows_the_worst_ratio_is_missed(monkeypatch):
    monkeypatch.setattr(CurveTable, "_most_settled", lambda self, f, worst: TOTAL)
    random, missed = np.random.default_rng(3), 0
    for _ in range(200):
        try:
            check(some_curves(random))
        except AssertionError:
            missed += 1
    assert missed > 5


@pytest.mark.parametrize("epsilon", ["1", "1/10", "1/30"])
def test_few_weights_of_a_long_range_are_looked_at_however_small_epsilon_is(epsilon):
    n = 5001
    z = (1.0 + np.arange(n)) ** -1.6
    curves = Optimal()(z / z.sum(), epsilon=epsilon).mechanism.curves
    table = table_of(curves.turns, curves.heights, curves.floors, epsilon)
    worst = worst_ratio(table)[0]
    looked = sum(len(pairs.rows) for pairs in table.pairs(lambda: worst))
    assert 3 * n < looked < 8 * n < sum(len(pairs.rows) for pairs in table.pairs())


def test_products_are_exact_to_the_last_bit():
    random, edges = np.random.default_rng(2), [0, 1, 2**31 - 1, 2**31, 2**61, 2**62 - 1, 2**62]
    a = np.array([*edges, *random.integers(0, 2**62, 3000).tolist()], dtype=np.uint64)
    more = [2**63 - 1, 2**63]
    b = np.array([*edges, *more, *random.integers(0, 2**63, 91).tolist()], dtype=np.uint64)
    for factor in b.tolist():
        exact = [x * factor >> 62 for x in a.tolist()]
        assert part(a, np.full(len(a), factor, dtype=np.uint64)).tolist() == exact


@pytest.mark.parametrize("lift", [0, 1 << 20, 1 << 55, 1 << 62])
def test_sums_over_curves_are_those_of_exact_fractions(lift):
    random = np.random.default_rng(5)
    for _ in range(15):
        plain = some_curves(random)
        n = len(plain)
        table = table_of(plain.turns, plain.heights, plain.floors, "1/3", min(lift, plain.keep))
        z = random.dirichlet(np.full(n, 0.3))
        shares, columns = [Fraction(share) for share in z], all_weights(table)
        found, below = table.sums(z), [0] * n
        for j, column in enumerate(columns):
            below = [a + b for a, b in zip(below, column, strict=True)]
            whole = sum(s * b for s, b in zip(shares, below, strict=True)) / TOTAL
            assert abs(Fraction(found.below[j]) - whole) < found.error
            over = sum(s * b for s, b in zip(shares[j + 1 :], below[j + 1 :], strict=True))
            under = sum(
                s * (TOTAL - b) for s, b in zip(shares[: j + 1], below[: j + 1], strict=True)
            )
            assert abs(Fraction(found.crossing[j]) - (over + under) / TOTAL) < 2 * found.error
