"""What a noisy count says of its row: right for every row, and shorter on average."""

from fractions import Fraction

import numpy as np
import pytest

from holdfast.privacy.noise import Noise
from holdfast.release.row_intervals import (
    FEW,
    likely_intervals,
    plain_intervals,
    posterior_runs,
)
from made_releases import counties, made_release

LAWS = [Noise.least(Fraction(e), k) for e in ("1/10", "1/2", "1", "3") for k in (1, 5)]


@pytest.mark.parametrize("noise", LAWS, ids=str)
@pytest.mark.parametrize("true", [0, 1, 7, 10**9])
def test_the_plain_interval_holds_every_true_count_with_the_level(noise, true):
    x = np.arange(-800, 801)
    low, high = plain_intervals(true + x, noise)
    held = noise.probability(x)[(low <= true) & (true <= high)].sum()
    assert held >= 0.9
    assert (low >= 0).all()


@pytest.mark.parametrize("noise", LAWS, ids=str)
def test_the_plain_interval_is_not_wider_than_it_must_be(noise):
    reach = noise.quantile(0.9)
    assert noise.probability(np.arange(-reach + 1, reach)).sum() < 0.9


def by_hand(y, support, prior, noise, level=0.9):
    """The shortest run of counts, found by trying all of them."""
    law = prior * noise.probability(y - support)
    law = law / law.sum()
    runs = [
        (end - start, -round(law[start:end].sum(), 9), support[start], support[end - 1])
        for start in range(len(support))
        for end in range(start + 1, len(support) + 1)
        if law[start:end].sum() >= level - 1e-9
    ]
    return min(runs)[2:]


@pytest.mark.parametrize("noise", LAWS, ids=str)
def test_the_likely_interval_is_the_shortest_run_of_the_posterior(noise):
    rng = np.random.default_rng(5)
    support = np.arange(3, 25)
    prior = rng.dirichlet(np.full(len(support), 0.3))
    noisy = np.arange(-10, 40)
    low, high = posterior_runs(noisy, support, prior, noise)
    for y, *ends in zip(noisy, low, high, strict=True):
        assert tuple(ends) == by_hand(y, support, prior, noise)


def test_long_supports_are_looked_at_in_steps_and_come_out_nearly_the_same():
    noise = Noise(epsilon=Fraction(1, 100))
    support = np.arange(1000)
    prior = np.exp(-support / 300.0)
    noisy = np.array([-50, 0, 3, 400, 700])
    exact = np.array(posterior_runs(noisy, support, prior / prior.sum(), noise))
    longer = np.arange(5000)
    spread = np.where(longer < 1000, np.exp(-longer / 300.0), 0.0)
    steps = np.array(posterior_runs(noisy, longer, spread / spread.sum(), noise))
    assert np.abs(exact - steps).max() <= 12  # a tenth of the noise
    assert (steps[0] >= 0).all()


@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_both_intervals_hold_the_true_counts_of_a_real_table(epsilon):
    cells, true = counties()
    plain, likely, widths = [], [], []
    for seed in range(12):
        column = made_release({"n": true}, cells, epsilon=epsilon, seed=seed).only
        low, high = plain_intervals(column.noisy, column.measurement.noise)
        plain.append((low <= true) & (true <= high))
        first, last = likely_intervals(column.estimate)(column.noisy, column.group)
        likely.append((first <= true) & (true <= last))
        widths.append((last - first).mean() / (high - low).mean())
    assert np.mean(plain) >= 0.9
    assert 0.88 <= np.mean(likely) <= 0.97
    assert np.mean(widths) < 1


def test_rows_of_groups_go_by_the_distribution_of_their_group():
    rng = np.random.default_rng(1)
    counts = np.concatenate([rng.poisson(1, 300), rng.poisson(7, 300)])
    cells = {"place": [f"p{i}" for i in range(600)], "kind": ["a"] * 300 + ["b"] * 300}
    column = made_release({"n": counts}, cells, within="kind", epsilon=1).only
    likely = likely_intervals(column.estimate)
    low, a = likely(np.array([5]), np.array([0]))
    b, high = likely(np.array([5]), np.array([1]))
    assert low[0] == 0 < b[0] and a[0] <= high[0]


def test_noisy_counts_that_no_density_speaks_of_have_the_plain_interval():
    counts = [0, 1, 2] * 200 + [10**6]
    column = made_release({"n": counts}, epsilon=1).only
    noise, far = column.measurement.noise, column.noisy[-1:]
    for found, plain in zip(
        likely_intervals(column.estimate)(far, np.array([0])),
        plain_intervals(far, noise),
        strict=True,
    ):
        assert found.tolist() == plain.tolist()


def test_tables_of_few_rows_have_plain_intervals_alone():
    few = made_release({"n": [0, 3, 1, 0, 2] * 4}, epsilon="0.1").only
    assert FEW * few.measurement.noise.mean_absolute > 20
    found = np.array(likely_intervals(few.estimate)(few.noisy, few.group))
    assert (found == np.array(plain_intervals(few.noisy, few.measurement.noise))).all()
    more = made_release({"n": [0, 3, 1, 0, 2] * 100}, epsilon="0.1").only
    assert (likely_intervals(more.estimate)(more.noisy, more.group)[1]).mean() < 10


@pytest.mark.parametrize("rows", [20, 300])
def test_a_row_that_is_asked_for_has_the_interval_of_the_file(tmp_path, rows):
    cells = {"id": [f"r{i}" for i in range(rows)]}
    release = made_release({"n": [0, 3, 1, 0, 2] * (rows // 5)}, cells, epsilon="0.2")
    lines = (release.save(tmp_path / "r") / "rows.csv").read_text().splitlines()[1:]
    for line in lines[:20]:
        label, *_, low, high = line.split(",")
        assert release.row(label).interval == (float(low), float(high))
