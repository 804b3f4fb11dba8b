"""Commands about a release, and before one: ask, regroup, count, demo, plan, compare, explain."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import holdfast
from commands import table


@pytest.fixture
def released(cli):
    """A release of a small table in two states."""
    counts = np.random.default_rng(5).poisson(2, 80).tolist()
    rows = "".join(f"p{i},{count},{'AB'[i % 2]},{100 + i}\n" for i, count in enumerate(counts))
    name = table(f"place,n,state,size\n{rows}")
    more = ("--category", "place", "--keep", "state", "--keep", "size", "--seed", "1")
    assert cli("privatize", name, "--count", "n", "--epsilon", "2", *more, "--out", "r")[0] == 0
    return cli


def test_a_question_is_answered_as_python_answers_it(released):
    release = holdfast.load("r")
    code, out, _ = released("ask", "r", "share", "zero")
    assert code == 0 and out.strip() == str(release.ask("share zero")).strip()
    code, out, _ = released("ask", "r", "mean", "--where", "size < 140", "--json")
    found = json.loads(out)
    assert found["estimate"] == release.ask("mean", where="size < 140").estimate
    assert found["simulated"] is True


def test_answers_by_group_are_sorted_and_written(released):
    code, out, _ = released("ask", "r", "mean", "--by", "state", "--sort", "--out", "a.csv")
    assert code == 0 and "The answers are in a.csv" in out
    answers = holdfast.load("r").ask("mean", by="state").sorted()
    assert re.findall(r"^([AB])  ", out, flags=re.MULTILINE) == list(answers)
    lines = Path("a.csv").read_text().splitlines()
    assert lines[0].startswith("state,rows,estimate,low,high") and len(lines) == 3
    code, _, err = released("ask", "r", "mean", "--by", "state", "--out", "a.csv")
    assert code == 2 and "exists already" in err


def test_a_question_that_is_none_is_refused_with_what_was_meant(released):
    code, _, err = released("ask", "r", "shre", "zero")
    assert code == 2 and "did you mean 'share zero'" in err


def test_a_column_of_counts_is_named_as_for_a_run_too(cli):
    counts = np.random.default_rng(5).poisson([2, 9], (60, 2))
    rows = "".join(f"p{i},{n},{m}\n" for i, (n, m) in enumerate(counts))
    more = ("--category", "place", "--count", "n", "--count", "m", "--epsilon", "2")
    assert cli("privatize", table(f"place,n,m\n{rows}"), *more, "--seed", "1", "--out", "r")[0] == 0
    code, out, _ = cli("ask", "r", "mean", "--count", "m")
    assert code == 0 and out == cli("ask", "r", "mean", "--of", "m")[1]
    assert out != cli("ask", "r", "mean", "--of", "n")[1]


def test_other_groups_are_matched_from_the_bundle_alone(released):
    code, out, _ = released("regroup", "r", "--within", "state", "--out", "r2")
    assert code == 0 and "nothing was spent" in out
    assert holdfast.load("r2").group_names == ("A", "B")


def test_people_are_counted_in_the_categories_that_are_listed(cli):
    table("person,county\na,Kent\nb,Ely\na,Rye\nc,Kent\na,Kent\n", "people.csv")
    table("county\nEly\nKent\nRye\nYork\n", "counties.csv")
    words = ("count", "people.csv", "--by", "county", "--categories", "counties.csv")
    code, out, err = cli(*words, "--out", "counts.csv")
    assert (code, out) == (0, "") and "4 rows" in err and "Do not publish them" in err
    assert Path("counts.csv").read_text() == "county,count\nEly,1\nKent,3\nRye,1\nYork,0\n"
    cli(*words, "--per", "person", "--out", "once.csv")
    assert Path("once.csv").read_text() == "county,count\nEly,1\nKent,2\nRye,0\nYork,0\n"


def test_the_demo_compares_and_says_it_is_not_private(cli):
    code, out, _ = cli("demo", "--picture", "demo.svg", "--seed", "1")
    assert code == 0
    for words in ("truncated geometric", "NOT PRIVATE", "2,197", "counties without homicide"):
        assert words in out
    bars = re.findall(r"^│ +(\d+) │ +([\d.]+)% ", out, flags=re.MULTILINE)
    assert [int(count) for count, _ in bars[:18]] == list(range(18))  # equal bins
    assert all(float(share) > 0 for _, share in bars)  # no false holes
    svg = Path("demo.svg").read_text()
    assert "NOT PRIVATE" in svg and "18+</text>" in svg


def test_without_a_seed_both_sides_of_the_demo_are_drawn_anew(cli):
    rows = [re.findall(r"^│ +\d+\+? │.*│$", cli("demo")[1], re.MULTILINE) for _ in range(2)]
    (_, holdfast, geometric), (_, other_holdfast, other_geometric) = (
        zip(*(row.strip("│").split("│")[1:] for row in run), strict=True) for run in rows
    )
    assert len(geometric) == 19 and holdfast != other_holdfast and geometric != other_geometric


def test_the_demo_writes_its_table_and_the_next_year_s(cli):
    assert cli("demo", "--table", "h.csv", "--later", "l.csv")[0] == 0
    assert Path("h.csv").read_text().startswith("county,population,homicides\n01001,")
    sums = [
        sum(int(line.rsplit(",", 1)[1]) for line in Path(name).read_text().splitlines()[1:])
        for name in ("h.csv", "l.csv")
    ]
    assert 0.75 < sums[1] / sums[0] < 0.9
    code, _, err = cli("demo", "--table", "h.csv")
    assert code == 2 and "exists already" in err
    assert cli("demo", "--table", "nowhere/h.csv")[0] == 2


def test_a_plan_is_said_and_written_as_json(cli):
    words = ("plan", "geometric:2", "--rows", "60", "--epsilon", "1,2", "--repetitions", "2")
    code, out, err = cli(*words, "--target", "zeros within 20 points, 9 in 10")
    assert code == 0 and out.startswith("epsilon = ") and "Nothing private is read" in err
    found = json.loads(cli(*words, "--json")[1])
    assert [each["epsilon"] for each in found["expected"]] == ["1", "2"]


def test_a_plan_reads_last_year_s_table_with_its_groups(released):
    words = ("plan", "in.csv", "--count", "n", "--within", "state", "--epsilon", "1")
    code, out, _ = released(*words, "--totals", "yes", "--repetitions", "2")
    assert code == 0 and "A release of 80 rows like in.csv" in out
    assert "The same for one of 2 groups, of about 40 rows" in out
    code, out, _ = released("plan", "r", "--rows", "200", "--epsilon", "1", "--repetitions", "2")
    assert code == 0 and "A release of 200 rows like the release r" in out


def test_methods_are_compared_beside_the_truth(released):
    words = ("compare", "in.csv", "--count", "n", "--epsilon", "1", "--repetitions", "1")
    code, out, _ = released(*words, "--methods", "holdfast,paper,rounding,suppression,cell-key")
    assert code == 0 and out.startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in released(*words, "--methods", "rounding", "--json")[2]
    for name in ("holdfast", "paper", "rounding", "suppression", "cell-key"):
        assert re.search(rf"^{name} +[\d.]", out, flags=re.MULTILINE)
    assert "rounding promises nothing: counts of 2 and 3" in out
    code, _, err = released(*words, "--methods", "magic")
    assert code == 2 and "`methods` must be among" in err


def test_an_epsilon_is_explained(cli):
    code, out, _ = cli("explain", "--epsilon", "1/2")
    assert code == 0 and "1.65 times as probable" in " ".join(out.split())
    assert json.loads(cli("explain", "--epsilon", "1/2", "--json")[1])["epsilon"] == "1/2"
    assert cli("explain", "--epsilon", "0")[0] == 2
    code, _, err = cli("explain")
    assert code == 2 and "--epsilon" in err


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ((), "r-report.html"),
        (("--format", "xlsx"), "r-report.xlsx"),
        (("--out", "a.md"), "a.md"),
        (("--out", "a.json"), "a.json"),
    ],
)
def test_a_report_goes_to_the_file_that_is_named_or_beside_the_folder(released, words, file):
    code, _, err = released("report", "r", "--title", "Deaths by place", *words)
    assert code == 0 and f"Report: {file}" in err and Path(file).stat().st_size > 500
    code, _, err = released("report", "r", *words)
    assert code == 2 and "exists already" in err


def test_a_report_in_words_goes_to_the_screen(released):
    code, out, _ = released("report", "r", "--format", "md", "--title", "Deaths by place")
    assert code == 0 and "Deaths by place" in out
    assert json.loads(released("report", "r", "--format", "json")[1])
    for words in (("--format", "pdf"), ("--out", "a.pdf")):
        code, _, err = released("report", "r", *words)
        assert code == 2 and "must be html, md, json or xlsx, got 'pdf'" in err
    assert not Path("a.pdf").exists()


def test_verify_says_what_holds_and_ends_with_its_code(released):
    code, out, _ = released("verify", "r")
    assert code == 3 and out.startswith("SIMULATION: a seed was given")
    assert "holds" in out and "DOES NOT HOLD" not in out
    found = json.loads(released("verify", "r", "--json")[1])
    assert found["passed"] and found["simulated"]
    Path("r/README.md").write_text("trust me")
    code, out, _ = released("verify", "r")
    assert code == 1 and "This release is damaged" in out and "DOES NOT HOLD" in out
    code, out, err = released("verify", "nowhere")
    assert (code, out) == (2, "") and err.startswith("Error: there is no folder `nowhere`.")
