"""What streams find in columns that are published as they are: the same as in memory."""

import itertools
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import holdfast
from holdfast.errors import HoldfastError, LeakError
from holdfast.former.constructors import Heuristic
from holdfast.tables.stream import arrow_source, lookout, text_source
from holdfast.tables.stream.arrow_columns import dictionary_columns, label_keys

OPTIONS = {"count": "visits", "epsilon": 1, "max_count": 12, "constructor": Heuristic()}
ROWS = 2000
COUNTS = np.arange(ROWS) % 9


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(text_source, "BLOCK", 1 << 12)
    monkeypatch.setattr(arrow_source, "ROWS", 300)


def late(values, other):
    """The same values, but for one far down."""
    return [*values[:-5], other, *values[-4:]]


def source(kind, folder, columns):
    data = pa.table(columns)
    if kind == "duckdb":
        return duckdb.connect().from_arrow(data)
    path = folder / f"visits.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(data, path, row_group_size=700)
    else:
        rows = zip(*(column.to_pylist() for column in data.columns), strict=True)
        lines = [",".join(map(str, row)) for row in rows]
        path.write_text("\n".join([",".join(data.column_names), *lines]))
    return path


COPIES = {
    "whole numbers": pa.array(COUNTS, pa.int16()),
    "floats": pa.array(COUNTS, pa.float64()),
    "decimals": pa.array([Decimal(int(c)) for c in COUNTS], pa.decimal128(9, 2)),
    "text": pa.array([f"{c}.0" for c in COUNTS]),
    "odd text": pa.array([f" {c}e0" for c in COUNTS]),
    "a dictionary": pa.array([str(c) for c in COUNTS]).dictionary_encode(),
}


@pytest.mark.parametrize(
    ("kind", "copy"),
    [("csv", "whole numbers"), ("csv", "odd text"), *itertools.product(["parquet"], COPIES),
     ("duckdb", "floats"), ("duckdb", "a dictionary")],
)  # fmt: skip
def test_a_copy_of_the_counts_is_refused_as_in_memory(kind, copy, tmp_path):
    names = [f"s{row}" for row in range(ROWS)]
    table = source(kind, tmp_path, {"shop": names, "also": COPIES[copy], "visits": COUNTS})
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("visits", epsilon=1)
    paid = OPTIONS | {"ledger": ledger, "dataset": "visits", "keep": ["shop", "also"]}
    with pytest.raises(LeakError, match="'also' holds the counts") as streamed:
        holdfast.privatize_stream(table, tmp_path / "a", **paid)
    with pytest.raises(LeakError) as whole:
        holdfast.privatize(table, **OPTIONS, keep=["shop", "also"])
    assert str(streamed.value) == str(whole.value)
    assert ledger.balance("visits").epsilon_spent == 0 and not (tmp_path / "a").exists()
    release = holdfast.privatize_stream(table, tmp_path / "a", **paid, publish_anyway="also")
    assert release.unchanged_columns == ("shop", "also")
    assert holdfast.privatize_stream(table, tmp_path / "b", **OPTIONS).unchanged_columns == ()


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
@pytest.mark.parametrize("cell", [4, None])
def test_a_column_that_differs_in_one_row_far_down_is_still_a_copy(kind, cell, tmp_path):
    also = pa.array(late(COUNTS.tolist(), cell), pa.int64())
    table = source(kind, tmp_path, {"also": also, "visits": COUNTS})
    for run in (
        lambda: holdfast.privatize_stream(table, tmp_path / "a", **OPTIONS, keep=["also"]),
        lambda: holdfast.privatize(table, **OPTIONS, keep=["also"]),
    ):
        with pytest.raises(LeakError, match="'also' holds the counts in nearly all rows"):
            run()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_counts_that_are_all_the_same_may_equal_another_column(kind, tmp_path):
    table = source(kind, tmp_path, {"visits": [3] * ROWS, "week": [3] * ROWS})
    release = holdfast.privatize_stream(table, tmp_path / "a", **OPTIONS, keep=["week"])
    assert release.rows == ROWS


REPEATED = "shop has repeated values; every row is treated as a category of its own"
LABELS = {
    "text": [f"s{row}" for row in range(ROWS)],
    "numbers": list(range(ROWS)),
    "decimals": [Decimal(row) / 4 for row in range(ROWS)],
    "bytes": [b"\xff%d" % row for row in range(ROWS)],
}


@pytest.mark.parametrize(
    ("kind", "labels"),
    [("csv", "text"), ("csv", "decimals"), *itertools.product(["parquet"], LABELS),
     ("duckdb", "numbers"), ("duckdb", "bytes")],
)  # fmt: skip
def test_labels_that_repeat_far_apart_are_refused_or_told_of_as_in_memory(kind, labels, tmp_path):
    once = LABELS[labels]
    for name, cells in (("once", once), ("twice", late(once, once[1]))):
        table = source(kind, tmp_path, {"shop": cells, "visits": COUNTS})
        options = OPTIONS | {"category": "shop"}
        if name == "twice":
            for run in (
                lambda: holdfast.privatize_stream(table, tmp_path / name, **options),  # noqa: B023
                lambda: holdfast.privatize(table, **options),  # noqa: B023
            ):
                with pytest.raises(HoldfastError, match="If every row is a person"):
                    run()
        options |= {"repeated_categories": True}
        streamed = holdfast.privatize_stream(table, tmp_path / name, **options)
        assert (REPEATED in streamed.notes) == (name == "twice")
        assert (REPEATED in holdfast.privatize(table, **options).notes) == (name == "twice")
        assert holdfast.load(tmp_path / name).notes == streamed.notes
        assert holdfast.verify(tmp_path / name).passed


def test_a_label_is_the_same_with_and_without_quotes(tmp_path):
    path = tmp_path / "visits.csv"
    for cells, repeated in ((["a", '"a"'], True), (['"a""b"', 'a"b'], True), (["a", "a "], False)):
        path.write_text(
            "\n".join(["shop,visits", *(f"{cell},{k}" for k, cell in enumerate(cells))])
        )
        options = OPTIONS | {"category": "shop", "repeated_categories": True}
        folder = tmp_path / f"out {cells}".replace("/", "")
        assert (REPEATED in holdfast.privatize_stream(path, folder, **options).notes) == repeated
        assert (REPEATED in holdfast.privatize(path, **options).notes) == repeated


def test_missing_labels_count_as_one_and_lists_are_no_labels(tmp_path):
    keys = label_keys(pa.array(["", None, "x", None]))
    assert len(set(keys.tolist())) == 3 and keys[1] == keys[3]
    assert len(set(label_keys(pa.array(["a", "b", "", "c"]).slice(1, 2)).tolist())) == 2
    path = source("parquet", tmp_path, {"shop": [[1]] * ROWS, "visits": COUNTS})
    with pytest.raises(HoldfastError, match="'shop' must hold labels such as text"):
        holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS, category="shop")


def test_beyond_what_is_remembered_the_release_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(lookout, "LABELS", 1500)
    names = [f"s{row}" for row in range(ROWS)]
    path = source("parquet", tmp_path, {"shop": late(names, "s0"), "visits": COUNTS})
    release = holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS, category="shop")
    said = "repeated values were looked for among the first 1,500 categories only"
    assert said in release.notes and holdfast.verify(tmp_path / "a").passed
    path = source("parquet", tmp_path, {"shop": ["s0", "s0", *names[2:]], "visits": COUNTS})
    with pytest.raises(HoldfastError, match="has repeated values"):
        holdfast.privatize_stream(path, tmp_path / "b", **OPTIONS, category="shop")


def test_the_table_of_labels_holds_all_of_them_as_it_grows():
    seen = lookout.Labels("shop")
    keys = np.random.default_rng(1).integers(1, 2**63, 100_000).astype(np.uint64)
    for part in np.array_split(keys, 37):
        seen.see(part)
        assert not seen.repeated
    for key in keys[::9973]:
        again = lookout.Labels("shop")
        again.see(keys)
        again.see(np.array([key]))
        assert again.repeated


def test_texts_are_looked_at_as_dictionaries_only_where_a_file_has_them_so(tmp_path):
    texts = {"few": ["a", "bc", None, "d"] * 500, "many": [f"name {row}" for row in range(ROWS)]}
    data = pa.table(texts | {"whole": COUNTS})
    options = {"row_group_size": 700, "dictionary_pagesize_limit": 4000}
    pa.parquet.write_table(data, tmp_path / "a.parquet", **options)
    pa.parquet.write_table(data, tmp_path / "b.parquet", use_dictionary=False)
    found = [
        dictionary_columns(pa.parquet.read_metadata(tmp_path / name), data.schema)
        for name in ("a.parquet", "b.parquet")
    ]
    assert found == [["few"], []]
