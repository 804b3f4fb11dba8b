"""Composition: below the sum, and never below what exact arithmetic says."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.privacy.budget import Budget
from holdfast.privacy.composition import composed_epsilon
from holdfast.privacy.noise import Noise
from holdfast.privacy.promise import Charge, Promise, charges_of, sums_of
from holdfast.privacy.rational import exp_below
from holdfast.request.checks import read_persons

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


def response(charge):
    """Randomised response in fractions, a little less private than it should be."""
    high = (1 - charge.delta) / (1 + 1 / exp_below(charge.epsilon))
    low = 1 - charge.delta - high
    return [charge.delta, high, low, 0], [0, low, high, charge.delta]


MANY = [[Charge(epsilon=Fraction(1, 2), times=times)] for times in (1, 2, 3, 5)] + [
    [Charge(epsilon=Fraction(1, 2), times=2), Charge(epsilon=Fraction(1, 3), times=3)],
    [Charge(epsilon=Fraction(k, 7)) for k in range(1, 7)],
    [Charge(epsilon=Fraction(1, 2), delta=Fraction(1, 10**5), times=3)],
    [Charge(epsilon=Fraction(3)), Charge(epsilon=Fraction(1, 100), times=4)],
]


@pytest.mark.parametrize("charges", MANY, ids=str)
def test_what_is_stated_is_never_below_the_exact_computation_and_close_to_it(charges):
    pairs = [response(charge) for charge in charges for _ in range(charge.times)]
    total, _ = sums_of(charges)
    for delta in (DELTA, Fraction(1, 50)):
        stated = composed_epsilon(charges, delta=delta)
        assert exact_delta(pairs, stated) <= delta * (1 + Fraction(1, 10**9))
        closer = stated - total / 10_000
        assert stated <= total and (closer <= 0 or exact_delta(pairs, closer) > delta)


@pytest.mark.parametrize("times, expected", [(20, 1.789), (100, 4.775), (500, 12.518)])
def test_figures_are_those_of_privacy_loss_distributions(times, expected):
    """As dp_accounting has them, which connects the dots likewise."""
    charges = [Charge(epsilon=Fraction(1, 10), times=times)]
    assert float(composed_epsilon(charges, delta="1e-6")) == pytest.approx(expected, abs=1e-3)


def test_a_second_accountant_agrees():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    charges = [Charge(epsilon=Fraction(1, 10), times=30), Charge(epsilon=Fraction(1, 4), times=9)]
    whole = None
    for charge in charges:
        weight = math.exp(charge.epsilon) / (1 + math.exp(charge.epsilon))
        loss = pld.from_two_probability_mass_functions(
            {0: math.log(weight), 1: math.log(1 - weight)},
            {0: math.log(1 - weight), 1: math.log(weight)},
            value_discretization_interval=1e-4,
        ).self_compose(charge.times)
        whole = loss if whole is None else whole.compose(loss)
    theirs = whole.get_epsilon_for_delta(1e-6)
    assert float(composed_epsilon(charges, delta="1e-6")) == pytest.approx(theirs, rel=1e-3)


def test_discrete_laplace_noise_is_a_coin_exactly():
    noise, places = Noise(epsilon=Fraction(1, 2)), np.arange(-60, 60)
    losses = np.log(noise.probability(places)) - np.log(noise.probability(places - 1))
    assert np.allclose(np.abs(losses), 0.5, atol=1e-9)
    gains = float(noise.probability(places)[losses > 0].sum())
    assert gains == pytest.approx(math.exp(0.5) / (1 + math.exp(0.5)), abs=1e-9)


def test_without_delta_it_is_the_exact_sum():
    assert composed_epsilon([Charge(epsilon=Fraction(1, 3), times=3)], delta=0) == 1
    assert composed_epsilon([], delta="1e-6") == composed_epsilon([], delta=0) == 0


@pytest.mark.parametrize("delta", [-1, 1, "1e-12", "x"])
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(HoldfastError, match="`delta`"):
        composed_epsilon([Charge(epsilon=Fraction(1))], delta=delta)


def test_one_charge_is_never_above_its_epsilon():
    for epsilon in ("0.001", "0.1", "3"):
        composed = composed_epsilon([Charge(epsilon=Fraction(epsilon))], delta="1e-9")
        assert composed <= Fraction(epsilon)


def test_what_is_too_large_for_floats_costs_the_sum():
    assert composed_epsilon([Charge(epsilon=Fraction(1000))] * 2, delta="1e-6") == 2000
    endless = Charge(epsilon=Fraction(1, 10**6), times=10**9)
    assert composed_epsilon([endless], delta="1e-6") == 1000


def test_a_charge_of_delta_alone_is_not_dropped():
    alone = Charge(epsilon=Fraction(0), delta=DELTA)
    assert composed_epsilon([alone], delta="1e-3") == 0
    for charges in ([alone], [alone, Charge(epsilon=Fraction(1, 10), times=3)]):
        with pytest.raises(HoldfastError, match="`delta` must be above"):
            composed_epsilon(charges, delta="1e-6")


def test_charges_with_a_delta_need_room_for_it():
    charges = [Charge(epsilon=Fraction(1, 2), delta=Fraction(1, 10**5), times=3)]
    for delta in (0, "1e-5"):
        with pytest.raises(HoldfastError, match="`delta` must be above"):
            composed_epsilon(charges, delta=delta)


def promise(columns=1, *, rows=1, contributions=1, **persons):
    epsilon, names = Fraction(1), [f"c{k}" for k in range(columns)]
    said = read_persons(names, rows=rows, contributions=contributions, **persons)
    budgets = tuple(
        Budget(
            epsilon=part,
            counts=part * Fraction(7, 10),
            whole=part * Fraction(1, 5),
            totals=part * Fraction(1, 10),
            contributions=contributions,
            person_rows=rows,
        )
        for part in said.parts(epsilon)
    )
    return Promise(epsilon=epsilon, persons=said, budgets=budgets, simulated=False)


def test_every_measurement_of_a_release_is_a_charge_and_they_come_to_its_epsilon():
    (counts, sums, totals) = charges_of(promise())
    assert (counts.epsilon, sums.epsilon, totals.epsilon) == tuple(
        Fraction(k, 10) for k in (7, 2, 1)
    )
    for made in (promise(3), promise(2, rows=4, contributions=5), promise(rows=3)):
        assert sums_of(charges_of(made)) == (1, 0)


def test_noisy_counts_of_several_rows_are_noises_of_their_own_and_sums_are_not():
    counts, sums, _ = charges_of(promise(rows=4))
    assert (counts.epsilon, counts.times, sums.times) == (Fraction(7, 40), 4, 1)


def test_a_person_in_one_of_several_columns_is_charged_once():
    (charge,) = charges_of(promise(3, person_in="one column", rows=2))
    assert charge == Charge(epsilon=Fraction(1))
    assert len(charges_of(promise(1, person_in="one column"))) == 3
