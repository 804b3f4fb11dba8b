"""Groups and totals on the command line."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast

USUAL = ("--count", "n", "--category", "place", "--max-count", "9", "--epsilon", "1")


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "place": [f"p{i}" for i in range(300)],
            "state": rng.choice(["AK", "NE"], 300),
            "people": rng.integers(10, 999, 300),
            "n": rng.poisson(2, 300),
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_a_release_by_group_with_totals_is_written_and_said(cli, file, tmp_path):
    words = ("--within", "state", "--within", "people:3", "--totals", "--totals-share", "0.2")
    code, out, _ = cli("privatize", file, *USUAL, *words, "--out", tmp_path / "r")
    said = " ".join(out.split())
    assert code == 0 and "holds within each of 6 groups" in said and "not capped, add up to" in said
    budget = [line.split("│")[2] for line in out.splitlines() if line.count("│") == 5]
    *parts, whole = map(Fraction, map(str.strip, budget))
    assert len(parts) == 3 and abs(sum(parts) - whole) < Fraction(1, 1000)  # totals are said too
    assert "total, by state" in cli("ask", tmp_path / "r", "total", "--by", "state")[1]
    release = holdfast.load(tmp_path / "r")
    assert str(release.groups.within) == "state and 3 classes of people"
    assert release.privacy.budget.totals * 5 == 1
    assert cli("verify", tmp_path / "r")[0] == 0


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_a_dry_run_says_groups_their_rows_and_what_is_published(cli, file, stream):
    words = ("--within", "people:auto", "--totals", "--keep-none", "--dry-run", stream)
    code, out, _ = cli("privatize", file, *USUAL, *words)
    said = " ".join(out.split())
    assert code == 0 and "within each of 8 groups (8 classes of people), of 3" in said
    assert "0.1 on totals" in said and "Which rows are in which group is published: people" in said
    code, out, _ = cli("privatize", file, *USUAL, *words, "--json")
    plan = json.loads(out)
    assert plan["totals"] == "1/10" and plan["within"]["groups"] == 8
    assert sum(plan["within"]["rows_of_groups"]) == 300


def test_a_dry_run_notes_groups_that_are_too_small_before_anything_is_paid(cli, file):
    words = ("--within", "people:100", "--keep-none", "--dry-run")
    code, _, err = cli("privatize", file, *USUAL[:-1], "0.1", *words)
    said = " ".join(err.split())
    assert code == 0 and "too small for this budget" in said and "of equal size would do" in said


def test_a_share_without_totals_is_refused(cli, file):
    code, _, err = cli("privatize", file, *USUAL, "--totals-share", "0.2", "--dry-run")
    assert code == 2 and "goes with `--totals`" in err
