from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize

from families import FAMILIES, binomial, hump
from holdfast.errors import HoldfastError
from holdfast.paper.constructors import LinearProgram, Optimal
from holdfast.paper.constructors.linear_program import feasible_matrix
from holdfast.paper.distributions import count_error

METHODS = ("simplex", "interior-point")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("z", "epsilon", "optimum"),
    [
        (binomial(21), 0.5, 1.40762),
        (hump(21), 0.5, 1.70937),
        (binomial(51), 2, 0.30132),
        (hump(51), 0.1, 7.04510),
    ],
)
def test_the_solver_finds_the_reference_optimum(z, epsilon, optimum, method):
    found = LinearProgram(method=method)(z, epsilon=epsilon)
    assert found.count_error == pytest.approx(optimum, abs=5e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_solver_returns_is_certified_and_keeps_its_target(family, method):
    for n in (1, 2, 3, 15):
        for epsilon in ("0.01", "0.5", "5"):
            found = LinearProgram(method=method)(FAMILIES[family](n), epsilon=epsilon)
            mechanism = found.mechanism
            assert np.abs(found.target @ mechanism.matrix - found.target).max() <= 1e-9
            assert count_error(mechanism.matrix, found.target) <= found.count_error * 1.001 + 1e-10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_solver_reaches_the_optimum_of_the_closed_form(family, method):
    for error in ("absolute", "squared"):
        found = LinearProgram(method=method, error=error)(FAMILIES[family](15), epsilon="0.5")
        assert found.lower_bound <= found.count_error
        assert found.gap <= 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_an_optimum_that_the_solver_missed_has_a_gap_that_tells(method):
    z = np.array([1] + [9e-10] * 8)  # coefficients this small are 0 for HiGHS
    z /= z.sum()
    missed, optimum = LinearProgram(method=method)(z, epsilon=5), Optimal()(z, epsilon=5)
    assert missed.count_error > 2 * optimum.count_error
    assert missed.lower_bound <= optimum.count_error
    assert missed.gap > 0.5


def test_where_the_closed_form_is_not_known_there_is_no_gap():
    z = hump(6)
    found = LinearProgram(error=z[:, None] * (1 - np.eye(6)))(z, epsilon=1)
    assert found.gap is None and found.method == "LinearProgram(simplex)"


def test_zeros_beside_small_entries_are_repaired():
    z, epsilon = hump(15), 0.5
    exact = LinearProgram()(z, epsilon=epsilon)
    noise = np.random.default_rng(0).normal(size=exact.matrix.shape) * 1e-8 * z
    spoiled = np.where(exact.matrix < 1e-3, 0.0, exact.matrix + noise)
    repaired = feasible_matrix(spoiled, z, epsilon)
    grow = np.exp(epsilon) * (1 + 1e-12)
    assert (repaired[1:] <= grow * repaired[:-1]).all()
    assert (repaired[:-1] <= grow * repaired[1:]).all()
    assert np.abs(repaired.sum(axis=1) - 1).max() <= 1e-14
    assert np.abs(z @ repaired - z).max() <= 1e-14


def test_an_answer_that_is_not_private_at_all_is_refused():
    with pytest.raises(HoldfastError, match="not private"):
        feasible_matrix(np.eye(3), np.full(3, 1 / 3), 0.1)


def test_a_solver_that_gives_up_becomes_a_clear_error(monkeypatch):
    failed = SimpleNamespace(status=2, x=None, message="The problem is infeasible.")
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *args, **kwargs: failed)
    with pytest.raises(HoldfastError, match=r"infeasible.*Hint: use `Optimal`"):
        LinearProgram(method="interior-point")([0.5, 0.5], epsilon=1)


def test_an_unknown_method_is_refused():
    with pytest.raises(HoldfastError, match="`method` must be one of"):
        LinearProgram(method="barrier")
