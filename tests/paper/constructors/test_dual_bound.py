from fractions import Fraction

import numpy as np
import pytest

from exact_optimum import scales
from families import hump
from holdfast.paper.constructors import Heuristic
from holdfast.paper.constructors.dual_bound import above_the_optimum, dual_bound, relative_gap
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


def exact_prices(weights: np.ndarray, y: np.ndarray, z: np.ndarray, epsilon: float) -> np.ndarray:
    """The ratio of the cheapest scale of every live column."""
    all_scales = np.array(scales(len(z), exp_below(Fraction(epsilon))), dtype=float)
    live = np.flatnonzero(z)
    return ((weights[:, live] - y[:, None]).T @ all_scales.T / (all_scales @ z)).min(axis=1)


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_just_below_the_exact_minimum_over_all_scales(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    z = rng.dirichlet(np.full(n, 0.5)) * (rng.random(n) > 0.2) + 1e-9 * (np.arange(n) == 0)
    epsilon = Fraction(str(rng.choice(["0.01", "0.3", "1", "4", "10"])))
    weights = rng.normal(size=(n, n)) * rng.choice([1e-9, 1, 1e9])
    y = rng.normal(size=n) * np.abs(weights).max()
    exact = exact_bound(weights, y, z, epsilon)
    prices = exact_prices(weights, y, z, float(epsilon))
    found = dual_bound(weights[:, z > 0].T.copy(), y, prices, z, float(epsilon))
    assert Fraction(found) <= exact
    size = float(np.abs(weights).max() / z[z > 0].min())
    assert float(exact) - found <= 1e-10 * (size + abs(float(exact)))


@pytest.mark.parametrize("seed", range(20))
def test_prices_that_are_too_high_or_too_low_are_not_believed(seed):
    rng = np.random.default_rng(seed)
    z, weights, y = rng.dirichlet(np.ones(5)), rng.normal(size=(5, 5)), rng.normal(size=5)
    prices = exact_prices(weights, y, z, 1.0) + rng.normal(size=5) * rng.choice([1e-6, 0.1, 10])
    found = dual_bound(weights.T.copy(), y, prices, z, 1.0)
    assert Fraction(found) <= exact_bound(weights, y, z, Fraction(1))


def test_a_bound_that_is_tight_everywhere_still_does_not_round_upwards():
    # all scales cost the same here, so every comparison is a tie up to rounding
    z = np.full(12, 1 / 12)
    weights = np.outer(z, np.ones(12)) * 0.7
    found = dual_bound(weights.T.copy(), np.zeros(12), np.full(12, 0.7), z, 5.0)
    exact = sum(Fraction(float(v)) for v in weights[:, 0])
    assert exact * Fraction(1 - 1e-9) <= Fraction(found) <= exact


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
    found = Heuristic(selector="max")(hump(30), epsilon=1)
    told = float(found.description.split("at most ")[1].split(" %")[0]) / 100
    excess = found.count_error / found.lower_bound - 1
    assert excess <= told <= 1.1 * excess
