"""Epsilon is exact, its parts add up, and noise is for what one person may change."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HoldfastError
from holdfast.privacy.budget import Budget, exact_epsilon
from holdfast.privacy.promise import Persons, Promise
from holdfast.request.checks import read_share, totals_share


@pytest.mark.parametrize(
    "given_value", ["0.1", 0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1), "1/10", " 1e-1 "]
)
def test_every_way_to_write_a_tenth_is_exactly_a_tenth(given_value):
    assert exact_epsilon(given_value) == Fraction(1, 10)


@pytest.mark.parametrize("value", [1, np.int64(1), "1", Decimal(1)])
def test_whole_numbers_are_kept(value):
    assert exact_epsilon(value) == 1


WRONG = [0, -1, float("nan"), float("inf"), "abc", "", 1e-12, 1000, None, True, [1], "1/0", "inf"]


@pytest.mark.parametrize("value", [*WRONG, "nan", "1e999999999"])
def test_a_bad_epsilon_is_an_error_that_names_it(value):
    with pytest.raises(HoldfastError, match="`epsilon`"):
        exact_epsilon(value)


@given(
    st.fractions(min_value="0.01", max_value=10, max_denominator=10**6),
    st.fractions(min_value="0.01", max_value="0.9"),
    st.integers(1, 50),
    st.integers(1, 9),
)
def test_noise_costs_one_person_the_parts_exactly(epsilon, share, contributions, person_rows):
    budget = Budget(
        epsilon=epsilon,
        counts=epsilon * (1 - share),
        sums=epsilon * share * Fraction(2, 3),
        whole=epsilon * share / 4,
        totals=epsilon * share / 12,
        contributions=contributions,
        person_rows=person_rows,
    )
    counts = budget.noise_of_counts
    assert counts.epsilon * person_rows == budget.counts and counts.shift == contributions
    for noise, part in (
        (budget.noises["sums"], budget.sums),
        (budget.noises["whole"], budget.whole),
        (budget.noises["totals"], budget.totals),
    ):
        assert noise.epsilon * contributions * person_rows == part and noise.shift == 1


def test_single_counts_have_what_totals_and_sums_leave():
    budget = Budget.divided(
        Fraction(2),
        totals=Fraction(1, 10),
        whole=Fraction(1, 3),
        sums=Fraction(1, 6),
        contributions=3,
        person_rows=4,
    )
    parts = (budget.totals, budget.whole, budget.sums, budget.counts)
    assert parts == tuple(Fraction(k, 10) for k in (2, 6, 3, 9))
    assert (budget.epsilon, budget.contributions, budget.person_rows) == (2, 3, 4)


def test_what_nothing_is_spent_on_has_no_noise():
    budget = Budget(epsilon=Fraction(1), counts=Fraction(1), whole=Fraction(0))
    assert set(budget.noises.values()) == {None}


@pytest.mark.parametrize("whole", [Fraction(1, 4), Fraction(1, 4) + Fraction(1, 10**30), -1, 1])
def test_parts_that_do_not_add_up_are_refused(whole):
    parts = {"epsilon": Fraction(1), "counts": Fraction(3, 4), "whole": Fraction(whole)}
    if whole == Fraction(1, 4):
        assert Budget(**parts)
        return
    with pytest.raises(HoldfastError, match="do not add up"):
        Budget(**parts)


def promise(**changes):
    budget = Budget(epsilon=Fraction(1, 2), counts=Fraction(1, 4), whole=Fraction(1, 4))
    persons = Persons(columns=("a", "b"), contributions=(1, 1))
    known = {"epsilon": Fraction(1), "persons": persons, "budgets": (budget, budget)}
    return Promise(**known | {"simulated": False} | changes)


OTHER_PERSONS = Persons(columns=("a", "b"), contributions=(1, 2))


@pytest.mark.parametrize("wrong", [{"epsilon": Fraction(1, 2)}, {"persons": OTHER_PERSONS}])
def test_a_promise_that_its_budgets_do_not_keep_is_refused(wrong):
    with pytest.raises(HoldfastError, match="budget"):
        promise(**wrong)


@pytest.mark.parametrize("split", [0, 1, -0.5, "2", "half", float("nan")])
def test_a_bad_split_is_an_error(split):
    with pytest.raises(HoldfastError, match="`split`"):
        read_share(split, "split")


@pytest.mark.parametrize("totals", [0, 1, -0.5, "2", "half", float("nan")])
def test_a_bad_share_of_totals_is_an_error(totals):
    with pytest.raises(HoldfastError, match="`totals`"):
        totals_share(totals)
