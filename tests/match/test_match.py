from itertools import pairwise
from time import process_time

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.fit.histogram import Histogram
from holdfast.match.match import AT_A_TIME, MOST_CELLS, Matcher, match
from holdfast.measure.measurement import Tally


def histogram(counts):
    values, rows = np.unique(counts, return_counts=True)
    return Histogram(values=values, rows=rows)


def table(rows=3000, groups=5, seed=1, spread=4):
    """Groups, noisy counts with many ties, and a histogram for each group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, rows)
    counts = rng.poisson(spread, rows)
    noisy = counts + rng.integers(-3, 4, rows)
    return noisy, group, [histogram(counts[group == g]) for g in range(groups)]


def test_each_group_has_exactly_its_histogram():
    noisy, group, histograms = table()
    released = match(noisy, group, histograms, 1)
    for g, wanted in enumerate(histograms):
        values, rows = np.unique(released[group == g], return_counts=True)
        np.testing.assert_array_equal((values, rows), (wanted.values, wanted.rows))


def test_released_counts_rise_with_noisy_counts_within_a_group():
    noisy, group, histograms = table()
    released = match(noisy, group, histograms, 1)
    for g in range(5):
        inside = group == g
        order = np.lexsort((released[inside], noisy[inside]))
        assert (np.diff(released[inside][order]) >= 0).all()


def test_ties_are_ordered_by_the_seed_alone():
    noisy, group, histograms = table()
    released = match(noisy, group, histograms, 1)
    np.testing.assert_array_equal(match(noisy, group, histograms, 1), released)
    assert (match(noisy, group, histograms, 2) != released).any()


def test_equal_tables_in_different_groups_order_their_ties_differently():
    wanted = histogram(np.repeat([0, 1], 50))
    released = match(np.zeros(200, int), np.repeat([0, 1], 100), [wanted, wanted], 1)
    assert (released[:100] != released[100:]).any()


@pytest.mark.parametrize("spread", [4, 10 * MOST_CELLS])
@pytest.mark.parametrize("cuts", [(0, 1, 2, 100, 3000), (0, 2999, 3000), (0, 0, 1500, 3000)])
def test_batches_in_order_give_what_the_whole_table_gives(cuts, spread):
    noisy, group, histograms = table(spread=spread)
    released = match(noisy, group, histograms, 1)
    matcher = Matcher(Tally.of_rows(noisy, group, groups=5), histograms, 1)
    parts = [matcher(noisy[a:b], group[a:b]) for a, b in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(parts), released)


def test_integers_may_be_as_narrow_as_they_fit():
    """Products of groups and counts need 64 bits where the integers themselves need 16."""
    rng = np.random.default_rng(4)
    noisy, group = rng.integers(0, 30_000, 5000), rng.integers(0, 2000, 5000)
    narrow = noisy.astype(np.int16), group.astype(np.int16)
    histograms = [histogram(np.arange((group == g).sum())) for g in range(2000)]
    tally, wide = Tally.of_rows(*narrow, groups=2000), Tally.of_rows(noisy, group, groups=2000)
    for name in ("group", "value", "rows"):
        np.testing.assert_array_equal(getattr(tally, name), getattr(wide, name))
    released = match(noisy, group, histograms, 1)
    np.testing.assert_array_equal(match(*narrow, histograms, 1), released)
    np.testing.assert_array_equal(Matcher(tally, histograms, 1)(*narrow), released)


def test_a_table_of_many_thousand_rows_is_matched_in_pieces_of_any_size():
    noisy, group, histograms = table(rows=2 * AT_A_TIME + 5)
    released = match(noisy, group, histograms, 1)
    matcher = Matcher(Tally.of_rows(noisy, group, groups=5), histograms, 1)
    parts = [matcher(noisy[a : a + 999], group[a : a + 999]) for a in range(0, len(noisy), 999)]
    np.testing.assert_array_equal(np.concatenate(parts), released)


def test_more_ties_than_16_bits_can_number_are_matched():
    rng = np.random.default_rng(3)
    noisy = rng.integers(0, 70_000, 400_000)
    wanted = histogram(rng.integers(0, 10**6, 400_000))
    released = match(noisy, np.zeros(400_000, int), [wanted], 1)
    np.testing.assert_array_equal(np.sort(released), np.repeat(wanted.values, wanted.rows))
    order = np.lexsort((released, noisy))
    assert (np.diff(released[order]) >= 0).all()


def test_which_rows_of_a_tie_get_more_does_not_depend_on_their_place():
    """Half of 1,000 equal rows get 1. Over 200 seeds, each quarter of the table gets its share."""
    wanted, rows = [histogram(np.repeat([0, 1], 500))], np.zeros(1000, int)
    ones = np.array([match(rows, rows, wanted, seed) for seed in range(200)])
    assert abs(ones.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(200)
    quarters = ones.reshape(200, 4, 250).sum(axis=2)
    # without replacement: variance 250 · 1/4 · 750/999
    assert abs(quarters.var() / (250 / 4 * 750 / 999) - 1) < 0.25


def test_one_row_and_equal_rows_are_matched():
    assert match(np.array([-7]), np.array([0]), [histogram([3])], 1).tolist() == [3]
    equal = match(np.full(5, 2), np.zeros(5, int), [histogram([1, 1, 1, 1, 1])], 1)
    assert equal.tolist() == [1] * 5
    none = np.empty(0, int)
    assert len(match(none, none, [Histogram(values=none, rows=none)], 1)) == 0


def test_a_group_without_rows_has_an_empty_histogram():
    none = np.empty(0, int)
    empty = Histogram(values=none, rows=none)
    noisy, group = np.array([1, 0]), np.array([2, 2])
    released = match(noisy, group, [empty, empty, histogram([4, 9])], 1)
    assert released.tolist() == [9, 4]


def test_counts_of_a_billion_are_matched():
    noisy = np.array([10**9 + 3, -5, 10**9])
    released = match(noisy, np.zeros(3, int), [histogram([0, 10**9, 2 * 10**9])], 1)
    assert released.tolist() == [2 * 10**9, 0, 10**9]


def test_a_histogram_of_other_rows_is_refused():
    with pytest.raises(HoldfastError, match="as many rows"):
        match(np.array([1, 2]), np.zeros(2, int), [histogram([1, 1, 1])], 1)
    with pytest.raises(HoldfastError, match="as many rows"):
        match(np.array([1, 2]), np.array([0, 1]), [histogram([1, 1]), histogram([])], 1)


@pytest.mark.parametrize("noisy", [5, -9, 1 << 40])
@pytest.mark.parametrize("far", [2, 10 * MOST_CELLS])
def test_a_noisy_count_that_was_not_measured_is_refused(noisy, far):
    tally = Tally(groups=1, group=[0, 0], value=[0, far], rows=[1, 1])
    matcher = Matcher(tally, [histogram([0, 1])], 1)
    with pytest.raises(HoldfastError, match="`noisy`"):
        matcher(np.array([noisy]), np.array([0]))
    with pytest.raises(HoldfastError, match="`noisy`"):
        matcher(np.array([0]), np.array([1]))


def test_more_rows_of_a_tie_than_were_measured_are_refused():
    tally = Tally(groups=1, group=[0], value=[0], rows=[2])
    matcher = Matcher(tally, [histogram([0, 1])], 1)
    matcher(np.zeros(2, int), np.zeros(2, int))
    with pytest.raises(HoldfastError, match="`noisy`"):
        matcher(np.zeros(1, int), np.zeros(1, int))


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, None])
def test_a_seed_of_ties_is_a_whole_number_of_64_bits(seed):
    with pytest.raises(HoldfastError, match="`seed`"):
        match(np.array([1]), np.array([0]), [histogram([1])], seed)


def test_released_counts_are_the_same_on_every_machine_and_in_every_version():
    """`verify` recomputes them: whatever changes these numbers breaks bundles."""
    rows = np.zeros(12, int)
    assert match(rows, rows, [histogram(np.arange(12))], 1).tolist() == SHORT
    rows = np.zeros(1000, int)
    assert match(rows, rows, [histogram(np.arange(1000))], 1)[:12].tolist() == LONG


SHORT = [5, 11, 0, 7, 10, 2, 3, 4, 9, 6, 8, 1]
LONG = [580, 135, 845, 742, 910, 404, 637, 798, 543, 796, 812, 509]


def test_time_grows_with_rows_and_no_faster():
    def seconds(rows):
        noisy, group, histograms = table(rows=rows, groups=30)
        start = process_time()
        match(noisy, group, histograms, 1)
        return process_time() - start

    seconds(1000)
    small, large = (min(seconds(rows) for _ in range(3)) for rows in (50_000, 800_000))
    assert large < 2.5 * 16 * small + 0.1
    assert large < 1.5  # 20 million rows in a few seconds


def test_noisy_counts_of_many_groups_may_lie_as_far_apart_as_there_are():
    noisy = np.array([-(2**61), 2**61, 5, 5, 2**53] * 4)
    group = np.repeat(np.arange(4) * 1000, 5)
    histograms = [Histogram(values=np.array([0, 7]), rows=np.array([3, 2]))] * 4
    empty = Histogram(values=np.zeros(0, np.int64), rows=np.zeros(0, np.int64))
    every = [histograms[k // 1000] if k % 1000 == 0 else empty for k in range(3001)]
    found = match(noisy, group, every, seed=3)
    assert found.reshape(4, 5).tolist() == [[0, 7, 0, 0, 7]] * 4
    with pytest.raises(HoldfastError, match="that the tally does not have"):
        Matcher(Tally.of_rows(noisy, group, groups=3001), every, 3)(np.array([6]), np.array([0]))
