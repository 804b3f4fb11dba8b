"""What a table carries beside its columns (notes, an index, labels in an order) is not published
unseen."""

import base64
import io

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.errors import HoldfastError
from holdfast.tables.arrow_files import ParquetGroups
from open_tables import open_table, refusal, replaced, written

ROWS = 400
COUNTS = np.random.default_rng(5).poisson(2, ROWS)
PLACES = [f"p{i}" for i in range(ROWS)]
SECRET = b"the true total is %d" % COUNTS.sum()
NOTE = {b"note": SECRET}


def annotated():
    """A pyarrow table with notes wherever notes can be."""
    columns = [pa.array(PLACES), pa.array(COUNTS)]
    fields = [
        pa.field(name, column.type, metadata=NOTE)
        for name, column in zip(("place", "n"), columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields, metadata=NOTE))


def with_attrs():
    frame = pd.DataFrame({"place": PLACES, "n": COUNTS})
    frame.attrs["note"] = SECRET.decode()
    return frame


def file_of(table, path):
    pq.write_table(table, path)
    return path


SOURCES = {
    "pyarrow": lambda folder: annotated(),
    "Parquet file": lambda folder: file_of(annotated(), folder / "in.parquet"),
    "pandas": lambda folder: with_attrs(),
    "Parquet file of pandas": lambda folder: file_of(
        pa.Table.from_pandas(with_attrs()), folder / "in.parquet"
    ),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_notes_in_a_table_are_not_published(tmp_path, kind):
    table = open_table(SOURCES[kind](tmp_path), count="n", keep="place")
    data = written(table, tmp_path / "out.parquet")
    kept = pq.ParquetFile(tmp_path / "out.parquet").metadata.metadata
    assert set(kept) == {b"ARROW:schema"}
    for text in (data, base64.b64decode(kept[b"ARROW:schema"])):
        assert SECRET not in text and str(COUNTS.sum()).encode() not in text
    back = replaced(table, COUNTS)
    assert not getattr(back, "attrs", None)
    assert not getattr(getattr(back, "schema", None), "metadata", None)


def test_extension_types_are_written_as_what_they_hold(tmp_path):
    periods = pd.period_range("2020-01", periods=ROWS, freq="M")
    table = pa.Table.from_pandas(pd.DataFrame({"month": periods, "n": COUNTS}))
    with ParquetGroups(tmp_path / "out.parquet", table.schema, 100) as file:
        file.write(table)
    assert pq.read_schema(tmp_path / "out.parquet").field("month").type == pa.int64()


@pytest.mark.parametrize(
    "index", [pd.Index(COUNTS + 1, name="id"), pd.Index([f"{n}+" for n in COUNTS])]
)
def test_an_index_that_says_something_is_a_column_that_is_told_of(index):
    frame = pd.DataFrame({"place": PLACES, "n": COUNTS}, index=index)
    name = index.name or "index"
    assert open_table(frame, count="n").others == ()
    table = open_table(frame, count="n", keep=[name, "place"], publish_anyway=[name])
    assert table.others == (name, "place")
    assert list(replaced(table, COUNTS).columns) == [name, "place", "n"]


@pytest.mark.parametrize("index", [pd.Index(COUNTS, name="id"), pd.Index(COUNTS.astype(str))])
def test_an_index_that_repeats_the_counts_is_refused(index):
    frame = pd.DataFrame({"place": PLACES, "n": COUNTS}, index=index)
    with pytest.raises(HoldfastError, match="holds the counts"):
        open_table(frame, count="n", keep=[index.name or "index"])


def test_an_index_of_bare_numbers_is_not_published():
    table = open_table(pd.DataFrame({"n": COUNTS}, index=COUNTS))
    assert replaced(table, COUNTS).index.tolist() == list(range(ROWS))


def test_an_index_is_no_second_count_column():
    frame = pd.DataFrame({"n": COUNTS}, index=pd.Index(COUNTS, name="n"))
    with pytest.raises(HoldfastError, match="an index with the name of a column"):
        open_table(frame)
    with pytest.raises(HoldfastError, match="`count` must name the column"):
        open_table(frame.rename_axis("k"))


# The order of categories

LABELS = ["b", "a", "b", "c", "a", "b"]
BY_COUNT = ["c", "a", "b", "secret"]
"""In the order of counts, with a label that no row has."""


def dictionary(labels, order):
    codes = pa.array([None if label is None else order.index(label) for label in labels], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, order)


def enum_relation(labels, order):
    words = ", ".join(f"'{word}'" for word in order)
    values = ", ".join(f"('{label}', {k})" for k, label in enumerate(labels))
    return duckdb.sql(f"SELECT k::ENUM({words}) AS k, n % 3 AS n FROM (VALUES {values}) t(k, n)")


def numbered(make, column):
    return make({"k": column, "n": np.arange(len(column)) % 3})


def of_arrow(labels, order):
    chunks = pa.chunked_array([dictionary(labels, order)])
    return numbered(pd.DataFrame, pd.Series(pd.arrays.ArrowExtensionArray(chunks)))


def categorical(labels, order):
    """As polars has them where the labels were met in this order."""
    return pl.Series(order + labels).cast(pl.Categorical)[len(order) :]


CATEGORIES = {
    "pandas": lambda labels, order: numbered(pd.DataFrame, pd.Categorical(labels, order)),
    "pandas, in order": lambda labels, order: numbered(
        pd.DataFrame, pd.Categorical(labels, order, ordered=True)
    ),
    "pandas of Arrow": of_arrow,
    "polars enum": lambda labels, order: numbered(
        pl.DataFrame, pl.Series(labels, dtype=pl.Enum(order))
    ),
    "polars categorical": lambda labels, order: numbered(pl.DataFrame, categorical(labels, order)),
    "lazy polars": lambda labels, order: numbered(
        pl.LazyFrame, pl.Series(labels, dtype=pl.Enum(order))
    ),
    "pyarrow": lambda labels, order: numbered(pa.table, dictionary(labels, order)),
    "duckdb": enum_relation,
}


def labels_known(table):
    """The labels that a column of a frame knows, in their order."""
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, duckdb.DuckDBPyRelation):
        return [word.strip("'") for word in str(table.types[0])[5:-1].split(", ")]
    if isinstance(table, pa.Table):
        return table["k"].combine_chunks().dictionary.to_pylist()
    if isinstance(table, pl.DataFrame):
        return table["k"].dtype.categories.to_list()
    if isinstance(table["k"].dtype, pd.CategoricalDtype):
        return table["k"].cat.categories.tolist()
    return table["k"].array._pa_array.combine_chunks().dictionary.to_pylist()


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_are_known_in_the_order_in_which_they_appear(kind):
    source = CATEGORIES[kind](LABELS, BY_COUNT)
    back = replaced(open_table(source, count="n", keep="k"), [1] * 6)
    assert type(back) is type(source) and labels_known(back) == ["b", "a", "c"]
    other = CATEGORIES[kind](LABELS, ["secret", "b", "c", "a"])
    again = replaced(open_table(other, count="n", keep="k"), [1] * 6)
    if isinstance(back, pd.DataFrame):
        pd.testing.assert_frame_equal(back, again)
        one, two = (sink(frame) for frame in (back, again))
        assert one == two and b"secret" not in one
    part = open_table(source, count="n", keep="k", subset={"k": "a"})
    assert labels_known(replaced(part, [1, 1])) == ["a"]


PIECES = {
    "pyarrow": lambda parts: pa.concat_tables(map(pa.table, parts)),
    "polars": lambda parts: pl.concat(map(pl.DataFrame, parts), rechunk=False),
    "pandas": lambda parts: pd.concat(map(pd.DataFrame, parts)),
}


@pytest.mark.parametrize("kind", PIECES)
def test_where_a_frame_was_put_together_from_others_is_not_told(kind):
    parts = [{"k": ["b", "a", "c"], "n": [3, 1, 2]}, {"k": ["d"], "n": [0]}]
    back = replaced(open_table(PIECES[kind](parts), count="n", keep="k"), [1] * 4)
    column = back["k"] if kind != "pandas" else pa.chunked_array(back["k"].array.__arrow_array__())
    assert (column.n_chunks() if kind == "polars" else column.num_chunks) == 1


def sink(frame):
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize("kind", CATEGORIES)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_do_not_tell_an_order_of_categories(kind, suffix, tmp_path):
    data = [
        written(open_table(CATEGORIES[kind](LABELS, order), count="n", keep="k"),
                tmp_path / f"{at}.{suffix}")
        for at, order in enumerate([BY_COUNT, ["secret", "b", "c", "a"]])
    ]  # fmt: skip
    assert data[0] == data[1] and b"secret" not in data[0]


# What no file can hold

ODD = {
    "NUL": ["a\0b", "x"],
    "half a character": ["a\ud83d", "x"],
    "a long cell": ["x" * 131_073, "y"],
}
HELD = {"pandas": lambda cells: pd.DataFrame({"k": pd.Series(cells, dtype=object), "n": [1, 0]})}
HELD["polars"] = lambda cells: pl.DataFrame({"k": cells, "n": [1, 0]})
HELD["pyarrow"] = lambda cells: pa.table({"k": cells, "n": [1, 0]})


CASES = [(kind, odd) for kind in HELD for odd in ODD if kind == "pandas" or "half" not in odd]


@pytest.mark.parametrize(("kind", "odd"), CASES)
def test_labels_that_no_file_can_hold_are_refused(kind, odd):
    said = refusal(HELD[kind](ODD[odd]), count="n", keep="k")
    assert "data row 1 of column 'k' cannot be written" in said


@pytest.mark.parametrize("cells", [[[1], [2]], [b"a", b"b"], [{"x": 1}, {"x": 2}]])
@pytest.mark.parametrize("kind", HELD)
def test_columns_of_lists_structures_and_bytes_are_refused(kind, cells):
    assert "'k' cannot be written as CSV" in refusal(HELD[kind](cells), count="n", keep="k")
    assert open_table(HELD[kind](cells), count="n").withheld == ("k",)


def blanked(kind):
    """A column whose true values were blanked, and are still there under the gaps, as a table."""
    gaps = np.arange(ROWS) > 20
    values = pa.array(np.where(gaps, COUNTS * 1000 + 731, 5), mask=gaps)
    texts = pa.array([f"is {count * 1000 + 731}" for count in COUNTS])
    bits = pa.array(~gaps).buffers()[1]
    hidden = pa.StringArray.from_buffers(ROWS, *texts.buffers()[1:], bits)
    floats = np.full(ROWS, np.nan).view(np.uint64) + COUNTS.astype(np.uint64)
    odd = np.where(gaps, floats.view(np.float64), 1.5)
    columns = {"place": PLACES, "k": values, "t": hidden, "f": odd, "n": COUNTS}
    match kind:
        case "pyarrow":
            return pa.table(columns)
        case "polars":
            return pl.from_arrow(pa.table(columns))
        case "Arrow in pandas":
            return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    masked = pd.arrays.IntegerArray(COUNTS * 1000 + 731, gaps)
    return pd.DataFrame({"place": PLACES, "k": masked, "f": odd, "n": COUNTS})


@pytest.mark.parametrize("kind", ["pyarrow", "polars", "pandas", "Arrow in pandas"])
def test_nothing_is_under_gaps_of_a_released_table(kind):
    keep = ["place", "k", "f"] + ["t"] * (kind != "pandas")
    table = replaced(open_table(blanked(kind), count="n", keep=keep), np.zeros(ROWS, int))
    sink = io.BytesIO()
    if kind == "polars":
        table.write_ipc(sink)
    else:
        whole = table if kind == "pyarrow" else pa.Table.from_pandas(table)
        with pa.ipc.new_file(sink, whole.schema) as writer:
            writer.write_table(whole)
    hidden = int(COUNTS[50]) * 1000 + 731
    assert hidden.to_bytes(8, "little") not in sink.getvalue()
    assert b"is %d" % hidden not in sink.getvalue()
    assert pd.isna(list(table["k"])[50]) or list(table["k"])[50].as_py() is None
    floats = np.asarray(table["f"], dtype=np.float64)
    assert len(np.unique(floats.view(np.uint64))) == 2  # 1.5, and one NaN


def test_nothing_is_beyond_the_ends_of_a_released_slice():
    places = pa.array([f"SECRET{k}" for k in range(ROWS)])
    for column in (places, places.cast(pa.large_string())):
        part = pa.table({"place": column, "n": COUNTS}).slice(0, 40)
        table = replaced(open_table(part, count="n", keep="place"), np.zeros(40, int))
        texts = [bytes(buffer) for buffer in table["place"].chunk(0).buffers() if buffer]
        assert table["place"].type == column.type
        assert not any(b"SECRET300" in text for text in texts)


def test_every_nan_of_a_file_has_the_same_bits(tmp_path):
    write = ParquetGroups(tmp_path / "out.parquet", pa.schema([("f", pa.float64())]), 100)
    with write:
        write.write(blanked("pyarrow").select(["f"]))
    floats = pq.read_table(tmp_path / "out.parquet")["f"].to_numpy()
    assert len(np.unique(floats.view(np.uint64))) == 2
