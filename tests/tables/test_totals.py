"""Rows that are totals of others are noticed: by their names, and where they add up."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from holdfast.errors import LeakError
from holdfast.tables.leaks import totals
from holdfast.tables.leaks.totals import TotalRows, is_total
from open_tables import open_table, parse_csv

RNG = np.random.default_rng(6)
SIZES = [5, 9, 4, 12, 7, 8]
COUNTIES = [RNG.poisson(20, size) for size in SIZES]


def counties(names, *, first=True, noise=0):
    """Counties by state with a row for each state, which has this name."""
    rows = []
    for state, counts in enumerate(COUNTIES):
        mine = [(f"S{state}", f"c{state}-{k}", n) for k, n in enumerate(counts)]
        total = (f"S{state}", names.format(state), int(counts.sum()) + noise)
        rows += [total, *mine] if first else [*mine, total]
    return pd.DataFrame(rows, columns=["state", "county", "n"])


def opened(frame, **more):
    return open_table(frame, count="n", category="county", **more)


def test_rows_that_are_totals_are_refused_by_name_and_by_sum():
    named = pd.DataFrame({"county": ["a", "b", "c", " TOTAL"], "n": [1, 2, 4, 9]})
    with pytest.raises(LeakError, match="a row is named like a total"):
        opened(named)
    summed = pd.DataFrame({"county": list("abcdefg"), "n": [1, 2, 4, 9, 3, 1, 20]})
    with pytest.raises(LeakError, match="a row is the sum of all others"):
        opened(summed)
    assert opened(summed, publish_anyway=["totals"]).rows == 7


@pytest.mark.parametrize("label", ["Summe", "West, total"])
@pytest.mark.parametrize("part", [{"keep": "state"}, {"within": "state"}])
def test_a_total_that_only_a_kept_column_or_a_group_names_is_refused(part, label):
    frame = pd.DataFrame({"state": [*"NNNSSS", label], "county": list("abcdefg"),
                          "n": [1, 2, 4, 9, 3, 1, 14]})  # fmt: skip
    for table in (frame, parse_csv(frame.to_csv(index=False).encode())):
        with pytest.raises(LeakError, match="a row is named like a total"):
            opened(table, **part)
        assert opened(table, **part, publish_anyway=["totals"]).rows == 7
        assert opened(table).rows == 7
        assert opened(table, subset={"state": label}, **part)


NAMES = ["S{} total", "Total, S{}", "SUBTOTAL {}", "S{} insgesamt", "{} (sub-totals)"]


@pytest.mark.parametrize("name", NAMES)
def test_totals_of_states_among_counties_are_noticed_by_name(name):
    frame = counties(name, noise=3)
    with pytest.raises(LeakError, match="a row is named like a total"):
        opened(frame)


@pytest.mark.parametrize("first", [True, False])
def test_totals_of_states_are_noticed_where_they_add_up_whatever_they_are_called(first):
    frame = counties("State {}", first=first)
    with pytest.raises(LeakError, match="rows are sums of the rows"):
        opened(frame)
    with pytest.raises(LeakError, match="in each 'state' a row is the sum of the others"):
        opened(frame.sample(frac=1, random_state=1), keep="state")
    assert opened(counties("State {}", first=first, noise=1)).rows == len(frame)
    assert opened(frame, publish_anyway=["totals"])


def test_a_total_of_all_above_totals_of_states_is_noticed():
    frame = counties("State {}")
    whole = pd.DataFrame({"state": [""], "county": ["US"], "n": [sum(map(sum, COUNTIES))]})
    with pytest.raises(LeakError, match="rows are sums of the rows that follow"):
        opened(pd.concat([whole, frame]))


@pytest.mark.parametrize("seed", range(20))
def test_counts_that_add_up_by_chance_are_no_totals(seed):
    rng = np.random.default_rng(seed)
    for rows, mean in ((8, 1), (30, 0.5), (200, 1), (200, 5), (3000, 0.3), (3000, 2)):
        found = TotalRows()
        counts = rng.poisson(rng.gamma(0.7, mean / 0.7, rows))
        found.see(counts, {"g": rng.integers(0, max(rows // 6, 1), rows).astype(np.uint64)})
        assert not [leak for leak in found.leaks() if "sum of all" not in str(leak)]


def test_names_of_totals():
    names = ["Total", "Grand total", " TOTAL ", "Nebraska, total", "all", "Sub-total", "Ensemble"]
    assert all(map(is_total, names))
    names = ["Allentown", "Totalville", "Sumner", "All Saints Parish", "", "Summerfield", 7, None]
    assert not any(map(is_total, names))


@pytest.mark.parametrize("name", ["Total", "ALL", "All counties", "West, subtotal", "Gesamtland"])
@pytest.mark.parametrize("kind", ["csv", "pandas", "polars", "parquet", "text"])
def test_names_of_totals_are_found_in_every_kind_of_table(kind, name, tmp_path):
    counts = RNG.permutation(51)
    frame = pd.DataFrame({"county": [*(f"c{k}" for k in range(50)), name], "n": counts})
    if kind in ("csv", "parquet"):
        path = tmp_path / f"in.{kind}"
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    table = {"csv": lambda: path, "parquet": lambda: path, "pandas": lambda: frame,
             "polars": lambda: pl.DataFrame(frame.to_dict("list")),
             "text": lambda: parse_csv(frame.to_csv(index=False).encode())}[kind]()  # fmt: skip
    if name == "Gesamtland":
        assert opened(table, publish_anyway="row order").rows == 51
    else:
        with pytest.raises(LeakError, match="a row is named like a total"):
            opened(table, publish_anyway="row order")


def test_batches_are_seen_as_a_whole(monkeypatch):
    counts = counties("State {}")["n"].to_numpy()
    found = TotalRows()
    for part in np.array_split(counts, 5):
        found.see(part)
    assert "rows are sums" in str(found.leaks()[0])
    monkeypatch.setattr(totals, "_LOOKED_AT", 3)
    few = TotalRows()
    few.see(counts)
    assert few.leaks() == []
