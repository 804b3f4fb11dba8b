"""Planning: expectations that releases bear out, priors of every kind, targets in words."""

import math

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.studies.plan.expectation import (
    expected_distances,
    expected_errors,
    probability_within,
    question_moments,
)
from holdfast.former.studies.plan.priors import prior_distribution
from holdfast.former.studies.plan.targets import read_target
from holdfast.former.studies.questions import Question
from plan_predictions import NAMES, demo_counts, predicted, shown

QUICK = {"categories": 400, "max_count": 9, "repetitions": 6, "jobs": 1}
GEOMETRIC = {"prior": "geometric:2"} | QUICK


def test_predictions_for_the_demo_table_are_within_a_tenth_of_what_releases_show():
    counts = demo_counts()
    truth = np.bincount(np.minimum(counts, 30), minlength=31) / len(counts)
    epsilons = ("1",)
    guess = predicted(truth, len(counts), 120, epsilons)["1"]
    seen = shown(counts, 240, epsilons)["1"]
    # the mean of 240 absolute errors is itself known to 5 %, that of a distance to 2 %
    for name in NAMES:
        room = 0.10 + (0.08 if name.startswith("error") else 0)
        assert guess[name] == pytest.approx(seen[name], rel=room), name


def test_the_moments_of_an_answer_are_those_of_its_draws():
    mechanism = holdfast.constructors.Heuristic()([0.5, 0.2, 0.2, 0.1], epsilon="0.8").mechanism
    histogram, weights = np.array([30, 30, 20, 20]), np.array([0.0, 1, 2, 3])
    bias, spread = question_moments(mechanism, histogram, weights)
    counts = np.tile(np.repeat(np.arange(4), histogram), 4000)
    errors = (mechanism.sample(counts, rng=2) - counts).reshape(4000, 100).mean(axis=1)
    assert errors.mean() == pytest.approx(bias, abs=4 * spread / math.sqrt(4000))
    assert errors.std() == pytest.approx(spread, rel=0.06)
    said = expected_errors([(bias, spread)], "mean")
    assert said["error of mean"] == pytest.approx(np.abs(errors).mean(), rel=0.05)
    assert np.mean(np.abs(errors) <= said["9 in 10 of mean"]) == pytest.approx(0.9, abs=0.03)
    assert probability_within([(bias, spread)], 0.1) == pytest.approx(
        np.mean(np.abs(errors) <= 0.1), abs=0.04
    )


def test_without_noise_nothing_is_off():
    sharp = holdfast.constructors.Optimal()([0.5, 0.3, 0.2], epsilon=10).mechanism
    counts, histogram = np.array([0, 0, 1, 2]), np.array([2, 1, 1])
    assert question_moments(sharp, histogram, np.arange(3.0)) == pytest.approx((0, 0), abs=0.01)
    assert expected_distances(sharp, counts, 1) == {"w1": 0, "ks": 0, "tv": 0}
    assert expected_errors([(0.0, 0.0)], "mean")["error of mean"] == 0
    assert expected_errors([(0.5, 0.0)], "mean")["error of mean"] == pytest.approx(0.5)


def test_larger_budgets_are_expected_to_be_better_and_every_split_is_shown():
    found = holdfast.plan(epsilons=["0.2", "4"], splits=[None, "0.3"], **GEOMETRIC)
    assert [(row["epsilon"], row["split"]) for row in found.rows] == [
        ("0.2", "default"),
        ("0.2", "0.3"),
        ("4", "default"),
        ("4", "0.3"),
    ]
    for name in ("w1", "ks", "tv", "absolute", "squared", "error of zeros", "9 in 10 of mean"):
        assert found.rows[2][name] < found.rows[0][name]
    assert found.rows[1]["stage 1"] == pytest.approx(0.3)
    for question in found.questions:
        row = found.rows[0]
        assert row[f"error of {question.name}"] < row[f"9 in 10 of {question.name}"]


def test_the_smallest_budget_meets_the_target_and_a_smaller_one_does_not():
    target = "zeros within 3 points, 9 in 10"
    options = GEOMETRIC | {"repetitions": 12}
    found = holdfast.plan(epsilons=["0.1", "5"], splits=[None], target=target, **options)
    split, epsilon = found.best
    assert split == "default" and 0.1 < epsilon < 5

    def bound(budget):
        again = holdfast.plan(epsilons=[budget], splits=[None], **options)
        return again.rows[0]["9 in 10 of zeros"]

    assert bound(f"{1.6 * epsilon:.3g}") < 0.03 < bound(f"{epsilon / 1.6:.3g}")


def test_a_target_out_of_reach_is_said_to_be():
    found = holdfast.plan(
        epsilons=["0.1", "0.2"], splits=[None], target="mean within 0.001, 99 in 100", **GEOMETRIC
    )
    assert found.best is None and found.smallest_epsilon == {"default": None}
    easy = holdfast.plan(
        epsilons=["3", "5"], splits=[None], target="zeros within 40 points, 1 in 2", **GEOMETRIC
    )
    assert easy.best == ("default", 3.0)


def test_a_baseline_can_be_planned_and_has_no_split():
    found = holdfast.plan(method="discrete-gaussian", epsilons=[1], **GEOMETRIC)
    assert [row["stage 1"] for row in found.rows] == [0]


def test_a_plan_resumes_from_its_folder(tmp_path):
    options = {"epsilons": [1], "splits": [None], "folder": tmp_path} | GEOMETRIC
    first = holdfast.plan(**options)
    log = (tmp_path / "plan.jsonl").read_bytes()
    assert holdfast.plan(**options).rows == first.rows
    assert (tmp_path / "plan.jsonl").read_bytes() == log
    assert (tmp_path / "plan.csv").exists()


@pytest.mark.parametrize(
    "shape, mean",
    [
        ("uniform", 15),
        ("poisson:4", 4),
        ("geometric:2", 2),
        ("zeros:0.5+poisson:4", 2),
        ("zeros:0+geometric:2", 2),
    ],
)
def test_a_shape_has_the_mean_it_says(shape, mean):
    shares, name = prior_distribution(shape, max_count=30)
    assert len(shares) == 31 and shares.sum() == pytest.approx(1) and name == shape
    assert shares @ np.arange(31) == pytest.approx(mean, abs=0.01)


def test_a_power_law_falls_as_it_says_and_high_counts_are_top_coded():
    shares, _ = prior_distribution("powerlaw:2", max_count=9)
    assert shares[1] / shares[3] == pytest.approx(4)
    top, _ = prior_distribution("geometric:5", max_count=4)
    assert top[-1] == pytest.approx((5 / 6) ** 4, rel=1e-9)


def test_priors_are_read_from_tables_histograms_releases_and_arrays(tmp_path):
    counts = np.array([0, 0, 1, 5])
    expected = [0.5, 0.25, 0, 0.25]
    table, histogram = tmp_path / "table.csv", tmp_path / "histogram.csv"
    table.write_text("place,cases\n" + "".join(f"p{i},{c}\n" for i, c in enumerate(counts)))
    histogram.write_text("count,categories\n0,2\n1,1\n2,0\n5,1\n")
    for prior, options in (
        (table, {"count": "cases"}),
        (str(histogram), {}),
        ([0.5, 0.25, 0, 0.1, 0.15], {}),
    ):
        shares, _ = prior_distribution(prior, max_count=3, **options)
        np.testing.assert_allclose(shares, expected)
    release = holdfast.privatize(np.arange(60) % 7, epsilon=5, max_count=9, seed=1)
    shares, name = prior_distribution(release.save(tmp_path / "release"), max_count=9)
    np.testing.assert_allclose(shares, release.target)
    assert "release" in name


@pytest.mark.parametrize(
    "prior",
    ["gauss:3", "poisson", "poisson:x", "poisson:-1", "zeros:2+uniform", "ones:0.1+uniform", ""],
)
def test_a_bad_shape_is_an_error_that_lists_the_good_ones(prior):
    with pytest.raises(HoldfastError, match=r"`prior`.*geometric:MEAN"):
        prior_distribution(prior, max_count=9)


@pytest.mark.parametrize("prior", ["no-such-file.csv", [0.5, 0.2], [[0.5], [0.5]]])
def test_a_prior_that_is_none_is_an_error(prior):
    with pytest.raises(HoldfastError):
        prior_distribution(prior, max_count=9)


@pytest.mark.parametrize(
    "text, name, tolerance, probability",
    [
        ("zeros within 1 point, 9 times in 10", "zeros", 0.01, 0.9),
        ("zeros within 0.5 points 19 in 20", "zeros", 0.005, 0.95),
        ("Above 10 within .5%, 1 in 2", "above 10", 0.005, 0.5),
        ("mean within 0.25, 9 in 10", "mean", 0.25, 0.9),
    ],
)
def test_targets_are_read_from_words(text, name, tolerance, probability):
    target = read_target(text)
    assert target.question == Question(name)
    assert target.tolerance == pytest.approx(tolerance)
    assert target.probability == pytest.approx(probability)
    assert read_target(str(target).replace(f", with probability {probability:g}", ", 1 in 2"))


@pytest.mark.parametrize(
    "text",
    ["zeros", "zeros within 1, 10 in 10", "mean within 1 point, 9 in 10", "x within 1, 1 in 2", 3],
)
def test_a_bad_target_is_an_error(text):
    with pytest.raises(HoldfastError, match=r"`target`|a question must be"):
        read_target(text)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"categories": 0}, "`categories`"),
        ({"categories": "many"}, "`categories`"),
        ({"max_count": 0}, "`max_count`"),
        ({"splits": []}, "`splits`"),
        ({"splits": ["2"]}, "`split`"),
        ({"target": "above 9 within 1 point, 1 in 2"}, "the answer 0"),
        ({"repetitions": 1}, "`repetitions`"),
        ({"method": "nobody"}, "`methods`"),
    ],
    ids=str,
)
def test_bad_settings_are_errors(change, message):
    with pytest.raises(HoldfastError, match=message):
        holdfast.plan(**(GEOMETRIC | {"epsilons": [1], "splits": [None]} | change))


def test_budgets_are_compared_by_the_same_draws():
    options = GEOMETRIC | {"repetitions": 8}
    found = holdfast.plan(epsilons=["1", "1.1", "1.2", "1.3", "1.4"], splits=[None], **options)
    bounds = [row["9 in 10 of zeros"] for row in found.rows]
    assert bounds == sorted(bounds, reverse=True)


def test_plan_takes_the_questions_that_a_release_is_asked():
    words = ["share zero", "share at least 4", "share between 2 and 5", "mean"]
    found = holdfast.plan(epsilons=["1"], splits=[None], questions=words, **GEOMETRIC)
    assert all(f"error of {name}" in found.rows[0] for name in words)
    assert read_target("share at least 4 within 1 point, 9 in 10").tolerance == 0.01
    for short, long in (("zeros", "share zero"), ("above 3", "share at least 4")):
        assert (Question(short).weights(10) == Question(long).weights(10)).all()
