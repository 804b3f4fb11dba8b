"""Whatever is written is a function of what was measured and of what is public.

Noise is held such that the noisy numbers of two tables are the same; then every byte of their
bundles must be the same, and so must the table that is given back.
"""

import hashlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import holdfast
from holdfast.measure import room

ROWS = 150


@pytest.fixture
def held(monkeypatch):
    """Noisy numbers that do not depend on the true ones."""

    def add_noise(values, noise, source, *, stream, at=0):
        key = int.from_bytes(hashlib.sha256(f"{stream} {at}".encode()).digest()[:8], "big")
        rng = np.random.default_rng(key)
        return rng.integers(-3, 40, size=len(np.asarray(values)))

    monkeypatch.setattr(room, "add_noise", add_noise)


def a_table(seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "county": [f"c{k:03d}" for k in rng.permutation(ROWS)],
            "state": rng.choice(["KS", "NE", "TX"], ROWS),
            "people": rng.integers(1000, 10**6, ROWS),
            "deaths": rng.negative_binomial(0.7, 0.1, ROWS),
            "births": rng.poisson(4.0, ROWS),
        }
    )


def neighbours(seed=0, most=5):
    """A table, and others in which a few counts are not the same."""
    table, rng = a_table(seed), np.random.default_rng(seed + 1)
    yield table
    for _ in range(most):
        other = table.copy()
        for column in ("deaths", "births"):
            rows = rng.integers(0, ROWS, 3)
            other.loc[rows, column] = np.maximum(
                other.loc[rows, column] + rng.integers(-1, 9, 3), 0
            )
        yield other


def digest(folder):
    files = sorted(path for path in folder.iterdir())
    return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]


ASKED = {
    "plain": {"count": "deaths", "category": "county", "keep": ["people"]},
    "grouped": {"count": "deaths", "category": "county", "within": "state", "totals": True},
    "classes": {"count": "deaths", "within": holdfast.classes("people", 4), "top": 20},
    "several": {"count": ["deaths", "births"], "category": "county", "within": "state"},
    "wide": {"count": "deaths", "category": "county", "contributions": 4, "rows": 2},
    "ordered": {"count": "deaths", "category": "county", "order_by": "county"},
    "part": {"count": "deaths", "category": "county", "subset": {"state": "NE"}},
}
KINDS = {
    "pandas": lambda frame: frame,
    "categorical": lambda frame: frame.assign(
        county=pd.Categorical(
            frame.county, categories=list(frame.sort_values("deaths").county), ordered=True
        ),
        state=pd.Categorical(
            frame.state, categories=list(frame.groupby("state").deaths.sum().sort_values().index)
        ),
    ),
    "polars": pl.from_pandas,
    "enum": lambda frame: pl.from_pandas(frame).with_columns(
        pl.col("county").cast(pl.Enum(list(frame.sort_values("deaths").county)))
    ),
    "arrow": pa.Table.from_pandas,
    "dictionary": lambda frame: pa.table(
        {
            name: pa.DictionaryArray.from_arrays(
                pa.array(np.argsort(np.argsort(frame.deaths.to_numpy(), kind="stable"))),
                pa.array(
                    list(frame.county.iloc[np.argsort(frame.deaths.to_numpy(), kind="stable")])
                ),
            )
            if name == "county"
            else pa.array(frame[name])
            for name in frame
        }
    ),
}


@pytest.mark.parametrize("asked", ASKED)
def test_two_tables_with_the_same_noisy_numbers_make_the_same_bytes(held, asked, tmp_path):
    made = [
        holdfast.privatize(table, epsilon=1, seed=1, **ASKED[asked]).save(tmp_path / str(k))
        for k, table in enumerate(neighbours())
    ]
    assert len({str(digest(folder)) for folder in made}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_that_is_given_back_tells_no_order_of_counts(held, kind, tmp_path):
    seen = set()
    for k, table in enumerate(neighbours(3)):
        release = holdfast.privatize(KINDS[kind](table), epsilon=1, seed=1, **ASKED["plain"])
        back = release.table
        if isinstance(back, pa.Table):
            pa.parquet.write_table(back, tmp_path / "back")
        elif isinstance(back, pl.DataFrame):
            back.write_parquet(tmp_path / "back")
        else:
            back.to_parquet(tmp_path / "back")
        folder = release.save(tmp_path / f"{k}")
        seen.add(
            (hashlib.sha256((tmp_path / "back").read_bytes()).hexdigest(), str(digest(folder)))
        )
    assert len(seen) == 1


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_of_two_tables_make_the_same_bytes(held, ending, tmp_path):
    seen = set()
    for k, table in enumerate(neighbours(5)):
        path = tmp_path / f"in{k}" / f"table.{ending}"
        path.parent.mkdir()
        table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
        release = holdfast.privatize(path, epsilon=1, seed=1, **ASKED["grouped"])
        seen.add(str(digest(release.save(tmp_path / f"{k}"))))
    assert len(seen) == 1


def test_the_true_noise_would_be_found(tmp_path):
    made = [
        holdfast.privatize(table, epsilon=1, seed=1, **ASKED["plain"]).save(tmp_path / str(k))
        for k, table in enumerate(neighbours(most=1))
    ]
    assert digest(made[0]) != digest(made[1])
