"""The bytes of a Parquet file follow from its cells, whatever its texts were kept as."""

import base64
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from holdfast.tables import arrow_files
from holdfast.tables.arrow_files import ParquetGroups
from open_tables import open_table
from open_tables import written as written_table

ROWS = 9000


def shops():
    names = [f"shop-{row * row % 83}" for row in range(ROWS)]
    return [None if row % 50 == 7 else name for row, name in enumerate(names)]


def in_another_order(cells, index=None):
    """A dictionary whose order is not that of the rows, with a value that no row has."""
    values = sorted({cell for cell in cells if cell is not None} | {"nowhere"}, reverse=True)
    places = {value: place for place, value in enumerate(values)}
    codes = pa.array([places.get(cell) for cell in cells], index or pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(values))


KINDS = {
    "texts": pa.array,
    "a dictionary": in_another_order,
    "a short dictionary": lambda cells: in_another_order(cells, pa.int8()),
}


def make_groups_small(patch):
    patch.setattr(arrow_files, "ROWS", 1000)
    patch.setattr(arrow_files, "ROW_GROUP", 4000)


@pytest.fixture
def small_groups(monkeypatch):
    make_groups_small(monkeypatch)


def source(path, shop, **options):
    random = np.random.default_rng(1)
    columns = {"shop": shop, "visits": random.geometric(0.2, ROWS) - 1}
    table = pa.table(columns | {"price": np.arange(ROWS) / 3})
    pa.parquet.write_table(table, path, **{"row_group_size": 2500} | options)
    return path


def both_ways(path, folder):
    folder.mkdir(exist_ok=True)
    sources = [path, pa.parquet.read_table(path)] if path.is_file() else [path]
    tables = [open_table(each, count="visits", keep=["shop", "price"]) for each in sources]
    return [written_table(t, folder / f"{path.name}-{k}.parquet") for k, t in enumerate(tables)]


def dictionaries(data, name="shop"):
    """That of each row group."""
    file = pa.parquet.ParquetFile(io.BytesIO(data), read_dictionary=[name])
    groups = map(file.read_row_group, range(file.num_row_groups))
    return [group[name].chunk(0).dictionary.to_pylist() for group in groups]


def first_appearances(cells):
    return [list(dict.fromkeys(c for c in cells[at : at + 4000] if c)) for at in (0, 4000, 8000)]


@pytest.fixture(scope="module")
def of_plain_texts(tmp_path_factory):
    """What a file of texts that are kept as texts becomes, both ways."""
    folder = tmp_path_factory.mktemp("plain")
    with pytest.MonkeyPatch.context() as patch:
        make_groups_small(patch)
        return set(both_ways(source(folder / "plain.parquet", pa.array(shops())), folder / "b"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", [{}, {"use_dictionary": False}, {"row_group_size": 700}])
def test_bytes_do_not_tell_what_texts_were_kept_as(
    kind, layout, tmp_path, small_groups, of_plain_texts
):
    cells = shops()
    path = source(tmp_path / "in.parquet", KINDS[kind](cells), **layout)
    one, other = both_ways(path, tmp_path / "a")
    assert {one, other} == of_plain_texts
    assert dictionaries(one) == first_appearances(cells)
    assert pa.parquet.read_table(io.BytesIO(one))["shop"].to_pylist() == cells


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_says_that_texts_are_texts(kind, tmp_path, small_groups):
    data, _ = both_ways(source(tmp_path / "in.parquet", KINDS[kind](shops())), tmp_path / "a")
    file = pa.parquet.ParquetFile(io.BytesIO(data))
    assert [*file.metadata.metadata] == [b"ARROW:schema"]
    stored = base64.b64decode(file.metadata.metadata[b"ARROW:schema"])
    assert pa.ipc.read_schema(pa.py_buffer(stored)).field("shop").type == pa.string()
    assert file.schema_arrow.field("shop").type == pa.string()


def test_large_texts_are_the_same_in_memory_and_as_a_stream(tmp_path, small_groups):
    path = source(tmp_path / "in.parquet", pa.array(shops(), pa.large_string()))
    one, other = both_ways(path, tmp_path / "a")
    assert one == other
    assert pa.parquet.read_schema(io.BytesIO(one)).field("shop").type == pa.large_string()


def test_files_of_a_folder_may_keep_texts_in_different_ways(tmp_path, small_groups):
    cells, folder = shops(), tmp_path / "in"
    folder.mkdir()
    source(folder / "1.parquet", pa.array(cells))
    source(folder / "2.parquet", pa.array(cells), use_dictionary=False)
    whole = pa.concat_tables(map(pa.parquet.read_table, sorted(folder.iterdir())))
    pa.parquet.write_table(whole, tmp_path / "in.parquet")
    (found,) = both_ways(folder, tmp_path / "c")
    assert {found} == set(both_ways(tmp_path / "in.parquet", tmp_path / "d"))


def test_where_values_become_too_many_they_are_written_without_a_dictionary(tmp_path, small_groups):
    cells = [f"s{row % 9}" if row < 4000 else f"a long name of {row}" * 5 for row in range(ROWS)]
    one, other = both_ways(source(tmp_path / "in.parquet", pa.array(cells)), tmp_path / "a")
    assert one == other
    assert pa.parquet.read_table(io.BytesIO(one))["shop"].to_pylist() == cells
    metadata = pa.parquet.ParquetFile(io.BytesIO(one)).metadata
    sizes = [metadata.row_group(at).column(0).total_uncompressed_size for at in range(3)]
    texts = sum(len(cell) + 4 for cell in cells[4000:8000])
    assert sizes[0] < 4000 and sizes[1] == pytest.approx(texts, rel=0.03)  # no second copy


def written(*tables):
    sink = io.BytesIO()
    with ParquetGroups(sink, tables[0].schema, 1000) as file:
        for table in tables:
            file.write(table)
    return sink.getvalue()


def test_values_that_are_null_or_twice_in_a_dictionary_leave_no_trace():
    values = pa.array(["b", "a", None, "a", "c"])
    codes = np.random.default_rng(1).integers(0, 5, 1500)
    kept = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32(), mask=codes == 4), values)
    labels = pa.table({"label": kept, "n": codes})
    texts = labels.set_column(0, "label", pa.chunked_array([kept.dictionary_decode()]))
    expected = written(texts)
    assert written(labels) == written(labels.slice(0, 7), labels.slice(7)) == expected
    assert written(labels.slice(0, 7), texts.slice(7)) == expected
    assert all(sorted(group) == ["a", "b"] for group in dictionaries(expected, "label"))
