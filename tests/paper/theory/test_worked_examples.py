"""The two worked examples of the paper: n = 3, ε = ln 2, z uniform."""

import pytest

from holdfast.paper import theory
from theory_examples import B1, B2, B3, B4, B5, B6, LN2, NAMES, THIRD, exact

COUNTS = {"F": 36, "R_F": 78, "U": 27, "R_U": 36}
SHARED_F = exact(["2/5 1/4 7/20", "1/5 1/2 3/10", "2/5 1/4 7/20"])
FIRST_COLUMN = exact(["1 0 0"] * 3)
EXAMPLES = {
    "B1": ("R_F", B1, SHARED_F, True),
    "B2": ("R_F", B2, SHARED_F, True),
    "B3": ("R_F", B3, None, False),
    "B4": ("R_U", B4, FIRST_COLUMN, True),
    "B5": ("R_U", B5, FIRST_COLUMN, True),
    "B6": ("R_U", B6, exact(["5/6 0 1/6", "4/6 0 2/6", "5/6 0 1/6"]), False),
}


@pytest.fixture(scope="module")
def corners():
    return {name: theory.vertices(name, z=THIRD, epsilon=LN2) for name in NAMES}


def is_among(matrix, points):
    return any((matrix == point).all() for point in points)


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_of_extreme_points_are_the_papers(corners, name):
    assert len(corners[name]) == COUNTS[name]
    assert len({tuple(point.flat) for point in corners[name]}) == COUNTS[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_enumerated_point_is_an_extreme_member(corners, name):
    for point in corners[name]:
        assert theory.is_extreme(point, name, z=THIRD, epsilon=LN2)
    middle = sum(corners[name]) / COUNTS[name]
    assert theory.is_member(middle, name, z=THIRD, epsilon=LN2)
    assert not theory.is_extreme(middle, name, z=THIRD, epsilon=LN2)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_extreme_and_have_the_printed_image_and_status(corners, example):
    name, b, image, kept = EXAMPLES[example]
    assert is_among(b, corners[name])
    assert theory.is_extreme(b, name, z=THIRD, epsilon=LN2)
    found = theory.scale_matrix(3, LN2) @ b
    if image is not None:
        assert (found == image).all()
    assert theory.is_extreme(found, name[2:], z=THIRD, epsilon=LN2) == kept
    assert is_among(found, corners[name[2:]]) == kept
    assert theory.preservation(b, name, z=THIRD, epsilon=LN2).preserved == kept


def test_the_image_of_b6_is_the_printed_convex_combination():
    first = exact(["11/12 0 1/12", "10/12 0 2/12", "11/12 0 1/12"])
    second = exact(["9/12 0 3/12", "6/12 0 6/12", "9/12 0 3/12"])
    for end in (first, second):
        assert theory.is_member(end, "U", epsilon=LN2)
    assert (theory.scale_matrix(3, LN2) @ B6 == (first + second) / 2).all()


@pytest.mark.parametrize("name", ["R_F", "R_U"])
def test_every_extreme_mechanism_is_the_image_of_an_extreme_representation(corners, name):
    images = [theory.scale_matrix(3, LN2) @ b for b in corners[name]]
    assert all(is_among(t, images) for t in corners[name[2:]])


@pytest.mark.parametrize("name", ["R_F", "R_U"])
def test_the_complement_criterion_agrees_with_the_rank_of_the_image(corners, name):
    kept = 0
    for b in corners[name]:
        found = theory.preservation(b, name, z=THIRD, epsilon=LN2)
        image = theory.scale_matrix(3, LN2) @ b
        assert found.preserved == theory.is_extreme(image, name[2:], z=THIRD, epsilon=LN2)
        assert theory.is_in_kernel_complement(found.direction, LN2)
        values = [(found.direction * other).sum() for other in corners[name]]
        assert max(values) == (found.direction * b).sum() == 0
        kept += found.preserved
    assert 0 < kept < len(corners[name])


def test_most_directions_are_not_in_the_complement():
    assert not theory.is_in_kernel_complement(B1, LN2)


@pytest.mark.parametrize("name", ["R_F", "R_U"])
def test_positive_entries_lie_within_the_corollaries_bounds(corners, name):
    fewest, most = theory.positive_entry_bounds(name, z=THIRD)
    counts = {int((b > 0).sum()) for b in corners[name]}
    assert fewest <= min(counts) and max(counts) <= most
    assert max(counts) == most  # the upper bound is reached
    if name == "R_U":
        assert all(((b > 0).sum(axis=1) <= 1).all() for b in corners[name])
