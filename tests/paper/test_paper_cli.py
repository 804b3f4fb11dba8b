"""`holdfast paper`: the framework on a file, the second reader's exit codes, the experiments."""

import numpy as np
import pytest
from typer.testing import CliRunner

from holdfast import paper
from holdfast.errors import BudgetError, HoldfastError
from holdfast.ledger.ledger import Ledger
from holdfast.paper.cli import app

TABLE = "place,deaths,other\n" + "".join(f"p{k},{k * 7 % 5},{k}\n" for k in range(40))
own_module = "from holdfast.paper.constructors import Optimal\nmine = Optimal()\n" + (
    "def flat(histogram, *, epsilon, rng):\n    return [1 / len(histogram)] * len(histogram)\n"
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(TABLE)
    runner = CliRunner()

    def invoke(*words):
        found = runner.invoke(app, [str(word) for word in words])
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        return found.exit_code, found.output

    return invoke


ASKED = ("privatize", "in.csv", "--count", "deaths", "--epsilon", "1")


def test_a_file_becomes_a_folder_that_the_second_reader_accepts(run, tmp_path):
    code, said = run(*ASKED, "--category", "place", "--n", 6, "--out", "result")
    assert code == 0 and "epsilon 1 = 17/125 + 108/125" in said and "SIMULATION" not in said
    lines = (tmp_path / "result" / "table.csv").read_text().splitlines()
    assert lines[0] == "place,count" and lines[1].startswith("p0,") and len(lines) == 41
    assert not paper.load("result").simulated
    code, said = run("verify", "result")
    assert code == 0 and "DOES NOT HOLD" not in said and "privatizer: CyclicLaplace" in said


def test_the_exit_code_says_what_was_found(run, tmp_path):
    run(*ASKED, "--n", 6, "--out", "seeded", "--seed", 1)
    assert run("verify", "seeded")[0] == 3
    (tmp_path / "seeded" / "table.csv").write_text("count\n1\n")
    code, said = run("verify", "seeded")
    assert code == 1 and "DOES NOT HOLD" in said
    with pytest.raises(HoldfastError, match="cannot be read"):
        run("verify", "nowhere")


@pytest.mark.parametrize(
    ("words", "privatizer", "constructor"),
    [
        (["--privatizer", "Privelet"], "Privelet(projection='clip')", "Optimal()"),
        (
            ["--privatizer", "Hierarchical(branching=2)", "--constructor", "UnfixedOptimum"],
            "Hierarchical(projection='clip', branching=2)",
            "UnfixedOptimum()",
        ),
        (["--constructor", "Frontier(price='0.5')"], "CyclicLaplace", "Frontier(price=0.5)"),
        (["--constructor", "Heuristic(selector='max')"], "CyclicLaplace", "Heuristic(max)"),
        (["--constructor", "TruncatedGeometric"], "none", "TruncatedGeometric()"),
        (["--constructor", "own_parts:mine"], "CyclicLaplace", "Optimal()"),
        (["--privatizer", "own_parts:flat"], "not holdfast's: flat", "Optimal()"),
    ],
)
def test_parts_are_named_with_their_values_or_imported(
    words, privatizer, constructor, run, tmp_path, monkeypatch
):
    (tmp_path / "own_parts.py").write_text(own_module)
    monkeypatch.syspath_prepend(tmp_path)
    assert run(*ASKED, "--n", 6, "--out", "result", "--seed", 2, *words)[0] == 0
    loaded = paper.load("result")
    assert loaded.privatizer.startswith(privatizer) and loaded.constructor == constructor
    assert run("verify", "result")[0] == 3


def test_n_can_be_a_quantile_that_takes_its_part(run):
    code, said = run(*ASKED, "--n", "q0.9", "--out", "result", "--seed", 1, "--split", "1/2")
    assert code == 0 and "for n" in said
    loaded = paper.load("result")
    assert loaded.epsilon_n > 0 and loaded.epsilon_1 == loaded.epsilon_2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--n", "x"], "`n` must be"),
        (["--n", 6, "--privatizer", "Nobody"], "there is no privatizer"),
        (["--n", 6, "--constructor", "Optimal(colour=1)"], "has other values"),
        (["--n", 6, "--constructor", "__import__('os').getcwd()"], "there is no constructor"),
        (["--n", 6, "--constructor", "nowhere:mine"], "cannot be imported"),
        (["--n", 6, "--split", 2], "`split`"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_written(words, told, run, tmp_path):
    with pytest.raises(HoldfastError, match=told.replace("`", ".")):
        run(*ASKED, "--out", "result", *words)
    assert not (tmp_path / "result").exists()


def test_a_row_without_a_count_is_refused(run, tmp_path):
    (tmp_path / "in.csv").write_text("place,deaths\na,1\nb,\nc,2\n")
    with pytest.raises(HoldfastError) as refused:
        run(*ASKED, "--n", 6, "--out", "result")
    assert "deaths" in str(refused.value) and not (tmp_path / "result").exists()


def test_an_earlier_result_is_not_paid_for_twice(run):
    run(*ASKED, "--n", 6, "--out", "result", "--seed", 1)
    before = paper.load("result").counts
    with pytest.raises(HoldfastError, match="exists already"):
        run(*ASKED, "--n", 6, "--out", "result", "--seed", 2)
    np.testing.assert_array_equal(paper.load("result").counts, before)


def test_a_ledger_pays_for_a_file_and_remembers_it(run, tmp_path):
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("deaths", epsilon=1)
    paid = ("--ledger", ledger.path, "--dataset", "deaths")
    assert run(*ASKED, "--n", 6, "--out", "result", *paid)[0] == 0
    (spend,) = ledger.spends("deaths")
    assert (spend.epsilon, spend.purpose.file, spend.purpose.folder) == (1, "in.csv", "result")
    assert run("verify", "result")[0] == 0
    with pytest.raises(BudgetError):
        run(*ASKED, "--n", 6, "--out", "other", *paid)
    assert not (tmp_path / "other").exists()


def test_reproduce_lists_its_experiments_and_runs_one(run, tmp_path):
    pytest.importorskip("matplotlib")
    _, said = run("reproduce", "--list")
    assert "accuracy" in said and "frontier" in said
    code, said = run("reproduce", "polytopes", "--quick", "--out", "results", "--jobs", 1)
    assert code == 0 and "4 of 4 numbers and statements of the paper agree" in said
    assert (tmp_path / "results" / "report.html").is_file()
