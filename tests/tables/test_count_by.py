"""From persons to counts, in every kind of frame."""

import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from holdfast.engine.privatize import opened
from holdfast.errors import HoldfastError
from holdfast.request import Request
from holdfast.tables.count_by import count_by
from holdfast.tables.csv import CsvTable
from open_tables import counts as counts_in
from open_tables import text_table

PEOPLE = {"name": list("uvwxy"), "county": ["Kent", "Ely", "Kent", "Kent", "Ely"]}
SEXES = {**PEOPLE, "sex": ["f", "m", "f", "m", "m"]}


def _text(columns):
    rows = zip(*columns.values(), strict=True)
    return text_table(
        tuple(columns), [["" if v is None else str(v) for v in row] for row in rows], ";", "\r\n"
    )


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
    "csv": _text,
}
each_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


def rows_of(frame):
    if isinstance(frame, CsvTable):
        return [tuple(row) for row in frame.rows]
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return frame.fetchall()
    if isinstance(frame, pa.Table):
        return [tuple(row.values()) for row in frame.to_pylist()]
    if isinstance(frame, pd.DataFrame):
        return list(frame.itertuples(index=False, name=None))
    return frame.lazy().collect().rows()


def refusal(frame, by, categories):
    with pytest.raises(HoldfastError) as caught:
        count_by(frame, by=by, categories=categories)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


@each_frame
def test_every_listed_category_is_counted_in_the_order_given(make):
    people = make(PEOPLE)
    counted = count_by(people, by="county", categories=["Rye", "Kent", "Ely"])
    assert type(counted) is type(people)
    counts = [0, 3, 2]
    expected = list(zip(["Rye", "Kent", "Ely"], counts, strict=True))
    if make is _text:
        expected = [(name, str(count)) for name, count in expected]
        assert (counted.style.delimiter, counted.style.newline) == (";", "\r\n")
    assert rows_of(counted) == expected
    assert counts_in(counted, count="count", category="county") == counts


@each_frame
def test_several_columns_are_counted_by_tuples(make):
    categories = [("Ely", "f"), ("Ely", "m"), ["Kent", "f"], ("Kent", "m")]
    counted = count_by(make(SEXES), by=["county", "sex"], categories=categories)
    assert [(*row[:2], int(row[2])) for row in rows_of(counted)] == [
        ("Ely", "f", 0),
        ("Ely", "m", 2),
        ("Kent", "f", 2),
        ("Kent", "m", 1),
    ]


def test_one_column_in_a_list_takes_values_or_tuples():
    for categories in (["Ely", "Kent"], [("Ely",), ("Kent",)]):
        counted = count_by(pl.DataFrame(PEOPLE), by=["county"], categories=categories)
        assert counted.rows() == [("Ely", 2), ("Kent", 3)]


@each_frame
def test_nobody_at_all_is_a_table_of_zeros(make):
    nobody = text_table(("k",), []) if make is _text else make({"k": np.array([], dtype=np.int64)})
    assert [int(row[1]) for row in rows_of(count_by(nobody, by="k", categories=[1, 2]))] == [0, 0]


@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series, pa.array, tuple, iter])
def test_categories_may_be_any_sequence(kind):
    counted = count_by(pl.DataFrame(PEOPLE), by="county", categories=kind(["Kent", "Ely"]))
    assert counted.rows() == [("Kent", 3), ("Ely", 2)]


def test_the_column_keeps_its_type():
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
    frame = pl.DataFrame(
        {"day": days, "small": pl.Series([1, 2], dtype=pl.Int8)},
        schema_overrides={"small": pl.Int8},
    ).with_columns(kind=pl.Series(["x", "y"], dtype=pl.Enum(["x", "y", "z"])))
    for name, categories in (("day", days), ("small", [2, 1]), ("kind", ["z", "y", "x"])):
        counted = count_by(frame, by=name, categories=categories)
        assert counted.schema == {name: frame.schema[name], "count": pl.Int64}
    counts = count_by(frame.to_pandas(), by="small", categories=[1, 2]).dtypes
    assert counts.to_dict() == {"small": np.dtype("int8"), "count": np.dtype("int64")}
    arrow = count_by(frame.to_arrow(), by="day", categories=days)
    assert arrow.schema.types == [pa.date32(), pa.int64()]


@each_frame
def test_a_person_outside_the_list_is_named_by_row_and_not_by_value(make):
    message = refusal(make(PEOPLE), "county", ["Kent", "Rye"])
    assert "row 2" in message and "Ely" not in message and "list it" in message
    assert "it lacks 1 category of the table" in message
    assert "it lacks 2 categories" in refusal(make(PEOPLE), "county", ["Rye"])


@each_frame
def test_a_person_without_a_value_is_named_by_row(make):
    people = make({"county": ["Kent", "Kent", None]})
    assert "`by` column 'county' is missing in data row 3" in refusal(people, "county", ["Kent"])


@each_frame
def test_a_missing_column_is_answered_with_near_matches(make):
    assert "did you mean 'county'?" in refusal(make(PEOPLE), "conty", ["Kent"])


@each_frame
def test_a_column_called_count_is_in_the_way(make):
    assert "'count'" in refusal(make({"count": ["a"]}), "count", ["a"])


@pytest.mark.parametrize(
    ("categories", "said"),
    [
        ([], "empty"),
        (["Kent", "Ely", "Kent"], "number 3"),
        (["Kent", None], "number 2"),
        (["Kent", float("nan")], "number 2"),
        (["Kent", pd.NA], "number 2"),
        ([("Kent", "f")], "1 values each"),
        ([{"Kent"}], "labels"),
        pytest.param({"Kent", "Ely"}, "order", id="set"),
        ("Kent", "must be a list"),
        (5, "must be a list"),
        (None, "must be a list"),
    ],
    ids=str,
)
@each_frame
def test_categories_that_cannot_be_used_are_refused(make, categories, said):
    message = refusal(make(PEOPLE), "county", categories)
    assert "`categories`" in message and said in message


@pytest.mark.parametrize("by", [[], ["county", "county"], 5, None])
def test_by_must_name_columns_each_once(by):
    assert "`by`" in refusal(pl.DataFrame(PEOPLE), by, ["Kent"])


def test_categories_that_do_not_fit_the_column_are_refused():
    frame = pl.DataFrame({"k": [1, 2]})
    assert "do not fit column 'k'" in refusal(frame, "k", [1, 2, "many"])


@pytest.mark.parametrize("frame", [[1, 2], np.array([1]), pd.Series(["a"]), {"k": ["a"]}, None])
def test_persons_come_in_a_data_frame(frame):
    assert "`table`" in refusal(frame, "k", ["a"])


def test_persons_in_a_sheet_below_a_title_are_counted(tmp_path):
    pytest.importorskip("python_calamine")
    with pytest.importorskip("xlsxwriter").Workbook(tmp_path / "people.xlsx") as book:
        book.add_worksheet("Notes").write(0, 0, "none")
        sheet = book.add_worksheet("Patients")
        for at, row in enumerate([["Patients of"], ["2025", "list"], ["id", "ward"], *WARDS]):
            sheet.write_row(at, 0, row)
    (tmp_path / "wards.csv").write_text("ward\nA\nB\nC\n")
    how = {"from_people": True, "by": "ward", "categories": tmp_path / "wards.csv"}
    request = Request.read(epsilon=1, sheet="Patients", header_row=3, **how)
    with opened(tmp_path / "people.xlsx", request) as table:
        (batch,) = table.batches()
    assert batch.counts["count"].tolist() == [3, 2, 0]


WARDS = [["1", "A"], ["2", "B"], ["3", "A"], ["4", "A"], ["5", "B"]]


def test_a_file_of_categories_without_their_column_is_named(tmp_path):
    people = text_table(("id", "ward"), WARDS)
    (tmp_path / "wards.csv").write_text("name\nA\nB\n")
    with pytest.raises(HoldfastError, match=r"`categories`: `.*wards.csv` has no column 'ward'"):
        count_by(people, by="ward", categories=tmp_path / "wards.csv")


@pytest.mark.parametrize("make", [pd.DataFrame, _text], ids=["frame", "text"])
def test_spellings_of_one_person_count_once(make):
    """As a ledger takes them for one label: else one person could count more than once."""
    who = ["7", "07", "7.0", "\uff17", "8", "ann", "ANN "]
    table = make({"who": who, "county": ["Ely"] * len(who)})
    assert counts_in(
        count_by(table, by="county", categories=["Ely"], per="who"), count="count"
    ) == [3]
