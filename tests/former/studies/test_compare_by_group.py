"""Comparing by group: the release by group is one more method, all are measured within groups."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.privacy.metrics import wasserstein

QUICK = {"count": "n", "max_count": 15, "epsilons": ["0.5"], "repetitions": 6, "jobs": 1}


def places(rows=600):
    chance = np.random.default_rng(4)
    people = chance.integers(1, 5, rows)
    counts = chance.poisson(np.array([0.2, 1, 4, 9])[people - 1])
    counts[0] = 60
    return pd.DataFrame({"people": people, "n": counts})


def compared(**changes):
    options = QUICK | {"methods": ["default"], "within": "people"} | changes
    found = holdfast.compare(places(), **options)
    return found, {row["method"]: row for row in found.non_private_summary()}


def test_groups_are_gained_in_the_same_table():
    found, by_method = compared(totals=True)
    assert [method.name for method in found.methods] == ["default", "by-group"]
    whole, grouped = by_method["default"], by_method["by-group"]
    assert grouped["w1 within"] < whole["w1 within"] / 3
    assert grouped["totals within"] < whole["totals within"] / 3
    assert grouped["absolute"] < whole["absolute"]
    assert all(np.isfinite(row[name]) for row in by_method.values() for name in found.measures)


@pytest.mark.parametrize("method", ["default", "by-group"])
def test_what_is_measured_within_groups_is_that_of_the_release(method):
    found, _ = compared(repetitions=1)
    (row,) = [row for row in found.non_private_rows if row["method"] == method]
    released, frame = found.non_private_example(method, "0.5").counts, places()
    distances, totals = [], []
    for people in range(1, 5):
        mine = (frame["people"] == people).to_numpy()
        shares = [
            np.bincount(np.minimum(counts[mine], 15), minlength=16) / mine.sum()
            for counts in (frame["n"].to_numpy(), released)
        ]
        distances.append(mine.mean() * wasserstein(*shares))
        totals.append(released[mine].sum() - frame["n"][mine].sum())
    assert row["w1 within"] == pytest.approx(sum(distances))
    assert row["totals within"] == pytest.approx(np.abs(totals).mean())
    assert row["total"] == abs(sum(totals))


def test_the_expected_change_by_group_is_near_the_change_that_is_drawn():
    found, by_method = compared()
    truth = np.minimum(places()["n"].to_numpy(), 15)
    changes = [
        np.abs(
            found.methods[1].simulate(truth, epsilon="0.5", max_count=15, seed=seed).counts - truth
        )
        for seed in range(6)
    ]
    assert by_method["by-group"]["absolute"] == pytest.approx(np.mean(changes), rel=0.1)


def test_without_groups_nothing_is_measured_within_them():
    found, by_method = compared(within=None)
    assert found.non_private_groups is None and "w1 within" not in by_method["default"]


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"within": "nowhere"}, "nowhere"),
        ({"within": "n"}, "column of counts"),
        ({"within": None, "totals": True}, "`totals` goes with `within`"),
        ({"methods": ["rounding"]}, "rounding is simulated for whole tables"),
        ({"rows": 5}, "needs a table"),
        ({"max_count": None}, "needs a table"),
    ],
)
def test_what_cannot_be_compared_by_group_is_refused(changes, words):
    with pytest.raises(HoldfastError, match=words):
        compared(**changes)


def test_the_command_line_shows_what_groups_gain(cli):
    call = ("--count", "n", "--max-count", "15", "--epsilon", "0.5", "--methods", "default")
    places().to_csv("in.csv", index=False)
    words = ("--within", "people", "--totals", "--repetitions", "2", "--jobs", "1")
    code, out, err = cli("compare", "in.csv", *call, *words)
    assert code == 0 and "by-group" in out, err
    titles = " ".join(out.split())
    assert "within 4 groups" in titles and "Error of a group's total" in titles
