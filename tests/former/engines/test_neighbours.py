"""The bytes of a release are a function of what is public and of the draws."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from neighbouring import TOP, difference, held_fixed, release


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_releases_of_neighbours_differ_in_no_byte_where_draws_do_not(suffix, tmp_path):
    rng = np.random.default_rng(17)
    with held_fixed():
        for _ in range(10):
            assert difference(rng, tmp_path, suffix) is None


def test_row_groups_are_cut_by_row_number(tmp_path):
    groups = []
    for counts in (np.zeros(200, np.int64), np.arange(200) % 11 * 1000):
        path = tmp_path / "in.parquet"
        table = pa.table({"place": [f"p{row}" for row in range(200)], "n": counts})
        pa.parquet.write_table(table, path, row_group_size=int(counts.max()) % 70 + 30)
        options = {"category": "place", "publish_anyway": ["place", "row order", "totals"]}
        with held_fixed():
            release(path, tmp_path / "out", "stream", **options)
        data = pa.parquet.ParquetFile(tmp_path / "out" / "table.parquet").metadata
        groups.append([data.row_group(at).num_rows for at in range(data.num_row_groups)])
    assert groups[0] == groups[1] == [64, 64, 64, 8]


def test_a_dictionary_in_the_order_of_the_counts_is_not_published(tmp_path):
    places, counts = np.array([f"p{row}" for row in range(50)]), np.arange(50) * 7 % 50
    order = np.argsort(counts)
    where = np.argsort(order)
    place = pa.DictionaryArray.from_arrays(pa.array(where), pa.array(places[order]))
    pa.parquet.write_table(pa.table({"place": place, "n": counts}), tmp_path / "in.parquet")
    options = {"category": "place", "publish_anyway": ["place", "row order"]}
    for way in ("memory", "stream"):
        with held_fixed():
            release(tmp_path / "in.parquet", tmp_path / "out", way, **options)
        table = pa.parquet.read_table(tmp_path / "out" / "table.parquet")
        assert table.schema.field("place").type == pa.string()
        assert table["place"].to_pylist() == places.tolist()


def test_the_test_itself_finds_a_release_that_depends_on_a_count(tmp_path, monkeypatch):
    from neighbouring import Fixed

    monkeypatch.setattr(Fixed, "draw", lambda self, counts, source: counts % (TOP + 1))
    with held_fixed():
        found = [difference(np.random.default_rng(17), tmp_path, "csv") for _ in range(3)]
    assert any(found)
