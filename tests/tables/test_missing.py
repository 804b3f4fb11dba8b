"""Counts that are not known are published as missing; bad counts are told of all at once."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import holdfast
from bundles import forge
from command_line import table
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.tables.csv import CsvTable
from holdfast.tables.files import write_file
from holdfast.tables.table import read_table

ROWS = 300
COUNTS = np.random.default_rng(2).poisson(2, ROWS)
GAPS = np.arange(ROWS) % 10 == 4
OPTIONS = {"count": "n", "category": "place", "epsilon": 1, "max_count": 6}
OPTIONS |= {"constructor": Heuristic()}
PLACES = [f"p{i}" for i in range(ROWS)]


def text(code="-999"):
    cells = [code if gap else str(count) for gap, count in zip(GAPS, COUNTS, strict=True)]
    return CsvTable(("place", "n"), [list(row) for row in zip(PLACES, cells, strict=True)])


CODED = np.where(GAPS, -999, COUNTS)
NULLS = [None if gap else int(count) for gap, count in zip(GAPS, COUNTS, strict=True)]
TABLES = {
    "text": (text(), ["-999"]),
    "empty text": (text(""), [""]),
    "two codes": (text(" NA "), ["-999", "NA"]),
    "pandas": (pd.DataFrame({"place": PLACES, "n": CODED}), [-999]),
    "pandas with codes in text": (pd.DataFrame({"place": PLACES, "n": CODED}), ["-999"]),
    "pandas with gaps": (pd.DataFrame({"place": PLACES, "n": NULLS}), [None]),
    "polars": (pl.DataFrame({"place": PLACES, "n": NULLS}), [""]),
    "pyarrow": (pa.table({"place": PLACES, "n": CODED}), -999),
}


@pytest.mark.parametrize("kind", TABLES)
def test_rows_that_are_not_known_are_published_as_missing_and_not_counted(kind, tmp_path):
    source, codes = TABLES[kind]
    with pytest.raises(HoldfastError, match="must hold whole numbers"):
        holdfast.privatize(source, **OPTIONS)
    release = holdfast.privatize(source, **OPTIONS, missing=codes)
    assert release.rows == ROWS - GAPS.sum() and (release.missing_rows == GAPS).all()
    assert ((release.counts == -1) == GAPS).all() and type(release.cells) is type(source)
    assert release.distribution.sum() == pytest.approx(1)
    folder = release.save(tmp_path / "release")
    assert holdfast.verify(folder).damage == ()
    lines = (folder / "table.csv").read_text().splitlines()[1:]
    assert [line.endswith(",") for line in lines] == GAPS.tolist()
    assert "In 30 rows the count is missing" in (folder / "README.md").read_text()
    again = holdfast.load(folder)
    assert (again.counts == release.counts).all() and (again.missing_rows == GAPS).all()
    assert "which counts are missing" in release.privacy.neighbours


def test_answers_are_about_the_rows_that_are_known(tmp_path):
    release = holdfast.privatize(text(), **OPTIONS, missing=["-999"])
    release.save(tmp_path / "release")
    again = holdfast.load(tmp_path / "release")
    assert len(again.intervals().low) == ROWS - GAPS.sum()
    assert again.ask("share", equal=0).estimate == release.ask("share", equal=0).estimate
    assert all(row.label not in np.array(PLACES)[GAPS] for row in again.top(20))
    with pytest.raises(HoldfastError, match="p4"):
        again.compare("p4", "p5")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_bundle_whose_gaps_were_moved_is_damaged(suffix, tmp_path):
    source = pl.DataFrame({"place": PLACES, "n": NULLS})
    release = holdfast.privatize(source, **OPTIONS, missing=[None])
    folder = release.save(tmp_path / "release", table_format=suffix)
    assert holdfast.verify(folder).damage == ()
    record = json.loads((folder / "release.json").read_text())
    other = holdfast.release.row_marks.marks_to_text(np.roll(GAPS, 1))
    forge(folder, missing_rows=other)
    assert "is not a whole number" in " ".join(holdfast.verify(folder).damage)
    forge(folder, missing_rows=record["missing_rows"], missing=record["missing"] - 1)
    assert not holdfast.verify(folder)


def test_gaps_are_kept_by_a_ledger_and_shown_again(tmp_path):
    book = holdfast.Ledger(tmp_path / "book")
    book.set_limit("d", epsilon=1)
    paid = OPTIONS | {"missing": ["-999"], "ledger": book, "dataset": "d"}
    first, second = (holdfast.privatize(text(), **paid) for _ in range(2))
    assert second.repeated and (first.counts == second.counts).all()
    moved = text()
    moved.rows[4][1], moved.rows[5][1] = moved.rows[5][1], moved.rows[4][1]
    with pytest.raises(HoldfastError, match="cannot afford"):  # another table: it must be paid for
        holdfast.privatize(moved, **paid)


def test_the_command_line_takes_several_codes(cli):
    name = table("place,n\na,3\nb,-999\nc,\nd,0\ne,1\n")
    usual = ("privatize", name, "--count", "n", "--category", "place", "--max-count", "5")
    usual += ("--epsilon", "1", "--missing", "-999", "--missing", "")
    code, out, _ = cli(*usual, "--out", "release")
    assert code == 0 and "Released 3 rows" in out
    assert holdfast.load("release").missing_rows.tolist() == [False, True, True, False, False]
    for more in ((), ("--stream",)):
        code, out, _ = cli(*usual, *more, "--dry-run")
        assert code == 0
        assert "in order: 3 rows, beside 2 rows without a count," in " ".join(out.split())
        plan = json.loads(cli(*usual, *more, "--dry-run", "--json")[1])
        assert plan["rows"] == 3 and plan["missing"] == 2 and plan["structural_zeros"] == 0
    code, out, _ = cli(*usual, "--stream", "--out", "streamed")
    assert code == 0 and "Released 3 rows" in out
    assert holdfast.load("streamed").missing_rows.tolist() == [False, True, True, False, False]


def test_a_dry_run_says_how_many_counts_of_each_column_are_missing(cli):
    name = table("place,n,m\na,3,1\nb,,2\nc,,0\nd,0,\ne,1,1\n")
    usual = ("privatize", name, "--count", "n", "--count", "m", "--category", "place")
    usual += ("--max-count", "5", "--epsilon", "1", "--missing", "", "--dry-run")
    said = cli(*usual)[1]
    cells = [line.split("│")[1:-1] for line in said.splitlines() if line.startswith("│")]
    assert "in order: 5 rows." in said
    assert [(row[0].strip(), row[-1].strip()) for row in cells] == [("n", "2"), ("m", "1")]
    columns = json.loads(cli(*usual, "--json")[1])["columns"]
    assert [columns[column]["missing"] for column in ("n", "m")] == [2, 1]


def test_bad_counts_are_told_of_all_at_once():
    cells = ["3", "", "-7", "2.5", "", "x", "1"]
    rows = [[f"p{i}", cell] for i, cell in enumerate(cells)]
    with pytest.raises(HoldfastError) as caught:
        read_table(CsvTable(("place", "n"), rows), count="n")
    said = str(caught.value)
    assert "5 rows do not: data row 2 is missing (one of 2 such rows), " in said
    assert ", data row 3 is negative, " in said
    assert ", data row 6 is text. " in said and "`missing`" in said
    assert "-7" not in said and "2.5" not in said
    with pytest.raises(
        HoldfastError, match=r"900 rows do not: data row 3 is negative \(one of 900 such"
    ):
        read_table(np.append([1, 2], np.full(900, -999)))
    with pytest.raises(
        HoldfastError, match=r"row 1 is missing \(one of 2 such rows\), data row 3 is"
    ):
        read_table(pd.DataFrame({"n": [None, None, -1.0, 2.0]}))


def test_a_table_of_nothing_but_gaps_is_refused():
    with pytest.raises(HoldfastError, match="no count that is known"):
        read_table([-999, -999], missing=[-999])


def test_minus_one_is_a_bad_count_also_where_codes_are_given():
    with pytest.raises(HoldfastError, match="data row 2 is negative"):
        read_table([-999, -1, 3], missing=[-999])


@pytest.mark.parametrize("code", [0, "3", 5.0, "05"])
def test_a_code_that_a_count_may_be_is_refused(code, tmp_path):
    table, file = text(), tmp_path / "t.csv"
    write_file(table, file)
    chosen = OPTIONS | {"missing": [code], "max_count": 5}
    with pytest.raises(HoldfastError, match="which a count may be"):
        holdfast.privatize(table, **chosen)
    with pytest.raises(HoldfastError, match="which a count may be"):
        holdfast.privatize_stream(file, tmp_path / "out", **chosen)
    assert not (tmp_path / "out").exists()
