"""Columns of one's own beside a release."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.former import HoldfastError

ROWS = 400
FRAME = pd.DataFrame(
    {
        "county": [f"{k % 200:05}" for k in range(ROWS)],
        "state": ["A", "B"] * 100 + ["B", "A"] * 100,
        "n": np.random.default_rng(1).poisson(np.where(np.arange(ROWS) % 3, 1.0, 5.0)),
    }
)
MINE = FRAME[["county", "state"]].assign(kind=np.arange(ROWS) % 3, share=0.5)[::-1]
BOTH = ["state", "county"]


@pytest.fixture(scope="module")
def release():
    names = {"count": "n", "category": "county", "keep": ["state"], "repeated_categories": True}
    return holdfast.privatize(FRAME, epsilon=2, max_count=9, seed=1, **names)


def test_rows_are_found_by_their_labels_whatever_the_order(release, tmp_path):
    MINE.to_csv(tmp_path / "mine.csv", index=False)
    for table in (MINE, tmp_path / "mine.csv"):
        merged = release.merge(table, on=BOTH)
        assert merged.to_pandas()["kind"].tolist() == [k % 3 for k in range(ROWS)]
        assert merged.to_pandas()["share"].tolist() == [0.5] * ROWS
        assert (merged.counts == release.counts).all()


def test_what_is_merged_can_be_asked_for_and_regressed_on(release):
    merged = release.merge(MINE, on=BOTH)
    marks = [k % 3 == 0 for k in range(ROWS)]
    assert merged.ask("mean", where="kind == 0").interval == (
        release.ask("mean", where=marks).interval
    )
    slope = merged.regress("n ~ C(kind)").coefficients["kind[1]"]
    assert slope == pytest.approx(-np.log(5), abs=0.4)
    with pytest.raises(HoldfastError, match=r"release\.merge"):
        release.regress("n ~ C(kind)")


def test_rows_that_the_table_does_not_have_stay_and_are_left_out(release):
    merged = release.merge(MINE[:100], on=BOTH)
    assert len(merged.counts) == ROWS and merged.regress("n ~ C(kind)").rows == 100


@pytest.mark.parametrize(
    ("table", "on", "words"),
    [
        (MINE.drop(columns="state"), "county", "in several rows"),
        (MINE, ["county", "town"], "town"),
        (MINE, [], "`on` is empty"),
        (MINE[BOTH], BOTH, "only the columns of"),
        (MINE.assign(n=1), BOTH, "both tables have 'n'"),
        (MINE.assign(county="x")[:1], BOTH, "no row of the release"),
    ],
)
def test_what_does_not_fit_is_refused(release, table, on, words):
    with pytest.raises(HoldfastError, match=words):
        release.merge(table, on=on)


def test_a_merged_release_is_not_published_as_the_release(release, tmp_path):
    with pytest.raises(HoldfastError, match="cannot be saved"):
        release.merge(MINE, on=BOTH).save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
