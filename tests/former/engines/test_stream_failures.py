"""Streams that fail while they draw: file and row are named, nothing is left, the ledger counts.

`python benchmarks/failures.py` shows the same with 20,000,000 rows.
"""

import errno
import os
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError, Spent, spent_by
from holdfast.former.constructors import Heuristic
from holdfast.former.release import bundle
from holdfast.former.tables import parquet_groups
from holdfast.former.tables.stream import arrow_source, text_source

ROWS = 12_000
TABLE = pa.table({"shop": [f"s{row}" for row in range(ROWS)], "visits": np.arange(ROWS) * 5 % 17})


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(text_source, "BLOCK", 1 << 12)
    monkeypatch.setattr(arrow_source, "ROWS", 1000)
    monkeypatch.setattr(parquet_groups, "ROW_GROUP", 4000)


def written(folder, kind):
    path = folder / f"visits.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(TABLE, path, row_group_size=2000)
    else:
        rows = zip(*(column.to_pylist() for column in TABLE.columns), strict=True)
        path.write_text("shop,visits\n" + "".join(f"{shop},{count}\n" for shop, count in rows))
    return path


def failed(source, place, change=None):
    """What a paid stream says when `change` happens while it draws; all else is checked."""
    ledger = holdfast.Ledger(place / "budget.ledger")
    ledger.set_limit("visits", epsilon=1)
    todo = [change] if change else []

    def progress(what, done):
        if what.startswith("Drawing") and done > 0.1 and todo:
            todo.pop()()

    options = {
        "count": "visits",
        "keep": "shop",
        "epsilon": 1,
        "max_count": 20,
        "constructor": Heuristic(),
    }
    options |= {"ledger": ledger, "dataset": "visits", "progress": progress}
    with pytest.raises(HoldfastError) as caught:
        holdfast.privatize_stream(source, place / "release", **options)
    assert spent_by(caught.value) is Spent.YES
    assert ledger.balance("visits").states == {"done": 0, "open": 0, "abandoned": 1}
    assert os.listdir(place / "budget.ledger.releases") == ["head"]
    assert not any("release" in path.name for path in place.iterdir() if path.suffix != ".releases")
    return str(caught.value)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_source_that_is_cut_while_it_is_drawn(kind, tmp_path):
    path = written(tmp_path, kind)
    said = failed(path, tmp_path, lambda: os.truncate(path, path.stat().st_size // 2))
    assert f"visits.{kind}" in said and (f"{ROWS:,} rows" in said or "data row" in said)


def test_a_file_that_vanishes_from_a_folder_while_it_is_drawn(tmp_path):
    (tmp_path / "in").mkdir()
    for name in "abc":
        pa.parquet.write_table(TABLE, tmp_path / "in" / f"{name}.parquet")
    said = failed(tmp_path / "in", tmp_path, (tmp_path / "in" / "c.parquet").unlink)
    assert f"data row {ROWS} of" in said and "b.parquet` was the last" in said


@pytest.mark.parametrize("name", ["README.md", "release.json", "SHA256SUMS"])
def test_a_disk_that_is_full_after_the_table(name, tmp_path, monkeypatch):
    write = bundle.write_text

    def full(path, text):
        if path.name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, text)

    monkeypatch.setattr(bundle, "write_text", full)
    said = failed(written(tmp_path, "csv"), tmp_path)
    assert f"`{tmp_path}` cannot be written to (No space left on device)" in said


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB, where this process may make one."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_disk_that_is_really_full(kind, small_disk, tmp_path):
    (small_disk / "filler").write_bytes(bytes(660_000))
    said = failed(written(tmp_path, kind), small_disk)
    assert f"`{small_disk}" in said and "No space left on device" in said


def test_a_disk_without_room_is_found_before_anything_is_paid(small_disk, tmp_path):
    ledger = holdfast.Ledger(small_disk / "budget.ledger")
    ledger.set_limit("visits", epsilon=1)
    (small_disk / "filler").write_bytes(bytes(960_000))
    options = {"count": "visits", "keep": "shop", "epsilon": 1, "max_count": 20}
    options |= {"ledger": ledger, "dataset": "visits"}
    with pytest.raises(HoldfastError, match=r"has no room.*Nothing was drawn or spent"):
        holdfast.privatize_stream(written(tmp_path, "csv"), small_disk / "release", **options)
    assert ledger.spends("visits") == []
