"""Several counts on the command line."""

import json

import pytest

import holdfast.former as holdfast
from command_line import run
from several_tables import three_counts


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    table = three_counts()
    path.write_text("\n".join(",".join(row) for row in (table.columns, *table.rows)) + "\n")
    return path


def command(file, *more):
    named = ("--count", "a", "--count", "b", "--max-count", "a=6", "--max-count", "b=9")
    return ("privatize", str(file), *named, "--category", "name", "--epsilon", "2", *more)


@pytest.fixture
def holdfast_says(capsys, monkeypatch):
    return lambda *words: run(capsys, monkeypatch, *words)


@pytest.mark.parametrize("more", [(), ("--joint",), ("--stream",), ("--stream", "--joint")])
def test_several_counts_become_one_folder_that_verifies(tmp_path, file, holdfast_says, more):
    out = tmp_path / "out"
    code, said, _ = holdfast_says(*command(file, "--keep-none", "--out", out, "--seed", "1", *more))
    assert code == 0 and "one person, in all" in said
    assert holdfast.verify(out).passed
    assert holdfast.load_table(out).joint is ("--joint" in more)


def test_a_dry_run_says_what_each_column_would_get(file, holdfast_says):
    code, said, _ = holdfast_says(
        *command(file, "--keep-none", "--dry-run", "--json", "--weight", "a=1", "--weight", "b=3"),
        *("--rows", "2", "--unit", "household"),
    )
    plan = json.loads(said)
    assert code == 0 and plan["columns"]["a"]["epsilon"] == "1/2"
    assert plan["columns"]["b"]["epsilon"] == "3/2" and "household" in plan["neighbours"]


def test_one_column_of_several_is_asked_and_all_are_reported(tmp_path, file, holdfast_says):
    out = tmp_path / "out"
    holdfast_says(*command(file, "--keep-none", "--out", out, "--seed", "1"))
    code, said, _ = holdfast_says("ask", out, "mean", "--of", "b")
    assert code == 0 and "mean" in said
    code, _, error = holdfast_says("ask", out, "mean")
    assert code != 0 and "--of" in error
    code, _, error = holdfast_says("ask", out, "correlation")
    assert code != 0 and "--of A --of B" in error
    both = ("--of", "a", "--of", "b")
    code, _, error = holdfast_says("ask", out, "correlation", *both, "--against", out)
    assert code != 0 and "--against" in error
    with pytest.raises(holdfast.errors.HoldfastError, match="`of` is missing"):
        holdfast.load_table(out).ask("mean")
    code, said, _ = holdfast_says("report", out, "--format", "md")
    assert code == 0 and "several columns of counts" in said and said.count("Promise") >= 1


def test_a_value_for_one_column_alone_is_refused(file, holdfast_says):
    code, _, error = holdfast_says(*command(file, "--dry-run", "--contributions", "a=2"))
    assert code != 0 and "contributions" in error
