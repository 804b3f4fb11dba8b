"""The audit over releases by group: neighbours differ in a row of one group."""

import json

import pandas as pd
import pytest

import holdfast.former as holdfast
from audit_cases import OverlappingGroups
from command_line import run
from holdfast.former.studies.audit import RepeatedGroups
from holdfast.former.studies.audit.features import parts_of

TABLE, LABELS = [0, 1, 0], ["a", "a", "b"]
SPLIT = {"split": "7/10", "max_count": 1, "labels": LABELS}


def audited(mechanism, neighbour, draws=3000):
    loss = mechanism.stage_2_loss(TABLE, neighbour)
    return holdfast.audit(
        mechanism, TABLE, neighbour, epsilon=1, draws=draws, batched=True, features=loss
    )


@pytest.mark.parametrize("neighbour", [[1, 1, 0], [0, 1, 1]])
def test_one_row_of_one_group_keeps_the_budget_and_uses_it(neighbour):
    repeated = RepeatedGroups(epsilon=1, seed=3, **SPLIT)
    found = audited(repeated, neighbour)
    assert 0.45 < found.lower_bound < 1
    budget = repeated.stages.budget
    assert budget.stage_1 + budget.stage_2 == 1


def test_groups_that_overlap_and_each_spend_the_whole_epsilon_are_caught():
    found = audited(OverlappingGroups(epsilon=1, seed=3, **SPLIT), [1, 1, 0])
    assert found.violation and found.lower_bound > 1.02


@pytest.mark.parametrize("totals", [None, "1/5"])
def test_repeated_groups_draw_what_privatize_draws(totals):
    frame = pd.DataFrame({"group": ["a", "b", "b", "a"], "n": [0, 2, 5, 1]})
    for seed in range(4):
        release = holdfast.privatize(
            frame, count="n", within="group", epsilon=1, max_count=3, totals=totals, seed=seed,
            publish_anyway=["group", "row order", "totals"],
        )  # fmt: skip
        repeated = RepeatedGroups(
            epsilon=1, max_count=3, labels=frame.group, totals=totals, seed=seed
        )
        targets, counts, measured = repeated(frame.n, 1)
        assert targets[0] == pytest.approx(release.groups.targets.ravel(), abs=1e-12)
        assert counts[0].tolist() == release.counts.tolist()
        noisy = [] if totals is None else [*release.totals.measured]
        noisy += [x for sums in release.groups.measurement.groups for x in sums.tolist()]
        assert measured[0].tolist() == noisy


def test_a_release_by_group_is_audited_by_all_that_it_publishes():
    labels = [str(number) for number in range(40)]
    frame = pd.DataFrame({"group": labels, "n": [0, 3] * 20})
    release = holdfast.privatize(
        frame, count="n", within="group", epsilon=1, max_count=1, totals=True, seed=1,
        publish_anyway=["group", "totals"],
    )  # fmt: skip
    targets, counts, measured = parts_of([release, release])
    assert (targets.shape, counts.shape) == ((2, 80), (2, 40))
    assert measured.shape == (2, 40 + 40 + 1)  # a sum and a total of each group, and of the table
    assert measured[0, 40:].tolist() == [*release.totals.measured, release.totals.measured_whole]


def test_the_command_line_audits_groups_and_bundles_of_groups(capsys, monkeypatch, tmp_path):
    def cli(*words):
        return run(capsys, monkeypatch, "audit", *words, "--json")

    call = ("--pipeline", "--epsilon", "1", "--max-count", "1", "--draws", "800")
    call = (*call, "--split", "0.7")  # few targets, each fitted once
    tables = ("--table", "[0, 1, 0]", "--neighbour", "[1, 1, 0]")
    code, out, _ = cli(*call, *tables, "--within", '["a", "a", "b"]')
    assert code == 0 and json.loads(out)["violation"] is False
    for wrong in ('["a"]', "a,a,b"):
        code, _, err = cli(*call, *tables, "--within", wrong)
        assert code == 2 and "a label for each row" in err
    code, _, err = cli(*call, *tables, "--within", "[1, 1, 2]", "--privatizer", "privelet")
    assert code == 2 and "default stages" in err
    frame = pd.DataFrame({"group": ["a", "b"] * 20, "n": [0, 3] * 20})
    release = holdfast.privatize(
        frame, count="n", within="group", epsilon=1, max_count=5, seed=1,
        publish_anyway=["group"],
    )  # fmt: skip
    _, out, _ = cli(release.save(tmp_path / "r"))
    worst = max(holdfast.audit(g.mechanism).lower_bound for g in release.groups.values())
    assert json.loads(out)["lower_bound"] == worst and not json.loads(out)["violation"]
