import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.measure.measurement import Tally
from holdfast.measure.room import FEW_GROUPS, Room, block_sums, group_totals
from holdfast.privacy.noise import Noise, add_noise
from holdfast.privacy.randomness import Simulation, SystemEntropy
from plain_measurements import plain

COUNTS_NOISE = Noise(epsilon=Fraction(1))
SUMS_NOISE = Noise(epsilon=Fraction(1, 4))
NEARLY_NONE = Noise(epsilon=Fraction(200))


def up_to(most):
    return lambda *_: np.arange(most + 1)


def table(rows=2000, groups=7, seed=1):
    rng = np.random.default_rng(seed)
    return rng.poisson(3, rows), rng.integers(0, groups, rows)


def measured(counts, group, groups, *, cuts=None, seed=1, blocks=None, **parts):
    """Noisy counts and measurement of a table in batches."""
    cuts = cuts or [0, len(counts)]
    room = Room(COUNTS_NOISE, source=Simulation(seed), groups=groups, column="n")
    noisy = []
    for a, b in pairwise(cuts):
        noisy.append(room.noisy(counts[a:b], group[a:b], a))
    parts = parts or {"whole": SUMS_NOISE, "sums": SUMS_NOISE, "totals": SUMS_NOISE}
    return np.concatenate(noisy), room.finish(blocks or up_to(10), **parts)


def test_noisy_counts_are_counts_plus_the_stated_noise():
    counts, group = table()
    noisy, measurement = measured(counts, group, 7)
    again = add_noise(counts, COUNTS_NOISE, Simulation(1), stream="'n' counts")
    np.testing.assert_array_equal(noisy, again)
    assert measurement.noise == COUNTS_NOISE
    assert abs(np.abs(noisy - counts).mean() / COUNTS_NOISE.mean_absolute - 1) < 0.15


def test_the_tally_counts_noisy_counts_by_group():
    counts, group = table()
    noisy, measurement = measured(counts, group, 7)
    for g in range(7):
        values, rows = np.unique(noisy[group == g], return_counts=True)
        np.testing.assert_array_equal(measurement.tally.of(g), (values, rows))


def test_sums_are_those_of_the_cumulative_histogram_over_the_blocks():
    counts, group = table()
    edges = np.array([0, 1, 2, 5, 9, 30])
    _, measurement = measured(
        counts, group, 7, blocks=lambda *_: edges, sums=NEARLY_NONE, whole=NEARLY_NONE
    )
    parts = [*((measurement.sums[g], group == g) for g in range(7)), (measurement.whole, group < 7)]
    for sums, inside in parts:
        cumulative = [(counts[inside] <= i).sum() for i in range(edges[-1])]
        exact = [sum(cumulative[a:b]) for a, b in pairwise(edges)]
        assert sums.values.tolist() == exact
        assert sums.edges.tolist() == edges.tolist()
        assert sums.noise == NEARLY_NONE


def test_sums_have_the_noise_that_was_asked_for():
    counts, group = np.zeros(30, int), np.zeros(30, int)
    _, measurement = measured(counts, group, 1, blocks=up_to(4000), whole=SUMS_NOISE)
    errors = measurement.whole.values - 30
    assert abs(errors.mean()) < 6 * np.sqrt(SUMS_NOISE.variance / 4000)
    assert abs(errors.var() / SUMS_NOISE.variance - 1) < 0.25


def test_totals_are_those_of_each_group_and_of_the_table_where_groups_are_many():
    counts, _ = table()
    for groups in (1, FEW_GROUPS, FEW_GROUPS + 1):
        group = np.arange(len(counts)) % groups
        _, measurement = measured(counts, group, groups, totals=NEARLY_NONE)
        totals = measurement.totals
        assert totals.values.tolist() == np.bincount(group, counts).tolist()
        if groups <= FEW_GROUPS:
            assert (totals.whole, totals.noise) == (None, NEARLY_NONE)
        else:
            assert totals.whole == counts.sum()
            assert totals.noise.epsilon + totals.whole_noise.epsilon == NEARLY_NONE.epsilon


def test_nothing_is_measured_that_was_not_asked_for():
    counts, group = table()
    _, measurement = measured(counts, group, 7, sums=None)
    assert measurement.sums == ()
    assert measurement.whole is None
    assert measurement.totals is None


def test_a_group_whose_noisy_counts_ask_for_no_sums_gets_none():
    counts, group = table(60, 2)

    def choose_blocks(value, rows, noise, sums_noise):
        return np.arange(5) if rows.sum() == (group == 1).sum() else np.array([0])

    _, measurement = measured(counts, group, 2, blocks=choose_blocks)
    assert measurement.sums[0] is None
    assert len(measurement.sums[1].values) == 4
    assert measurement.whole is None


def test_blocks_are_chosen_from_noisy_counts_and_the_laws_of_the_noise():
    counts, group = table()
    asked = []

    def choose_blocks(*arguments):
        asked.append(arguments)
        return np.arange(3)

    whole = Noise(epsilon=Fraction(1, 9))
    noisy, _ = measured(counts, group, 7, blocks=choose_blocks, sums=SUMS_NOISE, whole=whole)
    assert len(asked) == 8
    for g, (value, rows, noise, sums_noise) in enumerate([*asked[1:], asked[0]]):
        inside = group == g if g < 7 else group < 7
        np.testing.assert_array_equal((value, rows), np.unique(noisy[inside], return_counts=True))
        assert (noise, sums_noise) == (COUNTS_NOISE, SUMS_NOISE if g < 7 else whole)


@pytest.mark.parametrize("cuts", [[0, 1, 2, 1000, 2000], [0, 700, 700, 2000]])
def test_batches_and_rooms_of_parts_give_the_measurement_of_the_whole(cuts):
    counts, group = table()
    noisy, whole = measured(counts, group, 7)
    noisy_parts, parts = measured(counts, group, 7, cuts=cuts)
    np.testing.assert_array_equal(noisy_parts, noisy)
    assert plain(parts) == plain(whole)


def test_a_seed_gives_sums_of_their_own_noise():
    """No two numbers may share their noise, or a difference would tell the truth."""
    counts = np.arange(40) % 2
    group = np.arange(40) // 20
    _, measurement = measured(counts, group, 2, blocks=up_to(40))
    noises = [sums.values - 20 for sums in measurement.sums] + [measurement.whole.values - 40]
    assert not np.array_equal(noises[0][2:], noises[1][2:])
    assert not np.array_equal(noises[0][2:], noises[2][2:])
    other = Room(COUNTS_NOISE, source=Simulation(1), column="m").noisy(counts)
    assert not np.array_equal(other, measured(counts, group, 2)[0])


def test_a_room_measures_once():
    room = Room(COUNTS_NOISE, source=Simulation(1))
    room.noisy(np.arange(5))
    room.finish(up_to(3), whole=SUMS_NOISE)
    for again in (
        lambda: room.finish(up_to(3), whole=SUMS_NOISE),
        lambda: room.noisy(np.arange(5)),
    ):
        with pytest.raises(HoldfastError, match="closed"):
            again()


def test_noise_for_one_shift_is_refused_where_several_sums_change():
    """A staircase hides a change of k in one number, not of one in k numbers."""
    staircase = Noise.least(Fraction(1), 3)
    for part in ("sums", "whole", "totals"):
        room = Room(staircase, source=Simulation(1), groups=2)
        with pytest.raises(HoldfastError, match="discrete Laplace"):
            room.finish(up_to(3), **{part: staircase})


def test_the_only_group_has_no_sums_beside_those_of_the_whole():
    with pytest.raises(HoldfastError, match="only group"):
        Room(COUNTS_NOISE, source=Simulation(1)).finish(up_to(3), sums=SUMS_NOISE)


@pytest.mark.parametrize("edges", [[3, 2], [0, 0, 1], [-1, 4]])
def test_blocks_that_overlap_are_refused(edges):
    room = Room(COUNTS_NOISE, source=Simulation(1))
    with pytest.raises(HoldfastError, match="edges"):
        room.finish(lambda *_: np.array(edges), whole=SUMS_NOISE)


@pytest.mark.parametrize("source", [SystemEntropy(), Simulation(1)], ids=["system", "seeded"])
def test_one_row_is_measured(source):
    room = Room(COUNTS_NOISE, source=source)
    noisy = room.noisy(np.array([4]))
    measurement = room.finish(up_to(3), whole=SUMS_NOISE, totals=SUMS_NOISE)
    assert measurement.tally.value.tolist() == noisy.tolist()
    assert measurement.tally.rows.tolist() == [1]
    assert len(measurement.whole.values) == 3


def test_no_rows_are_measured():
    room = Room(COUNTS_NOISE, source=Simulation(1), groups=3)
    measurement = room.finish(up_to(3), sums=SUMS_NOISE, whole=SUMS_NOISE, totals=SUMS_NOISE)
    assert len(measurement.tally.rows) == 0
    assert [len(sums.values) for sums in measurement.sums] == [3, 3, 3]


def test_counts_of_a_billion_are_measured():
    counts = np.array([10**9, 0, 10**9 - 1] * 500)
    edges = np.array([0, 10**3, 10**9, 10**9 + 1])
    room = Room(COUNTS_NOISE, source=Simulation(1))
    noisy = room.noisy(counts)
    measurement = room.finish(lambda *_: edges, whole=NEARLY_NONE, totals=NEARLY_NONE)
    assert np.abs(noisy - counts).max() < 30
    assert measurement.totals.values[0] == int(counts.sum())
    exact = [500 * 10**3, 500 * (10**9 - 10**3) + 500, 1500]
    assert measurement.whole.values.tolist() == exact


def test_thousands_of_groups_are_measured_by_sorting_and_not_one_by_one():
    counts, group = table(300_000, 5000)
    noisy, measurement = measured(counts, group, 5000, cuts=[0, 100_000, 300_000])
    assert measurement.groups == 5000
    values, rows = np.unique(noisy[group == 4321], return_counts=True)
    np.testing.assert_array_equal(measurement.tally.of(4321), (values, rows))


def test_block_sums_of_any_table_are_sums_of_its_cumulative_histogram():
    rng = np.random.default_rng(2)
    for _ in range(200):
        counts = rng.integers(0, 12, rng.integers(0, 9))
        edges = np.unique(rng.integers(0, 16, rng.integers(2, 8)))
        value, rows = np.unique(counts, return_counts=True)
        cumulative = [int((counts <= i).sum()) for i in range(20)]
        exact = [sum(cumulative[a:b]) for a, b in pairwise(edges)]
        assert block_sums(value, rows, edges).tolist() == exact


def test_a_total_beyond_64_bits_is_capped():
    """A cap moves no two totals apart, so that noise hides as much as before."""
    huge = np.full(8, 1 << 60)
    true = Tally.of_rows(np.append(huge, 7), np.append(np.zeros(8, int), 1), groups=2)
    assert group_totals(true).tolist() == [1 << 61, 7]


def test_sums_are_exact_where_totals_of_counts_do_not_fit_into_64_bits():
    value, rows = np.array([0, 7, 1 << 60]), np.array([3, 1 << 20, 1 << 10])
    edges = np.array([1 << 59, (1 << 59) + 5, 1 << 60, (1 << 60) + 1])
    low, all_rows = 3 + (1 << 20), 3 + (1 << 20) + (1 << 10)
    assert block_sums(value, rows, edges[:2]).tolist() == [5 * low]
    assert block_sums(value, rows, edges[2:]).tolist() == [all_rows]


def test_blocks_whose_sums_might_not_fit_into_64_bits_are_not_measured():
    """Whether they might follows from their width and the number of rows, not from counts."""
    for width, fits in ((1 << 58, True), (1 << 59, False)):
        for count in (0, 1 << 60):
            room = Room(Noise(epsilon=Fraction(1)), source=Simulation(1))
            room.noisy(np.full(4, count))
            found = room.finish(
                lambda *_, width=width: np.array([0, width]), whole=Noise(epsilon=Fraction(1))
            )
            assert (found.whole is not None) == fits


def test_a_measurement_is_all_plain_values():
    counts, group = table(200, 3)
    _, measurement = measured(counts, group, 3)
    assert json.loads(json.dumps(plain(measurement))) == plain(measurement)
