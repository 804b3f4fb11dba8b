"""What a table carries beside its columns (notes, an index) is not published unseen."""

import base64

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast
from bundles import COUNTS, forge, make, read_record, repair
from holdfast.errors import HoldfastError
from holdfast.tables.files import write_file

SECRET = b"the true total is %d" % COUNTS.sum()
NOTE = {b"note": SECRET}


def annotated():
    """A pyarrow table with notes wherever notes can be."""
    inner = pa.field("x", pa.list_(pa.field("y", pa.int64(), metadata=NOTE)), metadata=NOTE)
    nested = pa.array([{"x": [1]}] * 400, pa.struct([inner]))
    columns = [pa.array([f"p{i}" for i in range(400)]), pa.array(COUNTS), nested]
    fields = [
        pa.field(name, column.type, metadata=NOTE)
        for name, column in zip(("place", "n", "more"), columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields, metadata=NOTE))


def with_attrs():
    frame = pd.DataFrame({"place": [f"p{i}" for i in range(400)], "n": COUNTS})
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


def privatized(table, **options):
    fixed = {"constructor": holdfast.constructors.Heuristic(), "epsilon": 1, "max_count": 8}
    return holdfast.privatize(table, count="n", **fixed, **options)


@pytest.mark.parametrize("kind", SOURCES)
def test_notes_in_a_table_are_not_published(tmp_path, kind):
    table = SOURCES[kind](tmp_path)
    more = ["more"] if "pandas" not in kind else []
    release = privatized(table, keep=["place", *more])
    folder = release.save(tmp_path / "release", table_format="parquet")
    assert holdfast.verify(folder).damage == ()
    data = (folder / "table.parquet").read_bytes()
    kept = pq.ParquetFile(folder / "table.parquet").metadata.metadata
    assert set(kept) == {b"ARROW:schema"}
    for text in (data, base64.b64decode(kept[b"ARROW:schema"])):
        assert SECRET not in text and str(COUNTS.sum()).encode() not in text
    assert not getattr(release.table, "attrs", None)
    assert not getattr(getattr(release.table, "schema", None), "metadata", None)


def test_extension_types_are_written_as_what_they_hold(tmp_path):
    periods = pd.period_range("2020-01", periods=400, freq="M")
    release = privatized(pd.DataFrame({"month": periods, "n": COUNTS}), category="month")
    folder = release.save(tmp_path / "release", table_format="parquet")
    assert holdfast.verify(folder).damage == ()
    assert pq.read_schema(folder / "table.parquet").field("month").type == pa.int64()


HIDDEN = {
    "in the file": lambda schema: (schema.with_metadata(NOTE), {}),
    "at a column": lambda schema: (
        pa.schema([schema.field(0).with_metadata(NOTE), schema.field(1)]),
        {},
    ),
    "in the packed schema": lambda schema: (schema, _packed(schema.with_metadata(NOTE))),
}


def _packed(schema):
    return {b"ARROW:schema": base64.b64encode(schema.serialize().to_pybytes())}


@pytest.mark.parametrize("where", HIDDEN)
def test_notes_in_a_bundle_are_found(tmp_path, where):
    bundle = make().save(tmp_path / "release", table_format="parquet")
    path = bundle / "table.parquet"
    table = pq.read_table(path)
    schema, notes = HIDDEN[where](table.schema)
    with pq.ParquetWriter(path, schema, store_schema=not notes) as writer:
        writer.write_table(table.cast(schema))
        writer.add_key_value_metadata(notes)
    repair(bundle)
    assert any("notes beside its columns" in damage for damage in holdfast.verify(bundle).damage)


@pytest.mark.parametrize(
    "index", [pd.Index(COUNTS + 1, name="id"), pd.Index([f"{n}+" for n in COUNTS])]
)
def test_an_index_that_says_something_is_a_column_that_is_told_of(tmp_path, index):
    frame = pd.DataFrame({"place": [f"p{i}" for i in range(400)], "n": COUNTS}, index=index)
    name = index.name or "index"
    assert privatized(frame).unchanged_columns == ()
    release = privatized(frame, keep=[name, "place"], publish_anyway=[name])
    assert release.unchanged_columns == (name, "place")
    assert list(release.table.columns) == [name, "place", "n"]
    record = read_record(release.save(tmp_path / "release"))
    assert record["unchanged_columns"] == [name, "place"]
    assert record["columns"] == [name, "place", "n"]
    assert f"`{name}`, `place`" in (tmp_path / "release" / "README.md").read_text()


@pytest.mark.parametrize("index", [pd.Index(COUNTS, name="id"), pd.Index(COUNTS.astype(str))])
def test_an_index_that_repeats_the_counts_is_refused(index):
    frame = pd.DataFrame({"place": [f"p{i}" for i in range(400)], "n": COUNTS}, index=index)
    with pytest.raises(HoldfastError, match="holds the counts"):
        privatized(frame, keep=[index.name or "index"])


def test_an_index_of_bare_numbers_is_not_published():
    release = privatized(pd.DataFrame({"n": COUNTS}, index=COUNTS))
    assert release.table.index.tolist() == list(range(400))


def test_an_index_is_no_second_count_column():
    frame = pd.DataFrame({"n": COUNTS}, index=pd.Index(COUNTS, name="n"))
    with pytest.raises(HoldfastError, match="an index with the name of a column"):
        privatized(frame)
    with pytest.raises(HoldfastError, match="`count` must name the column"):
        holdfast.privatize(frame.rename_axis("k"), epsilon=1, max_count=8)


@pytest.mark.parametrize("listed", [[], ["n"], ["place", "place"], ["age"]])
def test_every_unchanged_column_must_be_listed(tmp_path, listed):
    bundle = make().save(tmp_path / "release")
    forge(bundle, unchanged_columns=listed)
    assert "unchanged_columns does not name" in holdfast.verify(bundle).damage[0]


def test_an_added_column_of_true_counts_is_found(tmp_path):
    bundle = make().save(tmp_path / "release")
    frame = pd.read_csv(bundle / "table.csv").assign(true_n=COUNTS)
    (bundle / "table.csv").unlink()
    write_file(frame, bundle / "table.csv")
    forge(bundle, columns=["place", "n", "true_n"])
    assert "unchanged_columns does not name" in holdfast.verify(bundle).damage[0]
    assert np.array_equal(pd.read_csv(bundle / "table.csv")["true_n"], COUNTS)
