import numpy as np
import pytest

from families import binomial
from holdfast.errors import HoldfastError
from holdfast.former.privatizers import CumulativeIsotonic, CyclicLaplace, expected_error


def test_the_plan_is_what_happens():
    """With wide bins and no projection at work, E W1 is n - 1 times E|L| / N."""
    prior, epsilon = np.full(8, 1 / 8), 0.5
    plan = expected_error(CumulativeIsotonic(), prior, 100_000, epsilon, repetitions=400)
    alpha = np.exp(-epsilon)
    exact = 7 * 2 * alpha / (1 - alpha**2) / 100_000
    assert abs(plan.mean - exact) < 5 * plan.standard_error < exact / 5


@pytest.mark.parametrize("measure", ["wasserstein", "kolmogorov_smirnov", "total_variation"])
def test_less_budget_and_fewer_rows_mean_more_error(measure):
    def error(N, epsilon):
        return expected_error(
            CyclicLaplace(), binomial(21), N, epsilon, repetitions=60, measure=measure
        ).mean

    assert error(10_000, "0.05") > 2 * error(10_000, "0.5")
    assert error(1_000, "0.5") > 2 * error(10_000, "0.5")


def test_a_plan_repeats_itself_and_says_how_well_it_is_known():
    few, many = (
        expected_error(CumulativeIsotonic(), binomial(9), 500, 1, repetitions=runs)
        for runs in (50, 800)
    )
    assert few == expected_error(CumulativeIsotonic(), binomial(9), 500, 1, repetitions=50)
    assert few.standard_error == pytest.approx(4 * many.standard_error, rel=0.5)
    assert "±" in str(few)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"N": 0}, "`N`"),
        ({"N": 2.5}, "`N`"),
        ({"repetitions": 1}, "`repetitions`"),
        ({"measure": "w1"}, "`measure`"),
        ({"prior": [0.5, 0.6]}, "`prior`"),
        ({"epsilon": 0}, "`epsilon`"),
    ],
)
def test_what_cannot_be_planned_is_an_error(change, message):
    given = {"prior": [0.5, 0.5], "N": 10, "epsilon": 1} | change
    with pytest.raises(HoldfastError, match=message):
        expected_error(CumulativeIsotonic(), **given)
