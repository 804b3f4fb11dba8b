import json

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import holdfast.former as holdfast
from holdfast.former.cli import app
from holdfast.former.cli.streams import is_streamed

COMMON = [
    "--keep-none",
    "--category",
    "shop",
    "--count",
    "visits",
    "--max-count",
    "9",
    "--epsilon",
    "1",
    "--constructor",
    "sandwich",
]
TABLE = pa.table({"shop": [f"s{i}" for i in range(500)], "visits": np.arange(500) * 7 % 12})


def run(*arguments, bare=True):
    result = CliRunner().invoke(app, ["privatize", *map(str, arguments), *COMMON[not bare :]])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_folder_of_parquet_files_is_streamed(tmp_path):
    (tmp_path / "in" / "year=2020").mkdir(parents=True)
    pa.parquet.write_table(TABLE, tmp_path / "in" / "year=2020" / "a.parquet")
    said = json.loads(
        run(tmp_path / "in", "--keep", "year", "--out", tmp_path / "out", "--json", bare=False)
    )
    assert said["rows"] == 500 and said["unchanged_columns"] == ["shop", "year"]
    assert holdfast.verify(tmp_path / "out").passed


def test_a_query_of_a_duckdb_database_is_streamed(tmp_path):
    with duckdb.connect(str(tmp_path / "shops.duckdb")) as connection:
        connection.from_arrow(TABLE).create("visits_of_shops")
    query = "SELECT * FROM visits_of_shops WHERE visits < 11 ORDER BY shop"
    output = run(tmp_path / "shops.duckdb", "--query", query, "--out", tmp_path / "out")
    left = int((TABLE["visits"].to_numpy() < 11).sum())
    assert f"Released {left} rows" in output
    assert len(holdfast.load(tmp_path / "out").counts) == left


@pytest.mark.parametrize("choice", ["--stream", "--no-stream"])
def test_a_file_is_streamed_if_asked_and_released_alike(tmp_path, choice):
    (tmp_path / "a.csv").write_text("shop,visits\n" + "".join(f"s{i},3\n" for i in range(300)))
    output = run(tmp_path / "a.csv", choice, "--out", tmp_path / "out", "--seed", "1")
    assert "Released 300 rows" in output and "SIMULATION" in output
    whole = holdfast.privatize(
        tmp_path / "a.csv", count="visits", max_count=9, epsilon=1, seed=1,
        constructor=holdfast.constructors.Heuristic(selector="sandwich"),
    )  # fmt: skip
    assert (holdfast.load(tmp_path / "out").counts == whole.counts).all()


def test_a_dry_run_of_a_stream_says_what_it_would_do(tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "a.parquet")
    said = json.loads(run(tmp_path / "a.parquet", "--stream", "--dry-run", "--json"))
    assert said["dry_run"] and said["rows"] == 500 and said["unchanged_columns"] == ["shop"]


def test_a_dry_run_of_a_stream_warns_and_refuses_as_one_in_memory_does(tmp_path):
    table = TABLE.set_column(0, "shop", pa.array(["s0", *TABLE["shop"].to_pylist()[:-1]]))
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    pa.parquet.write_table(TABLE.append_column("also", TABLE["visits"]), tmp_path / "b.parquet")
    for choice in ("--stream", "--no-stream"):
        output = run(tmp_path / "a.parquet", choice, "--repeated-categories", "--dry-run")
        assert "Note: shop has repeated values" in " ".join(output.split())
        for name, said in (("a", "has repeated values"), ("b", "'also' holds the")):
            words = ["--keep", "also"] if name == "b" else ["--keep-none"]
            command = ["privatize", str(tmp_path / f"{name}.parquet"), choice, "--dry-run"]
            refused = CliRunner().invoke(app, [*command, *words, *COMMON[1:]])
            assert said in str(refused.exception)


def test_large_files_are_streamed_without_being_asked(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("visits\n1\n")
    assert not is_streamed(path, None, None) and is_streamed(path, True, None)
    assert is_streamed(tmp_path, None, None)
    monkeypatch.setattr("holdfast.former.engines.looking.LARGE", 5)
    assert is_streamed(path, None, None) and not is_streamed(path, False, None)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_digits_of_counts_do_not_decide_whether_a_file_is_streamed(
    suffix, tmp_path, monkeypatch
):
    said = set()
    for count in ("7", "10", '" 007.0 "', "9007199254740992"):
        path = tmp_path / f"{len(count)}.{suffix}"
        if suffix == "csv":
            path.write_text(f"shop,visits\na,{count}\nb,1\n")
        else:
            visits = [int(float(count.strip('" '))), 1]
            pa.parquet.write_table(pa.table({"shop": ["a", "b"], "visits": visits}), path)
        for large in range(1, 200):
            monkeypatch.setattr("holdfast.former.engines.looking.LARGE", large)
            said.add((large, is_streamed(path, None, None)))
    assert len(said) == 199 and {True, False} == {answer for _, answer in said}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.duckdb", "--query", "FROM t"], "no such database"),
        ([".", "--no-stream"], "--no-stream"),
    ],
)
def test_what_cannot_be_streamed_is_said(tmp_path, arguments, message):
    command = ["privatize", *arguments, *COMMON, "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code != 0
    assert message in f"{result.output}{result.exception}"
