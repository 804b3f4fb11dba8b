import numpy as np
import pytest

from families import FAMILIES, binomial, hump
from holdfast.constructors import Heuristic, Optimal, Windowed


@pytest.mark.parametrize("error", ["absolute", "squared"])
@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2"])
@pytest.mark.parametrize("family", [binomial, hump])
def test_it_closes_more_than_half_of_the_gap_that_the_sandwich_leaves(family, epsilon, error):
    z = family(300)
    found = Windowed(error=error)(z, epsilon=epsilon)
    best = Optimal(error=error)(z, epsilon=epsilon)
    sandwich = Heuristic(selector="sandwich", error=error)(z, epsilon=epsilon)
    assert found.lower_bound <= best.count_error
    assert best.lower_bound <= found.count_error
    left, before = (c.count_error - best.count_error for c in (found, sandwich))
    # where the sandwich is within 0.2 % of the optimum there is nothing to close
    assert left <= max(0.5 * before, 0.002 * best.count_error)


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "4"])
@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_never_worse_than_the_heuristic_and_always_certified(family, epsilon):
    z = FAMILIES[family](260)
    found = Windowed()(z, epsilon=epsilon)
    assert found.count_error <= Heuristic()(z, epsilon=epsilon).count_error
    assert found.lower_bound <= found.count_error
    mechanism = found.mechanism
    assert np.abs(found.target @ mechanism.matrix - found.target).max() <= 1e-9
    assert mechanism.count_error(found.target) <= found.count_error * 1.001


def test_a_target_that_fits_into_one_window_is_solved_to_the_optimum():
    assert Windowed()(hump(50), epsilon=1).method == "Optimal()"
