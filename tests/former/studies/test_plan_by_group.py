"""Planning with groups: what they would gain on a public prior, before anything is paid."""

import json

import numpy as np
import pytest
from test_compare_by_group import places

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.studies.compare.by_group import prior_groups

QUICK = {"max_count": 15, "count": "n", "epsilons": ["0.5"], "splits": [None]}
QUICK |= {"repetitions": 4, "jobs": 1, "within": "people"}


@pytest.fixture
def prior(tmp_path):
    places().to_csv(tmp_path / "prior.csv", index=False)
    return tmp_path / "prior.csv"


@pytest.mark.parametrize("rows", [600, 900])
def test_a_plan_shows_what_groups_would_gain(prior, rows):
    found = holdfast.plan(categories=rows, prior=prior, totals=True, **QUICK)
    by_method = {row["method"]: row for row in found.by_group}
    assert set(by_method) == {"default", "by-group"}
    assert by_method["by-group"]["w1 within"] < by_method["default"]["w1 within"] / 3
    assert by_method["by-group"]["totals within"] < by_method["default"]["totals within"] / 3
    assert by_method["default"]["absolute"] == pytest.approx(found.rows[0]["absolute"], rel=0.15)


@pytest.mark.parametrize("rows", [37, 600, 1200])
def test_groups_of_a_prior_keep_their_shares_and_distributions(prior, rows):
    found = prior_groups(prior, rows=rows, max_count=15, count="n", within="people", totals=None)
    frame = places()
    assert len(found.counts) == found.partition.sizes.sum() == rows
    assert found.partition.sizes.tolist() == np.bincount(found.members).tolist()
    for group, ((label,), size) in enumerate(
        zip(found.partition.labels, found.partition.sizes, strict=True)
    ):
        theirs = frame["n"][frame["people"] == int(label)]
        assert abs(size / rows - len(theirs) / 600) < 1.01 / rows
        assert abs(np.median(found.counts[found.members == group]) - theirs.median()) <= 1


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"prior": "geometric:2", "count": None}, "a table with these columns"),
        ({"within": "nowhere"}, "nowhere"),
        ({"within": None, "totals": True}, "`totals` goes with `within`"),
        ({"method": "rounding"}, "whole tables"),
    ],
)
def test_what_cannot_be_planned_by_group_is_refused(prior, changes, words):
    with pytest.raises(HoldfastError, match=words):
        holdfast.plan(**({"categories": 600, "prior": prior} | QUICK | changes))


def test_the_command_line_shows_releases_with_and_without_groups(cli, prior):
    call = ("--categories", "600", "--max-count", "15", "--prior", prior, "--count", "n")
    call += ("--epsilon", "0.5", "--split", "default", "--repetitions", "2", "--jobs", "1")
    code, out, err = cli("plan", *call, "--within", "people", "--totals")
    assert code == 0 and "With and without groups" in out and "by-group" in out, err
    code, out, err = cli("plan", *call, "--within", "people", "--json")
    assert code == 0 and len(json.loads(out)["by_group"]) == 2, err
