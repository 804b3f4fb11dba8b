"""The names that users write: what the design promises of Python, tried on one table."""

import numpy as np
import pandas as pd
import pytest

import holdfast
from holdfast.paper.constructors import Heuristic
from holdfast.paper.privatizers import CyclicLaplace


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rows = 400
    columns = {
        "county": [f"county {number:03d}" for number in range(rows)],
        "state": rng.choice(["NE", "KS", "IA"], rows),
        "region": rng.choice(["east", "west"], rows),
        "population": rng.integers(1_000, 1_000_000, rows),
        "homicides": rng.negative_binomial(0.5, 0.1, rows),
    }
    columns["homicides"][3] = -999
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def release(table):
    return holdfast.privatize(
        table,
        epsilon="1.0",
        count="homicides",
        category="county",
        keep=["state", "region", "population"],
        within="state",
        contributions=1,
        rows=1,
        unit="person",
        person_in="all columns",
        missing=[-999],
        structural_zero=None,
        top=None,
        ledger=None,
        dataset=None,
        period=None,
        seed=1,
    )


def test_a_release_has_a_table_of_the_same_kind_and_what_follows_from_it(table, release):
    assert type(release.table) is type(table) and list(release.table) == list(table)
    assert release.counts.dtype == np.int64 and len(release.noisy) == len(table)
    inside = (table.state == "NE").to_numpy() & (release.counts >= 0)
    ours = release.groups["NE"].distribution
    assert ours.counts().tolist() == sorted(release.counts[inside])
    assert set(release.groups) == {"NE", "KS", "IA"} and "TX" not in release.groups
    assert set(release.by("region").groups) == {"east", "west"}
    with pytest.raises(holdfast.HoldfastError, match="`0` is no column of counts"):
        list(release)


def test_a_release_is_asked(table, release):
    ne = release.ask("mean", where="state == 'NE'")
    shares = release.ask("share", equal=0, by="state")
    assert ne.interval[0] <= ne.estimate <= ne.interval[1] and len(list(shares)) == 3
    assert "log(population)" in release.regress("homicides ~ log(population)").params
    assert release.row("county 007").interval and len(list(release.top(10).rows)) == 10
    assert release.plot() is not None and len(release.to_pandas()) == len(table)


def test_a_release_is_saved_loaded_verified_and_written_for_excel(release, tmp_path):
    folder = release.save(tmp_path / "release")
    assert (holdfast.load(folder).counts == release.counts).all()
    assert holdfast.verify(folder).passed
    assert release.to_excel(tmp_path / "r.xlsx").read_bytes()[:2] == b"PK"


def test_the_paper_has_a_room_of_its_own():
    counts = np.minimum(np.random.default_rng(1).geometric(0.2, 500) - 1, 50)
    result = holdfast.paper.privatize(
        counts,
        epsilon="1",
        n=51,
        privatizer=CyclicLaplace(),
        constructor=Heuristic("sandwich"),
        seed=1,
    )
    assert len(result.counts) == 500
    for room in ("privatizers", "constructors", "baselines", "theory", "experiments"):
        assert getattr(holdfast.paper, room)


def test_everything_else_that_is_public_is_there():
    for name in ("Ledger", "plan", "compare", "explain", "count_by", "classes"):
        assert callable(getattr(holdfast, name))
