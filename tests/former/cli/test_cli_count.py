"""Counting people from the command line, and straight into a release."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast.former as holdfast
from command_line import table

PEOPLE = "person,county,age\na,Kent,31\nb,Ely,40\na,Rye,31\nc,Kent,7\na,Kent,31\n"
COUNTIES = "county,population\nEly,10\nKent,20\nRye,30\nYork,40\n"


@pytest.fixture
def people():
    table(COUNTIES, "counties.csv")
    return table(PEOPLE, "people.csv")


WORDS = ("--by", "county", "--categories", "counties.csv")


def test_people_are_counted_in_the_categories_that_are_listed(cli, people):
    code, out, err = cli("count", people, *WORDS, "--out", "counts.csv")
    assert code == 0 and out == "" and "Do not publish them" in err
    assert Path("counts.csv").read_text() == "county,count\nEly,1\nKent,3\nRye,1\nYork,0\n"


def test_a_person_counts_once_where_their_first_row_is(cli, people):
    assert cli("count", people, *WORDS, "--per", "person", "--out", "counts.csv")[0] == 0
    assert Path("counts.csv").read_text() == "county,count\nEly,1\nKent,2\nRye,0\nYork,0\n"
    counted = holdfast.count_by(
        pq.read_table(_parquet()), by="county", categories="counties.csv", per="person"
    )
    assert counted.to_pydict() == {"county": ["Ely", "Kent", "Rye", "York"], "count": [1, 2, 0, 0]}


def _parquet():
    rows = [line.split(",") for line in PEOPLE.splitlines()[1:]]
    columns = dict(zip(("person", "county", "age"), zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table({name: list(cells) for name, cells in columns.items()}), "p.parquet")
    return "p.parquet"


def test_codes_that_are_numbers_match_a_list_in_text(cli):
    pq.write_table(pa.table({"code": [3, 1, 3]}), "p.parquet")
    table("code\n1\n2\n3\n", "codes.csv")
    counted = holdfast.count_by("p.parquet", by="code", categories="codes.csv")
    assert counted.to_pydict() == {"code": [1, 2, 3], "count": [1, 0, 2]}


def test_people_go_straight_into_a_release(cli, people):
    usual = ("privatize", people, "--from-people", "--max-count", "5", "--epsilon", "1")
    code, out, _ = cli(*usual, *WORDS, "--per", "person", "--out", "release")
    assert code == 0 and "Published unchanged: county" in out
    release = holdfast.load("release")
    assert release.cells.column("county") == ["Ely", "Kent", "Rye", "York"]
    assert sorted(os.listdir()) == ["counties.csv", "people.csv", "release"]
    code, out, _ = cli(*usual, *WORDS, "--dry-run")
    assert code == 0 and "4 rows" in out
    for wrong, said in (
        ((), "needs `--by` and `--categories`"),
        ((*WORDS, "--count", "age"), "leave out --count"),
        (("--by", "city", "--categories", "counties.csv"), "column of the table"),
        ((*WORDS, "--per", "name"), "`per` must be a column"),
    ):
        code, _, err = cli(*usual, *wrong, "--out", "other")
        assert code == 2 and said in err and not Path("other").exists()
    code, _, err = cli(*usual[:2], *usual[3:], *WORDS, "--out", "other")
    assert code == 2 and "go with `--from-people`" in err


def test_a_table_of_persons_is_not_taken_for_one_of_counts(cli, people):
    words = ("--count", "age", "--category", "county", "--keep-none", "--max-count", "5")
    code, _, err = cli("privatize", people, *words, "--epsilon", "1", "--out", "release")
    assert code == 2 and "If every row is a person" in err and "holdfast count" in err


def test_a_category_that_is_not_listed_and_a_missing_person_are_named_by_row(cli, people):
    table("county\nEly\nKent\n", "few.csv")
    code, _, err = cli(
        "count", people, "--by", "county", "--categories", "few.csv", "--out", "c.csv"
    )
    assert code == 2 and "data row 3" in err and "Rye" not in err
    table("person,county\n,Kent\n", "nobody.csv")
    code, _, err = cli("count", "nobody.csv", *WORDS, "--per", "person", "--out", "c.csv")
    assert code == 2 and "`per` column 'person' is missing in data row 1" in err
    assert not Path("c.csv").exists()
