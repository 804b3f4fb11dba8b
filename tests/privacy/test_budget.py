from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HoldfastError
from holdfast.privacy.budget import exact_epsilon, paper_rule, share_rule, split_budget


@pytest.mark.parametrize(
    "given_value", ["0.1", 0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1), "1/10", " 1e-1 "]
)
def test_every_way_to_write_a_tenth_is_exactly_a_tenth(given_value):
    assert exact_epsilon(given_value) == Fraction(1, 10)


@pytest.mark.parametrize("value", [1, np.int64(1), "1", True and 1])
def test_whole_numbers_are_kept(value):
    assert exact_epsilon(value) == 1


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        float("nan"),
        float("inf"),
        "abc",
        "",
        1e-12,
        1000,
        None,
        True,
        [1],
        "1/0",
        "nan",
        "inf",
    ],
)
def test_a_bad_epsilon_is_an_error_that_names_it(value):
    with pytest.raises(HoldfastError, match="`epsilon`"):
        exact_epsilon(value)


@given(
    st.fractions(min_value="0.01", max_value=10, max_denominator=10**6),
    st.one_of(st.none(), st.fractions(min_value="0.01", max_value="0.99")),
    st.integers(1, 50),
)
def test_the_stages_add_up_exactly(epsilon, split, contributions):
    budget = split_budget(
        epsilon, max_count=60, rows=1000, split=split, contributions=contributions
    )
    assert budget.stage_1 + budget.stage_2 == epsilon
    assert contributions * (budget.unit_1 + budget.unit_2) == epsilon


def test_the_papers_rule_of_thumb():
    for epsilon, share in [("0.1", 0.506), ("0.48", 0.240), ("1", 0.136), ("5", 0.106)]:
        assert float(paper_rule(Fraction(epsilon))) == share
    budget = split_budget(1, max_count=9, rows=1000, split="paper")
    assert budget.stage_1 == paper_rule(Fraction(1))


def test_our_rule_depends_on_epsilon_rows_and_bins_per_unit_of_count():
    def share(epsilon, **options):
        budget = split_budget(epsilon, **({"max_count": 50, "rows": 3000} | options))
        return budget.stage_1 / budget.epsilon

    assert share(1) == share_rule(Fraction(1), rows=3000, bins=51)
    assert share(5) < share(1) < share("0.1")
    assert share(1, rows=30) != share(1) != share(1, max_count=500)
    assert share(2, contributions=2) == share(1)
    assert share("0.00001") <= Fraction(8, 10) and share(10, rows=10**9) >= Fraction(2, 1000)


@pytest.mark.parametrize("split", [0, 1, -0.5, "2", "half", float("nan")])
def test_a_bad_split_is_an_error(split):
    with pytest.raises(HoldfastError, match="`split`"):
        split_budget(1, max_count=9, rows=1000, split=split)


@pytest.mark.parametrize("contributions", [0, -1, 1.5, "2", True, 10**7])
def test_bad_contributions_are_an_error(contributions):
    with pytest.raises(HoldfastError, match="`contributions`"):
        split_budget(1, max_count=9, rows=1000, contributions=contributions)


def test_a_budget_too_small_for_its_contributions_is_an_error():
    with pytest.raises(HoldfastError, match="one stage"):
        split_budget("0.01", max_count=10_000, rows=1000, contributions=100_000)


def test_nobody_can_move_a_top_coded_count_by_more_than_max_count():
    budget = split_budget(1, max_count=5, rows=1000, contributions=1000)
    assert budget.steps == 5
    assert budget.unit_2 == budget.stage_2 / 5


def test_few_rows_get_a_larger_share_for_the_distribution():
    assert share_rule(Fraction(1), rows=400, bins=101) == Fraction(1, 10)
    assert share_rule(Fraction(1, 10), rows=50, bins=101) == Fraction(3, 10)
    assert share_rule(Fraction(1), rows=100_000, bins=101) < Fraction(5, 100)
