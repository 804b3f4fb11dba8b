"""`holdfast compare` and `holdfast plan`: what they show, and how they refuse."""

import json

import pytest

from command_line import run

PLAN = ("plan", "--categories", "300", "--max-count", "9", "--prior", "geometric:2", "--jobs", "1")
PLAN += ("--epsilon", "1,4", "--split", "default,0.2", "--repetitions", "4")
TABLE = "place,n\n" + "".join(f"p{i},{i % 4}\n" for i in range(60))
COMPARE = ("compare", "in.csv", "--count", "n", "--max-count", "5", "--jobs", "1")
COMPARE += ("--epsilon", "0.5,2", "--methods", "default,staircase", "--repetitions", "2")

USUAL = ("--keep-none", "--count", "n", "--max-count", "5", "--epsilon", "1")


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "in.csv").write_text(TABLE)
    return lambda *words: run(capsys, monkeypatch, *words)


def test_compare_shows_every_method_and_says_that_it_is_not_private(cli, tmp_path):
    code, out, err = cli(*COMPARE, "--folder", "study", "--pictures")
    assert code == 0 and "NOT PRIVATE" in err
    out = " ".join(out.split())
    for words in ("staircase", "W1", "Bias of the question 'zeros'", "Seconds per release"):
        assert words in out
    names = {path.name for path in (tmp_path / "study").iterdir()}
    assert names == {
        "non_private_comparison.csv",
        "non_private_comparison.jsonl",
        *(
            f"non_private_{kind}.{suffix}"
            for kind in ("errors", "distributions", "mechanisms")
            for suffix in ("png", "svg")
        ),
    }
    pictures = {path.stem: path.read_text() for path in (tmp_path / "study").glob("*.svg")}
    assert len(pictures) == 3 and all("NOT PRIVATE: computed" in svg for svg in pictures.values())
    assert "Bars: one standard deviation" in pictures["non_private_errors"]
    assert all(">default<" in svg for svg in pictures.values())  # the name of the tables
    assert "±" in out and "-0 " not in out


def test_one_release_has_no_spread(cli, monkeypatch):
    for other in ("distribution_overlay", "transition_heatmap"):  # which have none in any case
        monkeypatch.setattr(
            f"holdfast.former.studies.compare.pictures.{other}", lambda *_, **__: None
        )
    words = [*COMPARE, "--repetitions", "1", "--folder", "study"]
    code, out, _ = cli(*words, "--pictures")
    assert code == 0 and "±" not in out and "Means over 1 release each." in out
    _, out, _ = cli(*words, "--json")
    assert all(row["spread of w1"] is None for row in json.loads(out)["non_private_summary"])


def test_compare_prints_json(cli):
    code, out, _ = cli(*COMPARE, "--json", "--questions", "zeros,above 2")
    rows = json.loads(out)["non_private_summary"]
    assert code == 0 and len(rows) == 4 and "error of above 2" in rows[0]


def test_plan_shows_expected_errors_and_the_smallest_budget(cli):
    code, out, err = cli(*PLAN, "--target", "zeros within 9 points, 1 in 2")
    assert code == 0 and "must be public" in err
    assert "The smallest budget found is epsilon" in out and "above 3" in out
    code, out, _ = cli(*PLAN, "--target", "mean within 0.0001, 9 in 10")
    assert code == 0 and "No budget looked at meets it" in out


def test_plan_prints_json(cli):
    code, out, _ = cli(*PLAN, "--json")
    found = json.loads(out)
    assert code == 0 and len(found["rows"]) == 4 and found["smallest_epsilon"] is None


def test_a_plan_is_quick_and_not_silent(cli):
    """The default split alone, and a word before it begins; for a program no word."""
    at = PLAN.index("--split")
    words = PLAN[:at] + PLAN[at + 2 :]
    code, out, err = cli(*words, "--json")
    assert code == 0 and err == ""
    assert [row["split"] for row in json.loads(out)["rows"]] == ["default", "default"]
    _, _, err = cli(*words)
    assert err.startswith("Simulating releases of the prior, 4 for each epsilon")


def test_plan_reads_a_file_as_its_prior(cli):
    words = [*PLAN, "--count", "n", "--json"]
    words[words.index("geometric:2")] = "in.csv"
    code, out, _ = cli(*words)
    assert code == 0 and json.loads(out)["prior"] == "in.csv"


@pytest.mark.parametrize(
    "words, message",
    [
        ((*COMPARE, "--pictures"), "`--pictures` needs `--folder`"),
        (("compare", "in.csv", "--count", "n"), "`--max-count` is missing"),
        (("compare", "no.csv", "--max-count", "5"), "cannot be read"),
        ((*COMPARE, "--repetitions", "x"), "`repetitions` must be a whole number"),
        ((*COMPARE, "--methods", "nobody"), "no method 'nobody'"),
        ((*PLAN, "--target", "zeros"), "`target` must read"),
        ((*PLAN, "--prior", "gauss:1"), "neither a file nor a shape"),
        ((*PLAN, "--categories", "0"), "`categories`"),
        ((*PLAN, "--epsilon", "0"), "`epsilons` must be positive"),
    ],
)
def test_bad_options_are_one_sentence(cli, words, message):
    code, out, err = cli(*words)
    assert code == 2 and message in err and out == ""


@pytest.mark.parametrize("name", ["truncated-geometric", "staircase", "discrete-gaussian"])
def test_a_baseline_is_released_from_the_command_line(cli, name):
    usual = (
        "--keep-none",
        "--count",
        "n",
        "--max-count",
        "5",
        "--epsilon",
        "1",
        "--constructor",
        name,
    )
    code, out, _ = cli("privatize", "in.csv", *usual, "--out", "release", "--json")
    privacy = json.loads(out)["privacy"]
    assert code == 0 and (privacy["stage_1"], privacy["stage_2"]) == ("0", "1")
    assert privacy["delta"] == ("1/61" if name == "discrete-gaussian" else "0")
    code, out, _ = cli("privatize", "in.csv", *usual, "--dry-run")
    assert code == 0 and "0 on the distribution" in " ".join(out.split())
    assert ("and delta 0.0164" in out) == (name == "discrete-gaussian")


def test_the_gaussians_delta_can_be_chosen_and_belongs_to_nothing_else(cli):
    usual = (
        "privatize",
        "in.csv",
        "--keep-none",
        "--count",
        "n",
        "--max-count",
        "5",
        "--epsilon",
        "1",
    )
    usual += ("--out", "release", "--json", "--constructor")
    code, _, err = cli(*usual, "staircase", "--delta", "1e-6")
    assert code == 2 and "staircase takes no `delta`" in err
    code, _, err = cli(*usual, "discrete-gaussian", "--delta", "2")
    assert code == 2 and "`delta` must be 0, or from" in err
    code, out, _ = cli(*usual, "discrete-gaussian", "--delta", "1e-6")
    assert code == 0 and json.loads(out)["privacy"]["delta"] == "1/1000000"


def test_the_unfixed_optimum_is_released_in_two_stages(cli):
    usual = (
        "--keep-none",
        "--count",
        "n",
        "--max-count",
        "5",
        "--epsilon",
        "1",
        "--constructor",
        "unfixed",
    )
    code, out, _ = cli("privatize", "in.csv", *usual, "--out", "release", "--json")
    assert code == 0 and json.loads(out)["privacy"]["stage_1"] != "0"


def test_reproduce_lists_its_experiments_and_runs_one_of_them(cli, tmp_path):
    code, out, _ = cli("reproduce", "--list")
    assert code == 0 and "optimality-gap" in out and "runtime" in out
    code, out, _ = cli("reproduce", "polytopes", "--out", "results", "--jobs", "1")
    assert code == 0 and "4 of 4 numbers and statements of the paper agree" in out
    assert "| 78 | 78 | 1 | agrees |" in (tmp_path / "results" / "report.md").read_text()


def test_reproduce_takes_one_effort_and_says_when_there_is_nothing_to_resume(cli):
    code, _, err = cli("reproduce", "polytopes", "--quick", "--full")
    assert code != 0 and "not both" in err
    code, _, err = cli("reproduce", "polytopes", "--out", "new", "--jobs", "1", "--resume")
    assert code == 0 and "starts over" in err.replace("\n", " ")


def test_reproduce_refuses_to_mix_runs_unless_told_to_resume(cli):
    words = ("reproduce", "polytopes", "--out", "results", "--jobs", "1")
    assert cli(*words)[0] == 0
    code, _, err = cli(*words)
    assert code == 2 and "--resume goes on with them" in err
    assert cli(*words, "--resume", "--full")[0] == 0


@pytest.mark.parametrize("width", ["50", "80", "200"])
def test_a_plan_cuts_no_number_off(cli, monkeypatch, width):
    monkeypatch.setattr("holdfast.former.cli.screen.screen._width", int(width))
    code, out, _ = cli(*PLAN, "--questions", "zeros,mean,above 1,above 2,above 5")
    assert code == 0 and "…" not in out and "above 5" in out
    assert "Expected of a release of 300 rows, counts 0 to 9:\n" in out
    tables = out.count("┃ stage 1 ┃")
    assert tables > 1 if width == "50" else tables >= 1
    assert all(len(line) <= int(width) for line in out.splitlines())
