"""What is printed, and what the uncertainty beside it is made of: each part is missed if gone."""

import dataclasses
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from analysis_releases import COUNTS, SHARES, released
from holdfast.former.analysis import linear, nonlinear
from holdfast.former.analysis.evidence import Evidence
from holdfast.former.analysis.report import content
from holdfast.former.analysis.report.blocks import html, markdown
from holdfast.former.analysis.report.content import report
from holdfast.former.analysis.stage_one import StageOne, fit_spread
from holdfast.former.privatizers.projection import isotonic
from holdfast.former.tables.histogram import whole_histogram

STEPS = np.arange(8)


@cache
def few():
    return released(counts=[0] * 30 + [1] * 20 + [2] * 7 + [6] * 3, epsilon="0.5")


def flat(n=8, deviation=0.01):
    """A stage 1 whose shares all have this standard deviation."""
    return StageOne(
        shares=np.full(n, 1 / n), loads=lambda f: deviation * f, decay=None, exact=True, size=n
    )


def test_the_printed_best_weighs_z_by_its_own_error():
    view, spread = released().evidence, np.random.default_rng(1).normal(size=(40, 8)) / 500
    spread -= spread.mean(axis=1, keepdims=True)
    view = dataclasses.replace(view, again=lambda: spread)
    error, t = spread.T @ spread, view.matrix
    w = np.linalg.pinv(view.sampling_covariance + t.T @ error @ t, rcond=1e-12) @ t.T @ error
    wanted = isotonic(view.target + (view.released - view.target @ t) @ w)
    assert view.best == pytest.approx(wanted, abs=1e-9)
    certain = dataclasses.replace(view, again=lambda: 1e-6 * spread)
    assert certain.best == pytest.approx(view.target, abs=1e-4)  # a sure z is left alone


def test_the_error_of_z_is_that_of_repeating_stage_1(as_released):
    release = released()
    found = fit_spread(release)
    start = whole_histogram(release.target, release.rows)
    privatizer = holdfast.privatizers.CumulativeSmooth()
    unit, generator = release.privacy.budget.unit_1, np.random.default_rng(7)
    draws = [privatizer(start, epsilon=unit, rng=generator) for _ in range(200)]
    wanted = np.cumsum(draws, axis=1).std(axis=0)[:7]
    deviations = np.sqrt(np.square(np.cumsum(found, axis=1)).sum(axis=0))
    assert deviations[:7] == pytest.approx(wanted, rel=0.25)
    assert deviations[7] == pytest.approx(0, abs=1e-9)  # shares add up to 1


def test_the_printed_best_has_less_error_than_the_other_two(as_released):
    errors = {name: [] for name in ("best", "released", "target")}
    for seed in range(14):
        release = released(seed=seed)
        for name, found in errors.items():
            shares = [release.ask("share", at_most=k, estimator=name).estimate for k in range(7)]
            found.append(np.square(shares - np.cumsum(SHARES)[:7]).sum())
    size = {name: np.mean(found) for name, found in errors.items()}
    assert size["best"] < 0.85 * min(size["released"], size["target"])


def test_the_evening_out_gives_counts_without_rows_their_part():
    shares = np.array([0.6, 0, 0, 0, 0, 0, 0.4, 0])
    view = Evidence(first=flat(), released=shares, target=shares, matrix=np.eye(8), rows=100,
                    again=lambda: np.zeros((1, 8)))  # fmt: skip
    assert view.middle[1] == pytest.approx(0.01 / 4)  # from 0, which has 4 counts within 3 of it
    assert view.middle[0] == pytest.approx(0.59 + 0.01 / 4)
    assert (view.middle > 0).all() and view.middle.sum() == pytest.approx(1)


def test_a_share_has_a_wider_error_if_more_rows_have_it():
    matrix, shares = np.array([[0.95, 0.05], [0.45, 0.55]]), np.array([0.9, 0.1])
    view = Evidence(
        first=dataclasses.replace(flat(2, 1e-5), shares=shares),
        released=shares,
        target=shares,
        matrix=matrix,  # rows of 1 move far more often than rows of 0
        rows=100,
        again=lambda: np.zeros((1, 2)),
    )
    low, high = linear.share(2, equal=1).answer(view, estimator="released", level=0.9).interval
    assert high - 0.1 > 1.06 * (0.1 - low) > 0.03
    low, high = linear.mean(2).answer(view, estimator="released", level=0.9).interval
    assert high - 0.1 == pytest.approx(0.1 - low, rel=0.02)  # no share, no stretch


def test_a_bootstrap_is_turned_round():
    errors = np.linspace(-1, 3, 401)  # the estimate is too high more often than too low
    low, high = nonlinear._ends(10.0, errors, (0, 100), 0.9)
    assert (low, high) == (pytest.approx(7.2), pytest.approx(10.8))


@pytest.mark.parametrize(
    "release", [few, released, partial(released, counts=COUNTS * 9, max_count=64)]
)
def test_the_estimates_of_a_report_are_one_distribution(release):
    content = report(release())
    estimates = np.array([bar["estimate"] for bar in content["distribution"]])
    assert (estimates >= 0).all() and estimates.sum() == pytest.approx(1)
    for bar in content["distribution"]:
        assert bar["interval"][0] <= bar["estimate"] <= bar["interval"][1]


def test_an_interval_that_is_stretched_to_its_estimate_is_told_in_the_report():
    view = few().evidence
    unlike = dataclasses.replace(view, target=np.eye(8)[7], again=lambda: np.zeros((1, 8)))
    release = dataclasses.replace(few())
    release.__dict__["evidence"] = unlike
    content = report(release)
    assert any("was stretched" in note for note in content["distribution_notes"])
    answer = release.ask("share", equal=7)
    assert 0.9 < answer.estimate == answer.interval[1]
    assert any("was stretched" in note for note in answer.notes)


def test_a_privatizer_of_your_own_is_offered_no_estimators():
    content = report(dataclasses.replace(released(), methods=("Elsewhere()", "Heuristic()")))
    assert not content["estimators"] and not content["questions"]
    for text in (markdown(content), html(content)):
        assert "so none are given" in text and "can be asked for" not in text
        assert "best estimate |" not in text.split("The distribution of")[0]


def test_curved_questions_are_answered_from_the_printed_best():
    release = released()
    for name, g in (("gini", nonlinear.gini), ("variance", nonlinear.variance)):
        answer = release.ask(name)
        assert answer.interval[0] < answer.estimate < answer.interval[1]
        assert answer.estimate == pytest.approx(float(g(release.evidence.best)))
        assert answer.estimate != pytest.approx(float(g(release.distribution)), rel=1e-4)


def test_a_share_of_scattered_counts_is_held_to_no_run_of_counts():
    odd = (STEPS % 2).astype(np.float64)
    assert linear._neighbours(odd) == ([], [])
    more, fewer = linear._neighbours((STEPS >= 3).astype(np.float64))
    assert more and fewer


def test_the_report_by_group_never_answers_one_question_with_another():
    table = {"n": [0, 1, 5] * 30, "state": ["a"] * 40 + ["b"] * 50}
    release = holdfast.privatize(
        pd.DataFrame(table), count="n", within="state", epsilon=1, max_count=7, seed=1
    )
    shares = release.distribution
    variance = shares @ STEPS**2 - (shares @ STEPS) ** 2
    assert content._released(release, 0.9, "variance", {}) == pytest.approx(variance)
    with pytest.raises(holdfast.HoldfastError, match="'odd'"):
        content._released(release, 0.9, "odd", {})
