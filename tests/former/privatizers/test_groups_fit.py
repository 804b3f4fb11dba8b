"""The joint fit of many groups: what it takes, what it returns, what it gains."""

from fractions import Fraction

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.former.privatizers import groups
from holdfast.former.privatizers.groups import (
    block_edges,
    cell_edges,
    fit_groups,
    group_sums,
    is_fine,
    measured_sums,
    whole_share,
)
from holdfast.former.privatizers.noisy import laplace_variance
from holdfast.former.privatizers.projection import Noise
from holdfast.former.privatizers.smooth import smooth_fit
from holdfast.former.privacy.budget import share_rule
from holdfast.former.privacy.metrics import wasserstein

BINS = 41


def noise(rng: np.random.Generator, epsilon: float, size: int) -> np.ndarray:
    share = 1 - np.exp(-epsilon)
    return rng.geometric(share, size) - rng.geometric(share, size)


def histograms(means: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Negative binomial counts, one group a mean."""
    counts = [np.minimum(rng.negative_binomial(1.0, 1 / (1 + m), rows), BINS - 1) for m in means]
    return np.array([np.bincount(c, minlength=BINS) for c in counts])


def measured(tables: np.ndarray, epsilon: float, rng: np.random.Generator) -> list[np.ndarray]:
    return [sums + noise(rng, epsilon, len(sums)) for sums in group_sums(tables, epsilon)]


def alone(table: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    noisy = np.cumsum(table)[:-1] + noise(rng, epsilon, len(table) - 1)
    histogram = np.diff(np.append(noisy, table.sum()), prepend=0)
    variance = np.full(len(noisy), laplace_variance(Fraction(epsilon)))
    return smooth_fit(histogram, Noise(variance=variance, law="laplace"))


def error(tables: np.ndarray, targets: np.ndarray) -> float:
    rows = tables.sum(axis=1)
    pairs = zip(tables, targets, strict=True)
    return float(np.average([wasserstein(h / h.sum(), z) for h, z in pairs], weights=rows))


def is_law(z: np.ndarray) -> bool:
    return bool((z > 0).all() and np.allclose(z.sum(axis=1), 1, rtol=0, atol=1e-12))


@pytest.mark.parametrize("bins", [2, 3, 4, 5, 31, 101, 5000])
def test_blocks_cover_every_count_once_and_begin_with_single_ones(bins: int) -> None:
    edges = block_edges(bins)
    assert edges[0] == 0
    assert edges[-1] == bins - 1
    assert (np.diff(edges) >= 1).all()
    assert edges[1] == 1
    assert np.diff(edges).max() <= max((bins - 1) / 4, 1)


def test_one_person_changes_one_of_all_measured_integers_by_one() -> None:
    rng = np.random.default_rng(1)
    tables = histograms(np.array([1.0, 3.0, 9.0]), 40, rng)
    tables = np.vstack([tables, histograms(np.array([5.0]), 4000, rng)])
    before = np.concatenate(group_sums(tables, 0.1))
    assert {len(sums) for sums in group_sums(tables, 0.1)} == {len(block_edges(BINS)) - 1, BINS - 1}
    for group, count in zip(*np.nonzero(tables[:, :-1]), strict=True):
        moved = tables.copy()
        moved[group, count] -= 1
        moved[group, count + 1] += 1
        after = np.concatenate(group_sums(moved, 0.1))
        assert np.abs(after - before).sum() == 1


def test_one_group_is_fitted_as_a_table_without_groups() -> None:
    rng = np.random.default_rng(2)
    table = histograms(np.array([4.0]), 300, rng)
    (sums,) = group_sums(table, 0.05)
    noisy = sums + noise(rng, 0.05, len(sums))
    variance = np.full(BINS - 1, laplace_variance(Fraction(0.05)))
    expected = smooth_fit(
        np.diff(np.append(noisy, 300), prepend=0), Noise(variance=variance, law="laplace")
    )
    assert (fit_groups([noisy], [300], 0.05, bins=BINS)[0] == expected).all()


def test_the_joint_fit_is_much_nearer_than_one_fit_a_group() -> None:
    rng = np.random.default_rng(3)
    tables = histograms(np.linspace(1, 10, 12), 80, rng)
    epsilon, gains = 0.08, []
    for _ in range(4):
        together = fit_groups(
            measured(tables, epsilon, rng), tables.sum(axis=1), epsilon, bins=BINS, ordered=True
        )
        separate = np.array([alone(table, epsilon, rng) for table in tables])
        gains.append(error(tables, separate) / error(tables, together))
    assert np.mean(gains) > 1.7


def test_order_helps_where_groups_have_one() -> None:
    rng = np.random.default_rng(4)
    tables = histograms(np.linspace(1, 15, 24), 40, rng)
    sizes, errors = tables.sum(axis=1), {True: 0.0, False: 0.0}
    for _ in range(4):
        noisy = measured(tables, 0.03, rng)
        for ordered in errors:
            z = fit_groups(noisy, sizes, 0.03, bins=BINS, ordered=ordered)
            errors[ordered] += error(tables, z)
    assert errors[True] < 0.85 * errors[False]


def test_unordered_groups_keep_what_sets_them_apart() -> None:
    rng = np.random.default_rng(5)
    means = rng.permutation(np.repeat([1.0, 12.0], 15))
    tables = histograms(means, 60, rng)
    z = fit_groups(measured(tables, 0.3, rng), tables.sum(axis=1), 0.3, bins=BINS)
    fitted = z @ np.arange(BINS)
    assert fitted[means == 1].max() < fitted[means == 12].min()


def test_measured_totals_steer_the_mean() -> None:
    rng = np.random.default_rng(6)
    tables = histograms(np.linspace(2, 6, 10), 50, rng)
    sizes, truth = tables.sum(axis=1), tables @ np.arange(BINS)
    noisy = measured(tables, 0.05, rng)
    totals = (truth + noise(rng, 0.5, len(truth)), 0.5)
    off = {
        steered: np.abs(
            fit_groups(noisy, sizes, 0.05, bins=BINS, totals=totals if steered else None)
            @ np.arange(BINS)
            * sizes
            - truth
        ).mean()
        for steered in (True, False)
    }
    assert off[True] < off[False] / 3


def test_totals_beyond_the_top_code_do_not_bend_the_fit() -> None:
    rng = np.random.default_rng(7)
    tables = histograms(np.linspace(2, 20, 10), 60, rng)
    sizes = tables.sum(axis=1)
    beyond = tables @ np.arange(BINS) + 500 * tables[:, -1]
    noisy = measured(tables, 0.1, rng)
    plain = fit_groups(noisy, sizes, 0.1, bins=BINS, ordered=True)
    steered = fit_groups(noisy, sizes, 0.1, bins=BINS, ordered=True, totals=(beyond, 0.2))
    assert error(tables, steered) < 1.2 * error(tables, plain)


def test_totals_of_a_few_rows_far_above_the_top_code_do_not_raise_all_others() -> None:
    rng = np.random.default_rng(7)
    tables = histograms(np.linspace(0.3, 9, 8), 300, rng)
    tables[-1, -1] += 20
    sizes, capped = tables.sum(axis=1), tables @ np.arange(BINS)
    beyond = capped + 100 * tables[:, -1]
    steered = fit_groups(
        measured(tables, 0.05, rng), sizes, 0.05, bins=BINS, ordered=True, totals=(beyond, 0.1)
    )
    said = (sizes @ steered @ np.arange(BINS)) / sizes.sum()
    assert said == pytest.approx(capped.sum() / sizes.sum(), abs=0.2)


def test_sums_over_all_groups_hold_the_whole_distribution() -> None:
    rng = np.random.default_rng(8)
    tables = histograms(rng.permutation(np.linspace(1, 12, 150)), 12, rng)
    share, epsilon = float(whole_share(len(tables), tables.shape[1])), 0.2
    assert share > 0
    sums = np.add.reduceat(np.cumsum(tables.sum(axis=0))[:-1], block_edges(BINS)[:-1])
    whole = (sums + noise(rng, epsilon * share, len(sums)), epsilon * share)
    sizes, rows = tables.sum(axis=1), tables.sum()
    own = epsilon * (1 - share)
    z = fit_groups(measured(tables, own, rng), sizes, own, bins=BINS, whole=whole)
    without = fit_groups(measured(tables, epsilon, rng), sizes, epsilon, bins=BINS)
    truth = tables.sum(axis=0) / rows
    assert wasserstein(truth, sizes @ z / rows) < 0.5 * wasserstein(truth, sizes @ without / rows)


@pytest.mark.parametrize("bins", [1, 2, 3, 4, 6])
def test_few_bins_and_groups_of_no_or_one_row_have_laws(bins: int) -> None:
    rng = np.random.default_rng(9)
    tables = np.array([np.bincount(rng.integers(0, bins, r), minlength=bins) for r in (0, 1, 30)])
    for ordered in (True, False):
        z = fit_groups(
            measured(tables, 0.1, rng), tables.sum(axis=1), 0.1, bins=bins, ordered=ordered
        )
        assert z.shape == (3, bins)
        assert is_law(z)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("epsilon", [0.001, 0.02, 0.3, 3.0])
def test_every_target_is_a_positive_law_at_any_noise(epsilon: float, ordered: bool) -> None:
    rng = np.random.default_rng(10)
    tables = np.vstack([histograms(np.array([5.0]), r, rng) for r in (1, 7, 90, 1500, 20_000)])
    z = fit_groups(
        measured(tables, epsilon, rng), tables.sum(axis=1), epsilon, bins=BINS, ordered=ordered
    )
    assert is_law(z)


def test_narrow_peaks_in_the_middle_of_the_range_are_found() -> None:
    rng = np.random.default_rng(11)
    tables = np.array(
        [
            np.bincount(rng.binomial(BINS - 1, p, 200), minlength=BINS)
            for p in np.linspace(0.2, 0.8, 8)
        ]
    )
    z = fit_groups(measured(tables, 0.05, rng), tables.sum(axis=1), 0.05, bins=BINS, ordered=True)
    off = (z - tables / 200) @ np.arange(BINS)
    assert np.abs(off).max() < 1.5


def test_large_groups_are_measured_count_by_count_and_small_ones_are_not() -> None:
    assert is_fine(100_000, 0.05, 101)
    assert not is_fine(60, 0.05, 101)
    assert is_fine(1, 1.0, 101)


def test_what_does_not_fit_together_is_refused_by_name() -> None:
    with pytest.raises(HoldfastError, match="`noisy` has 1 groups and `sizes` 2"):
        fit_groups([np.zeros(BINS - 1)], [3, 4], 0.1, bins=BINS)
    with pytest.raises(HoldfastError, match="`noisy` of group 1 must hold 8 or 40 numbers"):
        fit_groups([np.zeros(BINS - 1), np.zeros(5)], [3, 4], 0.1, bins=BINS)


def test_more_groups_want_a_larger_share_of_stage_1() -> None:
    shares = [share_rule(Fraction(1), rows=3000, bins=51, groups=g) for g in (1, 8, 51, 1000)]
    assert shares == sorted(set(shares))
    assert shares[0] == share_rule(Fraction(1), rows=3000, bins=51)


@pytest.mark.parametrize("bins", [10_002, 20_001, 1_000_001])
def test_cells_of_long_ranges_fill_blocks_and_grow_with_the_count(bins: int) -> None:
    cells = cell_edges(bins)
    assert set(block_edges(bins)) <= set(cells)
    assert cells[:81].tolist() == list(range(81)) and cells[-2:].tolist() == [bins - 1, bins]
    assert (np.diff(cells) <= np.maximum(cells[:-1] / 40, 1)).all() and len(cells) < 700


def test_laws_that_are_even_over_cells_expect_what_single_counts_do(monkeypatch) -> None:
    rng, bins, rows = np.random.default_rng(2), 701, np.array([40, 300])
    totals = (np.array([900, 70_000]), 0.5)
    numbers = [np.zeros(len(block_edges(bins)) - 1) for _ in rows]
    single = measured_sums(numbers, rows, 0.1, bins, totals=totals)
    monkeypatch.setattr(groups, "SINGLE_COUNTS", 100)
    cells = measured_sums(numbers, rows, 0.1, bins, totals=totals)
    laws = rng.dirichlet(np.ones(len(cells.middles)), 2)
    by_count = np.repeat(laws / cells.sizes_of_cells, np.diff(cells.cells), axis=1)
    pull = rng.normal(size=(2, len(cells.widths) + 1)) / 1e6
    assert len(cells.middles) < bins == len(single.middles)
    for ask in (
        lambda one, law: one.expected(law, 3.0),
        lambda one, law: one.sampling(law, 3.0),
        lambda one, law: one.followed(law, pull)[:, one.cells[1:].searchsorted(cells.cells[1:])],
    ):
        assert np.allclose(ask(cells, laws), ask(single, by_count), rtol=1e-9, atol=1e-9)


def test_a_fit_in_cells_is_that_of_single_counts(monkeypatch) -> None:
    rng, bins = np.random.default_rng(4), 2001
    counts = [np.minimum(rng.lognormal(m, 1.2, 200), bins - 1).astype(int) for m in (2, 3, 4, 5)]
    tables = np.array([np.bincount(one, minlength=bins) for one in counts])
    numbers, sizes = measured(tables, 0.05, rng), tables.sum(axis=1)
    single = fit_groups(numbers, sizes, 0.05, bins=bins)
    monkeypatch.setattr(groups, "SINGLE_COUNTS", 1000)
    cells = fit_groups(numbers, sizes, 0.05, bins=bins)
    assert np.allclose(cells.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert error(tables, cells) <= error(tables, single) + 0.5
    assert np.abs(np.cumsum(cells - single, axis=1)).max() < 0.02


def test_an_empty_tail_of_a_long_range_moves_no_mean() -> None:
    rng, means = np.random.default_rng(4), []
    counts = [rng.lognormal(m, 1.2, 60).astype(int) for m in (2, 3, 4, 5)]
    for bins in (20_001, 500_001):
        tables = np.array([np.bincount(one, minlength=bins) for one in counts])
        z = fit_groups(measured(tables, 0.1, rng), tables.sum(axis=1), 0.1, bins=bins)
        means.append(z @ np.arange(bins))
        assert (z[:, 10_000:].sum(axis=1) < 1e-4).all()
    true = np.array([one.mean() for one in counts])
    assert (np.abs(np.array(means) - true) < 6).all()  # 20 sums with a noise of 14, over 60 rows


def test_a_highest_row_of_a_small_group_that_noise_hides_is_not_above_where_z_ends() -> None:
    rng, bins = np.random.default_rng(8), 20_001
    groups_of = np.repeat(np.arange(96), rng.integers(1, 31, 96))
    counts, tables = rng.lognormal(2.5, 2, len(groups_of)).astype(int), np.zeros((96, bins), int)
    np.add.at(tables, (groups_of, counts), 1)
    for seed in range(3):
        noisy = measured(tables, 0.1, np.random.default_rng(seed))
        z = fit_groups(noisy, tables.sum(axis=1), 0.1, bins=bins)
        ends = np.array([one.nonzero()[0].max() for one in z])
        highest = np.array([one.nonzero()[0].max() for one in tables])
        assert (highest <= ends).all()
