"""The closed form against exact rationals, linear programs, and the reference numbers."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from closed_form import certified_bound, dot, exact_kernel, solved, steepest_fall
from exact_optimum import exact_optimum
from families import FAMILIES, binomial, hump, powerlaw
from holdfast.errors import HoldfastError
from holdfast.paper.constructors import Heuristic, LinearProgram, Optimal
from holdfast.paper.distributions import count_error, error_weights

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
def test_the_reference_optima_are_reproduced(n, family, epsilon, absolute, squared):
    for error, optimum in (("absolute", absolute), ("squared", squared)):
        found = Optimal(error=error)(family(n), epsilon=epsilon)
        assert found.count_error == pytest.approx(optimum, abs=6e-6, rel=1e-7)
        assert found.gap < 1e-9 and found.method == "Optimal()"
        assert found.lower_bound == pytest.approx(found.count_error, rel=1e-9)


@pytest.mark.parametrize(("n", "optimum"), [(1001, 1.920297), (2000, 1.919732)])
def test_the_optimum_of_long_ranges_is_reproduced(n, optimum):
    found = Optimal()(hump(n), epsilon="0.5")
    assert found.count_error == pytest.approx(optimum, abs=1.5e-6)


def random_law(rng: np.random.Generator, n: int) -> list[Fraction]:
    """Whole shares of some total, with zeros and ties."""
    parts = rng.integers(0, rng.choice([3, 12]), n)
    parts[rng.integers(n)] += 1
    return [Fraction(int(part), int(parts.sum())) for part in parts]


def convex_errors(n: int) -> dict[str, list[list[Fraction]]]:
    """Costs of releasing j for i: absolute, squared, and three times as dear above as below."""
    errors = {
        "absolute": lambda d: abs(d),
        "squared": lambda d: d * d,
        "asymmetric": lambda d: 3 * d * d if d > 0 else -d,
    }
    return {
        name: [[Fraction(cost(j - i)) for j in range(n)] for i in range(n)]
        for name, cost in errors.items()
    }


def weighed(z: list[Fraction], costs: list[list[Fraction]]) -> list[list[Fraction]]:
    return [[share * cost for cost in row] for share, row in zip(z, costs, strict=True)]


@pytest.mark.parametrize("seed", range(16))
def test_the_theorem_holds_in_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    z = random_law(rng, n)
    w = z if seed % 2 else random_law(rng, n)
    decay = Fraction(int(rng.integers(1, 12)), 12)
    kernel = exact_kernel(z, w, decay)
    assert all(sum(row) == 1 and min(row) >= 0 for row in kernel)
    assert [dot(z, [row[j] for row in kernel]) for j in range(n)] == w
    for above, below in pairwise(kernel):
        assert all(decay * a <= b and decay * b <= a for a, b in zip(above, below, strict=True))
    for costs in convex_errors(n).values():
        weights = weighed(z, costs)
        cost = sum(dot(*rows) for rows in zip(weights, kernel, strict=True))
        assert 0 <= cost - certified_bound(z, w, weights, decay) < Fraction(1, 10**7)


@pytest.mark.parametrize("seed", range(20))
def test_the_theorem_holds_with_a_delta(seed):
    rng = np.random.default_rng([5, seed])
    n = int(rng.integers(2, 8))
    z = random_law(rng, n)
    w = z if seed % 2 else random_law(rng, n)
    decay, delta = Fraction(int(rng.integers(2, 12)), 12), Fraction(int(rng.integers(1, 9)), 100)
    kernel = exact_kernel(z, w, decay, delta)
    assert all(sum(row) == 1 and min(row) >= 0 for row in kernel)
    assert [dot(z, [row[j] for row in kernel]) for j in range(n)] == w
    for a, b in pairwise(kernel):
        for first, second in ((a, b), (b, a)):
            excess = (x - y / decay for x, y in zip(first, second, strict=True))
            assert sum(max(part, Fraction(0)) for part in excess) <= delta
    for costs in convex_errors(n).values():
        weights = weighed(z, costs)
        cost = sum(dot(*rows) for rows in zip(weights, kernel, strict=True))
        assert float(cost) == pytest.approx(solved(z, w, weights, decay, delta).fun, abs=1e-8)


def test_a_curve_that_falls_less_steeply_costs_more():
    z = [Fraction(1, 4)] * 4
    decay = Fraction(1, 2)
    kernel = exact_kernel(z, z, decay)
    steep = [sum(row[:2]) for row in kernel]
    assert all(b == steepest_fall(a, decay, Fraction(0)) for a, b in pairwise(steep))
    flat = exact_kernel(z, z, Fraction(3, 5))
    costs = weighed(z, convex_errors(4)["absolute"])
    assert sum(dot(*r) for r in zip(costs, kernel, strict=True)) < sum(
        dot(*r) for r in zip(costs, flat, strict=True)
    )


@pytest.mark.parametrize("delta", [0, "1e-3"])
@pytest.mark.parametrize("seed", range(10))
def test_the_code_gives_the_kernel_of_the_theorem(seed, delta):
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(2, 9))
    z = random_law(rng, n)
    w = z if seed % 2 else random_law(rng, n)
    epsilon = Fraction(str(rng.choice(["0.05", "0.5", "1", "2", "4"])))
    exact = np.array(
        exact_kernel(z, w, Fraction(np.exp(-float(epsilon))), Fraction(str(delta))), dtype=float
    )
    law = None if seed % 2 else [float(share) for share in w]
    found = Optimal(target=law, delta=delta)([float(share) for share in z], epsilon=epsilon)
    np.testing.assert_allclose(found.matrix, exact, atol=1e-13)
    costs = np.array(convex_errors(n)["absolute"], dtype=float)
    assert found.count_error == pytest.approx(
        (np.array(z, dtype=float)[:, None] * costs * exact).sum(), rel=1e-11, abs=1e-15
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_lower_bound_is_never_above_the_exact_optimum(seed):
    rng = np.random.default_rng(seed)
    z = np.array([float(share) for share in random_law(rng, (2, 3, 4, 4)[seed % 4])])
    error = ("absolute", "squared", None)[seed % 3]
    if error is None:
        error = z[:, None] * np.array(convex_errors(len(z))["asymmetric"], dtype=float)
    epsilon = Fraction(str(rng.choice(["0.05", "0.5", "2", "8"])))
    found = Optimal(error=error)(z, epsilon=epsilon)
    exact = exact_optimum(error_weights(error, found.target), found.target, epsilon)
    assert Fraction(found.lower_bound) <= exact
    assert found.lower_bound == pytest.approx(float(exact), rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_the_linear_program_finds_nothing_better(seed):
    rng = np.random.default_rng([3, seed])
    n = int(rng.integers(9, 26))
    z = rng.dirichlet(np.full(n, rng.choice([0.2, 1.0, 5.0])))
    epsilon, error = float(rng.choice([0.1, 0.5, 1, 2])), ("absolute", "squared")[seed % 2]
    found, program = (c(error=error)(z, epsilon=epsilon) for c in (Optimal, LinearProgram))
    assert found.count_error <= program.count_error * (1 + 1e-12)
    assert program.count_error <= found.count_error * (1 + 2e-6)


@pytest.mark.parametrize("epsilon", ["0.000001", "0.01", "0.1", "0.5", "2", "5", "10"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_result_is_certified_uses_its_budget_and_keeps_its_target(family, epsilon):
    for n in (1, 2, 3, 21, 201, 600):
        found = Optimal()(FAMILIES[family](n), epsilon=epsilon)
        mechanism = found.mechanism
        assert mechanism.certificate.epsilon <= mechanism.epsilon
        if np.count_nonzero(found.target) > 1:
            assert mechanism.certificate.epsilon > Fraction(999, 1000) * mechanism.epsilon
        image = found.target @ mechanism.matrix
        assert np.abs(image - found.target).max() <= 1e-9
        sampled = count_error(mechanism.matrix, found.target)
        assert sampled == pytest.approx(found.count_error, rel=1e-4, abs=1e-14)


def test_shares_too_small_for_floats_to_tell_apart_are_certified():
    for share in (2.0**-38, 2.0**-39, 1e-13, 1e-30):
        z = np.array([1 - 50 * share, *[share] * 50])
        found = Optimal()(z, epsilon=2)
        assert found.mechanism.certificate.epsilon <= 2
        assert np.abs(found.target @ found.mechanism.matrix - found.target).max() < 1e-14
        assert (
            count_error(found.mechanism.matrix, found.target) <= found.count_error * 1.001 + 1e-15
        )


def test_a_target_with_one_live_count_leaves_no_choice():
    found = Optimal()([0.0, 1.0, 0.0], epsilon=1)
    assert found.matrix.tolist() == [[0, 1, 0]] * 3
    assert found.count_error == 0 and found.mechanism.certificate.epsilon == 0


def test_mass_at_both_ends_of_an_empty_range_is_kept():
    z = np.zeros(1000)
    z[:10] = z[-10:] = 0.05
    for epsilon in ("0.001", "1", "10"):
        found = Optimal()(z, epsilon=epsilon)
        assert found.mechanism.certificate.epsilon <= found.epsilon
        assert 0 <= found.lower_bound <= found.count_error
        assert np.abs(found.target @ found.mechanism.matrix - found.target).max() < 1e-12


def test_a_law_of_the_released_counts_can_be_chosen():
    z, w = hump(30), powerlaw(30)
    found = Optimal(target=w)(z, epsilon=1)
    mechanism = found.mechanism
    np.testing.assert_allclose(z @ mechanism.matrix, w, atol=1e-15)
    assert mechanism.fixed_point is None and mechanism.certificate.epsilon <= 1
    np.testing.assert_array_equal(mechanism.source, z)


def test_a_law_of_another_length_is_refused():
    with pytest.raises(HoldfastError, match="one share for every count"):
        Optimal(target=[0.5, 0.5])([0.2, 0.3, 0.5], epsilon=1)


def test_an_error_without_the_monge_property_is_refused_with_a_way_out():
    wrong = 1 - np.eye(4)
    with pytest.raises(HoldfastError, match=r"Monge property.*LinearProgram"):
        Optimal(error=np.full((4, 1), 0.25) * wrong)([0.25] * 4, epsilon=1)
    absent = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [1.0, 0.5, 0.0]])
    with pytest.raises(HoldfastError, match="Monge"):  # a count that does not occur must not weigh
        Optimal(error=absent)([0.5, 0.0, 0.5], epsilon=1)


def test_a_weight_matrix_with_the_monge_property_is_reported_exactly():
    z = hump(12)
    distance = np.abs(np.subtract.outer(range(12), range(12)))
    named, given = (Optimal(error=e)(z, epsilon=1) for e in ("absolute", z[:, None] * distance))
    assert given.count_error == pytest.approx(named.count_error, rel=1e-12)
    assert given.lower_bound <= named.count_error
    assert (given.mechanism.weights == named.mechanism.weights).all()


@pytest.mark.parametrize("error", [[["a"] * 2] * 2, [[1, 2], [3]], "cubic"])
def test_an_error_that_is_no_matrix_is_refused(error):
    with pytest.raises(HoldfastError, match="`error`"):
        Optimal(error=error)([0.5, 0.5], epsilon=1)


@pytest.mark.parametrize("constructor", [Heuristic, Optimal])
def test_weights_that_would_overflow_are_refused(constructor):
    error = np.full((3, 3), 1e308) - np.eye(3) * 1e308
    with pytest.raises(HoldfastError, match="`error`"):
        constructor(error=error)([0.5, 0.3, 0.2], epsilon=1)
    usual = constructor()([0.5, 0.3, 0.2], epsilon=1).count_error
    distance = np.abs(np.arange(3)[:, None] - np.arange(3)) * np.array([[0.5], [0.3], [0.2]])
    for size in (1e-150, 1e149):
        found = constructor(error=size * distance)([0.5, 0.3, 0.2], epsilon=1)
        assert found.count_error / size == pytest.approx(usual)


@pytest.mark.parametrize("delta", ["1e-9", "1e-6", "0.01"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_delta_lowers_the_error_under_an_exact_certificate(family, delta):
    z = FAMILIES[family](40)
    pure, found = Optimal()(z, epsilon=1), Optimal(delta=delta)(z, epsilon=1)
    mechanism = found.mechanism
    assert Fraction(999, 1000) * Fraction(delta) < mechanism.certificate.delta <= Fraction(delta)
    assert found.count_error < pure.count_error
    sampled = count_error(mechanism.matrix, found.target)
    assert sampled == pytest.approx(found.count_error, rel=1e-4)
    np.testing.assert_allclose(found.target @ mechanism.matrix, found.target, atol=1e-14)


def test_a_delta_that_leaves_nothing_to_protect_is_refused():
    with pytest.raises(HoldfastError, match="`delta` must be at most"):
        Optimal(delta="0.5")([0.5, 0.5], epsilon="0.01")


@pytest.mark.parametrize("seed", range(40))
def test_left_to_right_is_optimal_exactly_if_what_is_below_outweighs_what_is_above(seed):
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(3, 12)), float(rng.choice([0.1, 0.3, 0.7, 1.5, 3]))
    z = np.sort(rng.dirichlet(np.full(n, rng.choice([0.6, 1, 5]))) + 1e-6)[::-1]
    rest = z[1:] @ np.exp(-epsilon * np.arange(n - 1))
    z[0] = rest * 1.01 if rng.random() < 0.5 and rest * 0.99 >= z[1] else max(z[1], rest * 0.99)
    z /= z.sum()
    outweighs = z[0] > z[1:] @ np.exp(-epsilon * np.arange(n - 1))
    found = Heuristic(selector="max", error=("absolute", "squared")[seed % 2])(z, epsilon=epsilon)
    assert found.gap < 1e-7 if outweighs else found.gap > 1e-7


def test_left_to_right_is_not_optimal_for_every_non_increasing_target():
    assert Heuristic(selector="max")([1 / 3] * 3, epsilon=1).gap > 0.01


def test_a_heuristic_knows_its_distance_to_the_optimum():
    z = hump(600)
    found, best = Heuristic(selector="sandwich")(z, epsilon="0.5"), Optimal()(z, epsilon="0.5")
    assert found.lower_bound == best.lower_bound
    assert found.gap == pytest.approx(1 - best.count_error / found.count_error, abs=1e-9)
    assert 0 < found.gap < 0.05


def test_a_heuristic_does_not_know_it_where_the_error_lacks_the_monge_property():
    found = Heuristic(error=0.25 * (1 - np.eye(4)))([0.25] * 4, epsilon=1)
    assert found.gap is None and found.lower_bound is None
