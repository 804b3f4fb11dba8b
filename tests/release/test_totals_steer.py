"""Measured totals steer the distribution: the released table adds up to about what was measured."""

import numpy as np
import pandas as pd
import pytest

import holdfast

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {"g": RNG.integers(0, 4, 2400), "n": RNG.lognormal(1, 1.8, 2400).astype(int)}
).assign(h=lambda table: (table.g < 2).astype(int))
SEEDS = range(6)
ASKED = {
    "count": "n",
    "epsilon": "0.5",
    "publish_anyway": ["row order", "totals"],
    "keep": ["g", "h"],
}


@pytest.fixture(scope="module")
def releases():
    return {
        totals: [
            holdfast.privatize(TABLE, seed=seed, totals=totals, within="g", **ASKED)
            for seed in SEEDS
        ]
        for totals in (False, "0.3")
    }


def errors(releases, by):
    """Root mean square errors of totals of rows that are the same in a column."""
    true = TABLE.n.groupby(by).sum()
    off = [pd.Series(release.counts).groupby(by).sum() - true for release in releases]
    return np.sqrt(np.mean(np.square(off)))


def test_the_table_and_its_groups_add_up_to_what_was_measured(releases):
    everything = np.zeros(len(TABLE))
    for rows in (TABLE.g, everything):
        assert errors(releases["0.3"], rows) < 0.6 * errors(releases[False], rows)


def test_the_answer_is_that_of_the_table_and_its_interval_holds(releases):
    within = 0
    for release in releases["0.3"]:
        answer = release.ask("total")
        assert answer.estimate == release.counts.sum()
        within += answer.interval[0] <= TABLE.n.sum() <= answer.interval[1]
    assert within >= 4


def test_groups_chosen_later_keep_the_total_of_a_table_in_one_group(tmp_path):
    alone = [holdfast.privatize(TABLE, seed=s, totals="0.3", **ASKED) for s in SEEDS]
    later = [release.by("h") for release in alone]
    for one, other in zip(alone, later, strict=True):
        assert (np.sort(one.counts) == np.sort(other.counts)).all()
    verified = holdfast.verify(later[0].save(tmp_path / "r"))
    assert verified, str(verified)
