from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.paper.mechanism.certificate import log_above
from holdfast.privacy.rational import exp_below


def exact_exp(x: Fraction) -> Fraction:
    with localcontext(prec=120):
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


@given(st.fractions(min_value=0, max_value=20, max_denominator=10**9))
def test_exp_below_is_below_and_close(x):
    truth = exact_exp(x)
    slack = truth / 10**100
    assert exp_below(x) <= truth + slack
    assert truth - exp_below(x) <= truth / 2**200


@given(st.fractions(min_value=1, max_value=10**6, max_denominator=10**12))
def test_log_above_is_above_and_close(ratio):
    bound = log_above(ratio)
    assert exact_exp(bound) >= ratio
    lower = bound * (1 - Fraction(1, 2**48)) - Fraction(1, 10**15)
    assert lower < 0 or exact_exp(lower) < ratio or ratio == 1


def test_the_bounds_refuse_what_they_do_not_cover():
    with pytest.raises(ValueError):
        exp_below(Fraction(-1))
    with pytest.raises(ValueError):
        log_above(Fraction(1, 2))
