"""A header that reads as data is refused: it is the first row of a table without a header."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.tables.columns import reads_as_number, suggest

SECRET = "73519"
OPTIONS = {"epsilon": 1, "max_count": 9}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


def refused(run):
    with pytest.raises(HoldfastError) as caught:
        run()
    assert SECRET not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_named_by_a_count_is_refused(kind):
    table = FRAMES[kind]({SECRET: [3, 0, 1]})
    assert "is a number" in refused(lambda: holdfast.privatize(table, **OPTIONS))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "parquet"])
def test_a_file_without_a_header_is_refused_in_memory_and_streamed(suffix, tmp_path):
    path = tmp_path / f"in.{suffix}"
    if suffix == "parquet":
        pa.parquet.write_table(pa.table({SECRET: [3, 0]}), path)
    else:
        path.write_text(f"{SECRET}\n3\n0\n")
    for run in (
        lambda: holdfast.privatize(path, **OPTIONS),
        lambda: holdfast.privatize_stream(path, tmp_path / "out", **OPTIONS),
    ):
        assert "first line of a table must hold the names" in refused(run)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["n", "73518", "Kemt", ""])
def test_hints_do_not_quote_a_cell(name, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(f"Kent,{SECRET}\nEly,3\n")
    for run in (
        lambda: holdfast.privatize(path, count=name, **OPTIONS),
        lambda: holdfast.privatize_stream(path, tmp_path / "out", count=name, **OPTIONS),
        lambda: holdfast.privatize(pd.read_csv(path), count=name, **OPTIONS),
    ):
        message = refused(run)
        assert "Kent" not in message and "first line must hold the names" in message


def test_a_kept_column_named_by_a_number_is_refused_and_a_withheld_one_is_not():
    table = pd.DataFrame({"place": ["a", "b"], "n": [3, 0], "2019": [7, 8]})
    options = OPTIONS | {"count": "n", "category": "place"}
    assert holdfast.privatize(table, **options).unchanged_columns == ("place",)
    with pytest.raises(HoldfastError, match=r"is a number.*rename the column"):
        holdfast.privatize(table, **options, keep=["2019"])


def test_what_reads_as_a_number():
    numbers = ["7", " 7 ", "1,204", "1 204", "1.5", "-999", "<5", "12%", "1e5", "$3", "007"]
    assert all(map(reads_as_number, numbers))
    assert not any(map(reads_as_number, ["", "n", "2019-20", "y2019", "7 deaths", "Q1", 7]))


def test_names_are_suggested_where_all_of_them_are_names():
    assert suggest(["deaths_2019", "county"], "deaths_2018") == "did you mean 'deaths_2019'?"
