"""Bundles that would take much memory are refused in little of it."""

import shutil
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast.former as holdfast
from bundles import make, repair, repair_sums
from holdfast.former.release.pictures import distribution_picture
from holdfast.former.verify.report import Damage
from holdfast.former.verify.strict_json import parse_json

MIB = 1 << 20


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    make().save(folder / "csv")
    make().save(folder / "parquet", table_format="parquet")
    return folder


def padded(path, old, unit, size):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, old + unit * (size // len(unit)), 1))


LARGE = {
    "release.json": (3 * MIB, '"notes": [', '{"":0},', "more than 100 objects and lists"),
    "release.json  ": (MIB, '"notes": [', '"", ', "more than 20000 texts"),
    "release.json ": (65 * MIB, '"notes": [', '"", ', "at most 67108864 are read"),
    "distribution.svg": (6 * MIB, ">", "<g>", "at most 2097152 are read"),
    "README.md": (6 * MIB, "\n", "\n", "at most 1048576 are read"),
    "deployment.yaml": (6 * MIB, "\n", "#\n", "at most 1048576 are read"),
    "SHA256SUMS": (6 * MIB, "\n", "\n", "at most 4096 are read"),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_texts_are_refused_in_little_memory(whole, tmp_path, name):
    bundle = shutil.copytree(whole / "csv", tmp_path / "release")
    size, old, unit, words = LARGE[name]
    padded(bundle / name.strip(), old, unit, size)
    if name.strip() not in ("release.json", "SHA256SUMS"):
        repair(bundle)
    elif name.strip() == "release.json":
        repair_sums(bundle)
    tracemalloc.start()
    try:
        damage = holdfast.verify(bundle).damage
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()
    assert any(words in sentence for sentence in damage), damage


def test_a_record_of_millions_of_numbers_is_refused_before_they_are_made():
    with pytest.raises(Damage, match="more than 3000000 entries"):
        parse_json(b'{"a": [' + b"0," * 3_000_001 + b"0]}", "release.json")


def test_quotes_without_an_end_are_read_once(whole, tmp_path):
    bundle = shutil.copytree(whole / "csv", tmp_path / "release")
    (bundle / "release.json").write_text('{"' + '\\"' * MIB)
    assert "release.json is not JSON" in holdfast.verify(bundle).damage[0]  # or it takes hours


def test_the_largest_honest_record_and_picture_fit():
    z = np.random.default_rng(1).dirichlet(np.ones(10_001))
    assert len(repr(z.tolist())) + 4 * len(z) < MIB  # release.json may have four
    assert len(distribution_picture([("n", z)], title="t")) < MIB  # the picture two


BIG = "x" * (MIB // 2)
BOMBS = {
    "a text in every row": lambda: pa.array([BIG] * 400),
    "a text in every list": lambda: pa.array([[BIG]] * 400),
    "a text in every struct": lambda: pa.array([{"a": BIG}] * 400),
    "fixed binary": lambda: pa.array([BIG.encode()] * 400, pa.binary(MIB // 2)),
    "numbers without end": lambda: pa.array([[0] * 25_000] * 400),
}


def plant(bundle, column):
    """The column in the place of the labels, and sums that fit."""
    table = pq.read_table(bundle / "table.parquet")
    table = table.set_column(0, "place", column)
    pq.write_table(table, bundle / "table.parquet", compression="zstd")
    repair(bundle)


@pytest.mark.parametrize("name", BOMBS)
def test_a_parquet_column_that_would_burst_is_refused(whole, tmp_path, name):
    bundle = shutil.copytree(whole / "parquet", tmp_path / "release")
    plant(bundle, BOMBS[name]())
    assert (bundle / "table.parquet").stat().st_size < MIB // 2
    assert "more data than its rows can hold" in holdfast.verify(bundle).damage[0]


HONEST = {
    "long texts": lambda: pa.array([f"{i:09d}" * 1000 for i in range(400)]),
    "lists": lambda: pa.array([["a", "b"], []] * 200),
    "maps": lambda: pa.array([[("k", "v" * 1000)]] * 400, pa.map_(pa.string(), pa.string())),
    "the same again": lambda: pa.array(["v" * 100_000] * 400),
    "nothing": lambda: pa.array([None] * 400, pa.string()),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_parquet_column_of_usual_size_passes(whole, tmp_path, name):
    bundle = shutil.copytree(whole / "parquet", tmp_path / "release")
    plant(bundle, HONEST[name]())
    assert holdfast.verify(bundle).damage == ()


def test_finding_a_burst_takes_little_memory_itself(whole, tmp_path):
    bundle = shutil.copytree(whole / "parquet", tmp_path / "release")
    plant(bundle, BOMBS["a text in every row"]())
    code = f"""
import resource, pyarrow.compute
from holdfast.former.verify import verify
assert verify({str(whole / "parquet")!r})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert not verify({str(bundle)!r})
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert (after - before) / 1024 < 100, after - before
"""
    subprocess.run([sys.executable, "-c", code], check=True)
