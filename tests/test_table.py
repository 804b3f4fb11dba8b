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
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.csv_table import MAX_COLUMNS, parse_csv
from holdfast.errors import HoldfastError
from holdfast.table import CsvTable, read_file, read_table, write_file

COUNTS = [3, 0, 7]
NEW = np.array([1, 2, 0])
SECRET = 424242.5


def _relation(columns):
    return duckdb.from_arrow(pa.table(columns))


def _text(columns):
    rows = zip(*columns.values(), strict=True)
    rows = [["" if value is None else str(value) for value in row] for row in rows]
    return CsvTable(tuple(columns), rows)


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": _relation,
    "csv": _text,
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


def refusal(source, **options):
    """What the error says; it never holds the distinctive value, nor chains a library's error."""
    with pytest.raises(HoldfastError) as caught:
        read_table(source, **options)
    message = str(caught.value)
    assert "424242" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return message


# Kinds of tables


@each_frame
def test_a_frame_comes_back_as_it_came_with_only_its_counts_replaced(make):
    source = make({"county": ["Kent", "Ely", "Kent"], "n": COUNTS, "rate": [0.5, 1.5, -2.0]})
    table = read_table(source, count="n")
    assert table.counts.tolist() == COUNTS and table.counts.dtype == np.int64
    assert not table.structural_zero.any() and table.notes == ()
    back = table.replace(NEW)
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
    read_table(source, count="n").replace(NEW)
    assert columns_of(source) == before


@each_frame
def test_a_single_column_needs_no_name(make):
    assert read_table(make({"n": COUNTS})).counts.tolist() == COUNTS


@each_line
def test_one_dimensional_counts_come_back_as_the_same_kind(make):
    source = make(COUNTS)
    table = read_table(source)
    back = table.replace(NEW)
    assert table.counts.tolist() == COUNTS
    assert type(back) is (np.ndarray if isinstance(source, list | tuple) else type(source))
    assert (back.to_pylist() if hasattr(back, "to_pylist") else list(back)) == [1, 2, 0]


def test_a_range_is_a_table():
    assert read_table(range(4)).counts.tolist() == [0, 1, 2, 3]


def test_the_counts_do_not_share_memory_with_the_source_or_the_result():
    source = np.array(COUNTS)
    table = read_table(source)
    table.replace(NEW)[0] = 99
    source[0] = 99
    assert table.counts.tolist() == COUNTS and NEW.tolist() == [1, 2, 0]


def test_a_pandas_index_and_its_repeats_are_kept():
    index = pd.Index(["x", "y", "y"], name="code")
    frame = pd.DataFrame({"n": [3.0, 0.0, 7.0], "k": list("abc")}, index=index)
    back = read_table(frame, count="n").replace(NEW)
    expected = pd.DataFrame({"n": NEW, "k": list("abc")}, index=index)
    pd.testing.assert_frame_equal(back, expected)
    series = read_table(frame["n"]).replace(NEW)
    pd.testing.assert_series_equal(series, expected["n"])


def test_dtypes_of_other_columns_are_kept():
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(["x", "y", "x"]),
            "b": pd.array([1, None, 3], dtype="Int8"),
            "c": pd.to_datetime(["2020-01-01"] * 3),
            "n": COUNTS,
        }
    )
    back = read_table(frame, count="n").replace(NEW)
    pd.testing.assert_frame_equal(back, frame.assign(n=NEW))


def test_duckdb_types_that_arrow_lacks_are_kept():
    relation = duckdb.sql(
        "SELECT 'x'::ENUM('x', 'y') AS e, uuid() AS \"a \"\"u\", 5::HUGEINT AS n, 1::TINYINT AS t"
    )
    back = read_table(relation, count="n").replace(np.array([2]))
    assert list(map(str, back.types)) == ["ENUM('x', 'y')", "UUID", "BIGINT", "TINYINT"]
    assert back.fetchall()[0][2] == 2


def test_a_lazy_frame_is_collected_once():
    runs = []

    def tick(frame):
        runs.append(1)
        return frame

    lazy = pl.LazyFrame({"k": ["a", "b", "c"], "n": COUNTS}).map_batches(tick)
    back = read_table(lazy, count="n", category="k", structural_zero=["b"]).replace(NEW)
    back.collect()
    assert len(runs) == 1


def test_a_failing_query_does_not_say_why():
    query = duckdb.sql("SELECT CAST(x AS INTEGER) AS n FROM (VALUES ('424242.5x')) t(x)")
    assert "query failed" in refusal(query, count="n")


def test_the_table_does_not_show_its_counts():
    assert "424242" not in repr(read_table([424242, 1]))
    assert "424242" not in repr(parse_csv(b"n\n424242\n"))


def test_replacing_wants_one_count_per_row():
    with pytest.raises(HoldfastError, match="one entry per row"):
        read_table(COUNTS).replace(np.array([1]))


def test_the_core_imports_no_data_frame_library():
    code = (
        "import sys; from holdfast.table import *; from holdfast.count_by import count_by\n"
        "t = read_table(CsvTable(('n',), [['1']])); t.replace(t.counts); read_table([1])\n"
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
    assert read_table(np.array(COUNTS, dtype=dtype)).counts.tolist() == COUNTS


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
    assert read_table(series).counts.tolist() == COUNTS


@pytest.mark.parametrize("top", [2**53, float(2**53), Decimal(2**53), np.uint64(2**53)])
def test_the_largest_count_is_two_to_the_53(top):
    assert read_table([0, top]).counts.tolist() == [0, 2**53]


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
    assert "row 1 is text" in message if make is _text else "row 1 is a boolean" in message


@pytest.mark.parametrize("make", [v for k, v in FRAMES.items() if k != "csv"])
def test_text_in_a_data_frame_is_not_converted(make):
    message = refusal(make({"n": ["424242", "3"]}), count="n")
    assert "row 1 is text" in message and "convert it to an integer" in message


@each_frame
def test_dates_are_no_counts(make):
    message = refusal(make({"n": [datetime.datetime(2020, 1, 1)] * 2}), count="n")
    assert "row 1 is text" in message if make is _text else "row 1 is not a number" in message


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
    empty = CsvTable(("n",), []) if make is _text else make({"n": np.array([], dtype=np.int64)})
    assert "no rows" in refusal(empty, count="n")


@pytest.mark.parametrize("empty", [[], (), np.array([]), pd.Series([], dtype=int), pa.array([])])
def test_an_empty_array_is_refused(empty):
    assert "no rows" in refusal(empty)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**53), min_size=1))
def test_counts_survive_every_way_in(counts):
    for source in (counts, np.array(counts), list(map(Decimal, counts)), pl.Series(counts)):
        assert read_table(source).counts.tolist() == counts
    assert read_table(CsvTable(("n",), [[str(c)] for c in counts])).counts.tolist() == counts


# Counts as text


@pytest.mark.parametrize(
    ("cell", "count"),
    [
        *[("3", 3), (" 3\t", 3), ("3.0", 3), ("003.000", 3), ("0", 0), ("0" * 40 + "7", 7)],
        *[("9007199254740992", 2**53), ("9007199254740992.0", 2**53)],
    ],
)
def test_digits_and_integral_decimals_are_counts(cell, count):
    assert read_table(CsvTable(("n",), [[cell]])).counts.tolist() == [count]


BAD_CELLS = {
    "is missing": ["", "  ", "NA", "n/a", "null", "None", "NaN", ".", "-", "#N/A"],
    "is infinite": ["inf", "-inf", "Infinity"],
    "is negative": ["-424242", "-424242.5", "-.5"],
    "is not a whole number": ["424242.5", ".5", "1.0000000000000000000001"],
    "is larger than 2^53": ["9007199254740993", "9223372036854775807", "9" * 5000],
    "is text": [
        *["1,234", "1 234", "1e3", "0x10", "1_000", "+5", "424242 people", "true", "٣", "3."],
        *["2020-01-01", "--3", "\xa03", "-0", "3\n"],
    ],
}


@pytest.mark.parametrize(
    ("cell", "problem"),
    [(cell, problem) for problem, cells in BAD_CELLS.items() for cell in cells],
)
def test_everything_else_is_refused_by_kind_and_row(cell, problem):
    table = CsvTable(("county", "n"), [["a", "1"], ["b", cell], ["c", cell]])
    message = refusal(table, count="n")
    assert f"row 2 {problem}" in message and "`count` column 'n'" in message
    assert len(cell) < 4 or cell not in message


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
    table = CsvTable(tuple(f"col{i}x" for i in range(5000)), [["1"] * 5000])
    assert len(refusal(table, count="zzz")) < 300


def test_a_file_without_a_header_does_not_show_its_first_counts():
    assert "'Kent'" in refusal(parse_csv(b"Kent,424242.5\nEly,3\n"), count="deaths")


@pytest.mark.parametrize("options", [{"count": "n"}, {"category": "n"}, {"structural_zero": "n"}])
def test_an_array_has_no_columns(options):
    assert f"`{next(iter(options))}` names a column" in refusal([1, 2], **options)


def test_the_count_column_has_no_second_use():
    table = CsvTable(("n", "k"), [["0", "a"]])
    assert "used twice" in refusal(table, count="n", category="n")
    assert "used twice" in refusal(table, count="n", structural_zero="n")


def test_a_pandas_frame_with_repeated_names_is_refused():
    frame = pd.DataFrame([[1, 2, 424242]], columns=["a", "a", "n"])
    assert "unique" in refusal(frame, count="n")


@each_frame
def test_repeated_categories_are_allowed_and_said(make):
    frame = make({"county": ["a", "b", "a"], "n": COUNTS})
    notes = read_table(frame, count="n", category="county").notes
    said = "county has repeated values; every row is treated as a category of its own"
    assert notes == (said,)
    assert read_table(make({"county": list("abc"), "n": COUNTS}), category="county", count="n")


@each_frame
def test_distinct_categories_need_no_note(make):
    frame = make({"county": list("abc"), "n": COUNTS})
    assert read_table(frame, count="n", category="county").notes == ()


def test_categories_must_be_labels():
    frame = pd.DataFrame({"k": [["a"], ["b"]], "n": [1, 2]})
    assert "`category` column 'k' must hold labels" in refusal(frame, count="n", category="k")


# Structural zeros


@each_frame
@pytest.mark.parametrize("flags", [[False, True, False], [0, 1, 0]])
def test_structural_zeros_may_be_a_column(make, flags):
    table = read_table(make({"n": COUNTS, "known": flags}), count="n", structural_zero="known")
    assert table.structural_zero.tolist() == [False, True, False]


def test_structural_zeros_in_text_are_words_or_digits():
    flags = ["no", " YES ", "True", "1", "false", "0", "FALSE"]
    table = CsvTable(("n", "z"), [["0", f] for f in flags])
    known = read_table(table, count="n", structural_zero="z").structural_zero
    assert known.tolist() == [False, True, True, True, False, False, False]


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
    table = read_table(COUNTS, structural_zero=kind([False, True, False]))
    assert table.structural_zero.tolist() == [False, True, False]


@each_frame
def test_structural_zeros_may_be_labels(make):
    frame = make({"k": [10, 20, 30], "n": COUNTS})
    table = read_table(frame, count="n", category="k", structural_zero=np.array([20]))
    assert table.structural_zero.tolist() == [False, True, False]


@each_frame
def test_structural_zeros_must_be_known_labels(make):
    frame = make({"k": list("abc"), "n": [424242, 0, 1]})
    assert "'q'" in refusal(frame, count="n", category="k", structural_zero=["b", "q"])
    assert "`category=`" in refusal(frame, count="n", structural_zero=["b"])
    assert "per row" in refusal(frame, count="n", category="k", structural_zero=[True])
    assert "`structural_zero`" in refusal(frame, count="n", category="k", structural_zero=5)
    assert "`structural_zero`" in refusal(frame, count="n", category="k", structural_zero=[["b"]])


def test_no_structural_zeros_may_be_listed():
    table = CsvTable(("k", "n"), [["a", "1"]])
    assert not read_table(table, count="n", category="k", structural_zero=[]).structural_zero.any()


def test_a_structural_zero_that_is_not_zero_names_its_row():
    message = refusal([0, 424242, 0, 1], structural_zero=[True, True, False, True])
    assert "row 2 is marked" in message


def test_a_table_of_structural_zeros_has_nothing_to_release():
    assert "nothing to release" in refusal([0, 0], structural_zero=[True, True])


# Text tables


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("bom", "encoding"),
    [
        *[(b"", "utf-8"), (b"\xef\xbb\xbf", "utf-8"), (b"", "cp1252")],
        *[(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")],
    ],
)
def test_a_text_table_is_written_back_byte_for_byte(delimiter, newline, bom, encoding):
    lines = [["county", "n", "note"], ["Zürich", "3", ""], [" Ely ", "0", '"a\r\n,;\t|""b"']]
    text = "".join(delimiter.join(line) + newline for line in lines)
    data = bom + text.encode(encoding)
    table = parse_csv(data)
    assert table.columns == ["county", "n", "note"]
    assert table.rows == [["Zürich", "3", ""], [" Ely ", "0", 'a\r\n,;\t|"b']]
    assert table.to_bytes() == data
    assert read_table(table, count="n").replace(np.array([3, 0])).to_bytes() == data


cells = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@settings(deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda w: st.lists(st.lists(cells, min_size=w, max_size=w), min_size=1, max_size=4)
    ),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le")]),
)
def test_any_cells_survive_writing_and_reading(rows, delimiter, newline, coding):
    header = tuple(f"name{i};,|" for i in range(len(rows[0])))
    table = CsvTable(header, rows, delimiter, newline, coding[1], coding[0])
    again = parse_csv(table.to_bytes())
    assert (again.header, again.rows) == (header, rows)
    assert again.to_bytes() == table.to_bytes()


def test_a_single_column_of_commas_survives_any_delimiter():
    table = CsvTable(("note",), [["a,b"], ["c\td"]], "\t")
    assert parse_csv(table.to_bytes()).rows == table.rows


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [
        ('x;"a,b"', ";"),
        ('"a,b,c";y', ";"),
        ('"a\n,,";y', ";"),
        ("x\ty,z\tw", "\t"),
        ("a|b", "|"),
        ("n", ","),
        ('"a;b"', ","),
    ],
)
def test_the_delimiter_is_read_from_the_header_outside_quotes(line, delimiter):
    width = {",": 1, "\t": 3}.get(delimiter, 2)
    table = parse_csv(f"{line}\n{delimiter.join('1' * width)}\n".encode())
    assert table.delimiter == delimiter and len(table.columns) == width


def test_blank_lines_at_the_ends_are_ignored_and_blank_cells_are_not():
    assert parse_csv(b"\r\n\na,b\n1,2\n\n  \n\n").rows == [["1", "2"]]
    assert parse_csv(b"n\n1\n\n2\n\n").rows == [["1"], [""], ["2"]]
    assert parse_csv(b"a,b\n1,2").rows == [["1", "2"]]


def test_thousands_of_columns_are_simply_read():
    header = ",".join(f"c{i}" for i in range(20_000))
    table = parse_csv(f"{header}\n{','.join('7' * 20_000)}\n".encode())
    back = read_table(table, count="c12345").replace(np.array([8]))
    assert back.rows[0][12345] == "8" and back.rows[0].count("7") == 19_999


def test_repeated_names_matter_only_where_they_are_used():
    table = parse_csv(b"x,x,n\n424242,2,3\n")
    assert read_table(table, count="n").counts.tolist() == [3]
    assert "2 columns are called 'x'" in refusal(table, count="x")
    assert "`category`: 2 columns" in refusal(table, count="n", category="x")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \r\n\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"a,n\n", "no rows"),
        (b"a,n\nx,424242\0\n", "does not look like a text table"),
        (bytes(range(256)), "does not look like a text table"),
        (b"\x89PNG\r\n\x1a\n\x01", "does not look like a text table"),
        (b"a,n\n\x81\xff,1\n", "does not look like a text table"),
        (b"\xff\xfe\x00", "does not look like a text table"),
        (b"a,n\nx,1\ny,424242,3\n", "row 2 has 3 cells, the header has 2"),
        (b"a,n\nx,1\n\ny,424242\n", "row 2 has 0 cells, the header has 2"),
        (b'a,n\nx,"424242\n', "near line 2"),
        (b'a,n\nx,"424242"5\n', "near line 2"),
        (b"a,n\n" + b"x" * 200_000 + b",424242\n", "near line 2"),
        (b",".join([b"c"] * (MAX_COLUMNS + 1)) + b"\n", "at most 100,000"),
    ],
    ids=lambda v: str(v[:20]),
)
def test_a_file_that_is_no_text_table_is_refused(tmp_path, data, said):
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    assert said in refusal(path, count="n")


def test_a_table_that_does_not_fit_its_encoding_is_refused():
    with pytest.raises(HoldfastError, match="cp1252"):
        CsvTable(("n",), [["Ł"]], encoding="cp1252").to_bytes()


def test_a_new_column_has_one_cell_per_row():
    with pytest.raises(HoldfastError, match="one entry per row"):
        CsvTable(("n",), [["1"]]).with_column("n", [1, 2])


# Files


@pytest.mark.parametrize("suffix", [".csv", ".TSV", ".txt"])
@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_text_file_is_a_table(tmp_path, suffix, kind):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"k,n\na,3\nb,0\n")
    table = read_table(kind(path), count="n")
    assert table.counts.tolist() == [3, 0]
    write_file(table.replace(np.array([1, 2])), tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").read_bytes() == b"k,n\na,1\nb,2\n"


@pytest.mark.parametrize("suffix", [".parquet", ".pq"])
def test_a_parquet_file_is_a_table(tmp_path, suffix):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    path = folder / f"t{suffix}"
    pq.write_table(pa.table({"k": ["a", "b"], "n": [3, 0]}), path)
    write_file(read_table(path, count="n").replace(np.array([1, 2])), folder / f"out{suffix}")
    assert read_file(folder / f"out{suffix}").to_pydict() == {"k": ["a", "b"], "n": [1, 2]}


@each_frame
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_every_frame_can_be_written(make, suffix, tmp_path):
    path = tmp_path / f"out{suffix}"
    write_file(make({"k": ["a;", 'b"'], "n": [3, 0]}), path)
    again = read_file(path)
    labels = again.column("k").to_pylist() if suffix == ".parquet" else again.column("k")
    assert labels == ["a;", 'b"']
    assert read_table(again, count="n").counts.tolist() == [3, 0]
    if suffix == ".tsv" and make is not _text:
        assert again.delimiter == "\t"


@each_line
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_every_array_can_be_written(make, suffix, tmp_path):
    path = tmp_path / f"out{suffix}"
    write_file(make(COUNTS), path)
    assert read_table(path, count="count").counts.tolist() == COUNTS


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("index", "names"),
    [(["a", "b"], ["index", "n"]), (pd.Index([7, 8], name="k"), ["k", "n"]), ([5, 6], ["n"])],
)
def test_a_pandas_index_that_says_something_is_written(tmp_path, suffix, index, names):
    path = tmp_path / f"out{suffix}"
    write_file(pd.DataFrame({"n": [3, 0]}, index=index), path)
    again = read_file(path)
    assert list(again.column_names if suffix == ".parquet" else again.columns) == names


def test_text_becomes_integers_in_parquet_only_where_nothing_is_lost(tmp_path):
    rows = [["01001", "3", "1", "5"], ["02001", "10", "", "+5"]]
    write_file(CsvTable(("fips", "n", "gap", "plus"), rows), tmp_path / "t.parquet")
    types = read_file(tmp_path / "t.parquet").schema.types
    assert types == [pa.string(), pa.int64(), pa.string(), pa.string()]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_no_file_is_overwritten(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"precious")
    with pytest.raises(HoldfastError, match="exists already"):
        write_file(CsvTable(("n",), [["1"]]), path)
    assert path.read_bytes() == b"precious"


@pytest.mark.parametrize("table", [5, {"n": [1]}, "text", np.ones((2, 2)), [[1], [2]]])
def test_what_is_no_table_is_not_written(tmp_path, table):
    with pytest.raises(HoldfastError, match="`table`"):
        write_file(table, tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


def test_nested_columns_do_not_fit_into_csv(tmp_path):
    with pytest.raises(HoldfastError, match="CSV cannot hold"):
        write_file(pl.DataFrame({"n": [1], "x": [[424242]]}), tmp_path / "t.csv")


def test_a_file_in_no_folder_cannot_be_written(tmp_path):
    with pytest.raises(HoldfastError, match="cannot be written"):
        write_file([1], tmp_path / "nowhere" / "t.csv")


@pytest.mark.parametrize("name", ["nothing.csv", "nothing.parquet", "a\0b.csv"])
def test_a_missing_file_is_refused(tmp_path, name):
    assert "cannot be read" in refusal(tmp_path / name, count="n")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "d.csv").mkdir()
    (tmp_path / "d.parquet").mkdir()
    assert "directory" in refusal(tmp_path / "d.csv").lower()
    assert "directory" in refusal(str(tmp_path / "d.parquet")).lower()


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.csv.gz"])
def test_an_unknown_suffix_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"n\n1\n")
    assert "must end in one of .csv" in refusal(tmp_path / name, count="n")
    with pytest.raises(HoldfastError, match="must end in one of"):
        write_file([1], tmp_path / f"new{name}")


@pytest.mark.parametrize("data", [b"", b"424242", b"PAR1 424242 PAR1"])
def test_a_corrupt_parquet_file_is_refused(tmp_path, data):
    (tmp_path / "t.parquet").write_bytes(data)
    assert "cannot be read as Parquet" in refusal(tmp_path / "t.parquet", count="n")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert 'pip install "holdfast[parquet]"' in refusal(tmp_path / "t.parquet", count="n")
    with pytest.raises(HoldfastError, match="holdfast\\[parquet\\]"):
        write_file([1], tmp_path / "new.parquet")
