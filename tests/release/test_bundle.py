"""The bundle: whole or not there, the same bytes however rows come, and no row held."""

import csv
import hashlib
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.release.bundle import check_disk_room, check_place, write
from holdfast.release.csv_files import Dialect
from holdfast.release.load import load
from holdfast.release.record import plain, plain_promise
from made_releases import counties, made_release

FILES = {
    *("README.md", "SHA256SUMS", "answers.csv", "codebook.md", "deployment.yaml"),
    *("distribution.csv", "distribution.svg", "release.json", "rows.csv", "table.csv"),
}


def read(path: Path, delimiter: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter, strict=True))


def small(**how):
    cells = {
        "place": [f"p{i}" for i in range(60)],
        "kind": ["a", "b", ""] * 20,
        "size": [str(i) for i in range(60)],
    }
    counts = [i % 5 for i in range(57)] + [0, 0, 0]
    return made_release({"n": counts}, cells, **how)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    cells, counts = counties()
    release = made_release({"homicides": counts}, cells, within="state")
    return release, release.save(tmp_path_factory.mktemp("demo") / "release")


def test_a_bundle_is_ten_files_and_their_sums(demo):
    _, folder = demo
    assert {path.name for path in folder.iterdir()} == FILES
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert lines == sorted(lines, key=lambda line: line[66:])
    for line in lines:
        assert hashlib.sha256((folder / line[66:]).read_bytes()).hexdigest() == line[:64]
    files = json.loads((folder / "release.json").read_text())["files"]
    assert set(files) == FILES - {"release.json", "SHA256SUMS"}
    assert all((folder / name).stat().st_size == said["bytes"] for name, said in files.items())


def test_the_table_has_the_category_first_and_the_released_counts_last(demo):
    release, folder = demo
    header, *rows = read(folder / "table.csv")
    assert header == ["county", "population", "state", "homicides"]
    assert [row[0] for row in rows] == release.cells["county"]
    assert [int(row[3]) for row in rows] == release.counts.tolist()


def test_the_released_counts_have_the_estimated_distribution_in_every_group(demo):
    release, _ = demo
    for number, histogram in enumerate(release.only.estimate.histograms):
        values, rows = np.unique(release.counts[release.only.group == number], return_counts=True)
        assert (values.tolist(), rows.tolist()) == (
            histogram.values.tolist(),
            histogram.rows.tolist(),
        )


def test_rows_have_their_label_group_noisy_count_and_two_intervals(demo):
    release, folder = demo
    header, *rows = read(folder / "rows.csv")
    assert header[:3] == ["county", "group", "homicides_noisy"] and len(header) == 7
    assert [row[:2] for row in rows[:2]] == [["01001", "01"], ["01003", "01"]]
    assert [int(row[2]) for row in rows] == release.noisy.tolist()
    reach = release.only.measurement.noise.quantile(0.9)
    for row in rows:
        noisy, low, high, first, last = map(int, row[2:])
        assert (low, high) == (max(noisy - reach, 0), max(noisy + reach, 0))
        assert 0 <= first <= last


def test_marks_stand_in_the_rows_alone_and_come_back(tmp_path):
    release = small(missing=[3, 4], structural_zero=[57, 58, 59], within="kind")
    folder = release.save(tmp_path / "r")
    _, *rows = read(folder / "rows.csv")
    assert rows[3][2:] == [""] * 5 and rows[58][2:] == ["", "0", "0", "0", "0"]
    table = [row[-1] for row in read(folder / "table.csv")[1:]]
    assert table[3] == "" and table[57:] == ["0"] * 3
    again = load(folder)
    assert np.flatnonzero(again.only.missing).tolist() == [3, 4]
    assert np.flatnonzero(again.structural_zero).tolist() == [57, 58, 59]
    said = json.loads((folder / "release.json").read_text())
    assert said["counts"][0]["missing"] == 2 and said["table"]["structural_zeros"] == 3


def test_release_json_has_everything_measured_beside_the_noisy_counts(demo):
    release, folder = demo
    said = json.loads((folder / "release.json").read_text())
    column, measurement = said["counts"][0], release.only.measurement
    assert "tally" not in column
    for name in ("noise", "whole", "sums", "totals"):
        assert column[name] == plain(getattr(measurement, name))
    assert column["whole"]["values"] == measurement.whole.values.tolist()
    assert column["noise"]["epsilon"] == str(measurement.noise.epsilon)
    assert said["promise"] == plain_promise(release.promise)
    assert said["promise"]["budgets"][0]["whole"] == str(release.only.budget.whole)
    assert said["schema"] == 1 and int(column["ties"]) == release.only.ties


@pytest.mark.parametrize("batch", [1, 7, 59, 60, 1000])
def test_the_bytes_do_not_depend_on_how_rows_come(tmp_path, batch):
    how = {"within": "kind", "missing": [3], "structural_zero": [57]}
    one, many = small(**how).save(tmp_path / "1"), small(**how, batch=batch).save(tmp_path / "n")
    for name in FILES:
        assert (one / name).read_bytes() == (many / name).read_bytes(), name


def test_rows_that_are_not_held_are_written_all_the_same(tmp_path):
    release = small(within="kind", structural_zero=[57])
    batches = list(release.batches())
    nothing = np.empty(0, dtype=np.int64)
    bare = replace(
        release,
        columns=tuple(
            replace(
                column, noisy=nothing, group=nothing, measured=nothing > 0, missing=nothing > 0
            )
            for column in release.columns
        ),
        structural_zero=nothing > 0,
        _cells=lambda: iter([]),
    )  # fmt: skip
    one, other = release.save(tmp_path / "1"), write(bare, batches, tmp_path / "2")
    for name in FILES:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_writing_holds_a_batch_of_rows_and_no_more(tmp_path):
    rows = 200_000

    def cells():
        for k in range(0, rows, 5000):
            yield {"id": [f"row {i}" for i in range(k, k + 5000)]}

    release = made_release({"n": np.arange(rows) % 7}, epsilon=1)
    release = replace(release, published=("id",), category="id", _cells=cells)
    release.only.estimate.draws(None)
    tracemalloc.start()
    folder = release.save(tmp_path / "r")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len((folder / "rows.csv").read_bytes()) > 4_000_000
    assert peak < 12_000_000  # the labels alone would take 14 MB


def test_integers_of_32_bits_come_out_as_those_of_64(tmp_path):
    release = small(within="kind")
    narrow = replace(
        release,
        columns=tuple(
            replace(
                column, noisy=column.noisy.astype(np.int32), group=column.group.astype(np.int32)
            )
            for column in release.columns
        ),
    )  # fmt: skip
    one, other = release.save(tmp_path / "1"), narrow.save(tmp_path / "2")
    assert (one / "SHA256SUMS").read_bytes() == (other / "SHA256SUMS").read_bytes()
    assert (narrow.by("kind").counts == release.by("kind").counts).all()


def test_a_top_code_shows_counts_as_or_more_and_keeps_the_distribution(tmp_path):
    release = replace(small(), top_code=3)
    folder = release.save(tmp_path / "r")
    shown = [row[-1] for row in read(folder / "table.csv")[1:]]
    assert set(shown) <= {"0", "1", "2", "3 or more"}
    assert [text == "3 or more" for text in shown] == (release.counts >= 3).tolist()
    assert max(int(row[2]) for row in read(folder / "distribution.csv")[1:]) > 3
    again = load(folder)
    assert (again.counts == release.counts).all() and again.top_code == 3
    assert again.table["n"].max() == 3
    assert "3 or more" in (folder / "README.md").read_text()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(("newline", "bom"), [("\n", False), ("\r\n", True)])
def test_all_csv_files_are_written_as_the_steward_s_was(tmp_path, delimiter, newline, bom):
    style = Dialect(delimiter=delimiter, newline=newline, bom=bom)
    release = replace(small(within="kind"), dialect=style)
    folder = release.save(tmp_path / "r")
    for path in folder.glob("*.csv"):
        data = path.read_bytes()
        assert data.startswith(b"\xef\xbb\xbf") == bom
        assert data.count(b"\r\n") == (data.count(b"\n") if newline == "\r\n" else 0)
        assert len({len(row) for row in read(path, delimiter)}) == 1
    assert (load(folder).counts == release.counts).all()


def test_a_column_without_a_name_and_rows_without_labels(tmp_path):
    release = holdfast.privatize([3, 0, 1] * 20, epsilon=1, seed=1)
    folder = release.save(tmp_path / "r")
    assert read(folder / "table.csv")[0] == ["count"]
    assert read(folder / "rows.csv")[0][:2] == ["row", "count_noisy"]
    assert [row[0] for row in read(folder / "rows.csv")[1:4]] == ["1", "2", "3"]
    assert load(folder).only.name == release.only.name == "count"


def test_several_columns_are_one_table(tmp_path):
    cells, counts = counties()
    both = {"homicides": counts, "half": counts // 2}
    release = made_release(both, cells, missing=[7])
    folder = release.save(tmp_path / "r")
    assert read(folder / "table.csv")[0][-2:] == ["homicides", "half"]
    assert len(read(folder / "rows.csv")[0]) == 11
    again = load(folder)
    for name in both:
        assert (again[name].counts == release[name].counts).all()
        assert (again[name].noisy == release[name].noisy).all()


def test_a_folder_that_exists_is_never_touched(tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("r", "file", "link"):
        with pytest.raises(HoldfastError, match="exists already"):
            small().save(tmp_path / name)
        with pytest.raises(HoldfastError, match="exists already"):
            check_place(tmp_path / name)
    with pytest.raises(HoldfastError, match="make it first"):
        small().save(tmp_path / "not" / "there")
    assert {path.name for path in tmp_path.iterdir()} == {"r", "file", "link"}
    assert not list((tmp_path / "r").iterdir())


def test_nothing_is_left_of_a_bundle_that_failed(tmp_path):
    release = small()

    def broken():
        yield from release.batches()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(release, broken(), tmp_path / "r")
    with pytest.raises(HoldfastError, match="all of its rows"):
        write(release, [], tmp_path / "r")
    assert not list(tmp_path.iterdir())


def test_a_disk_without_room_is_found_before_anything_is_paid(tmp_path):
    check_disk_room(tmp_path, 1)
    with pytest.raises(HoldfastError, match="has no room"):
        check_disk_room(tmp_path, 1 << 60)


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(HoldfastError, match="csv or parquet"):
        small().save(tmp_path / "r", table_format="xls")


def test_a_table_with_types_is_written_as_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    cells = {
        "id": [f"p{i}" for i in range(40)],
        "day": [None, *(np.datetime64("2024-01-01") + i for i in range(39))],
        "x": [i / 2 for i in range(40)],
    }
    cells["day"] = [None if day is None else day.item() for day in cells["day"]]
    release = made_release({"n": [i % 3 for i in range(40)]}, cells, missing=[5], batch=9)
    release = replace(release, table_format="parquet", top_code=1)
    folder = release.save(tmp_path / "r")
    assert {path.name for path in folder.iterdir()} == FILES - {"table.csv"} | {"table.parquet"}
    table = parquet.read_table(folder / "table.parquet")
    kinds = [pa.string(), pa.date32(), pa.float64(), pa.int64()]
    assert table.schema.types == kinds
    assert table.schema.metadata is None
    assert table["day"].to_pylist() == cells["day"]
    shown = np.minimum(release.counts, 1).tolist()
    assert table["n"].to_pylist() == [None if x < 0 else x for x in shown]
    again = load(folder)
    assert (again.counts == release.counts).all() and again.cells == cells
    assert again.table_format == "parquet"
