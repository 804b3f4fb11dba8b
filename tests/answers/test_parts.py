"""Rows chosen later, like the table and unlike it."""

from functools import cache

import numpy as np
import pytest

from holdfast.answers.asking import ChosenRows, estimate_and_draws
from holdfast.request.questions import find_question
from private_tables import private_table

RATES = np.repeat([0.3, 3.0, 15.0], [400, 400, 100])
COUNTS = np.random.default_rng(5).poisson(RATES)


@cache
def releases():
    return [private_table(COUNTS, epsilon="0.5", seed=seed) for seed in range(30)]


def answers(marks, name, options):
    question = find_question(name, options)
    for release in releases():
        part = ChosenRows(release=release, column=release.only, marks=marks)
        estimate, draws = estimate_and_draws(part, question)
        yield estimate, np.quantile(draws, [0.05, 0.95]), release.only.noisy[marks]


PARTS = {
    "rows like the table": np.random.default_rng(1).permutation(900) < 60,
    "rows with few": np.arange(900) < 60,
    "rows with many": np.arange(900) >= 840,
}


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("asked", [("mean", {}), ("share", {"equal": 0})], ids=("mean", "zeros"))
def test_parts_are_covered_whether_they_are_like_the_table_or_not(kind, asked):
    marks = PARTS[kind]
    truth = COUNTS[marks].mean() if asked[0] == "mean" else (COUNTS[marks] == 0).mean()
    found = list(answers(marks, *asked))
    covered = [low - 1e-9 <= truth <= high + 1e-9 for _, (low, high), _ in found]
    assert np.mean(covered) >= 0.75


@pytest.mark.parametrize("kind", PARTS)
def test_a_mean_is_at_least_as_close_as_that_of_noisy_counts(kind):
    marks = PARTS[kind]
    truth = COUNTS[marks].mean()
    found = list(answers(marks, "mean", {}))
    ours = np.mean([(estimate - truth) ** 2 for estimate, _, _ in found])
    plain = np.mean([(noisy.mean() - truth) ** 2 for _, _, noisy in found])
    assert ours < 1.35 * plain


def test_a_part_of_all_groups_is_the_whole_and_of_some_their_sum():
    group = ["a"] * 400 + ["b"] * 400 + ["c"] * 100
    release = private_table(COUNTS, epsilon=1, cells={"group": group}, within="group")
    every = ChosenRows(release=release, column=release.only, marks=np.ones(900, dtype=bool))
    some = ChosenRows(release=release, column=release.only, marks=np.arange(900) >= 400)
    other = ChosenRows(release=release, column=release.only, marks=np.arange(900) >= 401)
    assert every.declared == (0, 1, 2) and some.declared == (1, 2) and other.declared is None
    assert some.in_table.total == release.counts[400:].sum()
    assert some.draws[0].rows.sum(axis=1) == pytest.approx(500)
    assert other.draws[0].rows.sum(axis=1) == pytest.approx(499)
