"""How far above the optimum a mechanism says that it may be."""

import pytest

from families import hump
from holdfast.paper.constructors import Heuristic
from holdfast.paper.constructors.construction import above_the_optimum, relative_gap


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
