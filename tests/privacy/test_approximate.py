"""The certificate of (ε, δ): exact, both ways, and no weaker for mechanisms without a delta."""

import itertools
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from families import hump
from holdfast.errors import CertificateError, HoldfastError
from holdfast.paper.constructors.baselines import DiscreteGaussian
from holdfast.paper.mechanism.certificate import certify, hockey_stick
from holdfast.paper.mechanism.mechanism import Mechanism
from holdfast.privacy.budget import exact_delta
from holdfast.privacy.rational import exp_below

TOTAL = 2**62
HALF = Fraction(1, 2)


def brute_force(rows: list[list[int]], epsilon: Fraction) -> Fraction:
    bound = exp_below(epsilon)
    pairs = [(a, b) for a, b in itertools.pairwise(rows)]
    both = pairs + [(b, a) for a, b in pairs]
    return max(
        (sum((max(x - bound * y, Fraction(0)) for x, y in zip(*pair, strict=True)), Fraction(0)))
        for pair in both
    ) / sum(rows[0])


def filled(row: list[int]) -> list[int]:
    return [*row, TOTAL - sum(row)]


entries = st.one_of(st.integers(0, 9), st.integers(2**58, 2**59))


def least_delta(weights, epsilon):
    return hockey_stick(pairwise(weights), epsilon, total=TOTAL)[0]


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(
            st.lists(entries, min_size=n - 1, max_size=n - 1), min_size=n, max_size=n
        )
    ),
    st.sampled_from([Fraction(1, 1000), HALF, Fraction(3)]),
)
def test_the_hockey_stick_is_exact(rows, epsilon):
    rows = [filled(row) for row in rows]
    assert least_delta(np.array(rows), epsilon) == brute_force(rows, epsilon)


def test_terms_that_floats_cannot_tell_from_zero_are_still_counted_exactly():
    low = 2**60
    high = int(low * exp_below(HALF))
    for weight, expected in ((high, 0), (high + 1, high + 1 - low * exp_below(HALF))):
        weights = np.array([[weight, TOTAL - weight], [low, TOTAL - low]])
        assert least_delta(weights, HALF) == max(Fraction(expected), Fraction(0)) / TOTAL


def test_one_unit_below_the_proved_delta_is_refused():
    gaussian = DiscreteGaussian(delta="0.001")(hump(30), epsilon="0.5").mechanism
    proved = gaussian.certificate.delta
    assert certify(gaussian.weights, HALF, proved).delta == proved
    with pytest.raises(CertificateError, match="probability above delta"):
        certify(gaussian.weights, HALF, proved - Fraction(1, 10**40))


@pytest.mark.parametrize("flip", [False, True])
def test_both_directions_are_checked(flip):
    rows = [[TOTAL // 2, TOTAL // 2, 0], [TOTAL // 2, TOTAL // 4, TOTAL // 4]]
    weights = np.array([rows[0], rows[1], rows[1]][:: -1 if flip else 1])
    assert least_delta(weights, HALF) == Fraction(1, 4)


def test_without_a_delta_a_mechanism_that_needs_one_is_refused():
    gaussian = DiscreteGaussian(delta="0.001")(hump(30), epsilon="0.5").mechanism
    with pytest.raises(CertificateError):
        Mechanism(weights=gaussian.weights, epsilon="0.5")
    assert Mechanism(weights=gaussian.weights, epsilon="0.5", delta="0.001").certificate


def test_rows_and_signs_are_checked_with_a_delta_too():
    for weights in (
        np.array([[TOTAL + 1, -1], [TOTAL, 0]]),
        np.array([[TOTAL, 1], [TOTAL, 0]]),
        np.array([[2**62] * 5] * 5),
    ):
        with pytest.raises(CertificateError):
            Mechanism(weights=weights, epsilon=1, delta="0.5")


@pytest.mark.parametrize("delta", [-1, 1, "1e-13", float("nan"), "x", None, True])
def test_a_bad_delta_is_an_error(delta):
    with pytest.raises(HoldfastError, match="`delta`"):
        exact_delta(delta)


@pytest.mark.parametrize("least", [0, Fraction(1, 10**100), Fraction(1, 100)])
def test_the_smallest_delta_is_what_the_caller_can_tell_from_none(least):
    assert exact_delta("0.01", least=least) == Fraction(1, 100)
    assert exact_delta(0, least=least) == 0
    for beyond in (-1, 1, least / 2 if least else "-1e-20"):
        with pytest.raises(HoldfastError, match="`delta` must be 0"):
            exact_delta(beyond, least=least)
