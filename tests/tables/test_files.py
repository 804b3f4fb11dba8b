"""Tables in files: every kind is written and read again, and no file is overwritten."""

import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_table import as_text, each_frame

from holdfast.errors import HoldfastError
from holdfast.tables.formats import write_file
from open_tables import (
    counts,
    counts_of,
    open_table,
    read_file,
    refusal,
    replaced,
    text_table,
    written,
)


@pytest.mark.parametrize("suffix", [".csv", ".TSV", ".txt"])
@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_text_file_is_a_table(tmp_path, suffix, kind):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"k,n\na,3\nb,0\n")
    table = open_table(kind(path), count="n", category="k")
    assert counts_of(table).tolist() == [3, 0]
    write_file(replaced(table, [1, 2]), tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").read_bytes() == b"k,n\na,1\nb,2\n"


@pytest.mark.parametrize("suffix", [".parquet", ".pq"])
def test_a_parquet_file_is_a_table(tmp_path, suffix):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    path = folder / f"t{suffix}"
    pq.write_table(pa.table({"k": ["a", "b"], "n": [3, 0]}), path)
    table = open_table(path, count="n", category="k")
    assert replaced(table, [1, 2]).to_pydict() == {"k": ["a", "b"], "n": [1, 2]}


@each_frame
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_every_frame_can_be_written(make, suffix, tmp_path):
    path = tmp_path / f"out{suffix}"
    write_file(make({"k": ["a;", 'b"'], "n": [3, 0]}), path)
    again = read_file(path)
    assert again.body.cells("k") == ["a;", 'b"']
    assert counts(path, count="n") == [3, 0]
    if suffix == ".tsv" and make is not as_text:
        assert again.style.delimiter == "\t"


@pytest.mark.parametrize(
    ("index", "names"),
    [(["a", "b"], ["index", "n"]), (pd.Index([7, 8], name="k"), ["k", "n"]), ([5, 6], ["n"])],
)
def test_a_pandas_index_that_says_something_is_written(tmp_path, index, names):
    path = tmp_path / "out.csv"
    write_file(pd.DataFrame({"n": [3, 0]}, index=index), path)
    again = read_file(path)
    assert list(again.columns) == names


def test_no_file_is_overwritten(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"precious")
    with pytest.raises(HoldfastError, match="exists already"):
        write_file(text_table(("n",), [["1"]]), path)
    assert path.read_bytes() == b"precious"


def test_nested_columns_do_not_fit_into_csv(tmp_path):
    with pytest.raises(HoldfastError, match="'x' cannot be written as CSV"):
        write_file(pl.DataFrame({"n": [1], "x": [[424242]]}), tmp_path / "t.csv")


def test_a_file_in_no_folder_cannot_be_written(tmp_path):
    with pytest.raises(HoldfastError, match="cannot be written"):
        write_file(text_table(("n",), [["1"]]), tmp_path / "nowhere" / "t.csv")


@pytest.mark.parametrize("name", ["nothing.csv", "nothing.parquet", "a\0b.csv"])
def test_a_missing_file_is_refused(tmp_path, name):
    assert "cannot be read" in refusal(tmp_path / name, count="n")


def test_an_empty_folder_is_no_table(tmp_path):
    (tmp_path / "d.csv").mkdir()
    for path in (tmp_path / "d.csv", str(tmp_path / "d.csv")):
        assert "without tables" in refusal(path, count="n")


def test_a_folder_of_csv_files_is_one_table(tmp_path):
    folder = tmp_path / "months"
    folder.mkdir()
    (folder / "2.csv").write_bytes(b"place;n\nKent;3\n\xc5land;4\n")
    (folder / "1.csv").write_text("place;n\nÄly;1\n")
    (folder / ".notes").write_text("x")
    table = open_table(folder, count="n", keep="place")
    assert counts_of(table).tolist() == [1, 3, 4]
    assert written(table, tmp_path / "out.csv").decode() == "place;n\nÄly;7\nKent;21\nÅland;28\n"
    assert replaced(table, [1, 2, 3]).column("place") == ["Äly", "Kent", "Åland"]
    (folder / "3.csv").write_text("n;place\n1;x\n")
    assert "3.csv`: the columns are not those of `1.csv`" in refusal(folder, count="n")
    (folder / "3.csv").write_text("place;n\nx;1\ny;x\n")
    assert "3.csv`: `count` column 'n'" in refusal(folder, count="n")
    assert "row 3 of the file is text" in refusal(folder, count="n")


@pytest.mark.parametrize("name", ["t.xls", "t", "t.csv.gz"])
def test_an_unknown_suffix_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"n\n1\n")
    assert "must end in one of .csv" in refusal(tmp_path / name, count="n")
    with pytest.raises(HoldfastError, match="must end in one of"):
        write_file(text_table(("n",), [["1"]]), tmp_path / f"new{name}")


@pytest.mark.parametrize("data", [b"", b"424242", b"PAR1 424242 PAR1"])
def test_a_corrupt_parquet_file_is_refused(tmp_path, data):
    (tmp_path / "t.parquet").write_bytes(data)
    assert "cannot be read as Parquet" in refusal(tmp_path / "t.parquet", count="n")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert 'pip install "holdfast[parquet]"' in refusal(tmp_path / "t.parquet", count="n")
