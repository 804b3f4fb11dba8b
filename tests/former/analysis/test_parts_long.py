"""Answers about groups and parts whose counts run far: their intervals cover."""

import math

import numpy as np
import pyarrow as pa
import pytest

import holdfast.former as holdfast
from holdfast.former.analysis.parts import long
from holdfast.former.analysis.parts.long import spread_out
from holdfast.former.analysis.parts.steps import at_most
from long_groups import COUNTS, OPTIONS, SIZES, STATES, TABLE, TOP


@pytest.fixture(scope="module")
def release():
    return holdfast.privatize(TABLE, **OPTIONS, within="state", epsilon=1, seed=5)


def truths(counts):
    ordered, rows = np.sort(counts), len(counts)
    ranks = 2 * np.arange(1, rows + 1) - rows - 1
    return {
        ("mean", ()): counts.mean(),
        ("total", ()): counts.sum(),
        ("median", ()): ordered[math.ceil(rows / 2) - 1],
        ("quantile", (("at", 0.9),)): ordered[math.ceil(0.9 * rows) - 1],
        ("share", (("at_least", 300),)): (counts >= 300).mean(),
        ("variance", ()): counts.var(),
        ("gini", ()): ranks @ ordered / (rows * ordered.sum()),
    }


def test_every_question_is_answered_by_group_and_intervals_cover():
    covered = []
    expected = {name: truths(COUNTS[name == STATES]) for name in SIZES}
    for seed in range(2):
        release = holdfast.privatize(TABLE, **OPTIONS, within="state", epsilon=1, seed=seed)
        for asked in expected["one"]:
            for name, found in release.ask(asked[0], by="state", **dict(asked[1])).items():
                low, high = found.interval
                covered.append(low - 1e-9 <= expected[name][asked] <= high + 1e-9)
    assert np.mean(covered) > 0.85


def test_a_group_of_one_row_says_the_same_whatever_is_asked(release):
    where = {"where": "state == 'one'"}
    median, quantile = release.ask("median", **where), release.ask("quantile", at=0.9, **where)
    assert quantile.interval == median.interval == release.ask("total", **where).interval
    assert quantile.question.startswith("count at quantile 0.9")
    assert "intervals.csv" not in str(quantile)  # which a bundle of so long a range does not have
    for question in ("variance", "gini"):
        assert release.ask(question, **where).interval == (0, 0)


def test_rows_that_z_has_beside_where_they_are_widen_an_interval():
    z = spread_out(np.eye(1, 400, 200)[0], 10)
    assert z.sum() == pytest.approx(1) and np.argmax(z) == 200
    assert z[190] == pytest.approx(z[210]) == pytest.approx(z[200] * np.exp(-1))
    edge = spread_out(np.eye(1, 400, 0)[0], 10)
    assert edge.sum() == pytest.approx(1) and edge[10] == pytest.approx(edge[1] * np.exp(-0.9))


def test_few_rows_at_the_highest_count_are_noted_where_they_are_much_of_the_total():
    random = np.random.default_rng(3)
    counts = np.r_[90_000, random.integers(0, 50, 2000)]
    states = ["b", *random.choice(["a", "b"], 2000)]
    for within in (None, "state"):
        table = pa.table({"state": states, "visits": counts})
        release = holdfast.privatize(
            table,
            count="visits",
            keep=["state"],
            within=within,
            epsilon=4,
            max_count=20_000,
            seed=1,
        )
        found = release.ask("mean", by="state")
        assert found["b"].capped_at == 20_000 and "lower bound" in found["b"].question
        assert found["a"].capped_at is None
        assert release.ask("mean").capped_at == 20_000


@pytest.mark.parametrize("epsilon", ["0.2", "3"])
def test_a_share_is_worked_out_near_its_counts_alone(epsilon, monkeypatch):
    release = holdfast.privatize(TABLE, **OPTIONS, within="state", epsilon=epsilon, seed=5)
    asked = [{"equal": 0}, {"at_least": 300}, {"between": (20, 60)}, {"between": (100, 5000)}]
    near = [release.ask("share", **options) for options in asked]
    widest = [long._windows(np.arange(TOP + 1) < 300, group.mechanism) for group in groups(release)]
    assert all(last - first < TOP / 2 for found in widest for first, last in found)
    monkeypatch.setattr(long, "MOST_STEPS", -1)  # over all counts
    for options, found in zip(asked, near, strict=True):
        everywhere = release.ask("share", **options)
        assert found.estimate == pytest.approx(everywhere.estimate, abs=1e-6)
        assert found.interval == pytest.approx(everywhere.interval, abs=1e-3)


def groups(release):
    return [release.groups[name] for name in ("some", "many")]


def test_groups_with_a_row_above_max_count_are_not_said_to_have_none():
    rng = np.random.default_rng(3)
    counts = rng.geometric(0.03, (30, 40)) - 1
    counts[:20, 0] = 5000
    groups = np.repeat([f"g{number}" for number in range(30)], 40)
    table = pa.table({"row": [f"r{i}" for i in range(1200)], "group": groups, "n": counts.ravel()})
    release = holdfast.privatize(
        table, count="n", category="row", within="group", epsilon=0.2, max_count=2000, totals=True,
        seed=1,
    )  # fmt: skip
    said = {
        name: any("none is above max_count" in note for note in found.notes)
        for name, found in release.ask("mean", by="group").items()
    }
    assert [said[f"g{number}"] for number in range(30)] == [False] * 20 + [True] * 10


def test_rows_unlike_the_table_are_covered_and_whole_tables_are_answered_as_before(monkeypatch):
    rng = np.random.default_rng(8)
    rural = np.arange(2500) < 300
    counts = np.where(rural, rng.random(2500) < 0.08, rng.lognormal(2, 2, 2500).astype(int))
    counts = np.minimum(counts, 5000)
    table = pa.table(
        {"row": [f"r{i}" for i in range(2500)], "rural": rural.astype(int), "n": counts}
    )
    few = counts[rural]
    asked = {
        ("share", (("equal", 0),)): (few == 0).mean(),
        ("share", (("between", (1, 3)),)): ((few >= 1) & (few <= 3)).mean(),
        ("mean", ()): few.mean(),
        ("median", ()): np.median(few),
    }
    covered = {key: [] for key in asked}
    for epsilon, seed in ((0.1, 0), (0.1, 1), (0.1, 2), (0.5, 0), (0.5, 1), (0.5, 2)):
        release = holdfast.privatize(
            table, count="n", category="row", keep=["rural"], epsilon=epsilon, max_count=5000,
            seed=seed,
        )  # fmt: skip
        for key, truth in asked.items():
            found = release.ask(key[0], where="rural == 1", **dict(key[1]))
            low, high = found.interval
            covered[key].append(low - 1e-9 <= truth <= high + 1e-9)
            assert key[0] == "median" or any("assumes nothing" in note for note in found.notes)
    assert all(sum(each) >= 5 for each in covered.values()), covered
    whole = release.ask("mean", where=np.ones(2500, dtype=bool))
    monkeypatch.setattr(long, "NEARLY_ALL", 0.0)
    assert release.ask("mean", where=np.ones(2500, dtype=bool)).interval == whole.interval


def test_the_likelihood_near_steps_is_that_of_the_mechanism(release):
    mechanism = release.groups.at(0).mechanism
    n = len(release.target)
    true, edges = np.array([0, 3, 40, 300, n - 1]), np.array([0, 2, 300, n - 2, n - 1])
    found = at_most(mechanism, true, edges)
    for k, column in zip(edges, found.T, strict=True):
        expected = mechanism.expected((np.arange(n) <= k).astype(float))[true]
        assert column == pytest.approx(expected, abs=1e-12)
