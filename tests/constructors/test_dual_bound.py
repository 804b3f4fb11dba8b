from fractions import Fraction

import numpy as np
import pytest

from exact_optimum import scales
from families import FAMILIES, hump
from holdfast.constructors import Heuristic, Optimal, dual_bound_kernel
from holdfast.constructors.dual_bound import above_the_optimum, dual_bound, relative_gap
from holdfast.constructors.window_bound import window_bound
from holdfast.privacy.metrics import error_weights
from holdfast.privacy.rational import exp_below


def exact_bound(weights: np.ndarray, y: np.ndarray, z: np.ndarray, epsilon: Fraction) -> Fraction:
    """L(y) by trying all scales in exact arithmetic; not below the true L(y)."""
    all_scales = scales(len(z), exp_below(epsilon))
    share = [Fraction(float(v)) for v in z]
    total = sum(Fraction(float(v)) for v in y)
    for j in np.flatnonzero(z):
        net = [
            Fraction(float(w)) - Fraction(float(v)) for w, v in zip(weights[:, j], y, strict=True)
        ]
        total += share[j] * min(
            sum(a * b for a, b in zip(net, s, strict=True))
            / sum(a * b for a, b in zip(share, s, strict=True))
            for s in all_scales
        )
    return total


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_just_below_the_exact_minimum_over_all_scales(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    z = rng.dirichlet(np.full(n, 0.5)) * (rng.random(n) > 0.2) + 1e-9 * (np.arange(n) == 0)
    epsilon = Fraction(str(rng.choice(["0.01", "0.3", "1", "4", "10"])))
    weights = rng.normal(size=(n, n)) * rng.choice([1e-9, 1, 1e9])
    y = rng.normal(size=n) * np.abs(weights).max()
    exact = exact_bound(weights, y, z, epsilon)
    found = dual_bound(np.ascontiguousarray(weights[:, z > 0].T), y, z, float(epsilon))
    assert Fraction(found) <= exact
    size = float(np.abs(weights).max() / z[z > 0].min())
    assert float(exact) - found <= 1e-13 * (size + abs(float(exact)))


@pytest.mark.parametrize("seed", range(40))
def test_the_certified_surplus_is_never_above_the_least_over_all_scales(seed):
    rng = np.random.default_rng(seed)
    n, growth = int(rng.integers(2, 8)), int(2 ** rng.integers(1, 8))
    z, cost, y = rng.dirichlet(np.ones(n)), rng.normal(size=n), rng.normal(size=n)
    price, k = float(rng.normal()), int(rng.integers(n))
    given = zip(cost.tolist(), y.tolist(), z.tolist(), strict=True)
    net = [Fraction(c) - Fraction(v) - Fraction(price) * Fraction(share) for c, v, share in given]
    exact = min(
        sum(a * b for a, b in zip(net, s, strict=True)) / s[k] for s in scales(n, Fraction(growth))
    )
    # powers of two are exact, so that nothing but what is subtracted keeps it below
    found = dual_bound_kernel._least_surplus(cost, y, z, k, float(growth), 1 / growth, price)
    assert Fraction(found) <= exact
    assert found == pytest.approx(float(exact), rel=1e-13, abs=1e-13)


def test_a_ratio_that_the_search_left_too_high_is_not_believed(monkeypatch):
    search = dual_bound_kernel._cheapest

    def too_high(*arguments):
        price, top = search(*arguments)
        return price + 0.1, top

    monkeypatch.setattr(dual_bound_kernel, "_cheapest", too_high)
    monkeypatch.setattr(
        dual_bound_kernel, "cheapest_scales", dual_bound_kernel.cheapest_scales.py_func
    )
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z, weights, y = rng.dirichlet(np.ones(5)), rng.normal(size=(5, 5)), rng.normal(size=5)
        found = dual_bound(weights.T.copy(), y, z, 1.0)
        assert Fraction(found) <= exact_bound(weights, y, z, Fraction(1))


def test_a_bound_that_is_tight_everywhere_still_does_not_round_upwards():
    # all scales cost the same here, so every comparison is a tie up to rounding
    z = np.full(12, 1 / 12)
    weights = np.outer(z, np.ones(12)) * 0.7
    found = dual_bound(weights.T.copy(), np.zeros(12), z, 5.0)
    exact = sum(Fraction(float(v)) for v in weights[:, 0])
    assert exact * Fraction(1 - 1e-13) <= Fraction(found) <= exact


@pytest.mark.parametrize("error", ["absolute", "squared"])
@pytest.mark.parametrize("epsilon", [0.02, 0.3, 2.0])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_window_bound_comes_close_to_the_optimum_from_below(family, epsilon, error):
    z = FAMILIES[family](260)
    best = Optimal(error=error)(z, epsilon=epsilon)
    bound = window_bound(error_weights(error, best.target), best.target, epsilon)
    assert bound <= best.count_error
    assert relative_gap(best.count_error, bound) <= 0.002


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 2.0])
def test_the_window_bound_comes_close_across_empty_runs_longer_than_a_window(epsilon):
    z = np.zeros(420)
    for begin in (20, 200, 380):
        z[begin : begin + 30] = np.random.default_rng(begin).random(30)
    best = Optimal()(z / z.sum(), epsilon=epsilon)
    bound = window_bound(error_weights("absolute", best.target), best.target, epsilon)
    assert bound <= best.count_error
    assert relative_gap(best.count_error, bound) <= 0.002


def test_a_heuristic_reports_how_far_from_the_optimum_it_can_be():
    z = FAMILIES["hump"](600)
    plain, bounded = (Heuristic(bound=b)(z, epsilon="0.5") for b in (False, True))
    assert plain.lower_bound is None and plain.gap is None
    assert bounded.count_error == plain.count_error
    assert 0 < bounded.gap < 0.01
    assert bounded.lower_bound == pytest.approx((1 - bounded.gap) * bounded.count_error)


def test_the_gap_of_a_free_mechanism_is_zero():
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(-1.0, -1.5) == 0.5


@pytest.mark.parametrize(
    "error, bound, text",
    [
        (2.0, 1.0, "at most 100 % above"),
        (33.4, 1.0, "at most 3300 % above"),  # a gap of 0.97 allows 33 times the optimum
        (1.0, 1 - 8.31e-7, "at most 0.000084 % above"),
        (-1.0, -1.5, "at most 100 % above"),  # 33 % would do, but the gap does not tell signs
        (0.0, 0.0, "at most 0 % above"),
        (1.0, 0.0, "at an unknown distance from"),
        (1.0, -1.0, "at an unknown distance from"),
        (0.0, -1.0, "at an unknown distance from"),
    ],
)
def test_the_distance_is_told_as_a_share_of_the_optimum_and_rounded_up(error, bound, text):
    assert above_the_optimum(relative_gap(error, bound)) == f"{text} the optimum"


def test_the_description_tells_how_far_above_the_optimum_a_mechanism_may_be():
    found = Heuristic(selector="max", bound=True)(hump(30), epsilon=1)
    told = float(found.description.split("at most ")[1].split(" %")[0]) / 100
    excess = found.count_error / found.lower_bound - 1
    assert excess <= told <= 1.1 * excess
