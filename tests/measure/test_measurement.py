from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.measure.measurement import Measurement, Sums, Tally, Totals
from holdfast.privacy.noise import Noise

NOISE = Noise(epsilon=Fraction(1, 3))
TALLY = Tally(groups=3, group=[0, 0, 2], value=[-4, 10**12, 0], rows=[1, 2, 3])
SUMS = Sums(edges=[0, 2, 5], values=[-7, 30], noise=NOISE)
TOTALS = Totals(values=[5, -1, 2], noise=NOISE)
MEASUREMENT = Measurement(
    noise=NOISE, tally=TALLY, sums=(SUMS, None, SUMS), whole=SUMS, totals=TOTALS
)
PLAIN = Measurement(
    noise=Noise.least(Fraction(2), 5),
    tally=Tally(groups=1, group=[0], value=[3], rows=[8]),
)
WITH_WHOLE = Totals(values=[1, 2, 3], noise=NOISE, whole=6, whole_noise=Noise(epsilon=Fraction(1)))


# --- tallies


def brute_force(value, group):
    cells, rows = np.unique(np.stack([group, value]), axis=1, return_counts=True)
    return [cells[0].tolist(), cells[1].tolist(), rows.tolist()]


def lists(tally):
    return [tally.group.tolist(), tally.value.tolist(), tally.rows.tolist()]


@pytest.mark.parametrize("spread", [3, 900, 1 << 17, 1 << 45, 1 << 61])
@pytest.mark.parametrize("groups", [1, 4, 3000])
def test_rows_are_counted_by_group_and_value_however_far_values_lie_apart(spread, groups):
    rng = np.random.default_rng(1)
    value = rng.choice(rng.integers(-spread, spread, 40), 500)
    group = rng.integers(0, groups, 500)
    assert lists(Tally.of_rows(value, group, groups=groups)) == brute_force(value, group)


def test_tallies_of_parts_join_to_that_of_all_rows():
    rng = np.random.default_rng(2)
    value, group = rng.integers(-5, 5, 90), rng.integers(0, 4, 90)
    parts = [Tally.of_rows(value[a:b], group[a:b], groups=4) for a, b in ((0, 0), (0, 7), (7, 90))]
    assert lists(Tally.joined(parts, groups=4)) == brute_force(value, group)
    assert lists(Tally.joined([], groups=4)) == [[], [], []]


def test_a_group_has_its_own_rows_and_the_whole_has_all():
    assert [part.tolist() for part in TALLY.of(0)] == [[-4, 10**12], [1, 2]]
    assert [part.tolist() for part in TALLY.of(1)] == [[], []]
    assert [part.tolist() for part in TALLY.of(2)] == [[0], [3]]
    assert TALLY.rows_by_group().tolist() == [3, 0, 3]
    assert lists(TALLY.whole()) == [[0, 0, 0], [-4, 0, 10**12], [1, 3, 2]]
    same = Tally(groups=2, group=[0, 1], value=[5, 5], rows=[1, 2]).whole()
    assert lists(same) == [[0], [5], [3]]


@pytest.mark.parametrize(
    "change",
    [
        {"value": [10**12, -4, 0]},
        {"value": [-4, -4, 0]},
        {"group": [0, 2, 0]},
        {"group": [0, 0, 3]},
        {"group": [-1, 0, 2]},
        {"rows": [1, 0, 3]},
        {"rows": [1, 2]},
        {"rows": [1, 2, 3.5]},
        {"rows": [1, 2, "3"]},
        {"rows": [1, 2, 1 << 63]},
        {"rows": [[1], [2], [3]]},
        {"rows": 1},
        {"groups": 0},
        {"groups": 3.0},
    ],
)
def test_a_tally_that_cannot_be_is_refused(change):
    with pytest.raises(HoldfastError):
        replace(TALLY, **change)


# --- measurements


def test_nobody_can_change_what_was_measured():
    for array in (TALLY.rows, TALLY.value, SUMS.values, SUMS.edges, TOTALS.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    given = np.array([0, 2, 5])
    Sums(edges=given, values=[1, 2], noise=NOISE)
    given[0] = 1  # a caller's array stays its own
    with pytest.raises(AttributeError):
        MEASUREMENT.noise = NOISE


@pytest.mark.parametrize(
    "change",
    [
        {"edges": [0, 2]},
        {"edges": [0, 2, 2]},
        {"edges": [-1, 2, 5]},
        {"edges": [0], "values": []},
        {"values": [1.5, 2]},
    ],
)
def test_sums_that_cannot_be_are_refused(change):
    with pytest.raises(HoldfastError):
        replace(SUMS, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"sums": (None,)},
        {"sums": (SUMS,) * 2},
        {"totals": Totals(values=[1], noise=NOISE)},
        {"tally": PLAIN.tally, "sums": (None,), "totals": None},
    ],
)
def test_a_measurement_that_does_not_fit_together_is_refused(change):
    with pytest.raises(HoldfastError):
        replace(MEASUREMENT, **change)


@pytest.mark.parametrize("change", [{"whole": None}, {"whole_noise": None}])
def test_a_total_of_the_whole_without_its_noise_is_refused(change):
    with pytest.raises(HoldfastError, match="total"):
        replace(WITH_WHOLE, **change)
