"""The command line: what it shows, what it writes, and how it refuses."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast.former as holdfast
from command_line import table
from forked import end_of
from holdfast.former.cli.screen import _labels, _starts

SECRET = "424242"
USUAL = ("--keep-none", "--count", "n", "--max-count", "5", "--epsilon", "1", "--out", "release")


def test_a_csv_becomes_a_release(cli):
    code, out, _ = cli("privatize", table(), *USUAL, "--category", "place")
    assert code == 0
    assert "certified" in out and "Released 3 rows" in out and "unchanged: place" in out
    release = holdfast.load("release")
    assert release.cells.column("place") == ["Kent", "Ely", "York"]
    assert not release.privacy.simulated


def test_rows_without_a_count_are_named_beside_the_released_ones(cli):
    name = table("place,n\nKent,3\nEly,\nYork,1\n")
    code, out, _ = cli("privatize", name, *USUAL, "--category", "place", "--missing", "")
    assert code == 0 and "Released 2 rows, beside 1 row without a count" in " ".join(out.split())


def test_a_parquet_file_becomes_a_parquet_release(cli):
    pq.write_table(pa.table({"place": ["a", "b"], "n": [1, 2]}), "in.parquet")
    code, _, _ = cli("privatize", "in.parquet", *USUAL, "--category", "place")
    assert code == 0
    assert pq.read_table("release/table.parquet").column("place").to_pylist() == ["a", "b"]


def test_json_is_one_object_and_nothing_else(cli):
    code, out, err = cli("privatize", table(), *USUAL, "--json", "--contributions", "2")
    record = json.loads(out)
    assert code == 0 and err == ""
    assert record["privacy"]["epsilon"] == "1"
    assert record["privacy"]["contributions"] == 2
    assert record["folder"] == "release"


@pytest.mark.parametrize(
    ("written", "digits"),
    [("1,000", "1000"), ("1.000.000", "1000000"), ("10 000", "10000"), ("1e6", "1000000")],
)
def test_a_max_count_with_marks_is_refused_with_its_digits(cli, written, digits):
    usual = ("--keep-none", "--count", "n", "--epsilon", "1", "--dry-run")
    code, _, err = cli("privatize", table(), *usual, "--max-count", written)
    assert code == 2 and f"write all digits and no marks, {digits} if" in " ".join(err.split())
    assert cli("privatize", table(), *usual, "--max-count", digits)[0] == 0


def test_a_count_that_may_be_thousands_is_refused_until_its_mark_is_named(cli):
    name = table("place,n\nKent,3.000\nEly,0\nYork,12.000\n")
    usual = (*USUAL[:-2], "--dry-run")
    code, _, err = cli("privatize", name, *usual)
    said = " ".join(err.split())
    assert code == 2 and "may have a mark between thousands" in said and "3.000" not in said
    assert "column 'n'" in said and "--thousands" in said and "--decimal" in said
    for mark in ("--thousands", "--decimal"):
        assert cli("privatize", name, *usual, mark, ".")[0] == 0


@pytest.mark.parametrize("end", [("--dry-run",), ("--out", "release")])
@pytest.mark.parametrize("more", [(), ("--count", "m")], ids=["one count", "two counts"])
def test_who_may_be_counted_twice_is_asked_once_and_until_it_is_said(cli, end, more):
    name = table("place,n,m\nKent,3,1\nEly,0,0\nYork,1,2\n")
    usual = ("privatize", name, "--category", "place", *USUAL[:-2], *more)
    code, out, _ = cli(*usual, *end)
    assert code == 0 and out.count("--contributions 5") == out.count("--rows 3") == 1
    for number, words in enumerate((("--contributions", "1"), ("--rows", "2"))):
        code, out, _ = cli(*usual, *end[:1], *[f"r{number}"][: len(end) - 1], *words)
        assert code == 0 and "--contributions 5" not in out
    _, out, _ = cli(*usual, *end[:1], *["j"][: len(end) - 1], "--json")
    assert "--contributions" not in out


def test_a_dry_run_writes_nothing(cli):
    code, out, _ = cli("privatize", table(), *USUAL, "--category", "place", "--dry-run")
    assert code == 0 and "Nothing was drawn" in out and "unchanged: place" in out
    assert os.listdir() == ["in.csv"]
    code, out, _ = cli("privatize", table(name="b.csv"), *USUAL[:-2], "--dry-run", "--json")
    assert json.loads(out)["rows"] == 3


def test_a_seed_is_marked_as_a_simulation(cli):
    code, out, _ = cli("privatize", table(), *USUAL, "--seed", "1")
    assert code == 0 and "SIMULATION" in out
    assert holdfast.load("release").privacy.simulated
    assert "SIMULATION" in Path("release/distribution.svg").read_text()


@pytest.mark.parametrize("name", ["optimal", "best", "sandwich"])
def test_the_constructor_can_be_chosen(cli, name):
    code, out, _ = cli("privatize", table(), *USUAL, "--constructor", name, "--json")
    method = json.loads(out)["methods"][1].lower()
    assert code == 0
    assert {"best": "heuristic"}.get(name, name) in method


def test_structural_zeros_come_from_a_column(cli):
    name = table("place,n,lake\nKent,3,no\nEly,0,yes\nYork,1,no\n")
    code, out, _ = cli("privatize", name, *USUAL, "--structural-zero", "lake")
    release = holdfast.load("release")
    assert code == 0 and release.structural_zeros == 1
    assert "1 structural zero passed" in " ".join(out.split())
    assert release.counts[1] == 0


def test_max_count_can_be_found_privately(cli):
    rows = "".join(f"p{i},{i % 8}\n" for i in range(2000))
    name = table(f"place,n\n{rows}")
    usual = tuple(word for word in USUAL if word not in ("--max-count", "5"))
    found = ("--max-count", "quantile:0.95", "--quantile-epsilon", "1/8")
    code, out, err = cli("privatize", name, *usual, *found)
    release = holdfast.load("release")
    assert code == 0 and release.max_count_found.max_count == 7
    assert str(release.privacy.budget.quantile) == "1/8"
    assert "max_count  " in out and "0.125" in out and "came from the data" in err
    code, out, _ = cli("privatize", name, *usual[:-1], "b", *found, "--dry-run")
    out = " ".join(out.split())
    assert code == 0 and "0.125 on max_count" in out and "10,000 at the most" in out
    code, out, _ = cli("privatize", name, *usual[:-1], "c", *found[:2], "--dry-run", "--json")
    assert json.loads(out)["bound"] == "1/50"


def test_repeated_categories_point_to_counting_people_unless_they_are_meant(cli):
    name = table("place,n\nKent,3\nKent,0\n")
    words = ("privatize", name, *USUAL, "--category", "place")
    code, _, err = cli(*words)
    assert code == 2 and "holdfast count" in err and not Path("release").exists()
    code, _, err = cli(*words, "--repeated-categories")
    assert code == 0 and "Note: place has repeated values" in err


@pytest.mark.parametrize(
    "text, encoding",
    [
        ("place,n\nKent,3\n", "utf-8-sig"),
        ("place;n\nKent;3\n", "utf-8"),
        ("place\tn\nKent\t3\n", "utf-8"),
        ("place,n\r\nKent,3\r\n", "utf-8"),
        ('"place","n"\n"Kent, ""the"" county","3"\n', "utf-8"),
        ("place,n\nDoña Ana,3\n", "cp1252"),
        (",".join(["n", *(f"c{i}" for i in range(1000))]) + "\n3" + ",x" * 1000 + "\n", "utf-8"),
    ],
    ids=["bom", "semicolons", "tabs", "crlf", "quotes", "cp1252", "1000 columns"],
)
def test_the_usual_oddities_are_read_right_and_kept(cli, text, encoding):
    name = table(text, encoding=encoding)
    kept = text.split("\n")[0].replace('"', "").strip()
    kept = [name for name in re.split("[,;\t]", kept) if name != "n"]
    keep = [word for name in kept for word in ("--keep", name)]
    code, _, err = cli("privatize", name, *USUAL[1:], *keep)
    assert code == 0 and "Error" not in err
    before, after = Path(name).read_bytes(), Path("release/table.csv").read_bytes()
    before = before.decode("cp1252").encode() if encoding == "cp1252" else before
    count = rb'"?\b[0-5]\b"?'  # the count, and the quotes that a number does not need
    hidden = [
        re.sub(count, b"#", data).replace(b'"place","n"', b"place,n") for data in (before, after)
    ]
    assert hidden[0] == hidden[1]


BAD_FILES = {
    "negative": f"place,n\nKent,-{SECRET}\n",
    "missing": "place,n\nKent,\n",
    "NaN": "place,n\nKent,NaN\n",
    "fractional": f"place,n\nKent,{SECRET}.5\n",
    "boolean": "place,n\nKent,True\n",
    "text": f"place,n\nKent,x{SECRET}\n",
    "2^63": "place,n\nKent,9223372036854775808\n",
    "missing column": "place,m\nKent,424242\n",
    "no header": f"Kent,{SECRET}\nEly,{SECRET}\n",
    "header only": "place,n\n",
    "nothing": "",
    "ragged": f"place,n\nKent,{SECRET}\nEly\n",
    "open quote": f'place,n\nKent,"{SECRET}\n',
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused_without_a_trace(cli, kind):
    code, out, err = cli("privatize", table(BAD_FILES[kind]), *USUAL)
    assert code == 2 and out == ""
    assert err.startswith("Error: ") and "Traceback" not in err
    assert SECRET not in err and "9223372036854775808" not in err
    assert os.listdir() == ["in.csv"]


def test_a_million_columns_and_binary_rubbish_are_refused(cli):
    wide = ",".join(["n"] + ["c"] * 1_000_000)
    table(f"{wide}\n1\n", "wide.csv")
    with open("rubbish.csv", "wb") as file:
        file.write(np.random.default_rng(0).bytes(5000))
    with open("rubbish.parquet", "wb") as file:
        file.write(np.random.default_rng(0).bytes(5000))
    for name in ("wide.csv", "rubbish.csv", "rubbish.parquet", "absent.csv", "."):
        code, _, err = cli("privatize", name, *USUAL)
        assert code == 2 and err.startswith("Error: ")
    assert not os.path.exists("release")


BAD_OPTIONS = {
    "max_count 0": ("--max-count", "0"),
    "max_count -1": ("--max-count", "-1"),
    "max_count 10^9": ("--max-count", "1000000000"),
    "max_count text": ("--max-count", "many"),
    **{f"epsilon {e}": ("--epsilon", e) for e in ("0", "-1", "NaN", "inf", "abc", "1e-12", "1000")},
    "quantile of 1": ("--max-count", "quantile:1"),
    "quantile of nothing": ("--max-count", "quantile:"),
    "quantile misspelt": ("--max-count", "quartile:0.5"),
    "quantile takes all": ("--max-count", "quantile:0.9", "--bound-epsilon", "1"),
    "bound epsilon alone": ("--bound-epsilon", "0.1"),
    "split": ("--split", "2"),
    "contributions": ("--contributions", "0"),
    "privatizer": ("--privatizer", "magic"),
    "constructor": ("--constructor", "magic"),
    "seed": ("--seed", "-1"),
}


@pytest.mark.parametrize("kind", BAD_OPTIONS)
def test_a_bad_option_is_refused(cli, kind):
    code, _, err = cli("privatize", table(), *USUAL, *BAD_OPTIONS[kind])
    assert code == 2 and "Error: `" in err and "Traceback" not in err
    assert os.listdir() == ["in.csv"]


def test_an_output_that_cannot_be_made_is_refused_before_anything_is_drawn(cli, monkeypatch):
    table()
    os.mkdir("folder")
    Path("file").touch()
    monkeypatch.setattr(holdfast, "privatize", lambda *a, **k: pytest.fail("was drawn"))
    for out in ("folder", "file", "missing/release", "file/release"):
        code, _, err = cli("privatize", "in.csv", *USUAL[:-1], out)
        assert code == 2 and err.startswith("Error: ")
    assert sorted(os.listdir()) == ["file", "folder", "in.csv"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder nobody can write")
def test_a_folder_that_cannot_be_written_is_refused(cli, monkeypatch):
    monkeypatch.setattr(holdfast, "privatize", lambda *a, **k: pytest.fail("was drawn"))
    code, _, err = cli("privatize", table(), *USUAL[:-1], "/proc/release")
    assert code == 2 and "cannot be written" in err


def test_an_unexpected_failure_shows_no_values(cli, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError(f"the count is {SECRET}")

    monkeypatch.setattr(holdfast, "privatize", broken)
    code, out, err = cli("privatize", table(), *USUAL)
    assert code == 5 and SECRET not in out + err
    assert "RuntimeError" in err


def test_out_is_needed_for_a_real_run(cli):
    code, _, err = cli("privatize", table(), *USUAL[:-2])
    assert code == 2 and "--out" in err


def test_the_demo_writes_its_table_to_a_new_file(cli):
    code, out, _ = cli("demo", "--table", "homicides.csv")
    assert code == 0 and "homicides.csv" in out
    assert Path("homicides.csv").read_text().startswith("county,population,homicides\n01001,")
    code, _, err = cli("demo", "--table", "homicides.csv")
    assert code == 2 and "exists already" in err
    assert cli("demo", "--table", "nowhere/homicides.csv")[0] == 2


def test_the_demo_promises_compares_and_says_it_is_not_private(cli):
    code, out, _ = cli("demo", "--picture", "demo.svg")
    assert code == 0
    for words in ("certified", "truncated geometric", "NOT PRIVATE", "2,197"):
        assert words in out
    svg = Path("demo.svg").read_text()
    assert ">30+</text>" in svg
    assert svg.count("<g ") == 3 and "NOT PRIVATE" in svg


def test_help_has_examples_and_does_not_load_the_kernels():
    code = (
        "import sys; sys.argv = ['holdfast', 'privatize', '--help']\n"
        "from holdfast.former.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} "
        "& {'numba', 'scipy', 'opendp', 'pandas', 'polars', 'pyarrow', 'duckdb', 'narwhals'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Examples" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_module_runs_as_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("holdfast ")


def saved(release, name, last):
    """Save it and be killed at the last step: a file opened, a folder made, a name changed. Says
    how many there are where none is the last."""
    steps = 0

    def killed(event, arguments):
        nonlocal steps
        if event in ("open", "os.mkdir", "os.rename") and "made" in str(arguments[:2]):
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(killed)
    release.save(name)
    Path("steps").write_text(str(steps))


def test_a_run_killed_at_any_step_of_writing_leaves_a_whole_release_or_none(cli):
    table("place,n\n" + "".join(f"p{i},{i % 7}\n" for i in range(200)))
    assert cli("privatize", "in.csv", *USUAL[:-1], "whole")[0] == 0
    release = holdfast.load("whole")
    assert end_of(lambda: saved(release, "made", -1)) == 0
    steps = int(Path("steps").read_text())
    assert steps > 8 and holdfast.load("made").rows == 200
    for last in range(1, steps + 1):
        assert end_of(lambda last=last: saved(release, f"made{last}", last)) == -signal.SIGKILL
        if Path(f"made{last}").exists():
            assert holdfast.load(f"made{last}").rows == 200


def test_verify_passes_what_privatize_wrote(cli):
    cli("privatize", table(), *USUAL)
    code, out, _ = cli("verify", "release")
    assert code == 0 and "certificate" in out and "holds" in out and "FAILED" not in out
    code, out, err = cli("verify", "release", "--json")
    assert code == 0 and err == "" and json.loads(out)["passed"] is True


def test_verify_fails_with_exit_code_1_and_names_the_damage(cli):
    cli("privatize", table(), *USUAL)
    Path("release/README.md").write_text("trust me")
    code, out, _ = cli("verify", "release")
    assert code == 1 and "FAILED" in out and "README.md is truncated" in out
    code, out, _ = cli("verify", "release", "--json")
    assert code == 1 and json.loads(out)["passed"] is False


def test_verify_says_when_a_release_is_a_simulation(cli):
    cli("privatize", table(), *USUAL, "--seed", "1")
    code, out, _ = cli("verify", "release")
    assert code == 3 and out.startswith("SIMULATION: a seed was given") and "FAILED" not in out
    code, out, _ = cli("verify", "release", "--json")
    assert code == 3 and json.loads(out)["simulated"] and json.loads(out)["passed"]


def test_verify_has_examples_and_is_not_fooled_by_names(cli):
    code, out, _ = cli("verify", "--help")
    assert code == 0 and "Examples" in out and "holdfast verify release" in out
    cli("privatize", table(), *USUAL)
    Path("release/[red]\x1b[2J").touch()
    code, out, _ = cli("verify", "release")
    assert code == 1 and "\x1b" not in out and r"[red]\x1b[2J" in out


def test_verify_of_what_is_no_folder_is_one_line_and_code_2(cli, monkeypatch):
    for name in ("nowhere", table()):
        code, out, err = cli("verify", name)
        assert code == 2 and out == ""
        assert err == f"Error: there is no folder `{name}`. Hint: name the folder of a release.\n"
    os.mkdir("locked")

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    code, out, err = cli("verify", "locked", "--json")
    assert (code, out, err) == (2, "", "Error: `locked` cannot be read (Permission denied).\n")


def test_verify_asks_for_an_upgrade_where_the_release_is_newer(cli):
    cli("privatize", table(), *USUAL)
    record = Path("release/release.json")
    record.write_text(re.sub(r'"schema": ?\d+', '"schema": 1000', record.read_text()))
    code, out, _ = cli("verify", "release")
    assert code == 4 and out.startswith("Another version of holdfast made this release")
    assert "pip install --upgrade" in " ".join(out.split()) and "damaged" not in out


def test_verify_does_not_blame_the_release_for_the_machine(cli, monkeypatch):
    from holdfast.former.privatizers import named

    def fail(*arguments):
        raise RuntimeError("cannot cache function")

    cli("privatize", table(), *USUAL)
    monkeypatch.setattr(named, "repeated_target", fail)
    code, out, _ = cli("verify", "release")
    assert code == 4 and out.startswith("This release could not be checked on this machine.")
    assert "damaged" not in out and "FAILED" not in out
    code, out, _ = cli("verify", "release", "--json")
    assert code == 4 and json.loads(out)["failure"] == "machine"
    with pytest.raises(holdfast.HoldfastError, match="could not be checked on this machine"):
        holdfast.load("release")


def test_verify_says_what_its_exit_codes_mean(cli):
    _, out, _ = cli("verify", "--help")
    words = " ".join(out.replace("│", " ").split())
    for code in ("code 0: all of it holds", "1: the release is damaged", "2: there is no folder",
                 "3: all of it holds, but", "4: it could not be checked"):  # fmt: skip
        assert code in words


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("privatize", ("in.csv", *USUAL), "the release in it is whole"),
        ("audit", ("--pipeline", "--epsilon", "1"), "starts over"),
        ("compare", ("demo",), "starts over"),
        ("compare", ("demo", "--folder", "study"), "goes on from there"),
        (
            "plan",
            ("--categories", "9", "--max-count", "5", "--prior", "uniform", "--folder", "study"),
            "goes on from there",
        ),
    ],
)
def test_ctrl_c_ends_with_a_word_and_code_130(cli, monkeypatch, name, words, said):
    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    table()
    monkeypatch.setattr(holdfast, name, stopped)
    code, _, err = cli(name, *words)
    assert code == 130 and "Stopped. " in err and said in err and "Error" not in err


def test_a_dry_run_states_delta_wherever_epsilon_is_stated(cli):
    words = ("privatize", table(), *USUAL[:-2], "--dry-run")
    for more, delta in (
        ((), "0"),
        (("--privatizer", "cumulative-gaussian:1e-6"), "1/1000000"),
        (("--constructor", "discrete-gaussian"), "1/4"),
        (("--constructor", "discrete-gaussian", "--contributions", "2"), "1/4"),
    ):
        _, out, _ = cli(*words, *more, "--json")
        assert json.loads(out)["delta"] == delta
        code, out, _ = cli(*words, *more)
        assert code == 0 and ("delta" in out) == (delta != "0")


def test_a_dry_run_rounds_what_is_uncertain_to_whole_per_cent_and_100_at_most(cli):
    code, out, _ = cli("privatize", table(), *USUAL[:4], "5", "--epsilon", "0.01", "--dry-run")
    assert code == 0 and "standard deviation of up to 100% of the rows" in " ".join(out.split())
    many = table("n\n" + "3\n0\n" * 5000)
    code, out, _ = cli("privatize", many, "--max-count", "5", "--epsilon", "2", "--dry-run")
    assert code == 0 and "standard deviation of less than 1% of the rows" in " ".join(out.split())
    assert "Published unchanged: no column" in " ".join(out.split())


def test_a_ledger_states_delta_where_there_is_one(cli):
    code, out, _ = cli("ledger", "set-limit", "my.ledger", "a", "--epsilon", "2")
    assert code == 0 and "delta" not in out
    code, out, _ = cli("ledger", "set-limit", "my.ledger", "a", "--epsilon", "2", "--delta", "1e-6")
    assert code == 0 and "delta 0 of 0.000001" in " ".join(out.split())
    usual = ("privatize", table(), *USUAL[:-2], "--dry-run", "--ledger", "my.ledger")
    usual += ("--dataset", "a", "--privatizer")
    _, out, _ = cli(*usual, "cumulative-gaussian:1e-5")
    assert "That is not enough" in out
    _, out, _ = cli(*usual, "cumulative-gaussian:1e-6")
    assert "That is not enough" not in out


@pytest.mark.parametrize("words", [("--dry-run",), ("--out", "release")])
def test_a_copy_of_the_counts_is_not_published(cli, words):
    name = table("place,n,also\nKent,3,3.0\nEly,0,0\nYork,1,1\n")
    usual = (*USUAL[1:-2], "--keep", "also")
    code, out, err = cli("privatize", name, *usual, *words)
    assert code == 2 and out == "" and "'also' holds the counts" in err and "keep fewer" in err
    assert os.listdir() == ["in.csv"]
    assert cli("privatize", name, *usual, "--publish-anyway", "also", "--dry-run")[0] == 0
    near = table("place,n,also\nKent,3,3\nEly,0,0\nYork,1,2\n")
    assert cli("privatize", near, *usual, "--dry-run")[0] == 0
    same = table("place,n,also\nKent,1,1\nEly,1,1\n")
    assert cli("privatize", same, *usual, "--dry-run")[0] == 0


def test_one_row_is_one_row(cli):
    code, out, _ = cli("privatize", table("n\n3\n"), *USUAL)
    assert code == 0 and "Released 1 row:" in out


@pytest.mark.parametrize("centre, spread", [(500, 20), (0, 100), (9000, 300), (300, 5)])
def test_no_bar_holds_most_of_a_wide_range(centre, spread):
    shares = np.exp(-(((np.arange(10_001) - centre) / spread) ** 2) / 2)
    shares /= shares.sum()
    starts = _starts([shares])
    bars = np.add.reduceat(shares, starts)
    assert bars.max() < 0.3 and len(starts) <= 30
    assert starts == sorted(set(starts)) and starts[0] == 0 and starts[-1] == 10_000
    assert _labels(starts)[-1] == "10,000+"


def test_a_heavy_single_count_has_a_bar_of_its_own():
    shares = np.zeros(1001)
    shares[[0, 700]] = 0.3, 0.7
    assert {700, 701} <= set(_starts([shares]))


def test_an_old_command_line_that_published_all_columns_is_told_the_new_one(cli):
    name = table("place,n,state code\nKent,3,SE\nEly,0,E\nYork,1,N\n")
    old = ("privatize", name, "--count", "n", "--max-count", "5", "--epsilon", "1")
    for more in ((), ("--category", "place"), ("--stream",)):
        words = (*old, *more, "--out", "release")
        code, out, err = cli(*words)
        assert code == 2 and out == "" and os.listdir() == ["in.csv"]
        kept = "'state code'" if "--category" in more else "COLUMN"
        assert f"holdfast {' '.join(words)} --keep {kept}" in err and "'state code'" in err
        assert f"holdfast {' '.join(words)} --keep-none" in err
    code, out, _ = cli(*old, "--keep", "place", "--keep", "state code", "--out", "release")
    assert code == 0 and "Published unchanged: place, state code, and the order" in out
    assert Path("release/table.csv").read_text().startswith("place,n,state code\n")
    code, out, _ = cli(*old, "--keep-none", "--out", "bare")
    assert code == 0 and Path("bare/table.csv").read_text().startswith("n\n")
    code, _, err = cli(*old, "--keep-none", "--keep", "place", "--dry-run")
    assert code == 2 and "not both" in err


def test_a_column_of_counts_named_twice_is_refused(cli):
    name = table("place,a,b\nKent,3,7\nEly,0,2\n")
    words = ("--count", "a", "--count", "a", "--max-count", "5", "--epsilon", "1", "--keep-none")
    code, _, err = cli("privatize", name, *words, "--out", "release")
    assert code == 2 and "different names" in err and os.listdir() == ["in.csv"]


def test_a_file_without_a_header_publishes_nothing(cli):
    name = table(f"{SECRET}\n3\n0\n")
    code, out, err = cli("privatize", name, "--max-count", "5", "--epsilon", "1", "--out", "r")
    assert code == 2 and SECRET not in out + err and "is a number" in err


def test_rows_in_the_order_of_the_counts_are_told_before_anything_is_paid(cli):
    rows = "".join(f"p{97 * i % 40:02},{40 - i}\n" for i in range(40))
    name = table(f"place,n\n{rows}")
    cli("ledger", "set-limit", "my.ledger", "a", "--epsilon", "1")
    words = ("privatize", name, *USUAL, "--category", "place", "--ledger", "my.ledger")
    words += ("--dataset", "a")
    for more in ((), ("--dry-run",), ("--stream",)):
        code, _, err = cli(*words, *more)
        assert code == 2 and "'row order' follows the counts" in err
    assert json.loads(cli("ledger", "show", "my.ledger", "--json")[1])[0]["epsilon_spent"] == "0"
    code, _, _ = cli(*words, "--order-by", "place")
    labels = holdfast.load("release").cells.column("place")
    assert code == 0 and labels == sorted(labels)
