"""A header that reads as data is refused: it is the first row of a table without a header."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from holdfast.tables.cell_text import reads_as_number, suggest
from holdfast.tables.options import LONGEST_NAMES
from open_tables import open_table, refusal, text_table, written

SECRET = "73519"
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


def refused(source, **options):
    return refusal(source, secret=SECRET, **options)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_named_by_a_count_is_refused(kind):
    assert "is a number" in refused(FRAMES[kind]({SECRET: [3, 0, 1]}))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "parquet"])
def test_a_file_without_a_header_is_refused(suffix, tmp_path):
    path = tmp_path / f"in.{suffix}"
    if suffix == "parquet":
        pa.parquet.write_table(pa.table({SECRET: [3, 0]}), path)
    else:
        path.write_text(f"{SECRET}\n3\n0\n")
    assert "first line of a table must hold the names" in refused(path)


@pytest.mark.parametrize("name", ["n", "73518", "Kemt", ""])
def test_hints_do_not_quote_a_cell(name, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(f"Kent,{SECRET}\nEly,3\n")
    for source in (path, pd.read_csv(path)):
        message = refused(source, count=name)
        assert "Kent" not in message and "first line must hold the names" in message


def test_a_kept_column_named_by_a_number_is_refused_and_a_withheld_one_is_not():
    table = pd.DataFrame({"place": ["a", "b"], "n": [3, 0], "2019": [7, 8]})
    assert open_table(table, count="n", category="place").others == ("place",)
    said = refused(table, count="n", category="place", keep=["2019"])
    assert "is a number" in said and "rename the column" in said


@pytest.mark.parametrize("parameter", ["count", "category", "order_by", "structural_zero"])
def test_an_empty_name_is_refused(parameter, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"place,,n\na,1,0\nb,2,0\n")
    said = refused(path, **{"count": "n", "keep": ["place"]} | {parameter: ""})
    assert f"`{parameter}` must name a column, got an empty" in said


@pytest.mark.parametrize("letter", ["x", "\x01", "`", "é", "🌍"])
def test_names_that_are_too_long_for_a_bundle_are_refused(letter):
    fits, long = letter * (LONGEST_NAMES // 12 - 1), letter * LONGEST_NAMES
    for name in (fits, long):
        frame = pd.DataFrame({name: ["d", "e", "f"], "n": [1, 2, 0]})
        if name == fits:
            assert open_table(frame, count="n", keep=[name]).others == (name,)
        else:
            assert "too long for a release" in refused(frame, count="n", keep=[name])


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    "names", [["\ufeffplace", "n"], ["a;b;c;d", "n"], ["a|b|c", "n"], [" ", "n"]]
)
def test_misleading_names_are_written_so_that_they_are_read_again(kind, names, tmp_path):
    table = open_table(FRAMES[kind](dict(zip(names, [["x", "y"], [3, 0]], strict=True))), count="n",
                       keep=names[:1])  # fmt: skip
    written(table, tmp_path / "out.csv")
    assert open_table(tmp_path / "out.csv", count="n", keep=names[:1]).published == tuple(names)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "x" * 131_073])
def test_names_that_no_file_can_hold_are_refused(name):
    said = refused(text_table((name, "n"), [["x", "1"], ["y", "0"]]), count="n", keep=[name])
    assert "cannot be written" in said or "too long" in said


def test_what_reads_as_a_number():
    numbers = ["7", " 7 ", "1,204", "1 204", "1.5", "-999", "<5", "12%", "1e5", "$3", "007"]
    assert all(map(reads_as_number, numbers))
    assert not any(map(reads_as_number, ["", "n", "2019-20", "y2019", "7 deaths", "Q1", 7]))


def test_names_are_suggested_where_all_of_them_are_names():
    assert suggest(["deaths_2019", "county"], "deaths_2018") == "did you mean 'deaths_2019'?"
