"""Files that come in batches say what they say in memory: counts, groups, labels, refusals."""

import itertools
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from holdfast.errors import HoldfastError, LeakError
from holdfast.tables import arrow_files, csv_file, spans
from holdfast.tables.arrow_cells import arrow_keys
from holdfast.tables.groups import classes
from holdfast.tables.spans import Repeats
from open_tables import counts_of, groups, open_table, parse_csv, refusal, replaced, written

ROWS = 2000
COUNTS = np.random.default_rng(9).integers(0, 9, ROWS)
ANYWAY = ["row order", "totals"]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(csv_file, "BLOCK", 1 << 12)
    monkeypatch.setattr(arrow_files, "ROWS", 300)
    monkeypatch.setattr(arrow_files, "FEW", 500)


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


def in_memory(path):
    """What a file or a query holds, as a table in memory."""
    if isinstance(path, duckdb.DuckDBPyRelation):
        return path.to_arrow_table()
    return parse_csv(path.read_bytes()) if path.suffix == ".csv" else pa.parquet.read_table(path)


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
    usual = {"count": "visits", "keep": ["shop", "also"]}
    said = refusal(table, **usual)
    assert "'also' holds the counts" in said and said == refusal(in_memory(table), **usual)
    opened = open_table(table, **usual, publish_anyway=["also"])
    assert opened.others == ("shop", "also") and len(list(opened.batches(published=True))) > 2


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
@pytest.mark.parametrize("cell", [4, None])
def test_a_column_that_differs_in_one_row_far_down_is_still_a_copy(kind, cell, tmp_path):
    also = pa.array(late(COUNTS.tolist(), cell), pa.int64())
    table = source(kind, tmp_path, {"also": also, "visits": COUNTS})
    for each in (table, in_memory(table)):
        with pytest.raises(LeakError, match="'also' holds the counts in nearly all rows"):
            open_table(each, count="visits", keep="also")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_withheld_column_helps_to_find_a_rate(kind, tmp_path):
    people = np.random.default_rng(1).integers(1000, 90_000, ROWS)
    rate = np.round((COUNTS + 5) / people * 1e5, 4)
    columns = {"people": people, "rate": rate, "visits": COUNTS + 5}
    table = source(kind, tmp_path, columns)
    for each in (table, in_memory(table)):
        with pytest.raises(LeakError, match="'rate' gives the counts as a rate of 'people'"):
            open_table(each, count="visits", keep="rate")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_counts_that_are_all_the_same_may_equal_another_column(kind, tmp_path):
    table = source(kind, tmp_path, {"visits": [3] * ROWS, "week": [3] * ROWS})
    assert open_table(table, count="visits", keep=["week"]).rows == ROWS


REPEATED = "shop has repeated values; every row is treated as a category of its own"
LABELS = {
    "text": [f"s{row}" for row in range(ROWS)],
    "numbers": list(range(ROWS)),
    "decimals": [Decimal(row) / 4 for row in range(ROWS)],
    "long text": [f"a shop whose name is long and ends with {row}" for row in range(ROWS)],
}


@pytest.mark.parametrize(
    ("kind", "labels"),
    [("csv", "text"), ("csv", "decimals"), *itertools.product(["parquet"], LABELS),
     ("duckdb", "numbers"), ("duckdb", "long text")],
)  # fmt: skip
def test_labels_that_repeat_far_apart_are_refused_or_told_of_as_in_memory(kind, labels, tmp_path):
    once = LABELS[labels]
    for name, cells in (("once", once), ("twice", late(once, once[1]))):
        table = source(kind, tmp_path, {"shop": cells, "visits": COUNTS})
        usual = {"count": "visits", "category": "shop", "publish_anyway": ANYWAY}
        for each in (table, in_memory(table)):
            if name == "twice":
                assert "If every row is a person" in refusal(each, **usual)
            notes = open_table(each, **usual, repeated_categories=True).notes
            assert notes == ((REPEATED,) if name == "twice" else ())


def test_a_label_is_the_same_with_and_without_quotes(tmp_path):
    path = tmp_path / "visits.csv"
    for cells, repeated in ((["a", '"a"'], True), (['"a""b"', 'a"b'], True), (["a", "a "], False)):
        lines = ["shop,visits", *(f"{cell},{k}" for k, cell in enumerate(cells))]
        path.write_text("\n".join(lines))
        usual = {"count": "visits", "category": "shop", "repeated_categories": True}
        assert (REPEATED in open_table(path, **usual).notes) == repeated


def test_missing_labels_count_as_one_and_lists_are_no_labels(tmp_path):
    found = arrow_keys(pa.array(["", None, "x", None]))
    assert len(set(found.tolist())) == 3 and found[1] == found[3]
    assert len(set(arrow_keys(pa.array(["a", "b", "", "c"]).slice(1, 2)).tolist())) == 2
    path = source("parquet", tmp_path, {"shop": [[1]] * ROWS, "visits": COUNTS})
    assert "'shop' must hold labels such as text" in refusal(path, count="visits", category="shop")


def test_beyond_what_is_remembered_the_table_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(spans, "LABELS", 1500)
    monkeypatch.setattr("holdfast.tables.checks.LABELS", 1500)
    names = [f"s{row}" for row in range(ROWS)]
    path = source("parquet", tmp_path, {"shop": late(names, "s0"), "visits": COUNTS})
    said = "repeated values were looked for among the first 1,500 categories only"
    assert said in open_table(path, count="visits", category="shop").notes
    path = source("parquet", tmp_path, {"shop": ["s0", "s0", *names[2:]], "visits": COUNTS})
    assert "has repeated values" in refusal(path, count="visits", category="shop")


def test_all_labels_are_remembered_however_they_come():
    seen = Repeats()
    every = np.random.default_rng(1).integers(1, 2**63, 500_000).astype(np.uint64)
    for part in np.array_split(every, 37):
        seen.see(part)
    assert not seen.repeated
    for key in every[::49_973]:
        again = Repeats()
        again.see(every)
        again.see(np.array([key]))
        assert again.repeated


# Groups, subsets, marks


COUNTS[1] = 0
COLUMNS = {
    "state": [["NE", "KS", None, "01"][row % 4] for row in range(ROWS)],
    "size": [row * row % 97 / 2 for row in range(ROWS)],
    "closed": [bool(count == 0 and row % 2) for row, count in enumerate(COUNTS)],
    "more": (COUNTS * 5) % 11,
    "visits": COUNTS,
}
ASKED = {
    "a label": {"within": "state"},
    "classes": {"within": classes("size", 5)},
    "as many classes as the rows bear": {"within": classes("size")},
    "crossed": {"within": ["state", classes("size", 3)]},
    "a subset": {"within": classes("size", 4), "subset": {"state": "NE"}},
    "known zeros": {"within": "state", "structural_zero": "closed"},
    "labels known to be zero": {"within": "state", "category": "place", "structural_zero": ["p1"]},
}


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "pandas"])
@pytest.mark.parametrize("asked", ASKED)
def test_groups_are_those_of_pandas_however_rows_come(kind, asked, tmp_path):
    data = COLUMNS | {"place": [f"p{row}" for row in range(ROWS)]}
    data["state"] = ["" if kind == "csv" and s is None else s for s in data["state"]]
    frame = pd.DataFrame(data)
    table = frame if kind == "pandas" else source(kind, tmp_path, data)
    found = groups(table, count="visits", publish_anyway=ANYWAY, **ASKED[asked])
    expected = grouped(frame, ASKED[asked])
    assert found == expected
    opened = open_table(table, count="visits", publish_anyway=ANYWAY, **ASKED[asked])
    sizes = dict(zip(opened.partition.names, opened.measured["visits"].tolist(), strict=True))
    assert sizes == pd.Series(expected).dropna().value_counts().to_dict()


def grouped(frame, asked):
    """The names of groups by pandas, in other words."""
    if "subset" in asked:
        frame = frame[frame["state"] == "NE"]
    measured = np.ones(len(frame), dtype=bool)
    if asked.get("structural_zero") == "closed":
        measured = ~frame["closed"].to_numpy()
    if asked.get("structural_zero") == ["p1"]:
        measured = frame["place"].to_numpy() != "p1"
    parts = asked["within"] if isinstance(asked["within"], list) else [asked["within"]]
    columns = []
    for part in parts:
        cells = frame[part if isinstance(part, str) else part.column]
        if isinstance(part, str):
            columns.append(cells.fillna("").replace("", "(missing)").tolist())
            continue
        number = part.number or 8
        known = cells[measured].sort_values()
        below = known.searchsorted(cells, side="left")
        code = number * below // len(known)
        span = cells[measured].groupby(code[measured])
        text = (span.min().map("{:g}".format) + " to " + span.max().map("{:g}".format)).to_dict()
        columns.append([text.get(k) for k in code])
    names = [", ".join(row) for row in zip(*columns, strict=True)]
    return [name if used else None for name, used in zip(names, measured, strict=True)]


def test_groups_of_numbers_that_are_not_whole_are_no_labels(tmp_path):
    path = source("parquet", tmp_path, COLUMNS)
    assert "data row 2 does not" in refusal(path, count="visits", within="size")
    sizes = late(list(map(str, range(ROWS))), "many")
    odd = source("csv", tmp_path, {"size": sizes, "visits": COUNTS})
    said = refusal(odd, count="visits", within=classes("size", 3))
    assert (
        "must hold a number in every row to have classes; row 1997 of the file holds no number"
        in said
    )
    assert "must have one True or False per row" in refusal(
        path, count="visits", structural_zero=[False] * (ROWS - 1)
    )


def test_a_row_known_to_be_zero_that_is_not_is_named_in_its_file(tmp_path):
    path = source(
        "parquet",
        tmp_path,
        COLUMNS | {"visits": late(COUNTS.tolist(), 0), "closed": late([False] * ROWS, True)},
    )
    assert open_table(path, count="visits", structural_zero="closed").structural_zeros == 1
    assert "data row 1996 is marked" in refusal(path, count="more", structural_zero="closed")
    with pytest.raises(HoldfastError, match="no row has the label 'KY'"):
        open_table(path, count="visits", subset={"state": "KY"})


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
@pytest.mark.parametrize("subset", [None, {"state": "NE"}])
def test_several_counts_are_read_and_written_together(kind, subset, tmp_path):
    data = COLUMNS | {"state": [state or "" for state in COLUMNS["state"]]}
    table = source(kind, tmp_path, data)
    usual = {"count": ["more", "visits"], "keep": ["state", "size"], "structural_zero": "closed"}
    usual |= {"subset": subset, "publish_anyway": [*ANYWAY, "state", "size"]}
    opened = open_table(table, **usual)
    inside = np.array([subset is None or state == "NE" for state in data["state"]])
    for name in ("more", "visits"):
        assert (counts_of(opened, name) == np.array(data[name])[inside]).all()
    assert next(batch.start for batch in opened.batches()) == 0
    out = tmp_path / ("out.csv" if kind == "csv" else "out.parquet")
    written(opened, out)
    back = in_memory(out)
    expected = open_table(in_memory(table), **usual)
    zero = np.array(data["closed"])[inside]
    new = {name: np.array(data[name])[inside] * 7 % 1000 for name in usual["count"]}
    again = expected.replace({name: np.where(zero, 0, own) for name, own in new.items()})
    if kind == "csv":
        assert back == again
    else:
        assert back.equals(again)


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_a_file_gives_back_the_kind_of_table_it_holds(kind, tmp_path):
    table = source(kind, tmp_path, {"place": LABELS["text"], "visits": COUNTS})
    back = replaced(open_table(table, count="visits", keep="place"), COUNTS)
    assert type(back) is (duckdb.DuckDBPyRelation if kind == "duckdb" else type(in_memory(table)))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_changes_between_passes_is_noticed(kind, tmp_path):
    columns = {"place": LABELS["text"], "visits": COUNTS}
    table = open_table(source(kind, tmp_path, columns), count="visits", keep="place")
    source(kind, tmp_path, columns | {"visits": late(COUNTS.tolist(), 8)})
    with pytest.raises(HoldfastError, match="changed while it was read"):
        list(table.batches(published=True))
    source(kind, tmp_path, {"place": LABELS["text"][:-1], "visits": COUNTS[:-1]})
    with pytest.raises(HoldfastError, match="changed while it was read"):
        list(table.batches(published=True))
    assert counts_of(table).tolist() == COUNTS.tolist()  # what is measured is what was checked


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_bad_counts_far_down_are_named_by_row_and_never_by_value(kind, tmp_path):
    path = source(kind, tmp_path, {"visits": late(COUNTS.tolist(), -424242)})
    said = refusal(path, count="visits")
    row = {"csv": "row 1997 of the file", "parquet": "data row 1996", "duckdb": "data row 1996"}
    assert f"{row[kind]} is negative" in said


def test_large_counts_far_down_are_kept_whole(tmp_path):
    counts = late(COUNTS.tolist(), 2**40)
    table = open_table(source("csv", tmp_path, {"visits": counts}), count="visits")
    assert counts_of(table).tolist() == counts


def test_a_label_that_is_new_in_a_later_pass_is_noticed(tmp_path):
    path = source("parquet", tmp_path, COLUMNS)
    table = open_table(path, count="visits", within="state", publish_anyway=ANYWAY)
    source("parquet", tmp_path, COLUMNS | {"state": late(COLUMNS["state"], "XX")})
    with pytest.raises(HoldfastError, match="changed while it was read"):
        list(table.batches(published=True))


def test_partitions_of_a_folder_are_columns(tmp_path):
    for state in ("NE", "KS"):
        folder = tmp_path / "all" / f"state={state}"
        folder.mkdir(parents=True)
        pa.parquet.write_table(pa.table({"n": [1, 2, 3]}), folder / "a.parquet")
    pa.parquet.write_table(pa.table({"n": [4], "k": ["x"]}), tmp_path / "all/state=NE/b.parquet")
    assert groups(tmp_path / "all", count="n", within="state") == ["KS"] * 3 + ["NE"] * 4
    assert open_table(tmp_path / "all", count="n", keep="k").withheld == ("state",)
