"""The certificate against brute force, and a shelf of broken mechanisms."""

import gc
import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from families import hump, powerlaw
from holdfast.errors import CertificateError, HoldfastError
from holdfast.paper.constructors import Heuristic
from holdfast.paper.distributions import count_error
from holdfast.paper.mechanism import Mechanism
from holdfast.paper.mechanism.certificate import certify, worst_ratio
from holdfast.paper.mechanism.mechanism import certified_mechanism
from holdfast.privacy.rational import exp_below

TOTAL = 2**62
HALF = Fraction(1, 2)


@pytest.fixture
def good() -> Mechanism:
    return Heuristic()(hump(9), epsilon="0.5").mechanism


def with_weight(mechanism: Mechanism, i: int, j: int, change: int) -> np.ndarray:
    """The weights with `change` moved from the row's largest entry to (i, j)."""
    weights = mechanism.weights.copy()
    largest = int(np.argmax(weights[i]))
    largest = (largest + 1) % len(weights) if largest == j else largest
    weights[i, j] += change
    weights[i, largest] -= change
    return weights


entries = st.one_of(st.integers(1, 9), st.integers(2**61, 2**62), st.just(0))


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_the_worst_ratio_is_exact(rows):
    weights = np.array(rows, dtype=np.int64)
    top, bottom, row, column = worst_ratio(weights)
    ratios = [
        Fraction(max(a, b), min(a, b)) if min(a, b) else (math.inf if max(a, b) else Fraction(1))
        for upper, lower in itertools.pairwise(rows)
        for a, b in zip(upper, lower, strict=True)
    ]
    worst = max(ratios)
    if bottom == 0:
        assert worst == math.inf
        assert {weights[row, column], weights[row + 1, column]} == {0, int(top)}
    else:
        assert Fraction(int(top), int(bottom)) == worst


def test_one_unit_above_the_bound_is_caught_and_one_below_passes():
    limit = exp_below(HALF)
    low = 2**60
    high = int(low * limit)
    for weight, passes in ((high, True), (high + 1, False)):
        weights = np.array([[weight, TOTAL - weight], [low, TOTAL - low]])
        if passes:
            assert 0 < certify(weights, HALF, Fraction(0)).epsilon <= HALF
        else:
            with pytest.raises(CertificateError, match="apart by more than"):
                certify(weights, HALF, Fraction(0))


def test_certified_epsilon_is_rounded_up(good):
    top, bottom, _, _ = worst_ratio(good.weights)
    assert exp_below(good.certificate.epsilon) >= Fraction(int(top), int(bottom))
    assert good.certificate.epsilon <= good.epsilon


@pytest.mark.parametrize("i, j", [(0, 0), (4, 8), (8, 3)])
def test_a_corrupt_weight_is_refused(good, i, j):
    weights = with_weight(good, i, j, int(good.weights[i, j]) // 2 + 1)
    with pytest.raises(CertificateError):
        Mechanism(weights=weights, epsilon="0.5", target=good.target)


@pytest.mark.parametrize("change", [1, -1, 2**61, -(2**61)])
def test_a_corrupt_row_total_is_refused(good, change):
    weights = good.weights.copy()
    weights[3, int(np.argmax(weights[3]))] += change
    with pytest.raises(CertificateError, match=r"row 3|negative"):
        Mechanism(weights=weights, epsilon="0.5")


def test_a_row_that_wraps_around_64_bits_is_refused():
    row = [2**62, 2**62, 2**62, 2**62, 2**62]  # adds up to 2^62 modulo 2^64
    with pytest.raises(CertificateError, match="add up"):
        Mechanism(weights=np.array([row] * 5), epsilon="0.5")


def test_a_smaller_epsilon_is_refused(good):
    with pytest.raises(CertificateError, match="apart"):
        Mechanism(weights=good.weights, epsilon="0.499")


def test_the_wrong_fixed_point_is_refused(good):
    with pytest.raises(CertificateError, match="keep the target"):
        Mechanism(weights=good.weights, epsilon="0.5", target=hump(9)[::-1])


BROKEN = {
    "identity": np.diag([TOTAL] * 4),
    "zero beside positive": np.array([[TOTAL, 0], [TOTAL - 1, 1]]),
    "negative": np.array([[TOTAL + 1, -1], [TOTAL, 0]]),
    "not square": np.full((2, 4), TOTAL // 4),
    "floats": np.full((2, 2), 0.5),
    "narrow integers": np.full((2, 2), 2**30, dtype=np.int32),
    "empty": np.zeros((0, 0), dtype=np.int64),
    "one dimension": np.array([TOTAL]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_shelf_of_broken_mechanisms_is_refused(name):
    with pytest.raises(CertificateError):
        Mechanism(weights=BROKEN[name], epsilon="0.5")


def test_weights_cannot_be_written_and_the_input_is_not_shared():
    weights = np.full((2, 2), TOTAL // 2)
    mechanism = Mechanism(weights=weights, epsilon=1)
    weights[0, 0] = 0
    assert mechanism.weights[0, 0] == TOTAL // 2
    with pytest.raises(ValueError):
        mechanism.weights[0, 0] = 1
    with pytest.raises(ValueError):
        mechanism.matrix[0, 0] = 1


def test_sampling_refuses_an_uncertified_weight(good):
    vars(good)["weights"] = with_weight(good, 0, 0, 2**59)
    with pytest.raises(CertificateError):
        good.sample([1, 2])


@pytest.mark.parametrize("counts", [[-1], [9], [[1]], [0.5], ["a"], [True]])
def test_counts_outside_the_mechanism_are_an_error(good, counts):
    with pytest.raises(HoldfastError, match="`counts`"):
        good.sample(counts)


def test_no_counts_give_no_draws(good):
    assert good.sample([]).tolist() == []


def test_a_matrix_far_from_private_is_not_rounded_into_one():
    with pytest.raises(CertificateError, match="no rounding"):
        certified_mechanism(np.eye(3), epsilon=HALF, target=None)


@pytest.mark.parametrize("n", [231, 1001])
def test_certification_costs_little_where_the_error_is_far_below_the_mean_distance(n):
    found = Heuristic(selector="sandwich", error="squared")(np.full(n, 1 / n), epsilon=10)
    sampled = count_error(found.mechanism.matrix, found.target, "squared")
    assert sampled <= found.count_error * (1 + 1e-4)


def test_floors_grow_until_a_matrix_with_larger_errors_than_its_rows_show_is_certified():
    matrix = Heuristic()(hump(9), epsilon="0.5").matrix.copy()
    matrix[4] += 1e-12 * np.array([1, -1, 1, -1, 0, 1, -1, 1, -1])
    assert certified_mechanism(matrix, epsilon=HALF, target=None).certificate.epsilon <= HALF


def test_n_of_one_is_certified_at_zero():
    mechanism = Heuristic()([1.0], epsilon=1).mechanism
    assert mechanism.certificate.epsilon == 0
    assert mechanism.sample([0, 0]).tolist() == [0, 0]


def test_a_rounding_that_needed_several_floors_leaves_nothing_in_memory():
    gc.collect()
    gc.disable()
    try:
        matrix = Heuristic(selector="max")(powerlaw(300), epsilon=1).matrix
        before = sys.getrefcount(matrix)
        certified_mechanism(matrix, epsilon=Fraction(1), target=powerlaw(300))
        assert sys.getrefcount(matrix) == before
    finally:
        gc.enable()
