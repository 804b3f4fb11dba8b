"""The privatizer for counts that run far: what is measured, and what z is worth."""

import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.engines.by_group import check_room_for_groups
from holdfast.former.privatizers import CumulativeSmooth, LongRange, certifier, usual_privatizer
from holdfast.former.privatizers.block_fit import Blocks
from holdfast.former.privatizers.regions import (
    FIRST_SHARE,
    LARGEST_SUM,
    Regions,
    find_regions,
    first_edges,
    first_sums,
)
from holdfast.former.privacy.metrics import wasserstein
from holdfast.former.privacy.randomness import Simulation, laplace_measurement
from silence import Silence

tables = st.lists(st.integers(0, 60), min_size=1, max_size=30)


def histogram_of(counts, bins):
    return np.bincount(np.minimum(counts, bins - 1), minlength=bins)


def powerlaw(rows, top, seed=5):
    shares = (1.0 + np.arange(top + 1)) ** -1.6
    return np.random.default_rng(seed).choice(top + 1, size=rows, p=shares / shares.sum())


def regions_of(counts, bins, seed, epsilon=Fraction(1, 10)):
    first = Simulation(seed).add_laplace(first_sums(histogram_of(counts, bins)), epsilon)
    return find_regions(first, bins, len(counts), epsilon)


@given(tables, st.integers(0, 29), st.integers(2, 70), st.integers(0, 9))
def test_one_person_changes_one_sum_of_each_look_by_one(counts, row, bins, seed):
    regions = regions_of(np.array(counts), bins, seed)
    neighbour = np.array(counts)
    neighbour[row % len(counts)] += 1
    for sums in (first_sums, regions.sums):
        before, after = (sums(histogram_of(c, bins)) for c in (np.array(counts), neighbour))
        moved = int(counts[row % len(counts)] < bins - 1)  # a top-coded count stays
        assert np.abs(after - before).sum() == moved


@given(tables, st.integers(2, 70), st.integers(0, 9))
def test_regions_share_no_cell_and_leave_none_out(counts, bins, seed):
    """Cells below the border are counted as rows that are not there yet: N for every count."""
    regions, capped = regions_of(np.array(counts), bins, seed), np.minimum(counts, bins - 1)
    sums = regions.sums(histogram_of(counts, bins))
    columns = len(regions.columns) - 1
    below = regions.border * len(counts) - sums[:columns].sum()
    assert below + sums[columns:].sum() == capped.sum()


def test_sums_over_ranks_are_those_of_the_sorted_list():
    counts = np.random.default_rng(3).integers(0, 40, 200)
    regions = Regions(border=7, columns=np.array([0, 3, 7]), ranks=np.array([0, 1, 2, 60, 200]))
    excess = np.maximum(np.sort(counts)[::-1] - 7, 0)
    cumulative = np.cumsum(histogram_of(counts, 41))
    expected = [cumulative[:3].sum(), cumulative[3:7].sum()]
    expected += [excess[a:b].sum() for a, b in ((0, 1), (1, 2), (2, 60), (60, 200))]
    assert regions.sums(histogram_of(counts, 41)).tolist() == expected


def test_noise_of_both_looks_is_asked_for_and_adds_up_to_epsilon():
    source, epsilon = Silence(), Fraction(1, 3)
    LongRange().measure(histogram_of(powerlaw(500, 2000), 2001), epsilon, source)
    asked = [("laplace", epsilon * share, 1) for share in (FIRST_SHARE, 1 - FIRST_SHARE)]
    assert [tuple(ask) for ask in source.asked] == asked
    stated = sum(laplace_measurement(share)[1] for _, share, _ in asked)
    assert LongRange().certified_epsilon(epsilon) == stated <= epsilon
    assert certifier(LongRange()) == "OpenDP's map"
    assert not LongRange.independent_steps  # several steps may fall into one block


@given(tables, st.integers(1, 70), st.sampled_from(["0.01", "0.5", "5"]), st.integers(0, 99))
def test_z_is_a_distribution(counts, bins, epsilon, seed):
    z = LongRange()(histogram_of(counts, bins), epsilon=epsilon, rng=seed)
    assert z.shape == (bins,)
    assert z.min() >= 0
    assert z.sum() == pytest.approx(1, abs=1e-9)


def test_a_generous_budget_gives_the_truth():
    counts = np.concatenate([np.zeros(40_000, int), powerlaw(60_000, 3000), [90_000, 100_000]])
    histogram = histogram_of(counts, 100_001)
    z = LongRange()(histogram, epsilon=10, rng=0)
    assert wasserstein(z, histogram / histogram.sum()) < 0.01


@pytest.mark.parametrize("top", [2000, 100_000])
def test_z_is_at_least_twice_as_near_as_that_of_every_count_alone(top):
    histogram = histogram_of(powerlaw(5000, top), top + 1)
    truth = histogram / histogram.sum()
    from holdfast.former.privatizers import CumulativeIsotonic

    ours, others = (
        np.mean([wasserstein(p(histogram, epsilon="0.1", rng=s), truth) for s in range(4)])
        for p in (LongRange(), CumulativeIsotonic())
    )
    assert 2 * ours < others


def test_a_long_empty_tail_does_not_move_the_mean():
    counts = powerlaw(3000, 500)
    means = []
    for top in (1000, 1_000_000):
        histogram = histogram_of(counts, top + 1)
        draws = [LongRange()(histogram, epsilon="0.1", rng=s) for s in range(3)]
        means.append([z @ np.arange(top + 1) - counts.mean() for z in draws])
    assert np.abs(means).max() < 0.15  # noise of a hundred sums over 3000 rows


def test_a_row_far_above_all_others_is_found():
    counts = np.append(powerlaw(2000, 300), 800_000)
    z = LongRange()(histogram_of(counts, 1_000_001), epsilon="0.1", rng=1)
    far = z[1000:].nonzero()[0] + 1000
    heavy = z[799_700:800_300].sum() * len(counts)
    assert heavy == pytest.approx(1, abs=0.05)
    assert far.max() < 800_300


def test_many_rows_at_the_top_code_stay_there():
    histogram = histogram_of(np.append(powerlaw(3000, 400), np.full(900, 9999)), 5001)
    z = LongRange()(histogram, epsilon="0.5", rng=2)
    assert z[-1] == pytest.approx(histogram[-1] / histogram.sum(), rel=0.05)


def test_the_fit_repeats_itself_and_refuses_other_numbers():
    histogram, epsilon = histogram_of(powerlaw(500, 5000), 5001), Fraction(1, 5)
    noisy = LongRange().measure(histogram, epsilon, Simulation(4))
    first, second = (LongRange().fit(noisy, 5001, 500, epsilon) for _ in range(2))
    assert np.array_equal(first, second)
    for left in (0, 5, len(noisy) - 1):
        with pytest.raises(HoldfastError, match="numbers of a first look"):
            LongRange().fit(noisy[:left], 5001, 500, epsilon)


def test_blocks_without_a_usable_fit_fall_back_on_the_nearest_rising():
    edges = np.arange(6.0)
    blocks = Blocks(
        edges=edges,
        sums=np.array([1.0, 3, 2, np.inf, 9]),
        epsilon=1.0,
        scale=np.log1p(edges[:-1]),
        exponential=False,
    )
    assert np.array_equal(blocks.smoothed(9.0, 1.0), blocks.nearest(9.0))


def test_what_would_not_fit_into_64_bits_is_refused():
    with pytest.raises(HoldfastError, match="2\\^62"):
        first_sums(np.array([LARGEST_SUM // 4, 0, 0, 1]))


def test_first_blocks_double():
    assert first_edges(2).tolist() == [0, 1]
    assert first_edges(1_000_001)[-3:].tolist() == [262_144, 524_288, 1_000_000]


def test_the_default_follows_max_count_even_where_that_is_found():
    assert usual_privatizer(1000) == CumulativeSmooth()
    assert usual_privatizer(1001) == LongRange()
    counts = powerlaw(2000, 3000)
    assert holdfast.privatize(counts, epsilon=1, max_count=2000, seed=1).methods[0] == "LongRange()"
    wide = holdfast.PrivateQuantile("0.9", highest=100_000)
    found = holdfast.privatize(counts, epsilon=1, max_count=wide, seed=1)
    assert found.max_count_found.max_count < 1000
    assert found.methods[0] == "CumulativeSmooth(projection='smooth')"


def test_a_release_of_a_long_range_is_saved_verified_and_loaded(tmp_path):
    release = holdfast.privatize(powerlaw(2000, 20_000), epsilon=1, max_count=20_000, seed=3)
    release.save(tmp_path / "out")
    assert holdfast.load(tmp_path / "out").measurement.tolist() == release.measurement.tolist()


@pytest.fixture(scope="module")
def by_state():
    frame = {"state": ["a", "b", "b"] * 700, "visits": powerlaw(2100, 20_000).tolist()}
    frame["state"][-1] = "alone"
    options = {"count": "visits", "within": "state", "epsilon": 2, "max_count": 20_000}
    return pa.table(frame), options


def test_groups_of_long_ranges_are_fitted_together_and_the_bundle_holds(tmp_path, by_state):
    table, options = by_state
    release = holdfast.privatize(table, **options, seed=4, totals=True)
    assert release.methods[0] == "JointSmooth(sums_first=True)"
    assert release.privacy.stage_1_certified <= release.privacy.budget.stage_1
    counts, states = (table[name].to_numpy() for name in ("visits", "state"))
    for name in ("a", "b"):
        own = np.bincount(counts[states == name], minlength=20_001) / (states == name).sum()
        assert wasserstein(release.groups[name].target, own) < 20
    release.save(tmp_path / "out")
    loaded = holdfast.load(tmp_path / "out")
    again = (one.tolist() for one in loaded.groups.measurement.groups)
    assert list(again) == [one.tolist() for one in release.groups.measurement.groups]
    found = loaded.ask("mean", by="state")
    assert abs(found["b"].estimate - counts[states == "b"].mean()) < 10


def test_a_stream_of_groups_of_long_ranges_is_the_release_in_memory(tmp_path, by_state):
    table, options = by_state
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    holdfast.privatize_stream(tmp_path / "in.parquet", tmp_path / "a", **options, seed=4)
    one = holdfast.load(tmp_path / "a")
    assert one.counts.tolist() == holdfast.privatize(table, **options, seed=4).counts.tolist()


def test_more_counts_in_all_groups_than_memory_holds_are_refused_before_anything_is_paid():
    counts = np.random.default_rng(1).permutation(400)
    table = pa.table({"state": [f"s{k % 40}" for k in range(400)], "visits": counts})
    with pytest.raises(HoldfastError, match=r"20,000,000 in all\. Hint: .*highest=499999\)"):
        holdfast.privatize(table, epsilon=1, max_count="auto", count="visits", within="state")


def test_two_rows_far_above_the_border_are_never_taken_for_small_ones():
    histogram = np.bincount([0] * 500 + [7] * 80 + [90_000] * 2, minlength=100_001)
    for seed in range(8):
        z = LongRange()(histogram, epsilon=1, rng=seed)
        assert 582 * z[80_000:].sum() == pytest.approx(2, abs=0.05)


def test_the_highest_bound_that_a_refusal_names_is_not_refused():
    check_room_for_groups(19, 1_000_001)
    check_room_for_groups(40, 499_999 + 1, found=True)
    with pytest.raises(HoldfastError, match="fewer groups, or a max_count of 999999 at"):
        check_room_for_groups(20, 1_000_001)


@pytest.mark.parametrize("groups", [20, 3000, 9_999_999])
def test_too_many_groups_are_told_a_max_count_that_would_do(groups):
    with pytest.raises(HoldfastError, match=r"a max_count of [0-9]+ at the most") as error:
        check_room_for_groups(groups, 1_000_001)
    most = int(re.search("max_count of ([0-9]+)", str(error.value))[1])
    check_room_for_groups(groups, most + 1)
    with pytest.raises(HoldfastError):
        check_room_for_groups(groups, most + 2)


def test_more_groups_than_there_may_be_counts_are_told_of_fewer_alone():
    with pytest.raises(HoldfastError, match=r"Hint: fewer groups\.$"):
        check_room_for_groups(30_000_000, 2)
