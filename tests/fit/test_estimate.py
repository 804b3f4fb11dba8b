"""An estimate of whatever table there may be."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import holdfast
from fits import everything
from holdfast.fit import functionals
from holdfast.fit.cells import choose_blocks, share_of_sums
from holdfast.fit.estimate import fit
from holdfast.measure.room import Room
from holdfast.privacy.noise import Noise
from holdfast.privacy.randomness import Simulation


def measured(counts, epsilon, *, group=None, groups=1, seed=1, shift=1, whole=False):
    counts = np.asarray(counts, dtype=np.int64)
    epsilon = Fraction(epsilon)
    sums = epsilon * share_of_sums(epsilon / shift, len(counts))
    room = Room(Noise.least(epsilon - sums, shift), source=Simulation(seed), groups=groups)
    room.noisy(counts, group)
    part = sums / 2 if whole else sums
    noise = Noise(epsilon=part / shift)
    of_whole, of_groups = whole or groups == 1, groups > 1
    return room.finish(
        choose_blocks, whole=noise if of_whole else None, sums=noise if of_groups else None
    )


TABLES = {
    "one row": [3],
    "one row of zero": [0],
    "ten rows": [0, 0, 0, 1, 0, 2, 9, 0, 1, 30],
    "all equal": [7] * 50,
    "all zero": [0] * 200,
    "up to a billion": [0, 1, 2, 3, 10**9, 10**6, 5, 0, 0, 123_456_789] * 10,
    "far from zero": list(range(1000, 1200)) * 5,
    "all a million": [10**6] * 40,
    "all near the largest": [2**53 - k % 6 for k in range(30)],
    "both ends": [0, 2**53] * 15,
}


SHIFTS = {"1/1000": (1, 10), "1/10": (1,), "1": (1,), "10": (1, 10)}


@pytest.mark.parametrize("epsilon", SHIFTS)
@pytest.mark.parametrize("name", TABLES)
def test_any_table_has_an_estimate(name, epsilon):
    counts = TABLES[name]
    for shift in SHIFTS[epsilon]:
        estimate = fit(measured(counts, epsilon, shift=shift))
        assert estimate.whole.size == len(counts)
        assert (np.diff(estimate.whole.values) > 0).all() and estimate.whole.values[0] >= 0
        draws = estimate.draws()
        assert np.allclose(draws.rows.sum(axis=1), len(counts)) and (draws.rows >= 0).all()
        assert (np.diff(draws.support) > 0).all() and draws.support[0] >= 0
        support, chances = estimate.prior(0)
        assert np.isclose(chances.sum(), 1) and len(support) == len(chances)


@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1", "10"])
def test_groups_add_up_to_the_whole(epsilon):
    rng = np.random.default_rng(1)
    group = np.sort(rng.integers(0, 7, 500)) + (np.arange(500) > 400)
    counts = rng.poisson(group + 0.5)
    counts[::50] = 10**5
    for whole in (False, True):
        measurement = measured(counts, epsilon, group=group, groups=9, whole=whole)
        estimate = fit(measurement)
        sizes = np.bincount(group, minlength=9)
        assert [histogram.size for histogram in estimate.histograms] == sizes.tolist()
        assert estimate.whole.size == 500
        drawn = estimate.draws(2)
        assert np.allclose(drawn.rows.sum(axis=1), sizes[2])
        for draws in estimate.draws_of_part(*measurement.tally.of(3)):
            assert np.allclose(draws.rows.sum(axis=1), sizes[3])


def test_a_fit_is_a_function_of_its_measurement_to_the_last_bit():
    """In other tests equal measurements share a fit."""
    counts, group = np.random.default_rng(5).poisson(4, 90), np.arange(90) % 3
    first, again = (fit(measured(counts, "1/2", group=group, groups=3)) for _ in range(2))
    assert everything(first.measurement) == everything(again.measurement)
    for part in (None, 0, 2, 1):
        assert everything(first.draws(part)) == everything(again.draws(part))
        assert everything(first.prior(part)) == everything(again.prior(part))
    assert everything(first.histograms) == everything(again.histograms)
    other = counts.copy()
    other[7] += 1
    assert everything(measured(other, "1/2", group=group, groups=3)) != everything(
        first.measurement
    )


def test_a_table_is_recovered_when_epsilon_is_large():
    counts = np.random.default_rng(2).poisson(3, 400)
    found = fit(measured(counts, 30)).whole
    assert np.array_equal(found.counts(), np.sort(counts))


@pytest.mark.parametrize("seed", range(6))
def test_groups_may_have_one_row_each(seed):
    counts = np.random.default_rng(seed).negative_binomial(0.5, 0.05, 300)
    group = np.arange(300)
    estimate = fit(measured(counts, 1, group=group, groups=300, whole=True, seed=seed))
    assert [histogram.size for histogram in estimate.histograms] == [1] * 300
    assert np.isfinite(estimate.tilts.mean).all()


def test_draws_of_groups_stay_where_rows_are():
    """The normal approximation of tilts alone had a group's mean of 0.6 between 0 and 25."""
    group = np.arange(300) % 3
    counts = np.random.default_rng(7).poisson(0.6, 300)
    for seed in range(6):
        estimate = fit(measured(counts, "1/2", group=group, groups=3, seed=seed))
        for each in range(3):
            draws = estimate.draws(each)
            assert (draws.rows @ draws.support).max() < 2.5 * 100


def test_intervals_of_rare_events_hold_tails_that_noise_hides():
    """Without the unit of a geometric law their lower ends are 0.32 on average."""
    counts = np.random.default_rng(3).poisson(0.1, 3000)
    assert 0.305 < counts.std() < 0.315
    draws = [fit(measured(counts, "1/4", seed=seed)).draws() for seed in range(8)]
    spreads = [functionals.standard_deviation(each.support, each.rows) for each in draws]
    low, high = functionals.middle(np.array(spreads), 0.9)
    assert low.mean() < 0.295 and high.max() < 1.5


@pytest.mark.parametrize("seed", [16, 33])
def test_sums_that_are_just_what_is_expected_leave_the_fit_finite(seed):
    """The variances that stood for the noise of such sums came to 0."""
    estimate = fit(measured(np.repeat([0, 1], [3960, 40]), "1/10", seed=seed))
    assert np.isfinite(estimate.densities.weights).all()
    assert (estimate.densities.densities[0].variance > 0).all()


@pytest.mark.parametrize("rows", [30, 300])
def test_totals_of_the_largest_counts_are_fitted(rows):
    """Also where the total is larger than the largest number and was cut there."""
    table = {"place": [f"p{k}" for k in range(rows)], "n": [2**53] * rows, "g": ["a"] * rows}
    release = holdfast.privatize(
        pd.DataFrame(table), count="n", category="place", within="g", epsilon=1, rows=3,
        totals="0.9", split="0.0001", seed=997778, publish_anyway=["totals", "row order"],
    )  # fmt: skip
    low, high = release.ask("mean").interval
    assert low <= 2**53 <= high and high - low < 300
