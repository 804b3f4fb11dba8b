"""Totals: exact noise, made to fit each other, with intervals that cover."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.privatizers.totals import (
    MOST,
    Totals,
    certified_totals,
    fitted_totals,
    laplace_reach,
    measure_totals,
)
from holdfast.former.privacy.budget import Budget, split_budget
from holdfast.former.privacy.randomness import Simulation


def budget(epsilon="1/2", contributions=1):
    exact = Fraction(epsilon)
    return Budget(
        epsilon=exact + 1, stage_1=Fraction(1, 2), stage_2=Fraction(1, 2), totals=exact,
        contributions=contributions, steps=contributions,
    )  # fmt: skip


def test_the_parts_of_a_budget_add_up_exactly_with_totals():
    parts = split_budget("0.7", max_count=30, rows=900, totals="1/7", groups=9)
    assert parts.totals == Fraction(1, 10)
    assert parts.totals + parts.stage_1 + parts.stage_2 == Fraction(7, 10)
    assert split_budget(1, max_count=30, rows=900, totals=True).totals == Fraction(1, 10)
    assert split_budget(1, max_count=30, rows=900).totals == 0
    with pytest.raises(HoldfastError, match="add up to epsilon"):
        Budget(
            epsilon=Fraction(1), stage_1=Fraction(1, 2), stage_2=Fraction(1, 2),
            totals=Fraction(1, 9), contributions=1, steps=1,
        )  # fmt: skip


def test_a_release_charges_its_ledger_for_totals_too(tmp_path):
    ledger = tmp_path / "a.ledger"
    holdfast.Ledger(ledger).set_limit("d", epsilon=1)
    release = holdfast.privatize(
        [1, 0, 7, 300], epsilon="0.7", max_count=9, totals="1/7", ledger=ledger, dataset="d"
    )
    assert holdfast.Ledger(ledger).balance("d").epsilon_left == Fraction(3, 10)
    assert release.privacy.budget.totals == Fraction(1, 10)
    assert 0 < release.privacy.totals_certified <= Fraction(1, 10)
    assert release.privacy.certified_epsilon <= Fraction(7, 10)


@pytest.mark.parametrize("whole", [None, 20, -3])
def test_fitted_totals_are_the_nearest_that_fit(whole):
    rng, weight = np.random.default_rng(1), Fraction(0) if whole is None else Fraction(4)
    for _ in range(8):
        noisy = rng.integers(-6, 12, 3).tolist()
        found = fitted_totals(noisy, whole, weight)

        def loss(x, noisy=noisy):
            own = sum((a - b) ** 2 for a, b in zip(x, noisy, strict=True))
            wanted = max(sum(noisy), 0) if whole is None else whole
            far = 1e9 if whole is None else 1 / float(weight)
            return own + far * (sum(x) - wanted) ** 2

        best = min(loss(x) for x in itertools.product(range(18), repeat=3))
        assert min(found) >= 0 and loss(found) <= best + 2.5  # rounding moves each by less than 1


def test_totals_of_groups_add_up_and_are_never_negative():
    rng = np.random.default_rng(2)
    for groups in (1, 2, 31):
        true = rng.poisson(3, groups).tolist()
        found = measure_totals(true, budget("1/10"), Simulation(3))
        assert sum(total.value for total in found.groups) == found.whole.value
        assert all(0 <= t.low <= t.value <= t.high for t in (*found.groups, found.whole))
        assert (found.measured_whole is None) is (groups <= 30)


def coverage(groups, level, epsilon="1/4", runs=200):
    rng, source = np.random.default_rng(4), Simulation(5)
    true = rng.integers(100, 5000, groups).tolist()
    inside, whole = 0, 0
    for _ in range(runs):
        table, parts = measure_totals(true, budget(epsilon, 3), source).at(level)
        whole += table.low <= sum(true) <= table.high
        inside += parts[0].low <= true[0] <= parts[0].high
    return inside / runs, whole / runs


@pytest.mark.parametrize("groups", [1, 4, 40])
def test_intervals_of_totals_cover_as_they_say(groups):
    for level in (0.5, 0.9):
        slack = 5 * math.sqrt(level * (1 - level) / 200)
        for found in coverage(groups, level):
            assert level - slack < found < level + slack + 0.02  # whole numbers round outwards


def test_noise_of_a_sum_reaches_as_far_as_simulated():
    rng = np.random.default_rng(6)
    for parts in (((1.0, 1),), ((2.0, 7),), ((3.0, 1), (0.1, 50), (1.0, 1))):
        drawn = sum(rng.laplace(0, s, (40_000, m)).sum(axis=1) for s, m in parts)
        for level in (0.5, 0.9, 0.99):
            found = (np.abs(drawn) <= laplace_reach(parts, level)).mean()
            assert abs(found - level) < 5 * math.sqrt(level * (1 - level) / 40_000) + 1e-4


def test_totals_are_not_capped_and_huge_ones_move_no_further_than_before():
    release = holdfast.privatize([0, 1, 10**6], epsilon=4, max_count=5, totals="1/2", seed=1)
    assert abs(release.totals.whole.value - 1_000_001) < 20
    capped = measure_totals([2 * MOST], budget(), Simulation(1))
    assert abs(capped.measured[0] - MOST) < 1000


def test_the_noise_of_totals_follows_contributions_and_is_certified():
    for k in (1, 5):
        found = [
            measure_totals([0], budget("1/2", k), Simulation(seed)).measured[0]
            for seed in range(400)
        ]
        assert 0.7 < np.mean(np.abs(found)) / (2 * k) < 1.4
        for groups in (1, 31):
            assert 0 < certified_totals(budget("1/2", k), groups) <= Fraction(1, 2)


def test_totals_steer_the_targets_of_groups():
    from holdfast.former.privatizers.joint import JointMeasurement, fit_measured

    measured = JointMeasurement(groups=tuple(np.full(5, 40) for _ in range(3)), whole=None)
    sizes = np.array([30, 30, 30])
    means = [
        fit_measured(
            measured, sizes, Fraction(1, 20), bins=9, ordered=False,
            totals=([total, 60, 60], Fraction(1)),
        )[0] @ np.arange(9)
        for total in (10, 200)
    ]  # fmt: skip
    assert means[1] > means[0] + 1


def test_a_level_outside_of_0_to_1_is_refused():
    totals = Totals(measured=(7,), measured_whole=None, epsilon=Fraction(1), moved=1)
    with pytest.raises(HoldfastError, match="`level`"):
        totals.at(1)


def test_a_total_measured_below_zero_has_an_interval_with_a_width():
    totals = Totals(measured=(-60, 400), measured_whole=None, epsilon=Fraction(1, 10), moved=1)
    low, high = (totals.at("0.9")[1][0].low, totals.at("0.9")[1][0].high)
    assert low == 0 and high == 24  # 10 ln 10, rounded up: as far as the noise goes from 0
