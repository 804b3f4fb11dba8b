"""Composition: below the sum, and never below what exact arithmetic says."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic, Optimal
from holdfast.former.ledger.composition import charges_of, composed_epsilon, hockey_stick
from holdfast.former.ledger.entries import Charge
from holdfast.former.mechanism.mechanism import TOTAL, Mechanism
from holdfast.former.privatizers import CumulativeIsotonic
from holdfast.former.privatizers.max_count import budget_for
from holdfast.former.privacy.budget import split_budget
from holdfast.former.privacy.rational import exp_below, log_above

DELTA = Fraction(1, 1000)


def exact_delta(pairs, epsilon):
    """The hockey-stick divergence of a product of pairs, in fractions, rounded up by 2^-200."""
    growth = exp_below(epsilon)
    total = Fraction(0)
    for outcome in itertools.product(*(range(len(p)) for p, _ in pairs)):
        p = math.prod((pair[0][j] for pair, j in zip(pairs, outcome, strict=True)), start=1)
        q = math.prod((pair[1][j] for pair, j in zip(pairs, outcome, strict=True)), start=1)
        total += max(0, p - growth * q)
    return total


def fractions(row):
    return [Fraction(int(weight), TOTAL) for weight in row]


def three_by_three(epsilon="0.5"):
    return Optimal()([0.6, 0.3, 0.1], epsilon=epsilon).mechanism


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_matrix_is_never_priced_below_the_exact_computation(number):
    mechanism = three_by_three()
    bound = composed_epsilon([mechanism] * number, delta=DELTA)
    rows = [fractions(row) for row in mechanism.weights]
    steps = [(rows[i], rows[i + 1]) for i in range(2)]
    exact = [
        exact_delta(pairs, bound)
        for chosen in itertools.combinations_with_replacement(steps, number)
        for pairs in (chosen, [(q, p) for p, q in chosen])
    ]
    assert max(exact) <= DELTA
    worst = max(
        exact_delta(pairs, bound * Fraction(999, 1000))
        for chosen in itertools.combinations_with_replacement(steps, number)
        for pairs in (chosen, [(q, p) for p, q in chosen])
    )
    assert worst > DELTA * Fraction(9, 10)  # and it is not far above


def test_both_directions_of_an_asymmetric_matrix_are_priced():
    weights = np.array([[9, 7], [4, 12]], dtype=np.int64) * (TOTAL // 16)
    mechanism = Mechanism(weights=weights, epsilon=1)
    p, q = map(fractions, weights)
    for delta in (Fraction(1, 100), Fraction(1, 10)):
        bound = composed_epsilon([mechanism] * 3, delta=delta)
        sides = [exact_delta([pair] * 3, bound) for pair in ((p, q), (q, p))]
        assert max(sides) <= delta and sides[0] != sides[1]


def test_steps_price_the_farthest_rows():
    mechanism = three_by_three()
    rows = [fractions(row) for row in mechanism.weights]
    bound = composed_epsilon([mechanism] * 2, delta=DELTA, steps=2)
    assert exact_delta([(rows[0], rows[2])] * 2, bound) <= DELTA
    assert bound > composed_epsilon([mechanism] * 2, delta=DELTA)


def adaptive(likely, unlikely, alpha):
    """The exact law of a release whose second stage depends on what the first one drew."""
    p, q = [], []
    for first_p, first_q, second in (
        (1 / (1 + alpha), alpha / (1 + alpha), likely),
        (alpha / (1 + alpha), 1 / (1 + alpha), unlikely),
    ):
        p += [first_p * x for x in second[0]]
        q += [first_q * x for x in second[1]]
    return p, q


def test_parts_hold_for_matrices_chosen_by_the_first_stage_and_one_drawn_matrix_does_not():
    alpha = Fraction(9, 10)
    epsilon = log_above(1 / alpha)
    sharp = ([1 / (1 + alpha), alpha / (1 + alpha)], [alpha / (1 + alpha), 1 / (1 + alpha)])
    flat = ([Fraction(1, 2)] * 2, [Fraction(1, 2)] * 2)
    pairs = [adaptive(sharp, flat, alpha)] * 3
    stage = Charge(epsilon=epsilon)
    promised = composed_epsilon([stage] * 6, delta=DELTA)
    assert exact_delta(pairs, promised) <= DELTA
    drawn = Mechanism(weights=np.full((2, 2), TOTAL // 2), epsilon=1)  # flat, as it may come out
    seen = composed_epsilon([stage, drawn] * 3, delta=DELTA)
    assert exact_delta(pairs, seen) > DELTA


def test_twenty_releases_at_a_tenth_cost_less_than_two():
    budget = split_budget("0.1", max_count=50, rows=3000, split="paper")
    parts = [*charges_of(budget, CumulativeIsotonic(), Heuristic())] * 20
    bound = composed_epsilon(parts, delta="1e-6")
    assert sum(part.epsilon for part in parts) == 2
    assert 1.2 < bound < 1.4
    # independently: each stage is a coin of known bias, so both sums are binomial
    e1, e2 = float(budget.stage_1), float(budget.stage_2)

    def law(a, b):
        p1, p2 = 1 / (1 + math.exp(-e1)), 1 / (1 + math.exp(-e2))
        ways = math.comb(20, a) * math.comb(20, b)
        return ways * p1**a * (1 - p1) ** (20 - a) * p2**b * (1 - p2) ** (20 - b)

    exact = math.fsum(
        max(0.0, law(a, b) - math.exp(float(bound)) * law(20 - a, 20 - b))
        for a in range(21)
        for b in range(21)
    )
    assert 0.99e-6 < exact <= 1e-6


def test_matrices_of_twenty_releases_cost_less_than_the_sum():
    z = np.arange(1, 32.0) ** -1.6
    mechanism = Heuristic()(z / z.sum(), epsilon="0.1").mechanism
    bound = composed_epsilon([mechanism] * 20, delta="1e-6")
    assert 1.5 < bound < 1.8
    assert bound <= composed_epsilon([Charge(epsilon=Fraction(1, 10), times=20)], delta="1e-6")


def test_contributions_are_steps_with_noise_of_their_own():
    budget = split_budget(1, max_count=50, rows=3000, split="paper", contributions=5)
    stage_1, stage_2 = charges_of(budget, CumulativeIsotonic(), Heuristic())
    assert stage_1 == Charge(epsilon=budget.stage_1 / 5, times=5)
    assert stage_2 == Charge(epsilon=budget.stage_2)

    class Mine(CumulativeIsotonic):
        """Somebody's own privatizer, of which nothing is known but its epsilon."""

    assert charges_of(budget, Mine(), Heuristic())[0] == Charge(epsilon=budget.stage_1)


def test_a_matrix_with_a_delta_is_priced_by_its_own_curve():
    gaussian = holdfast.baselines.DiscreteGaussian(delta="1e-4")
    mechanism = gaussian([0.6, 0.3, 0.1], epsilon="0.5").mechanism
    rows = [fractions(row) for row in mechanism.weights]
    bound = composed_epsilon([mechanism] * 3, delta=DELTA)
    for i, j in ((0, 1), (1, 0), (1, 2), (2, 1)):
        assert exact_delta([(rows[i], rows[j])] * 3, bound) <= DELTA
    parts = [Charge(epsilon=mechanism.epsilon, delta=mechanism.delta, times=3)]
    assert bound <= composed_epsilon(parts, delta=DELTA) < Fraction(3, 2)


def test_parts_with_a_delta_need_room_for_it():
    gap = Fraction(1, 10**5)
    parts = [Charge(epsilon=Fraction(1, 2), delta=gap, times=3)]
    bound = composed_epsilon(parts, delta=DELTA)
    high = (1 - gap) / (1 + 1 / exp_below(Fraction(1, 2)))
    low = 1 - gap - high
    pair = ([gap, high, low, 0], [0, low, high, gap])
    assert exact_delta([pair] * 3, bound) <= DELTA
    assert bound < Fraction(3, 2)
    for delta in (0, "1e-5"):
        with pytest.raises(HoldfastError, match="`delta` must be above"):
            composed_epsilon(parts, delta=delta)


def test_without_delta_it_is_the_exact_sum():
    assert composed_epsilon([Charge(epsilon=Fraction(1, 3), times=3)], delta=0) == 1
    assert composed_epsilon([], delta="1e-6") == 0


@pytest.mark.parametrize("delta", [-1, 1, "1e-12", "x"])
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(HoldfastError, match="`delta`"):
        composed_epsilon([Charge(epsilon=Fraction(1))], delta=delta)


def test_one_part_is_never_above_its_epsilon():
    for epsilon in ("0.001", "0.1", "3"):
        assert composed_epsilon([Charge(epsilon=Fraction(epsilon))], delta="1e-9") <= Fraction(
            epsilon
        )


def test_a_part_too_large_for_a_curve_costs_the_sum():
    assert composed_epsilon([Charge(epsilon=Fraction(1000))] * 2, delta="1e-6") == 2000


def test_a_matrix_that_tells_nothing_costs_nothing():
    flat = Mechanism(weights=np.full((2, 2), TOTAL // 2), epsilon=1)
    alone = Mechanism(weights=np.array([[TOTAL]]), epsilon=1)
    assert composed_epsilon([flat, alone] * 9, delta="1e-6") == 0
    part = Charge(epsilon=Fraction(1, 10), times=9)
    both = composed_epsilon([part, flat, alone], delta="1e-3")
    assert both == composed_epsilon([part], delta="1e-3")


def test_the_hockey_stick_is_that_of_the_definition():
    p, q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.3, 0.4, 0.2])
    grid = np.linspace(-2, 2, 9)
    direct = [np.maximum(0, p - math.exp(e) * q).sum() for e in grid]
    assert hockey_stick(p, q, grid) == pytest.approx(direct, abs=1e-15)


def test_the_releases_of_a_ledger_compose(tmp_path):
    ledger = holdfast.Ledger(tmp_path / "b.ledger")
    ledger.set_limit("d", epsilon=1)
    for number in range(4):
        counts = [0, 1, 2, number]
        holdfast.privatize(
            counts, epsilon="0.25", max_count=3, ledger=ledger, dataset="d", constructor=Heuristic()
        )
    parts = [part for spend in ledger.spends("d") for part in spend.charges]
    assert sum(part.epsilon * part.times for part in parts) == 1
    assert composed_epsilon(parts, delta="0.01") < Fraction(9, 10)


def test_a_private_max_count_is_not_priced_by_a_split_that_may_change():
    quantile, stage_1 = holdfast.PrivateQuantile("0.9"), holdfast.privatizers.CumulativeSmooth()
    planned = budget_for(quantile, 100_000, epsilon="0.01")
    recorded = charges_of(planned, stage_1, Heuristic())
    for top in (1, 12, 100, 5000):
        drawn = split_budget("0.01", max_count=top, rows=100_000, quantile=planned.quantile)
        true = [Charge(epsilon=part) for part in (drawn.quantile, drawn.stage_1, drawn.stage_2)]
        many = [[replace(part, times=200) for part in parts] for parts in (recorded, true)]
        stated, needed = (composed_epsilon(parts, delta="1e-6") for parts in many)
        assert stated >= needed


def test_a_part_of_delta_alone_is_not_dropped():
    alone = Charge(epsilon=Fraction(0), delta=DELTA)
    assert composed_epsilon([alone], delta="1e-3") == 0
    for parts in ([alone], [alone, Charge(epsilon=Fraction(1, 10), times=3)]):
        with pytest.raises(HoldfastError, match="`delta` must be above"):
            composed_epsilon(parts, delta="1e-6")
