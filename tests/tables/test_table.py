"""Tables in, tables out: every kind comes back as it came, every bad count is named and unsaid."""

import datetime
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import holdfast
from holdfast.errors import HoldfastError
from holdfast.tables.csv import CsvTable
from open_tables import (
    counts,
    counts_of,
    open_table,
    parse_csv,
    refusal,
    replaced,
    text_table,
    zeros,
)

COUNTS = [3, 0, 7]
NEW = np.array([1, 2, 0])
SECRET = 424242.5


def _relation(columns):
    return duckdb.from_arrow(pa.table(columns))


def as_text(columns):
    rows = zip(*columns.values(), strict=True)
    rows = [["" if value is None else str(value) for value in row] for row in rows]
    return text_table(tuple(columns), rows)


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": _relation,
    "csv": as_text,
}
LINES = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
}
each_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
each_line = pytest.mark.parametrize("make", LINES.values(), ids=LINES)


def columns_of(frame):
    """Any frame as a dict of lists."""
    if isinstance(frame, CsvTable):
        return {name: frame.column(name) for name in frame.columns}
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return dict(zip(frame.columns, map(list, zip(*frame.fetchall(), strict=True)), strict=True))
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    return {name: list(frame[name]) for name in frame.columns}


# Kinds of tables


@each_frame
def test_a_frame_comes_back_as_it_came_with_only_its_counts_replaced(make):
    source = make({"county": ["Kent", "Ely", "Kent"], "n": COUNTS, "rate": [0.5, 1.5, -2.0]})
    table = open_table(source, count="n", keep=["county", "rate"])
    assert counts_of(table).tolist() == COUNTS and counts_of(table).dtype == np.int64
    assert table.structural_zeros == 0 and table.notes == ()
    back = replaced(table, NEW)
    assert type(back) is type(source)
    expected = columns_of(make({"county": ["Kent", "Ely", "Kent"], "n": [1, 2, 0]}))
    got = columns_of(back)
    assert list(got) == ["county", "n", "rate"]
    assert got["n"] == expected["n"] and got["county"] == expected["county"]
    assert got["rate"] == columns_of(source)["rate"]


@each_frame
def test_reading_and_replacing_leave_the_source_alone(make):
    source = make({"k": ["a", "b", "c"], "n": COUNTS})
    before = columns_of(source)
    replaced(open_table(source, count="n"), NEW)
    assert columns_of(source) == before


@each_frame
def test_a_single_column_needs_no_name(make):
    assert counts(make({"n": COUNTS})) == COUNTS


@each_line
def test_one_dimensional_counts_come_back_as_the_same_kind(make):
    source = make(COUNTS)
    table = open_table(source)
    back = replaced(table, NEW)
    assert counts_of(table).tolist() == COUNTS
    assert type(back) is (np.ndarray if isinstance(source, list | tuple) else type(source))
    assert (back.to_pylist() if hasattr(back, "to_pylist") else list(back)) == [1, 2, 0]


def test_a_range_is_a_table():
    assert counts(range(4)) == [0, 1, 2, 3]


def test_what_is_released_shares_no_memory_and_a_source_that_changes_is_noticed():
    source = np.array(COUNTS)
    table = open_table(source)
    replaced(table, NEW)[0] = 99
    assert counts_of(table).tolist() == COUNTS and NEW.tolist() == [1, 2, 0]
    source[0] = 99
    assert counts_of(table).tolist() == COUNTS  # what is measured is what was checked
    for again in (lambda: list(table.batches(published=True)), lambda: replaced(table, NEW)):
        with pytest.raises(HoldfastError, match="changed while it was read"):
            again()


def test_a_pandas_index_and_its_repeats_are_kept_as_a_column():
    index = pd.Index(["x", "y", "y"], name="code")
    frame = pd.DataFrame({"n": [3.0, 0.0, 7.0], "k": list("abc")}, index=index)
    back = replaced(open_table(frame, count="n", keep=["code", "k"]), NEW)
    expected = pd.DataFrame({"n": NEW, "k": list("abc")}, index=index)
    pd.testing.assert_frame_equal(back, expected.reset_index())
    series = pd.Series([3.0, 0.0, 7.0], name="n")
    pd.testing.assert_series_equal(replaced(open_table(series), NEW), pd.Series(NEW, name="n"))


def test_dtypes_of_other_columns_are_kept():
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(["x", "y", "x"]),
            "b": pd.array([1, None, 3], dtype="Int8"),
            "c": pd.to_datetime(["2020-01-01"] * 3),
            "n": COUNTS,
        }
    )
    back = replaced(open_table(frame, count="n", keep=list("abc")), NEW)
    pd.testing.assert_frame_equal(back, frame.assign(n=NEW))


def test_duckdb_types_that_arrow_lacks_are_kept():
    relation = duckdb.sql(
        "SELECT 'x'::ENUM('x', 'y') AS e, uuid() AS \"a \"\"u\", 5::HUGEINT AS n, 1::TINYINT AS t"
    )
    back = replaced(open_table(relation, count="n", keep=["e", 'a "u', "t"]), np.array([2]))
    assert list(map(str, back.types)) == ["ENUM('x')", "UUID", "BIGINT", "TINYINT"]
    assert back.fetchall()[0][2] == 2


def test_a_lazy_frame_is_collected_once():
    runs = []

    def tick(frame):
        runs.append(1)
        return frame

    lazy = pl.LazyFrame({"k": ["a", "b", "c"], "n": COUNTS}).map_batches(tick)
    back = replaced(open_table(lazy, count="n", category="k", structural_zero=["b"]), NEW)
    back.collect()
    assert len(runs) == 1


def test_a_failing_query_does_not_say_why():
    query = duckdb.sql("SELECT CAST(x AS INTEGER) AS n FROM (VALUES ('424242.5x')) t(x)")
    assert "query failed" in refusal(query, count="n")


def test_the_table_does_not_show_its_counts():
    assert "424242" not in repr(open_table([424242, 1]))
    assert "424242" not in repr(parse_csv(b"n\n424242\n"))


def test_the_core_imports_no_data_frame_library():
    code = (
        "import sys\nfrom holdfast.tables.table import open_table\n"
        "from holdfast.tables import count_by\nfrom holdfast.tables.csv import CsvTable, ListRows\n"
        "open_table(CsvTable(ListRows(('n',), [['1']]))).replace({'n': [1]}); open_table([1])\n"
        "bad = {'pandas', 'polars', 'pyarrow', 'duckdb'} & set(sys.modules)\n"
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("source", [{1, 2}, {"n": [1]}, iter([1]), 5, None, b"12", object()])
def test_what_is_no_table_is_refused(source):
    assert "`table`" in refusal(source)


@pytest.mark.parametrize(
    "source", [np.ones((2, 2), int), [[1, 2], [3, 4]], [(1, 2)], [np.array([1])]]
)
def test_two_dimensions_ask_for_a_count_column(source):
    assert "`count=`" in refusal(source)


# Counts


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", ">i4", object]
)
def test_numbers_of_every_width_are_counts(dtype):
    assert counts(np.array(COUNTS, dtype=dtype)) == COUNTS


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(COUNTS, dtype="Int64"),
        pd.Series(COUNTS, dtype="UInt8"),
        pd.Series(COUNTS, dtype="Float64"),
        pd.Series(COUNTS, dtype="int64[pyarrow]"),
        pd.Series([3, Decimal(0), 7.0]),
        pl.Series(COUNTS, dtype=pl.Int128),
        pl.Series(COUNTS, dtype=pl.UInt8),
        pl.Series(COUNTS, dtype=pl.Decimal(20, 2)),
        pa.array(COUNTS, pa.decimal128(20, 2)),
        pa.array(COUNTS, pa.float16()),
        [np.int8(3), Fraction(0), Decimal("7.00")],
    ],
    ids=str,
)
def test_whole_numbers_of_every_type_are_counts(series):
    assert counts(series) == COUNTS


@pytest.mark.parametrize("top", [2**53, float(2**53), Decimal(2**53), np.uint64(2**53)])
def test_the_largest_count_is_two_to_the_53(top):
    assert counts([0, top]) == [0, 2**53]


BAD_VALUES = [
    (None, "missing"),
    (float("nan"), "missing"),
    (Decimal("NaN"), "missing"),
    (Decimal("sNaN"), "missing"),
    (pd.NA, "missing"),
    (pd.NaT, "missing"),
    (np.ma.masked, "missing"),
    (float("inf"), "infinite"),
    (float("-inf"), "infinite"),
    (Decimal("inf"), "infinite"),
    (-424242, "negative"),
    (-424242.5, "negative"),
    (SECRET, "not a whole number"),
    (Decimal("424242.5"), "not a whole number"),
    (Fraction(848485, 2), "not a whole number"),
    (2**53 + 1, "larger than 2^53"),
    (2**63 - 1, "larger than 2^53"),
    (2**63, "larger than 2^53"),
    (2**200, "larger than 2^53"),
    (1e300, "larger than 2^53"),
    (True, "boolean"),
    (np.bool_(False), "boolean"),
    ("424242", "text"),
    (b"424242", "text"),
    (datetime.date(2020, 1, 1), "not a number"),
    (3j, "not a number"),
    ([424242], "not a number"),
]


@pytest.mark.parametrize(("value", "problem"), BAD_VALUES, ids=lambda v: str(v)[:20])
def test_a_bad_count_in_a_list_names_its_row_and_kind_and_never_its_value(value, problem):
    message = refusal([1, 2, value, 4, value])
    assert f"row 3 is {problem}" in message.replace("is a boolean", "is boolean")
    assert "Hint: " in message


FLOATS = [(float("inf"), "infinite"), (-424242.0, "negative"), (SECRET, "not a whole number")]


@each_frame
@pytest.mark.parametrize(("value", "problem"), FLOATS)
def test_a_bad_count_in_a_frame_names_column_row_and_kind_and_never_its_value(make, value, problem):
    message = refusal(make({"k": list("abc"), "deaths": [1.0, value, value]}), count="deaths")
    assert "`count` column 'deaths'" in message and f"row 2 is {problem}" in message


@each_frame
@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1, 2**63])
def test_counts_beyond_two_to_the_53_are_refused(make, value):
    values = np.array([1, value], dtype=np.uint64)
    assert "row 2 is larger than 2^53" in refusal(make({"n": values}), count="n")


@each_frame
def test_a_missing_count_names_its_row_and_never_its_value(make):
    message = refusal(make({"k": list("abc"), "n": [424242, None, 1]}), count="n")
    assert "row 2 is missing" in message


@each_frame
def test_nan_is_missing(make):
    assert "row 2 is missing" in refusal(make({"n": [1.0, float("nan")]}), count="n")


@each_frame
def test_booleans_are_no_counts(make):
    message = refusal(make({"n": [True, False]}), count="n")
    assert "row 1 is text" in message if make is as_text else "row 1 is a boolean" in message


@pytest.mark.parametrize("make", [v for k, v in FRAMES.items() if k != "csv"])
def test_the_cell_that_made_a_column_text_is_named(make):
    assert "data row 3 is text" in refusal(make({"n": ["424242", "3", "<5"]}), count="n")


@pytest.mark.parametrize("make", [v for k, v in FRAMES.items() if k != "csv"])
def test_text_in_a_data_frame_is_not_converted(make):
    message = refusal(make({"n": ["424242", "3"]}), count="n")
    assert "row 1 is text" in message and "convert it to an integer" in message


@each_frame
def test_dates_are_no_counts(make):
    message = refusal(make({"n": [datetime.datetime(2020, 1, 1)] * 2}), count="n")
    assert "row 1 is text" in message if make is as_text else "row 1 is not a number" in message


@pytest.mark.parametrize(
    "values",
    [
        np.array(["424242"]),
        np.array([b"424242"]),
        np.array([True]),
        np.array([424242j]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.ma.array([424242, 1], mask=[True, False]),
        pd.Series([424242, None], dtype="Int64")[::-1],
        pd.Series([[424242]]),
    ],
    ids=str,
)
def test_arrays_of_other_things_are_refused(values):
    assert "row 1 is" in refusal(values)


@each_frame
def test_an_empty_table_is_refused(make):
    empty = text_table(("n",), []) if make is as_text else make({"n": np.array([], dtype=np.int64)})
    assert "no rows" in refusal(empty, count="n")


@pytest.mark.parametrize("empty", [[], (), np.array([]), pd.Series([], dtype=int), pa.array([])])
def test_an_empty_array_is_refused(empty):
    assert "no rows" in refusal(empty)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**53), min_size=1))
def test_counts_survive_every_way_in(own):
    for source in (own, np.array(own), list(map(Decimal, own)), pl.Series(own)):
        assert counts(source, publish_anyway=["row order", "totals"]) == own
    text = text_table(("n",), [[str(c)] for c in own])
    assert counts(text, publish_anyway=["row order", "totals"]) == own


# Columns


@each_frame
def test_a_missing_count_column_is_answered_with_near_matches(make):
    frame = make({"county": ["a"], "homicides": [424242]})
    assert "did you mean 'homicides'?" in refusal(frame, count="homicide")
    assert "the columns are 'county', 'homicides'" in refusal(frame, count="zzz")
    assert "`category`" in refusal(frame, count="homicides", category="zzz")
    assert "`structural_zero`" in refusal(frame, count="homicides", structural_zero="zzz")


@each_frame
def test_several_columns_need_a_count_column(make):
    message = refusal(make({"county": ["a"], "n": [424242]}))
    assert "`count` must name the column" in message and "'county', 'n'" in message


def test_a_long_list_of_columns_is_cut_short():
    table = text_table(tuple(f"col{i}x" for i in range(5000)), [["1"] * 5000])
    assert len(refusal(table, count="zzz")) < 300


def test_a_file_without_a_header_does_not_show_its_first_counts():
    for name in ("deaths", "424243", "Kemt"):  # near enough to be suggested
        message = refusal(parse_csv(b"Kent,424242.5\nEly,3\n"), count=name)
        assert "first line must hold the names" in message and "Kent" not in message


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, as_text])
def test_a_column_that_nobody_named_stays_unsaid_for_its_name_may_be_a_count(make):
    assert "`table` must hold whole numbers" in refusal(make({"deaths 424242": [1, -3]}))


@pytest.mark.parametrize("options", [{"count": "n"}, {"category": "n"}, {"structural_zero": "n"}])
def test_an_array_has_no_columns(options):
    assert f"`{next(iter(options))}` names a column" in refusal([1, 2], **options)


def test_the_count_column_has_no_second_use():
    table = text_table(("n", "k"), [["0", "a"]])
    for parameter in ("category", "structural_zero"):
        message = refusal(table, count="n", **{parameter: "n"})
        assert f"`{parameter}` must not name the column of counts, 'n'." in message


def test_a_pandas_frame_with_repeated_names_is_refused():
    frame = pd.DataFrame([[1, 2, 424242]], columns=["a", "a", "n"])
    assert "unique" in refusal(frame, count="n")


@each_frame
def test_repeated_categories_are_refused_unless_they_are_meant(make):
    frame = make({"county": ["a", "b", "a"], "n": COUNTS})
    message = refusal(frame, count="n", category="county")
    assert "If every row is a person" in message and "holdfast.count_by" in message
    meant = {"count": "n", "category": "county", "repeated_categories": True}
    notes = open_table(frame, **meant).notes
    said = "county has repeated values; every row is treated as a category of its own"
    assert notes == (said,)
    assert open_table(make({"county": list("abc"), "n": COUNTS}), category="county", count="n")


@each_frame
def test_distinct_categories_need_no_note(make):
    frame = make({"county": list("abc"), "n": COUNTS})
    assert open_table(frame, count="n", category="county").notes == ()


def test_categories_must_be_labels():
    frame = pd.DataFrame({"k": [["a"], ["b"]], "n": [1, 2]})
    assert "`category` column 'k' must hold labels" in refusal(frame, count="n", category="k")


# Structural zeros


@each_frame
@pytest.mark.parametrize("flags", [[False, True, False], [0, 1, 0]])
def test_structural_zeros_may_be_a_column(make, flags):
    table = make({"n": COUNTS, "known": flags})
    assert zeros(table, count="n", structural_zero="known") == [False, True, False]


def test_structural_zeros_in_text_are_words_or_digits():
    flags = ["no", " YES ", "True", "1", "false", "0", "FALSE"]
    table = text_table(("n", "z"), [["0", f] for f in flags])
    known = zeros(table, count="n", structural_zero="z")
    assert known == [False, True, True, True, False, False, False]


@each_frame
def test_a_flag_that_is_neither_names_its_row(make):
    for flags in ([False, None, True], [0, 2, 1], ["a", "b", "c"]):
        frame = make({"n": [0, 424242, 0], "z": flags})
        message = refusal(frame, count="n", structural_zero="z")
        assert "`structural_zero` column 'z'" in message
        assert "row 1" in message if flags[0] == "a" else "row 2" in message


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, pd.Series, pl.Series, pa.array, lambda v: pa.chunked_array([v])]
)
def test_structural_zeros_may_be_a_mask(kind):
    assert zeros(COUNTS, structural_zero=kind([False, True, False])) == [False, True, False]


@each_frame
def test_structural_zeros_may_be_labels(make):
    frame = make({"k": [10, 20, 30], "n": COUNTS})
    known = zeros(frame, count="n", category="k", structural_zero=np.array([20]))
    assert known == [False, True, False]


@each_frame
def test_structural_zeros_must_be_known_labels(make):
    frame = make({"k": list("abc"), "n": [424242, 0, 1]})
    assert "'q'" in refusal(frame, count="n", category="k", structural_zero=["b", "q"])
    assert "`category=`" in refusal(frame, count="n", structural_zero=["b"])
    assert "per row" in refusal(frame, count="n", category="k", structural_zero=[True])
    assert "`structural_zero`" in refusal(frame, count="n", category="k", structural_zero=5)
    assert "`structural_zero`" in refusal(frame, count="n", category="k", structural_zero=[["b"]])


def test_no_structural_zeros_may_be_listed():
    table = text_table(("k", "n"), [["a", "1"]])
    assert zeros(table, count="n", category="k", structural_zero=[]) == [False]


def test_a_structural_zero_that_is_not_zero_names_its_row():
    message = refusal([0, 424242, 0, 1], structural_zero=[True, True, False, True])
    assert "row 2 is marked" in message


def test_a_table_of_structural_zeros_has_nothing_to_release():
    assert "nothing to release" in refusal([0, 0], structural_zero=[True, True])


def test_texts_of_arrow_that_are_views_of_others_are_texts(tmp_path):
    views = pa.array(["Kent", "Ely", "Bath"], pa.string_view())
    table = pa.table({"place": views, "n": [3, 0, 1]})
    parquet.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        made = holdfast.privatize(source, epsilon=9, count="n", category="place", seed=1)
        assert list(made.cells["place"]) == ["Kent", "Ely", "Bath"]
