"""`holdfast privatize`: what it shows, what it writes, and how it refuses."""

import json
import os
import re
import shlex
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast
from commands import table

SECRET = "424242"
USUAL = ("--keep-none", "--count", "n", "--epsilon", "1")
OUT = (*USUAL, "--out", "release")


def words_in(text):
    return " ".join(text.split())


def test_a_csv_becomes_a_release(cli):
    code, out, err = cli("privatize", table(), *OUT, "--category", "place")
    assert code == 0 and "Error" not in err
    assert "Released 3 rows with epsilon = 1 for one person" in out
    assert "Published as it is: 'place', and the order of the rows." in out
    release = holdfast.load("release")
    assert release.cells["place"] == ["Kent", "Ely", "York"]
    assert not release.promise.simulated


def test_a_parquet_file_becomes_a_parquet_release(cli):
    pq.write_table(pa.table({"place": ["a", "b"], "n": [1, 2]}), "in.parquet")
    assert cli("privatize", "in.parquet", *OUT, "--category", "place")[0] == 0
    assert pq.read_table("release/table.parquet").column("place").to_pylist() == ["a", "b"]


def test_json_is_one_object_and_nothing_else(cli):
    code, out, err = cli(
        "privatize", table(), *OUT, "--category", "place", "--json", "--contributions", "2"
    )
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert record["promise"]["epsilon"] == "1"
    assert record["promise"]["persons"]["contributions"] == [2]
    assert record["folder"] == "release" and record["rows"] == 3


def test_who_counts_persons_is_not_told_to_count_them(cli):
    people = "".join(f"p{k},{'NE' if k % 2 else 'KS'}\n" for k in range(40))
    Path("people.csv").write_text("person_id,state\n" + people)
    Path("list.csv").write_text("state\nNE\n")
    words = ("--from-people", "--by", "state", "--categories", "list.csv", "--epsilon", "1")
    code, _, err = cli("privatize", "people.csv", *words, "--out", "o")
    assert code and "it lacks 1 category" in words_in(err) and "counted first" not in err
    code, _, err = cli("privatize", "people.csv", "--count", "state", *words[-2:], "--out", "o")
    assert code and "counted first" in err


def test_a_dry_run_writes_nothing_and_says_so(cli):
    code, out, _ = cli("privatize", table(), *USUAL, "--category", "place", "--dry-run")
    assert code == 0 and "Nothing was spent, nothing was written." in out
    assert os.listdir() == ["in.csv"]
    code, out, _ = cli("privatize", "in.csv", *USUAL, "--dry-run", "--json")
    assert json.loads(out)["rows"] == 3


def test_a_seed_is_marked_as_a_simulation(cli):
    code, out, _ = cli("privatize", table(), *OUT, "--seed", "1")
    assert code == 0 and "SIMULATION" in out
    assert holdfast.load("release").promise.simulated


def test_the_command_makes_the_bytes_of_python(cli):
    counts = np.random.default_rng(2).poisson(3, 90).tolist()
    rows = "".join(f"p{i},{count},{'AB'[i % 2]}\n" for i, count in enumerate(counts))
    name = table(f"place,n,state\n{rows}")
    more = ("--category", "place", "--within", "state", "--totals", "yes", "--seed", "7")
    assert cli("privatize", name, *OUT[1:], *more)[0] == 0
    holdfast.privatize(
        name, count="n", category="place", within="state", totals=True, epsilon=1, seed=7, out="py"
    )
    for file in os.listdir("release"):
        assert Path("release", file).read_bytes() == Path("py", file).read_bytes()


def test_structural_zeros_and_missing_counts_come_from_the_file(cli):
    name = table("place,n,lake\nKent,3,no\nEly,0,yes\nYork,,no\nDeal,2,no\n")
    more = ("--structural-zero", "lake", "--missing", "")
    _, out, _ = cli("privatize", name, *USUAL, *more, "--dry-run")
    said = "4 rows, 1 of them publicly known to be zero, 1 of them without a count of 'n'"
    assert said in words_in(out)
    assert cli("privatize", name, *OUT, *more)[0] == 0
    release = holdfast.load("release")
    assert release.counts[1] == 0 and release.counts[2] == -1


def test_columns_are_withheld_only_on_purpose(cli):
    name = table("place,n,state code\nKent,3,SE\nEly,0,E\nYork,1,N\n")
    words = ("--count", "n", "--epsilon", "1", "--category", "place")
    code, out, err = cli("privatize", name, *words, "--out", "release")
    assert (code, out) == (2, "") and os.listdir() == ["in.csv"]
    assert f"holdfast privatize in.csv {' '.join(words)} --out release --keep 'state code'" in err
    assert "--keep-none" in err
    assert cli("privatize", name, *words, "--keep", "state code", "--out", "kept")[0] == 0
    assert Path("kept/table.csv").read_text().startswith("place,state code,n\n")
    assert cli("privatize", name, *words, "--keep-none", "--out", "bare")[0] == 0
    assert Path("bare/table.csv").read_text().startswith("place,n\n")


def test_what_is_probably_a_slip_is_said_before_it_is_paid(cli):
    numbers = np.random.default_rng(1).integers(402_000_0000, 402_999_9999, 40)
    rows = "".join(f"p{i},{number % 7},{number}\n" for i, number in enumerate(numbers))
    name = table(f"place,n,phone\n{rows}")
    words = ("--category", "place", "--keep-none", "--epsilon", "1")
    _, out, _ = cli("privatize", name, *words, "--count", "phone", "--dry-run")
    assert "Before paying: 'phone' looks like numbers that name things" in words_in(out)
    code, _, err = cli("privatize", name, *words, "--count", "phone", "--seed", "1", "--out", "r")
    assert code == 0 and "Before paying: 'phone'" in words_in(err)


def test_another_count_of_people_is_published_only_where_somebody_says_so(cli):
    rows = "".join(f"p{i},{i * i % 7},{300 + 7 * i % 191},{i * 37 % 100}\n" for i in range(40))
    name = table(f"place,n,ENROLLMENT,population\n{rows}")
    words = ("privatize", name, "--count", "n", "--epsilon", "1", "--category", "place")
    words += ("--out", "release", "--keep", "population", "--keep")
    code, _, err = cli(*words, "ENROLLMENT")
    assert code == 2 and "Before paying: 'ENROLLMENT' holds whole numbers" in words_in(err)
    assert "Nothing was spent" in err and not Path("release").exists()
    more = shlex.split(re.search(r"--out release --keep.*", err)[0])[-2:]
    assert more == ["--publish-anyway", "ENROLLMENT"]
    assert cli(*words, "ENROLLMENT", "--seed", "1", "--dry-run")[0] == 0
    assert cli(*words, "ENROLLMENT", *more)[0] == 0


def test_a_slip_that_no_column_settles_does_not_stop_who_is_not_there(cli):
    code, _, err = cli("privatize", table(), *OUT[:-3], "8", "--out", "release")
    assert code == 0 and "The run goes on all the same." in err


def test_corrected_labels_are_not_paid_twice_without_a_word(cli):
    rows = [f"p{i},{i * i % 7}\n" for i in range(40)]
    first, then = (table("place,n\n" + "".join(each), name) for each, name in (
        (rows, "a.csv"), ([*rows[:-1], "P 39,2\n"], "b.csv")))  # fmt: skip
    cli("ledger", "set-limit", "my.ledger", "--dataset", "a", "--epsilon", "2")
    more = (*USUAL, "--category", "place", "--ledger", "my.ledger", "--dataset", "a")
    assert cli("privatize", first, *more, "--out", "r1")[0] == 0
    code, out, _ = cli("privatize", then, *more, "--dry-run")
    assert code == 0 and "those of entry 3" in words_in(out) and "--corrects" in out
    code, _, err = cli("privatize", then, *more, "--out", "r2")
    assert code == 2 and "--publish-anyway 'same counts'" in err and not Path("r2").exists()
    assert cli("privatize", then, *more, "--out", "r2", "--publish-anyway", "same counts")[0] == 0
    then = table("place,n\n" + "".join([*rows[:-1], "q,2\n"]), "c.csv")
    code, _, err = cli("privatize", then, *more, "--out", "r3")
    assert "cannot afford" in err and "Besides, the counts are, row by row, those of" in err
    code, out, _ = cli("privatize", then, *more, "--corrects", "r2", "--out", "r3")
    assert code == 0 and "epsilon 2 of 2" in out


def test_a_dry_run_says_that_last_years_file_was_named_again(cli):
    name = table("place,n\n" + "".join(f"p{i},{i * i % 7}\n" for i in range(40)))
    cli("ledger", "set-limit", "my.ledger", "--dataset", "a", "--epsilon", "9")
    words = ("privatize", name, *USUAL, "--ledger", "my.ledger", "--dataset", "a", "--period")
    assert cli(*words, "2025", "--out", "r1")[0] == 0
    code, _, err = cli(*words, "2026", "--dry-run")
    assert code == 2 and "those that were released for 2025" in err
    assert cli(*words, "2026", "--publish-anyway", "same counts", "--dry-run")[0] == 0


def test_whoever_is_there_can_stop_before_it_is_paid(cli, monkeypatch):
    module = sys.modules["holdfast.cli.privatize"]
    monkeypatch.setattr(module, "_is_there", lambda: True)
    for goes_on in (False, True):
        monkeypatch.setattr("typer.confirm", lambda *_args, goes_on=goes_on, **_options: goes_on)
        code, _, err = cli("privatize", table(), *OUT[:-3], "8", "--out", "release")
        assert code == (0 if goes_on else 2)
        assert ("stopped before anything was spent" in err) is not goes_on


def test_a_ledger_pays_once_and_the_same_command_is_shown_again(cli):
    cli("ledger", "set-limit", "my.ledger", "--dataset", "a", "--epsilon", "1.5")
    words = ("privatize", table(), *USUAL, "--ledger", "my.ledger", "--dataset", "a")
    code, out, _ = cli(*words, "--out", "r1")
    assert code == 0 and "has spent epsilon 1 of 1.5" in words_in(out)
    code, out, _ = cli(*words, "--out", "r2")
    assert (
        code == 0
        and "These counts were released before: nothing was measured or spent" in words_in(out)
    )
    assert Path("r1/table.csv").read_bytes() == Path("r2/table.csv").read_bytes()
    code, out, err = cli(*words, "--rows", "2", "--dry-run")
    assert code == 2 and "Nothing was spent, nothing was written" in out
    assert "a run would be refused: dataset 'a' cannot afford" in err
    code, _, err = cli(*words, "--dry-run")
    assert code == 0 and "the ledger has this release: a run writes it again" in words_in(err)
    code, _, err = cli(*words, "--rows", "2", "--out", "r3")
    assert code == 2 and "cannot afford" in err and not Path("r3").exists()


def test_rows_in_the_order_of_the_counts_are_told_before_anything_is_paid(cli):
    rows = "".join(f"p{97 * i % 40:02},{40 - i}\n" for i in range(40))
    name = table(f"place,n\n{rows}")
    cli("ledger", "set-limit", "my.ledger", "--dataset", "a", "--epsilon", "1")
    words = ("privatize", name, *OUT, "--category", "place", "--ledger", "my.ledger")
    for more in ((), ("--dry-run",)):
        code, _, err = cli(*words, "--dataset", "a", *more)
        assert code == 2 and "'row order' follows the counts" in err
    assert json.loads(cli("ledger", "show", "my.ledger", "--json")[1])[0]["epsilon_spent"] == "0"
    assert cli(*words, "--dataset", "a", "--order-by", "place")[0] == 0
    labels = holdfast.load("release").cells["place"]
    assert labels == sorted(labels)


def test_a_copy_of_the_counts_is_not_published(cli):
    name = table("place,n,also\nKent,3,3.0\nEly,0,0\nYork,1,1\n")
    words = (*USUAL[1:], "--keep", "also")
    code, out, err = cli("privatize", name, *words, "--out", "release")
    assert (code, out) == (2, "") and "'also' holds the counts" in err
    assert os.listdir() == ["in.csv"]
    assert cli("privatize", name, *words, "--publish-anyway", "also", "--dry-run")[0] == 0


def test_repeated_categories_point_to_counting_people_unless_they_are_meant(cli):
    words = ("privatize", table("place,n\nKent,3\nKent,0\n"), *OUT, "--category", "place")
    code, _, err = cli(*words)
    assert code == 2 and "holdfast count" in err and not Path("release").exists()
    code, _, err = cli(*words, "--repeated-categories")
    assert code == 0 and "place has repeated values" in err


def test_a_file_without_a_header_publishes_nothing(cli):
    name = table(f"{SECRET}\n3\n0\n")
    code, out, err = cli("privatize", name, "--epsilon", "1", "--out", "r")
    assert code == 2 and SECRET not in out + err and "is a number" in err


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("place,n\nKent,3\n", "utf-8-sig"),
        ("place;n\nKent;3\n", "utf-8"),
        ("place\tn\nKent\t3\n", "utf-8"),
        ("place,n\r\nKent,3\r\n", "utf-8"),
        ('"place","n"\n"Kent, ""the"" county","3"\n', "utf-8"),
        ("place,n\nDoña Ana,3\n", "cp1252"),
    ],
    ids=["bom", "semicolons", "tabs", "crlf", "quotes", "cp1252"],
)
def test_the_usual_oddities_are_read_right_and_kept(cli, text, encoding):
    name = table(text, encoding=encoding)
    code, _, err = cli("privatize", name, *OUT[1:], "--category", "place")
    assert code == 0 and "Error" not in err
    before, after = Path(name).read_bytes(), Path("release/table.csv").read_bytes()
    if encoding == "cp1252":  # becomes UTF-8, with a mark by which Excel knows it
        before = before.decode("cp1252").encode("utf-8-sig")
    count = rb'"?\b\d\b"?'  # the count, and the quotes that a number does not need
    hidden = [
        re.sub(count, b"#", data).replace(b'"place","n"', b"place,n") for data in (before, after)
    ]
    assert hidden[0] == hidden[1]


BAD_FILES = {
    "negative": f"place,n\nKent,-{SECRET}\n",
    "missing": "place,n\nKent,\n",
    "fractional": f"place,n\nKent,{SECRET}.5\n",
    "text": f"place,n\nKent,x{SECRET}\n",
    "2^63": "place,n\nKent,9223372036854775808\n",
    "missing column": f"place,m\nKent,{SECRET}\n",
    "no header": f"Kent,{SECRET}\nEly,{SECRET}\n",
    "header only": "place,n\n",
    "nothing": "",
    "ragged": f"place,n\nKent,{SECRET}\nEly\n",
    "open quote": f'place,n\nKent,"{SECRET}\n',
    "many digits": f"place,n\nKent,{'9' * 5000}\nEly,0\n",
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused_without_a_trace(cli, kind):
    code, out, err = cli("privatize", table(BAD_FILES[kind]), *OUT)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ") and "Traceback" not in err
    assert SECRET not in err and "922337203685477" not in err and "9999" not in err
    assert os.listdir() == ["in.csv"]


def test_rubbish_is_refused(cli):
    for name in ("rubbish.csv", "rubbish.parquet", "rubbish.xlsx"):
        Path(name).write_bytes(np.random.default_rng(0).bytes(5000))
    for name in ("rubbish.csv", "rubbish.parquet", "rubbish.xlsx", "absent.csv", ".", "x.doc"):
        code, _, err = cli("privatize", name, *OUT)
        assert code == 2 and err.startswith("Error: ")
    assert not os.path.exists("release")


def test_an_output_that_cannot_be_made_is_refused_before_anything_is_measured(cli, monkeypatch):
    table()
    os.mkdir("folder")
    Path("file").touch()
    monkeypatch.setattr("holdfast.engine.run.run", lambda *_a, **_k: pytest.fail("was measured"))
    for out in ("folder", "file", "missing/release", "file/release"):
        code, _, err = cli("privatize", "in.csv", *USUAL, "--out", out)
        assert code == 2 and err.startswith("Error: ")
    assert sorted(os.listdir()) == ["file", "folder", "in.csv"]


def test_one_row_is_one_row(cli):
    code, out, _ = cli("privatize", table("n\n3\n"), *OUT)
    assert code == 0 and "Released 1 row with" in out


def test_several_counts_are_released_together(cli):
    counts = np.random.default_rng(1).poisson((3, 7), (30, 2)).tolist()
    name = table("place,a,b\n" + "".join(f"p{i},{a},{b}\n" for i, (a, b) in enumerate(counts)))
    words = ("--count", "a", "--count", "b", "--category", "place", "--epsilon", "1")
    code, out, _ = cli("privatize", name, *words, "--out", "release")
    assert code == 0
    assert "Share of rows with each value of a" in out and "value of b" in out
    assert [column.name for column in holdfast.load("release").columns] == ["a", "b"]


def test_people_go_straight_into_a_release(cli):
    table("county\nEly\nKent\nRye\nYork\n", "counties.csv")
    table("person,county\na,Kent\nb,Ely\na,Rye\nc,Kent\na,Kent\n", "people.csv")
    words = ("privatize", "people.csv", "--from-people", "--epsilon", "1", "--by", "county")
    more = ("--categories", "counties.csv", "--per", "person")
    assert cli(*words, *more, "--out", "release")[0] == 0
    assert holdfast.load("release").cells["county"] == ["Ely", "Kent", "Rye", "York"]
    assert sorted(os.listdir()) == ["counties.csv", "people.csv", "release"]
    code, _, err = cli(*words, "--out", "other")
    assert code == 2 and "`from_people` needs `by` and `categories`" in err


def test_a_person_with_several_rows_is_asked_about_before_it_is_paid(cli):
    table("county\nEly\nKent\n", "counties.csv")
    rows = "1,no,Kent\n2,no,Ely\n3,yes,Kent\n4,no,Ely\n1,yes,Ely\n"
    name = table(f"Person ID,student,county\n{rows}", "people.csv")
    words = ("privatize", name, "--from-people", "--epsilon", "1", "--by", "county")
    words += ("--categories", "counties.csv")
    for end in (("--dry-run",), ("--out", "release")):
        code, _, err = cli(*words, *end)
        assert code == 2 and "'Person ID' repeats" in err and "--per 'Person ID'" in err
    assert cli(*words, "--contributions", "2", "--dry-run")[0] == 0
    table(f"number,student,county\n{rows}", "students.csv")  # does not number them
    assert cli("privatize", "students.csv", *words[2:], "--dry-run")[0] == 0
    assert cli(*words, "--per", "Person ID", "--out", "release")[0] == 0
    assert "each of them once, where the first" in words_in(Path("release/README.md").read_text())


def test_a_query_of_a_database_is_released(cli):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect("d.duckdb") as db:
        db.execute("CREATE TABLE t AS SELECT i % 4 AS n, 'p' || i AS place FROM range(20) r(i)")
    words = ("privatize", "d.duckdb", *USUAL, "--category", "place")
    assert cli(*words, "--query", "FROM t ORDER BY place", "--out", "release")[0] == 0
    assert holdfast.load("release").rows == 20
    code, _, err = cli(*words, "--query", "SELECT n, n + 1 AS n, place FROM t", "--out", "r")
    assert code == 2 and "several columns one name: 'n'" in err
    code, _, err = cli(*words, "--query", "SELECT nothing", "--out", "r")
    assert code == 2 and "the query cannot be run" in err


def test_a_file_with_more_in_it_than_its_table_is_told_which_lines_it_seems_to_be(cli):
    name = table("Deaths in 1996\n\nplace,n\nKent,3\nEly,0\nYork,12\n\nSource: somebody\n")
    code, _, err = cli("privatize", name, *USUAL, "--dry-run")
    assert code == 2 and "Name its rows: --header-row 3 --last-row 6." in err
    assert (
        cli("privatize", name, *USUAL, "--header-row", "3", "--last-row", "6", "--dry-run")[0] == 0
    )
    assert (
        "Try it" not in cli("privatize", table(name="b.csv"), "--count", "m", "--epsilon", "1")[2]
    )


def test_without_epsilon_the_file_is_shown_with_what_to_name(cli):
    rows = "".join(f"p{i},{i * i % 7},{'NE' if i % 3 else 'KS'}\n" for i in range(30))
    name = table(f"place,n,state\n{rows}p99,-999,KS \nTotal,90,\n")
    code, out, err = cli("privatize", name, "--dry-run")
    assert code == 0 and "NOT PRIVATE" in err
    assert re.search(r"n +│ whole numbers +│ +\d+ │ counts\?", out)
    assert re.search(r"place +│ text +│ +31 │ category\?", out)
    assert "--missing -999" in out and "Leave them out" in out and "two spellings" in out
    assert "Rows by state: 'KS' 10; 'KS ' 1; 'NE' 20" in words_in(out)
    assert "Next, with your own choice of columns, or --keep-none for --keep:" in words_in(out)
    options = "--count n --category place --keep COLUMN --epsilon 1"
    options += " --missing -999 --last-row 32 --dry-run"
    assert f"  holdfast privatize {name} {options}\n" in out  # one line, to be copied
    code, out, err = cli("privatize", name)
    assert code == 0 and f"{options}\n" in out and "Error" not in err
    code, out, err = cli("privatize", name, "--out", "release")
    assert code == 2 and "`epsilon` is missing" in err and "counts?" in out
    code, _, err = cli("privatize", "none.csv")
    assert code == 2 and "none.csv" in err and "No such file" in err


def test_a_file_that_cannot_be_read_is_shown_and_refused(cli):
    code, out, err = cli("privatize", table("a,n\nx,1\ny,2,3\nz,4\n"))
    assert code == 2 and "Error: `in.csv`: row 3 of the file has 3 cells" in err and "in.csv" in out


def test_what_starts_a_ledger_is_a_command_that_works(cli):
    name = table("place,n\n" + "".join(f"p{i},{i * i % 7}\n" for i in range(30)))
    words = ("privatize", name, "--count", "n", "--epsilon", "1", "--keep-none", "--dry-run")
    pays = ("--ledger", "b.ledger", "--dataset", "North Carolina")
    code, _, err = cli(*words, *pays)
    assert code == 2
    for dataset in ("Texas", "North Carolina"):
        command = re.search(r"holdfast (ledger set-limit .*)", err)[1]
        command = command.replace("NAME", dataset).replace("FILE", "b.ledger")
        assert cli(*shlex.split(command))[0] == 0
        code, _, err = cli(*words, *pays)
        assert (code == 0) is (dataset == "North Carolina") is ("limits of: 'Texas'" not in err)


def test_what_may_take_long_is_said_while_it_is_done(cli, monkeypatch):
    steps = []

    @contextmanager
    def noted(message, **_quiet):
        steps.append(message)
        yield lambda words: None

    for command in ("privatize", "look", "count", "reading"):
        monkeypatch.setattr(import_module(f"holdfast.cli.{command}"), "working", noted)
    cli("privatize", table())
    cli("privatize", table(), *OUT)
    people = Path("people.csv")
    people.write_text("place\nKent\nEly\n")
    words = ("--by", "place", "--categories", "people.csv", "--out", "counts.csv")
    assert cli("count", people, *words)[0] == 0
    assert cli("verify", "release")[0] == 0
    assert cli("ask", "release", "mean")[0] == 0
    assert steps == ["Reading …", "Reading …", "Counting …", "Verifying …", "Reading …"]
