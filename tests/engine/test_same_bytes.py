"""The same seed gives the same bytes: in memory, from files in batches, from a query, on Spark."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import holdfast
from holdfast.release import table_files
from holdfast.tables import arrow_files, csv, csv_file, source

ROWS = 1500
RNG = np.random.default_rng(3)
TABLE = pd.DataFrame(
    {
        "shop": [f"s{k:05d}" for k in RNG.permutation(ROWS)],
        "state": RNG.choice(["KS", "NE", "TX", "Ö"], ROWS),
        "people": RNG.integers(100, 10**6, ROWS),
        "closed": np.arange(ROWS) % 17 == 0,
        "visits": RNG.negative_binomial(0.7, 0.05, ROWS),
        "beds": RNG.poisson(3.0, ROWS),
    }
)
TABLE.loc[TABLE.closed, ["visits", "beds"]] = 0
TABLE.loc[5::31, "visits"] = -9
TABLE.loc[TABLE.closed, "visits"] = 0
ALL = {"category": "shop", "missing": [-9], "epsilon": 1, "seed": 7}
ASKED = {
    "plain": {"count": "visits", "keep_none": True},
    "kept": {"count": "visits", "keep": ["people", "state"]},
    "states": {"count": "visits", "within": "state", "totals": True},
    "classes": {"count": "visits", "within": holdfast.classes("people", 12), "epsilon": "0.1"},
    "crossed": {"count": "beds", "within": ["state", holdfast.classes("people", 3)]},
    "two counts": {"count": ["visits", "beds"], "within": "state", "weights": [2, 1]},
    "relations": {"count": ["visits", "beds"], "keep": ["state"], "relations": True},
    "zeros": {"count": "visits", "structural_zero": "closed", "keep": ["state"]},
    "subset": {"count": "visits", "subset": {"state": "NE"}, "keep": ["people"]},
    "persons": {"count": "beds", "contributions": 3, "rows": 2, "unit": "household", "top": 4},
    "one column": {"count": ["beds", "visits"], "person_in": "one column", "keep_none": True},
    "ordered": {"count": "visits", "order_by": "shop", "keep": ["state"]},
    "period": {"count": "visits", "period": "2026-Q1", "split": "0.3", "keep_none": True},
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(csv_file, "BLOCK", 1 << 11)
    monkeypatch.setattr(csv, "BLOCK", 1 << 11)
    monkeypatch.setattr(csv_file, "SMALL", 500)
    monkeypatch.setattr(source, "AT_A_TIME", 350)
    monkeypatch.setattr(table_files, "MOST_WRITTEN", 20)
    monkeypatch.setattr(arrow_files, "ROWS", 200)
    monkeypatch.setattr(arrow_files, "FEW", 250)


def pieces(folder, write):
    folder.mkdir()
    for at in range(0, ROWS, 500):
        write(TABLE[at : at + 500], folder / f"part{at:05d}")
    return folder


def csv_of(path):
    TABLE.to_csv(path / "t.csv", index=False)
    return path / "t.csv"


def parquet_of(path):
    TABLE.to_parquet(path / "t.parquet", row_group_size=350)
    return path / "t.parquet"


WAYS = {
    "polars": lambda path: pl.from_pandas(TABLE),
    "arrow": lambda path: pa.Table.from_pandas(TABLE),
    "csv": csv_of,
    "parquet": parquet_of,
    "csv folder": lambda path: pieces(
        path / "c", lambda part, to: part.to_csv(f"{to}.csv", index=False)
    ),
    "parquet folder": lambda path: pieces(
        path / "p", lambda part, to: part.to_parquet(f"{to}.parquet")
    ),
    "query": lambda path: duckdb.connect().from_arrow(pa.Table.from_pandas(TABLE)),
}


def bundle(table, asked, folder):
    """All files of a bundle but those that say how the table was read."""
    release = holdfast.privatize(table, **ALL | ASKED[asked])
    release.save(folder, table_format="csv")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    made = {}

    def of(asked):
        if asked not in made:
            made[asked] = bundle(TABLE, asked, tmp_path_factory.mktemp("memory") / "r")
        return made[asked]

    return of


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("way", WAYS)
def test_the_same_seed_gives_the_same_bytes(way, asked, expected, tmp_path):
    assert bundle(WAYS[way](tmp_path), asked, tmp_path / "r") == expected(asked)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("asked", ASKED)
def test_on_spark_too(asked, spark, expected, tmp_path):
    parts = [pa.Table.from_pandas(TABLE[at : at + 500]) for at in range(0, ROWS, 500)]
    frames = [spark.createDataFrame(part.to_pandas()).coalesce(1) for part in parts]
    frame = frames[0].union(frames[1]).union(frames[2])
    assert bundle(frame, asked, tmp_path / "r") == expected(asked)
