"""What no private mechanism from tables to tables can get below."""

import itertools

import numpy as np
import pytest

from families import FAMILIES, hump
from holdfast.errors import HoldfastError
from holdfast.paper import theory
from holdfast.paper.constructors import Frontier, Heuristic, Optimal, UnfixedOptimum
from holdfast.paper.constructors.baselines import Staircase, TruncatedGeometric
from holdfast.paper.distributions import wasserstein

KERNELS = [
    Optimal(),
    UnfixedOptimum(),
    Heuristic(selector="min"),
    TruncatedGeometric(),
    Staircase(),
    *(Frontier(price=price) for price in (0, "0.1", "0.3", "0.5", "0.7", "0.9")),
]


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "2"])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_kernel_is_below_it_and_the_frontier_touches_it(family, epsilon):
    z = FAMILIES[family](15)
    bound = theory.lower_bound(z, epsilon)
    for constructor in KERNELS:
        matrix = constructor(z, epsilon=epsilon).matrix
        distance = np.abs(np.subtract.outer(range(15), range(15)))
        error, w1 = (z[:, None] * matrix * distance).sum(), wasserstein(z, z @ matrix)
        least = bound.count_error(w1)
        assert least <= error + 1e-9
        if isinstance(constructor, Optimal | UnfixedOptimum | Frontier):
            assert least == pytest.approx(error, rel=1e-6)


def test_it_falls_from_the_optimum_to_the_unfixed_optimum():
    z = hump(30)
    bound = theory.lower_bound(z, "0.5")
    assert bound.count_error(0) == pytest.approx(Optimal()(z, epsilon="0.5").count_error)
    unfixed = UnfixedOptimum()(z, epsilon="0.5").count_error
    assert bound.count_error(100) == pytest.approx(unfixed)
    values = [bound.count_error(w1) for w1 in np.linspace(0, 2, 21)]
    assert (np.diff(values) <= 1e-9).all() and (np.diff(values, n=2) >= -1e-7).all()


def shuffled_table_mechanism(matrices):
    """A mechanism from tables of two counts to tables of two, whose rows depend on each other: the
    second row's kernel is chosen by what was released for the first."""

    def law(table):
        first, second = table
        n = len(matrices[0])
        joint = np.zeros((n, n))
        for a in range(n):
            joint[a] = matrices[0][first, a] * matrices[1 + a % 2][second]
        return joint

    return law


def test_a_mechanism_from_tables_to_tables_is_not_below_it_either():
    """By averaging over a row's place and the other rows, as the proof does."""
    z, epsilon = np.array([0.5, 0.3, 0.2]), 0.7
    parts = [
        Optimal()(z, epsilon="0.7").matrix,
        UnfixedOptimum()(z, epsilon="0.7").matrix,
        Optimal(target=z[::-1])(z, epsilon="0.7").matrix,
    ]
    law = shuffled_table_mechanism(parts)
    error = w1 = 0.0
    for table in itertools.product(range(3), repeat=2):
        chance, joint = z[table[0]] * z[table[1]], law(table)
        zeta = np.bincount(table, minlength=3) / 2
        for released in itertools.product(range(3), repeat=2):
            weight = chance * joint[released]
            error += weight * np.abs(np.subtract(table, released)).mean()
            w1 += weight * wasserstein(zeta, np.bincount(released, minlength=3) / 2)
    bound = theory.lower_bound(z, epsilon)
    assert bound.count_error(w1) <= error
    assert bound.above(error, w1) > 0
    assert bound.above(bound.count_error(0.05), 0.05) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("w1", [-0.1, float("nan")])
def test_a_distance_below_zero_is_refused(w1):
    with pytest.raises(HoldfastError, match="`w1`"):
        theory.lower_bound([0.5, 0.5], 1).count_error(w1)
