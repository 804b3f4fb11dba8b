"""Answers about rows of several groups."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.former.analysis.parts.part import Part
from holdfast.former.analysis.parts.unbiased import solved, unbiased

TOP, ROWS = 8, 900


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, ROWS)
    counts = np.minimum(rng.poisson(np.array([0.2, 2.0, 7.0])[kind]), TOP)
    return pd.DataFrame({"place": range(ROWS), "kind": kind.astype(str), "n": counts})


def test_scores_have_what_is_asked_of_the_true_count_as_their_mean():
    z = np.full(6, 1 / 6)
    matrix = holdfast.constructors.Optimal()(z, epsilon=1).matrix
    wanted = np.eye(6)[:, :1]
    assert np.abs(matrix @ solved(matrix, z, wanted, 10**9) - wanted).max() < 1e-4


def test_the_interval_over_groups_reaches_over_one_that_takes_no_rows_for_alike(table):
    true, slope = float((table.n == TOP).mean()), np.eye(TOP + 1)[TOP] / ROWS
    middles, inside = [], 0
    for seed in range(12):
        release = holdfast.privatize(
            table, count="n", category="place", within="kind", max_count=TOP, epsilon=2, seed=seed
        )
        low, high = unbiased(Part(release=release, marks=np.ones(ROWS, dtype=bool)), slope, 0.9)
        answer = release.ask("share", at_least=TOP)
        assert answer.interval[0] <= max(low, 0) and answer.interval[1] >= min(high, 1)
        middles.append((low + high) / 2)
        inside += low <= true <= high
    assert np.mean(middles) == pytest.approx(true, abs=0.01)
    assert inside >= 9
