"""The frontier between count error and distribution error, against linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_array

from families import FAMILIES
from holdfast.errors import HoldfastError
from holdfast.paper.constructors import Frontier, Optimal, UnfixedOptimum

PRICES = ("0", "0.05", "0.2", "0.4", "0.6", "0.8", "0.95", "1", "2")


def random_law(rng, seed):
    n = int(rng.integers(2, 12))
    if seed % 4 == 0:
        shares = rng.dirichlet(np.ones(n))
    elif seed % 4 == 1:
        shares = np.maximum(rng.dirichlet(np.full(n, 0.3)), 1e-9)
    elif seed % 4 == 2:
        shares = rng.integers(1, 4, n).astype(float)  # ties
    else:
        shares = rng.integers(0, 3, n) + (np.arange(n) == 0) * 1.0  # zeros
    return shares / shares.sum()


def measures(z, matrix):
    distance = np.abs(np.subtract.outer(range(len(z)), range(len(z))))
    w1 = np.abs(np.cumsum(z @ matrix) - np.cumsum(z)).sum()
    return float((z[:, None] * matrix * distance).sum()), float(w1)


def least(z, epsilon, price):
    """min E|i - j| + price W1(zT, z) over U, by HiGHS."""
    n, grow = len(z), np.exp(epsilon)
    width = n * n + n - 1
    sums = lil_array((n, width))
    for i in range(n):
        sums[i, i * n : (i + 1) * n] = 1
    bounds, limits = lil_array((2 * (n - 1) * (n + 1), width)), []
    for i in range(n - 1):
        for j in range(n):
            for a, b in ((i, i + 1), (i + 1, i)):
                bounds[len(limits), a * n + j], bounds[len(limits), b * n + j] = 1, -grow
                limits.append(0.0)
    for b, level in enumerate(np.cumsum(z)[:-1]):
        for sign in (1, -1):
            for i in range(n):
                bounds[len(limits), i * n : i * n + b + 1] = sign * z[i]
            bounds[len(limits), n * n + b] = -1
            limits.append(sign * level)
    distance = np.abs(np.subtract.outer(range(n), range(n)))
    found = linprog(
        np.concatenate([(z[:, None] * distance).ravel(), np.full(n - 1, price)]),
        A_ub=bounds.tocsr(),
        b_ub=limits,
        A_eq=sums.tocsr(),
        b_eq=np.ones(n),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return found.fun


@pytest.mark.parametrize("seed", range(200))
def test_no_private_mechanism_is_better_at_its_price(seed):
    rng = np.random.default_rng([16, seed])
    z, epsilon = random_law(rng, seed), float(rng.choice([0.1, 0.3, 0.5, 1, 2]))
    price = str(rng.choice(PRICES))
    found = Frontier(price=price)(z, epsilon=epsilon)
    error, w1 = measures(found.source if found.source is not None else z, found.matrix)
    assert error == pytest.approx(found.count_error, rel=1e-9, abs=1e-12)
    assert error + float(price) * w1 == pytest.approx(
        least(z, epsilon, float(price)), rel=1e-7, abs=1e-8
    )
    assert found.mechanism.certificate.epsilon <= found.epsilon


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2"])
@pytest.mark.parametrize("family", FAMILIES)
def test_its_ends_are_algorithm_2_and_the_optimum_with_a_fixed_point(family, epsilon):
    z = FAMILIES[family](40)
    free, unfixed = Frontier(price=0)(z, epsilon=epsilon), UnfixedOptimum()(z, epsilon=epsilon)
    assert free.count_error == pytest.approx(unfixed.count_error, rel=1e-10, abs=1e-12)
    assert free.target is None
    optimum = Optimal()(z, epsilon=epsilon)
    for price in (1, "1.5", 10):
        found = Frontier(price=price)(z, epsilon=epsilon)
        np.testing.assert_array_equal(found.matrix, optimum.matrix)
        np.testing.assert_array_equal(found.mechanism.fixed_point, optimum.target)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_higher_price_buys_distribution_for_counts(family):
    z = FAMILIES[family](30)
    points = [
        measures(z, Frontier(price=price)(z, epsilon="0.5").matrix)
        for price in np.linspace(0, 1, 11).round(2).tolist()
    ]
    errors, distances = np.array(points).T
    assert (np.diff(errors) >= -1e-9).all() and (np.diff(distances) <= 1e-9).all()
    assert distances[0] > 0 and distances[-1] < 1e-9
    # a fixed point never costs more count error than the W1 that it repairs
    assert errors[-1] - errors[0] <= distances[0] + 1e-9


def test_masses_that_no_float_tells_from_afar_are_kept_apart():
    z = np.zeros(400)
    z[0], z[399] = 0.6, 0.4
    found = Frontier(price="0.5")(z, epsilon=5)
    assert found.count_error < 0.02 and found.mechanism.certificate.epsilon <= 5


@pytest.mark.parametrize("price", [-1, "-0.1", "x", None, float("nan")])
def test_a_price_below_zero_is_refused(price):
    with pytest.raises(HoldfastError, match="`price`"):
        Frontier(price=price)
