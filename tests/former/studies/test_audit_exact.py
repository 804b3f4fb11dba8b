"""The exact audit of matrices."""

import math
from fractions import Fraction

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic, Optimal
from holdfast.former.constructors.baselines import DiscreteGaussian, TruncatedGeometric
from holdfast.former.mechanism.mechanism import TOTAL
from holdfast.former.studies.audit import audit_matrix
from holdfast.former.privacy.rational import exp_below

TARGET = [0.4, 0.25, 0.2, 0.1, 0.05]


@pytest.mark.parametrize("constructor", [Optimal(), Heuristic(), TruncatedGeometric()])
def test_our_mechanisms_lose_what_they_certify(constructor):
    mechanism = constructor(TARGET, epsilon="0.7").mechanism
    found = holdfast.audit(mechanism)
    assert found.exact and not found.violation and found.epsilon == Fraction(7, 10)
    assert found.lower_bound == pytest.approx(float(mechanism.certified_epsilon), abs=1e-12)
    assert holdfast.audit(mechanism, epsilon="0.69").violation


def test_a_construction_is_audited_by_its_mechanism():
    assert not holdfast.audit(Optimal()(TARGET, epsilon=1)).violation


def test_one_unit_in_the_last_place_of_a_weight_is_seen():
    low = 1 << 60
    edge = math.floor(low * exp_below(Fraction(1, 2)))
    for high, caught in ((edge, False), (edge + 1, True)):
        weights = np.array([[high, TOTAL - high], [low, TOTAL - low]])
        assert audit_matrix(weights, epsilon="1/2").violation is caught


def test_a_claim_that_is_no_double_is_compared_as_a_fraction():
    low = 1 << 60
    high = math.floor(low * exp_below(Fraction(1, 10))) + 2
    weights = np.array([[high, TOTAL - high], [low, TOTAL - low]])
    found = audit_matrix(weights, epsilon="1/10")
    assert found.lower_bound == 0.1 > Fraction(1, 10) and found.violation


@pytest.mark.parametrize("steps", [2, 3])
def test_a_delta_grows_with_the_steps_of_a_person(steps):
    mechanism = DiscreteGaussian(delta="1e-2")([1 / 21] * 21, epsilon=1).mechanism
    assert not audit_matrix(mechanism, steps=steps).violation
    assert audit_matrix(mechanism.weights, epsilon=steps, delta="1e-2", steps=steps).violation


def test_a_solvers_zero_is_an_infinite_loss():
    matrix = [[0.9999999, 1e-7, 0.0], [0.9999998, 1e-7, 1e-7], [0.9999998, 1e-7, 1e-7]]
    found = audit_matrix(np.array(matrix), epsilon=1)
    assert found.lower_bound == math.inf and found.violation
    assert found.findings == ("output 2 is possible for input 1 and impossible for input 0.",)
    assert found.to_dict()["lower_bound"] == "inf"


def test_a_matrix_of_floats_is_forgiven_its_rounding_and_no_more():
    matrix = TruncatedGeometric()(TARGET, epsilon="0.5").matrix
    assert not audit_matrix(matrix, epsilon="0.5").violation
    assert audit_matrix(matrix, epsilon="0.499999").violation


def test_rows_further_apart_are_compared_when_people_move_counts_further():
    mechanism = TruncatedGeometric()(TARGET, epsilon="0.5").mechanism
    assert audit_matrix(mechanism, steps=2).epsilon == 1
    assert audit_matrix(mechanism, steps=2).lower_bound == pytest.approx(1)
    assert audit_matrix(mechanism.weights, epsilon="0.9", steps=2).violation


def test_weights_with_different_totals_count_as_shares():
    assert audit_matrix([[2, 2], [5, 5]], epsilon=1).lower_bound == 0


@pytest.mark.parametrize("delta", ["0.01", "0.1"])
def test_with_delta_it_is_the_smallest_epsilon_of_all_events(delta):
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(5), size=3)
    worst = 0.0
    for i, k in ((0, 1), (1, 0), (1, 2), (2, 1)):
        for event in range(1, 32):
            inside = [(event >> j) & 1 == 1 for j in range(5)]
            mass = matrix[i][inside].sum() - float(delta)
            if mass > 0:
                worst = max(worst, math.log(mass / matrix[k][inside].sum()))
    found = audit_matrix(matrix, delta=delta)
    assert found.lower_bound == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize(
    "matrix", [[1, 2], [[0.5, 0.4]], [[-1, 2]], [[0, 0]], [["a"]], [[math.nan]], np.zeros((0, 2))]
)
def test_what_is_no_matrix_is_refused(matrix):
    with pytest.raises(HoldfastError, match="`matrix`"):
        audit_matrix(matrix, epsilon=1)


def test_a_single_row_loses_nothing():
    assert audit_matrix([[0.5, 0.5]], epsilon=1).lower_bound == 0
