"""What an epsilon means, in odds, and what is large of it."""

import math
from fractions import Fraction

import pytest

from holdfast.errors import HoldfastError
from holdfast.plan.explain import deployments, explain
from holdfast.privacy.budget import LARGEST_EPSILON, exact_epsilon


def test_odds_are_those_of_bayes_with_the_largest_likelihood_ratio():
    found = explain("1")
    for before in (0.001, 0.2, 0.5):
        odds = before / (1 - before) * math.e
        assert found.suspicion(before) == pytest.approx(odds / (1 + odds))
    assert found.guess == pytest.approx(math.e / (1 + math.e))


def test_what_explain_calls_refused_is_what_privatize_refuses():
    assert "refuses" in explain(LARGEST_EPSILON + 1).size
    assert "refuses" not in explain(LARGEST_EPSILON).size
    exact_epsilon(LARGEST_EPSILON)
    with pytest.raises(HoldfastError):
        exact_epsilon(LARGEST_EPSILON + 1)


def test_what_is_usual_is_not_called_large():
    assert explain(5).size == "" and explain("0.1").size == ""
    assert "large" in explain("5.1").size


def test_words_have_no_more_than_a_hundred_in_a_hundred():
    assert "nearly always right" in explain(8).sentence
    assert "73.2 times in 100" in explain(1).sentence


def test_what_is_at_the_most_is_never_rounded_down():
    for epsilon, factor in (("0.0049", "1.0050"), ("0.0001", "1.00011"), (10, "22,100")):
        found = explain(epsilon)
        assert f"at most {factor} times" in str(found)
        assert float(factor.replace(",", "")) > found.factor
    assert "right at most 50.2 times" in explain("0.0049").sentence
    assert str(explain("0.0049")).count("50.2%") == 1


def test_no_line_of_the_deployments_is_wider_than_a_screen():
    uses = str(explain(1)).rpartition("\n\n")[2].splitlines()
    assert max(map(len, uses)) <= 78 and any("U.S. Census Bureau" in line for line in uses)


def test_deployments_rise_and_have_sources():
    found = deployments()
    assert [each["epsilon"] for each in found] == sorted(each["epsilon"] for each in found)
    assert all(" at " in each["source"] for each in found)


def test_an_epsilon_is_exact_and_positive():
    assert explain("1/3").epsilon == Fraction(1, 3)
    for wrong in (0, -1, 101, "much"):
        with pytest.raises(HoldfastError, match="`epsilon` must"):
            explain(wrong)
