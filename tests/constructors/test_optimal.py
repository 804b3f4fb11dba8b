from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from exact_optimum import exact_optimum
from families import FAMILIES, binomial, hump, powerlaw
from holdfast.constructors import Heuristic, LinearProgram, Optimal, optimal, optimal_kernel
from holdfast.constructors.interior_point import step
from holdfast.errors import HoldfastError
from holdfast.privacy.metrics import count_error, error_weights

REFERENCE = [
    (21, binomial, 0.5, 1.40762, 3.71146),
    (21, hump, 0.5, 1.70937, 5.89509),
    (21, powerlaw, 0.5, 1.13213, 3.80879),
    (51, binomial, 0.1, 3.35703, 18.67772),
    (51, binomial, 2, 0.30132, 0.39070),
    (51, hump, 0.1, 7.04510, 90.51276),
    (51, powerlaw, 2, 0.24202, 0.30579),
    (81, binomial, 0.5, 1.76976, 6.18250),
    (81, hump, 2, 0.27934, 0.36610),
    (201, hump, 0.5, 1.92031, 7.79327),
    (201, powerlaw, 0.5, 1.22078, 4.29849),
]


@pytest.mark.parametrize(("n", "family", "epsilon", "absolute", "squared"), REFERENCE)
def test_the_reference_optima_are_reproduced_and_proved(n, family, epsilon, absolute, squared):
    for error, optimum in (("absolute", absolute), ("squared", squared)):
        found = Optimal(error=error, gap=1e-7)(family(n), epsilon=epsilon)
        assert found.method == "Optimal()"
        assert found.count_error == pytest.approx(optimum, abs=6e-6, rel=1e-7)
        assert found.gap <= 1e-7


def random_target(rng: np.random.Generator, n: int) -> np.ndarray:
    """Shares with zeros, ties, or entries near 1e-9, each in a third of the cases."""
    z = rng.dirichlet(np.full(n, rng.choice([0.2, 1.0, 5.0])))
    kind = rng.integers(3)
    if kind == 0:
        z *= rng.random(n) > 0.4
    elif kind == 1:
        z = np.round(z * n) / n
    else:
        z = np.where(rng.random(n) < 0.3, 1e-9, z)
    z[rng.integers(n)] += 0.1
    return z / z.sum()


def random_error(rng: np.random.Generator, z: np.ndarray):
    n = len(z)
    given = (rng.normal(size=(n, n)), z[:, None] * rng.random((n, n)), rng.integers(-2, 3, (n, n)))
    return ("absolute", "squared", *given)[rng.integers(5)]


@pytest.mark.parametrize("seed", range(40))
def test_it_agrees_with_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    z = random_target(rng, int(rng.integers(2, 26)))
    error, epsilon = random_error(rng, z), float(rng.choice([0.01, 0.1, 0.5, 1, 2]))
    found = Optimal(error=error)(z, epsilon=epsilon)
    solved = LinearProgram(error=error)(z, epsilon=epsilon)
    size = abs(solved.count_error) + 1e-9
    assert abs(found.count_error - solved.count_error) <= 2e-6 * size
    assert found.lower_bound <= solved.count_error + 1e-12 * size
    assert found.gap <= 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_the_exact_optimum_lies_between_the_bound_and_the_count_error(seed):
    rng = np.random.default_rng(seed)
    z = random_target(rng, int(rng.integers(2, 6)))
    error, epsilon = random_error(rng, z), Fraction(str(rng.choice(["0.05", "0.5", "2", "8"])))
    found = Optimal(error=error, gap=1e-8)(z, epsilon=epsilon)
    # z is kept only as well as floats can, and so is <W, T>
    weights = error_weights(error, found.target)
    exact = exact_optimum(weights, found.target, epsilon)
    slip = 1e-14 * float(np.abs(weights).sum())
    assert found.lower_bound <= exact
    assert exact <= found.count_error + slip
    assert found.count_error - float(exact) <= 1e-6 * abs(float(exact)) + slip


@pytest.mark.parametrize("epsilon", ["0.000001", "0.01", "0.5", "5", "10"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_result_is_certified_and_keeps_its_target(family, epsilon):
    for n in (1, 2, 3, 21, 60):
        found = Optimal()(FAMILIES[family](n), epsilon=epsilon)
        mechanism = found.mechanism
        assert np.abs(found.matrix.sum(axis=1) - 1).max() <= 1e-9
        assert np.abs(found.target @ mechanism.matrix - found.target).max() <= 1e-9
        assert mechanism.count_error(found.target) <= found.count_error * 1.001 + 1e-9
        assert found.gap <= 1e-6 or found.count_error < 1e-8


def test_certification_costs_little_where_shares_are_nearly_as_small_as_they_may_be():
    z = np.array([1 - 100 * 2.0**-39, *[2.0**-39] * 100])
    found = Optimal()(z, epsilon=8)
    assert found.count_error < 1e-10
    assert found.mechanism.count_error(found.target) <= found.count_error * 1.002


def test_a_target_with_one_live_count_leaves_no_choice():
    found = Optimal(error=np.diag([3.0, -1.0]) - 1)([0.0, 1.0], epsilon=1)
    assert found.matrix.tolist() == [[0, 1], [0, 1]]
    assert found.count_error == pytest.approx(-3) and found.gap <= 1e-14


def test_weights_that_do_not_tell_mechanisms_apart_are_solved_at_once():
    found = Optimal(error=np.outer([1.0, 2.0, 3.0], np.ones(3)))([0.2, 0.3, 0.5], epsilon=1)
    assert found.count_error == pytest.approx(6) and found.gap <= 1e-14


@pytest.mark.parametrize("stop", [1, 4, 9])
def test_an_interrupted_search_returns_a_feasible_mechanism_with_its_honest_gap(stop):
    z, best = hump(40), Optimal(gap=1e-8)(hump(40), epsilon=1)

    def interrupt(number: int, gap: float) -> None:
        if number == stop:
            raise KeyboardInterrupt

    found = Optimal(progress=interrupt)(z, epsilon=1)
    assert found.method == "Optimal(interrupted)"
    assert found.lower_bound <= best.count_error * (1 + 1e-9)
    assert best.lower_bound <= found.count_error
    assert found.gap == pytest.approx(1 - found.lower_bound / found.count_error)
    assert found.mechanism.certified_epsilon <= 1
    first = count_error(np.tile(z, (len(z), 1)), z)
    assert found.count_error < 0.999 * first, "the steps made are not lost"


def test_what_is_returned_is_feasible_even_where_the_steps_were_not(monkeypatch):
    z, noise = hump(40), np.random.default_rng(3)

    def inaccurate(problem: Any, state: Any) -> Any:
        found = step(problem, state)
        return found._replace(x=found.x * (1 + 1e-7 * noise.normal(size=found.x.shape)))

    monkeypatch.setattr(optimal, "step", inaccurate)
    monkeypatch.setattr(optimal, "MOST_STEPS", 10)
    found = Optimal()(z, epsilon=1).matrix
    assert count_error(found, z) < 0.5 * count_error(np.tile(z, (len(z), 1)), z)
    assert np.abs(found.sum(axis=1) - 1).max() <= 1e-13
    assert np.abs(z @ found - z).max() <= 1e-13
    grow = np.exp(1) * (1 + 1e-11)
    assert (found[1:] <= grow * found[:-1]).all() and (found[:-1] <= grow * found[1:]).all()


def test_a_search_that_runs_out_of_steps_says_so(monkeypatch):
    monkeypatch.setattr(optimal, "MOST_STEPS", 6)
    found = Optimal()(hump(40), epsilon=1)
    assert found.method == "Optimal(gap not reached)"
    assert found.gap > 1e-6
    assert found.mechanism.certified_epsilon <= 1


def tail(n: int, share: float) -> np.ndarray:
    """Nearly everything at zero, and the same small share everywhere else."""
    z = np.full(n, share)
    z[0] = 1
    return z / z.sum()


@pytest.mark.parametrize("epsilon", ["1", "2", "5", "10"])
@pytest.mark.parametrize("n, share", [(20, 1e-6), (51, 1e-5), (101, 1e-5), (101, 1e-7)])
def test_a_search_does_not_stop_while_the_error_falls_and_the_relative_gap_is_still_near_one(
    n, share, epsilon
):
    found = Optimal()(tail(n, share), epsilon=epsilon)
    assert found.method == "Optimal()" and found.gap <= 1e-6


@pytest.mark.parametrize("n, seed", [(25, 10), (25, 76), (40, 0), (40, 25), (40, 58), (40, 65)])
def test_shares_of_many_orders_of_magnitude_far_apart_are_solved_to_the_optimum(n, seed):
    rng = np.random.default_rng(seed)
    z = np.zeros(n)
    z[rng.choice(n, n // 5, replace=False)] = 10 ** rng.uniform(-9, 0, n // 5)
    assert Optimal(error="squared")(z / z.sum(), epsilon=6).gap <= 1e-6


def test_weights_of_zero_and_one_on_few_live_counts_are_solved_to_the_optimum():
    rng = np.random.default_rng(9)
    z = np.zeros(145)
    z[rng.choice(145, 43, replace=False)] = rng.exponential(size=43) ** 6
    error = (rng.random((145, 145)) < 0.5).astype(float)
    assert Optimal(error=error)(z / z.sum(), epsilon=1).gap <= 1e-6


def test_a_search_that_makes_no_progress_near_the_optimum_gives_up():
    steps = []
    found = Optimal(gap=1e-15, progress=lambda number, gap: steps.append(number))(
        hump(40), epsilon=1
    )
    assert found.method == "Optimal(gap not reached)" and found.gap < 1e-9
    assert len(steps) < optimal.MOST_STEPS


def test_progress_reports_every_step_and_a_gap_that_never_grows():
    seen = []
    found = Optimal(progress=lambda number, gap: seen.append((number, gap)))(hump(40), epsilon=1)
    numbers, gaps = zip(*seen, strict=True)
    assert list(numbers) == list(range(1, len(seen) + 1))
    assert all(a >= b for a, b in pairwise(gaps))
    assert gaps[-1] == found.gap


def test_a_gap_outside_the_unit_interval_is_refused():
    for gap in (0, 1, -1e-6, float("nan")):
        with pytest.raises(HoldfastError, match="`gap`"):
            Optimal(gap=gap)


@pytest.mark.parametrize("seed", range(40))
def test_left_to_right_is_optimal_for_falling_targets_exactly_if_count_zero_outweighs_the_rest(
    seed,
):
    # a conjecture (docs/optimum.md): here is where a counterexample would show
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(3, 12)), float(rng.choice([0.1, 0.3, 0.7, 1.5, 3]))
    z = np.sort(rng.dirichlet(np.full(n, rng.choice([0.6, 1, 5]))) + 1e-6)[::-1]
    rest = z[1:] @ np.exp(-epsilon * np.arange(n - 1))
    outweighs = bool(rng.random() < 0.5 and rest * 0.99 >= z[1])
    z[0] = rest * 1.01 if outweighs else max(z[1], rest * 0.99)
    z /= z.sum()
    outweighs = z[0] > z[1:] @ np.exp(-epsilon * np.arange(n - 1))
    error = ("absolute", "squared")[seed % 2]
    best = Optimal(error=error, gap=1e-8)(z, epsilon=epsilon)
    left_to_right = Heuristic(selector="max", error=error)(z, epsilon=epsilon)
    excess = left_to_right.count_error / best.count_error - 1
    assert excess < 1e-7 if outweighs else excess > 1e-7


def test_left_to_right_is_not_optimal_for_every_non_increasing_target():
    better = Optimal()([1 / 3] * 3, epsilon=1)
    assert better.count_error < 0.99 * Heuristic(selector="max")([1 / 3] * 3, epsilon=1).count_error


@pytest.mark.parametrize("seed", range(10))
def test_the_twisted_factors_are_the_inverse_of_the_hessian(seed):
    rng = np.random.default_rng(seed)
    n, m, a = 9, 4, float(np.exp(-rng.choice([0.1, 1, 4])))
    du, dl = (10 ** rng.uniform(-3, 3, (n - 1, m)) for _ in range(2))
    z = rng.dirichlet(np.ones(n))
    up = a ** rng.uniform(0.01, 1.99, n - 1)  # what x may fall to, where the rows are scaled
    down = a * a / up
    tau, inverse, k, d = optimal_kernel.factor(du, dl, z, up, down, 1 - a * a)
    c = optimal_kernel.outwards(tau, k)
    g = rng.normal(size=(n, m))
    inner, along = optimal_kernel.solve(tau, inverse, k, g)
    rise = np.eye(n - 1, n, k=1) - up[:, None] * np.eye(n - 1, n)
    fall = np.eye(n - 1, n) - down[:, None] * np.eye(n - 1, n, k=1)
    for j in range(m):
        hessian = rise.T * du[:, j] @ rise + fall.T * dl[:, j] @ fall
        expected = np.linalg.solve(hessian, g[:, j])
        found = inner[:, j] + d[j] * along[j] * c[:, j]
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())
        assert inner[k[j], j] == 0 and c[k[j], j] == 1
