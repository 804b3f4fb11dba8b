"""Rows are published in an order that tells nothing, whatever their number and source."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from holdfast.errors import HoldfastError, LeakError
from holdfast.tables import arrow_files, csv_file, sorting
from holdfast.tables.leaks.watch import LabelOrder, Order
from holdfast.tables.partition import coded, rows_by
from holdfast.tables.source import Kept
from holdfast.tables.table import whose
from open_tables import counts_of, open_table, refusal, replaced, text_table, written

ROWS = 1200
COUNTS = np.random.default_rng(4).poisson(6, ROWS)
FALLING = "'row order' follows the counts"


def in_groups(size, counts=COUNTS):
    """Counts that rise within groups of so many rows, and the number of each row's group."""
    group = np.arange(len(counts)) // size
    return counts[np.lexsort((counts, group))], group


def saved(frame, kind, folder):
    path = folder / f"in.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    return frame if kind == "pandas" else path


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet"])
@pytest.mark.parametrize("size", [4, 6, 8, 12])
def test_rows_in_the_order_of_counts_within_small_groups_are_found(size, kind, tmp_path):
    counts, group = in_groups(size)
    frame = pd.DataFrame({"place": [f"p{i}" for i in range(ROWS)], "n": counts, "state": group % 7})
    plain = saved(frame, kind, tmp_path)
    with pytest.raises(LeakError, match=FALLING):
        open_table(plain, count="n", category="place")  # no column says which group
    assert open_table(plain, count="n", category="place", publish_anyway=["row order"])
    shuffled = frame.assign(n=np.random.default_rng(1).permutation(counts))
    assert open_table(saved(shuffled, kind, tmp_path), count="n", category="place", keep="state")


def test_rows_in_the_order_of_counts_among_those_of_one_label_are_found_wherever_they_stand():
    counts = np.random.default_rng(1).poisson(
        0.8, ROWS
    )  # so many are equal that few steps are left
    rising, group = in_groups(12, counts)
    mixed = np.argsort(np.arange(ROWS) % 12, kind="stable")
    frame = pd.DataFrame({"n": rising, "state": group}).iloc[mixed]
    with pytest.raises(LeakError, match="among rows with the same 'state'"):
        open_table(frame, count="n", keep="state")
    assert open_table(frame.assign(n=counts), count="n", keep="state")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mean", [0.5, 3, 40])
def test_orders_that_know_nothing_of_the_counts_pass(seed, mean):
    rng = np.random.default_rng(seed)
    for rows in (10, 60, 400, 5000):
        order, labels = Order(), [LabelOrder(name) for name in "abcd"]
        counts = rng.poisson(rng.gamma(2, mean / 2, rows))
        order.see(counts)
        for label in labels:
            label.see(rng.integers(0, rows // 5, rows), counts)
        assert not order.leaks() and not any(label.leaks() for label in labels)


def test_rows_that_follow_a_public_size_pass():
    rng = np.random.default_rng(3)
    people = np.sort(rng.lognormal(9, 1.5, 3000))
    order = Order()
    order.see(rng.poisson(people / 2000))
    assert not order.leaks()


# Ties of `order_by`


def nothing_is_small(patch):
    patch.setattr(csv_file, "SMALL", 0)
    patch.setattr(arrow_files, "FEW", 0)


STATES = np.arange(ROWS) % 40


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet"])
def test_ties_are_in_the_order_of_all_that_is_published(kind, tmp_path):
    rows = np.lexsort((-COUNTS, STATES))
    frame = pd.DataFrame({"state": STATES, "size": ROWS - np.arange(ROWS), "n": COUNTS}).iloc[rows]
    table = open_table(saved(frame, kind, tmp_path), count="n", keep=["state", "size"],
                       order_by="state")  # fmt: skip
    expected = frame.sort_values(["state", "size"])
    assert counts_of(table).tolist() == expected["n"].tolist()
    back = replaced(table, expected["n"].to_numpy())
    sizes = back["size"] if kind != "parquet" else back["size"].to_pylist()
    assert list(map(int, sizes)) == expected["size"].tolist()


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet", "large csv", "large parquet"])
def test_ties_that_nothing_public_breaks_are_looked_at_in_the_order_they_keep(
    kind, tmp_path, monkeypatch
):
    if kind.startswith("large"):
        nothing_is_small(monkeypatch)
    rows = np.lexsort((-COUNTS, STATES))
    frame = pd.DataFrame({"state": STATES, "n": COUNTS}).iloc[rows]
    source = saved(frame, kind.split()[-1], tmp_path)
    with pytest.raises(LeakError, match=FALLING):
        open_table(source, count="n", keep="state", order_by="state")
    mixed = frame.sample(frac=1, random_state=1)
    assert open_table(saved(mixed, kind.split()[-1], tmp_path), count="n", keep="state",
                      order_by="state")  # fmt: skip


def test_a_file_that_changes_while_it_is_put_in_order_is_refused_in_words(tmp_path, monkeypatch):
    """Also where DuckDB reads, which would name the place in the code."""
    nothing_is_small(monkeypatch)
    source = saved(pd.DataFrame({"place": range(ROWS), "n": COUNTS}), "csv", tmp_path)
    monkeypatch.setattr(Kept, "holds", lambda *_: False)
    with pytest.raises(HoldfastError, match="changed while it was read"):
        open_table(source, count="n", category="place", order_by="place")


def columns_equal(one, other):
    return one.equals(other) if isinstance(one, pa.Table) else one == other


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("subset", [None, {"state": "a"}])
def test_whose_rows_of_a_file_are_does_not_depend_on_how_they_are_put_in_order(
    kind, subset, tmp_path, monkeypatch
):
    """A ledger knows a table again by all of its cells, withheld ones too."""
    rng = np.random.default_rng(8)
    places, states = [f"p {i}" for i in rng.permutation(ROWS)], rng.choice(["a", "b"], ROWS)
    columns = {"place": places, "n": COUNTS, "state": states, "street": range(ROWS)}
    frame = pd.DataFrame(columns)
    asked = {"count": "n", "category": "place", "subset": subset, "order_by": "place"}
    source = saved(frame, kind, tmp_path)
    listed = open_table(source, **asked)
    monkeypatch.setattr(sorting, "LISTED", 0)
    quick = open_table(source, **asked)
    assert isinstance(quick._reading, sorting.Sorted) and listed.withheld
    assert not isinstance(listed._reading, sorting.Sorted)
    assert whose(quick) == whose(listed) and counts_of(quick).tolist() == counts_of(listed).tolist()
    monkeypatch.setattr(sorting, "find_spec", lambda _: None)  # without DuckDB, as lists
    assert not isinstance(open_table(source, **asked)._reading, sorting.Sorted)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("subset", [None, {"state": "a"}])
def test_a_large_file_is_put_in_order_as_one_in_memory(kind, subset, tmp_path, monkeypatch):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({
        "place": [f"p {i};" for i in rng.permutation(ROWS)],
        "state": rng.choice(["a", "B", "é", '"x"'], ROWS),
        "size": rng.integers(0, 30, ROWS) / 2,
        "n": COUNTS,
        "closed": COUNTS == 0,
    })  # fmt: skip
    source = saved(frame, kind, tmp_path)
    usual = {"count": "n", "category": "place", "keep": ["state", "size"],
             "structural_zero": "closed", "subset": subset, "within": "state"}  # fmt: skip
    for at, column in enumerate(["place", "state", "size"]):
        small = open_table(source, **usual, order_by=column)
        expected = written(small, tmp_path / f"small{at}.{kind}")
        with monkeypatch.context() as patch:
            nothing_is_small(patch)
            large = open_table(source, **usual, order_by=column)
        assert counts_of(large).tolist() == counts_of(small).tolist() != COUNTS.tolist()
        new = np.arange(large.rows)
        assert not large.source.in_memory
        assert columns_equal(replaced(large, new), replaced(small, new))
        found = [np.concatenate([b.group for b in table.batches()]) for table in (small, large)]
        assert found[0].tolist() == found[1].tolist()
        assert written(large, tmp_path / f"large{at}.{kind}") == expected


def test_the_order_of_a_public_column_is_one_of_numbers_where_all_are():
    rows = [["b", "10", "0"], ["c", "9", "1"], ["a", "9", "2"], ["d", "", "3"]]
    options = {"count": "n", "category": "place", "keep": ["size"], "order_by": "size"}
    for other in ("9", "x"):
        rows[2][1] = other
        table = open_table(text_table(("place", "size", "n"), rows), **options)
        order = {"9": ["a", "c", "b", "d"], "x": ["b", "c", "a", "d"]}[other]
        assert replaced(table, [0] * 4).column("place") == order
    with pytest.raises(HoldfastError, match="`order_by` must name a column that is published"):
        open_table(text_table(("place", "size", "n"), rows), count="n", category="place",
                   order_by="size")  # fmt: skip


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_kind_of_frame_is_put_in_order(make):
    frame = make({"place": ["b", "c", "a"], "n": [3, 1, 2]})
    table = open_table(frame, count="n", category="place", order_by="place")
    assert counts_of(table).tolist() == [2, 3, 1]


def test_cells_of_any_kind_have_an_order():
    assert rows_by([coded([2, 10, None, 1.5])]).tolist() == [3, 0, 1, 2]
    assert rows_by([coded(["a", 2, "B", 10])]).tolist() == [3, 1, 2, 0]  # as text
    assert rows_by([coded(["10", "9", ""])]).tolist() == [1, 0, 2]


def test_lists_are_no_labels_to_put_rows_in_order_by():
    frame = pl.DataFrame({"place": [[2], [1]], "n": [3, 1]})
    said = refusal(frame, count="n", keep="place", order_by="place")
    assert "column 'place' cannot be written" in said
