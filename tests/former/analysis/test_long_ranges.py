"""Answers where counts run far: through the mechanism, without its matrix."""

from dataclasses import replace

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.former import HoldfastError
from holdfast.former.analysis.evidence import evidence
from holdfast.former.analysis.linear import share
from holdfast.former.analysis.long_ranges import WIDER, LongEvidence, find_evidence
from holdfast.former.analysis.parts import numbers
from holdfast.former.analysis.stage_one import _long_errors, _told_apart
from holdfast.former.privatizers import CumulativeIsotonic

ROWS, TOP = 3000, 5_000


@pytest.fixture(scope="module")
def counts():
    shares = (1.0 + np.arange(TOP + 1)) ** -1.6
    return np.random.default_rng(8).choice(TOP + 1, size=ROWS, p=shares / shares.sum())


@pytest.fixture(scope="module")
def release(counts):
    return holdfast.privatize(counts, epsilon=2, max_count=TOP, seed=6)


def test_long_and_dense_evidence_agree_where_both_can_be_had():
    counts = np.repeat([0, 3, 700, 1590], [300, 200, 50, 10])
    release = holdfast.privatize(
        counts, epsilon=3, max_count=1600, privatizer=CumulativeIsotonic(), seed=1
    )
    dense, long = evidence(release), find_evidence(release)
    assert type(long) is LongEvidence
    for f in (np.arange(1601.0), (np.arange(1601) >= 3) * 1.0):
        for estimator in ("best", "released", "target"):
            w, v = dense.weights(f, estimator), long.weights(f, estimator)
            np.testing.assert_allclose(v, w, rtol=1e-6, atol=1e-9)
            assert long.estimate(f, v) == pytest.approx(dense.estimate(f, w), rel=1e-6)
            expected = WIDER * dense.standard_error(f, w)
            assert long.standard_error(f, v) == pytest.approx(expected, rel=1e-4)


def test_answers_are_near_the_truth_and_their_intervals_narrow(release, counts):
    ordered = np.sort(counts)
    weights = 2 * np.arange(1, ROWS + 1) - ROWS - 1
    truths = {
        "mean": counts.mean(),
        "total": counts.sum(),
        "gini": weights @ ordered / (ROWS * ordered.sum()),
        "variance": counts.var(),
    }
    for question, truth in truths.items():
        answer = release.ask(question)
        low, high = answer.interval
        slack = 2 * (high - low)  # one release: a 90 % interval may miss, but not by far
        assert low - slack < truth < high + slack, question
        assert high - low < 0.05 * truth, question
    for p in (0.5, 0.99):
        low, high = release.ask("quantile", at=p).interval
        truth = ordered[int(np.ceil(p * ROWS)) - 1]
        assert low - 2 - (high - low) <= truth <= high + 2 + (high - low)


@pytest.mark.parametrize("asked", [numbers.variance(12), numbers.gini(12)])
def test_slopes_are_derivatives(asked):
    g, shares = asked.g, np.random.default_rng(2).dirichlet(np.ones(12))
    for step in np.eye(12)[:5] - np.eye(12)[5:10]:  # what adds to one share leaves another
        moved = (g(shares + 1e-6 * step) - g(shares - 1e-6 * step)) / 2e-6
        assert asked.derivative(shares) @ step == pytest.approx(float(moved), rel=1e-4, abs=1e-7)


def test_one_row_can_be_asked_about(release):
    count = int(release.counts.max())
    law = release.posterior(count)
    low, high = law.interval(0.9)
    assert low <= count <= high and high - low < 20
    assert law.probabilities.sum() == pytest.approx(1)


def test_a_bootstrapped_stage_1_says_so(release):
    assert any("repeating" in note for note in release.ask("mean").notes)


def test_the_share_of_an_answer_goes_through_the_mechanism_once(release):
    asked = []

    class Counted:
        def expected(self, values):
            asked.append(values)
            return release.mechanism.expected(values)

        def image(self, source):
            return release.mechanism.image(source)

    view = replace(find_evidence(release), mechanism=Counted())
    share(TOP + 1, at_most=9).answer(view, estimator="best", level=0.9)
    assert len(asked) == 1


def test_parts_of_long_ranges_are_answered_without_anything_n_by_n():
    random = np.random.default_rng(8)
    counts = random.lognormal(5, 1.5, 2000).astype(int).clip(max=20_000)
    low = np.argsort(np.argsort(counts + random.normal(0, 20, 2000))) < 300
    covered = []
    for seed in range(12):
        release = holdfast.privatize(counts, epsilon=1, max_count=20_000, seed=seed)
        mean = release.ask("mean", where=low)
        share = release.ask("share", at_least=50, where=low)
        median = release.ask("median", where=low)
        for answer, true in (
            (mean, counts[low].mean()),
            (share, (counts[low] >= 50).mean()),
            (median, np.sort(counts[low])[149]),
        ):
            covered.append(answer.interval[0] <= true <= answer.interval[1])
        assert abs(mean.estimate - counts[low].mean()) < 1 and mean.standard_error < 0.5
    assert np.mean(covered) > 0.75
    with pytest.raises(HoldfastError, match="totals, quantiles, variance and gini"):
        release.ask(lambda shares: shares[0], where=low)


def test_when_stage_1_is_repeated_dense_rows_scatter_and_sparse_ones_stay(release):
    seen = []

    def spy(histogram, *, epsilon, rng):
        seen.append(histogram.copy())
        return histogram / histogram.sum()

    errors = _long_errors(release, spy)
    border = _told_apart(release.target * ROWS, float(release.privacy.budget.unit_1))
    assert 1 < border < TOP
    assert not errors.any() and {int(start.sum()) for start in seen} == {ROWS}
    assert (seen[0][:border] != seen[1][:border]).any()
    assert (seen[0][border:] == np.rint(release.distribution * ROWS)[border:]).all()
    assert (seen[0][border:] == seen[1][border:]).all() and seen[0][border:].any()


def test_rows_are_compared_and_ranked_where_no_law_of_all_counts_could_be_held():
    counts = np.r_[np.arange(300) % 40, 90_000, 90_001, 180_000]
    release = holdfast.privatize(counts, epsilon=1, max_count=200_000, seed=3)
    first, *others = release.top(3)
    assert first.row == 302 and first.highest > 0.99 and first.probability > 0.99
    assert {row.row for row in others} == {300, 301}
    assert abs(sum(row.highest for row in (first, *others)) - 1) < 0.01
    found = release.compare(302, 300)
    assert found.first_more > 0.999 and found.equal == 0
    low, high = found.interval
    assert abs(found.difference - 90_000) < 40 and low < found.difference < high < low + 60


def test_a_share_of_zeros_covers_although_a_smooth_z_has_them_beside():
    counts = np.random.default_rng(11).lognormal(5, 2, 3000).astype(int).clip(max=12_000)
    truth, covered = (counts == 0).mean(), []
    for seed in range(10):
        release = holdfast.privatize(counts, epsilon=1, max_count=12_000, seed=seed)
        low, high = release.ask("share", equal=0).interval
        covered.append(low <= truth <= high)
    assert sum(covered) >= 9
