"""Reading a bundle again: what was saved comes back, and what was damaged does not."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.release import record as limits
from holdfast.release.load import load
from holdfast.release.record import parse_json
from made_releases import counties, made_release
from plain_measurements import plain


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    cells, counts = counties()
    release = made_release(
        {"homicides": counts}, cells, within="state", missing=[4], structural_zero=[5],
        notes=("a note",), receipt="entry 3", period="1996", request={"epsilon": "1"},
    )  # fmt: skip
    return release, release.save(tmp_path_factory.mktemp("demo") / "release")


@pytest.fixture
def copy(demo, tmp_path):
    return Path(shutil.copytree(demo[1], tmp_path / "copy"))


def sealed(folder: Path) -> Path:
    """The same folder with sums that fit its files, as a forger leaves it."""
    said = json.loads((folder / "release.json").read_text())
    for name, stated in said["files"].items():
        data = (folder / name).read_bytes()
        stated.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    (folder / "release.json").write_text(json.dumps(said))
    names = sorted([*said["files"], "release.json"])
    sums = [f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names]
    (folder / "SHA256SUMS").write_text("".join(sums))
    return folder


def changed(folder: Path, **fields) -> Path:
    said = json.loads((folder / "release.json").read_text())
    (folder / "release.json").write_text(json.dumps(said | fields))
    return sealed(folder)


def test_a_release_comes_back_as_it_was(demo):
    release, folder = demo
    again = load(folder)
    for name in ("counts", "noisy", "structural_zero"):
        assert (getattr(again, name) == getattr(release, name)).all()
    for name in ("measured", "missing", "group"):
        assert (getattr(again.only, name) == getattr(release.only, name)).all()
    assert plain(again.only.measurement) == plain(release.only.measurement)
    assert again.promise == release.promise and again.group_names == release.group_names
    for name in ("cells", "category", "published", "notes", "receipt", "period", "request"):
        assert getattr(again, name) == getattr(release, name)
    assert again.partition.within == release.partition.within
    assert again.made_with == release.made_with and repr(again) == repr(release)


def test_what_comes_back_is_saved_as_the_same_bytes(demo, tmp_path):
    _, folder = demo
    again = load(folder).save(tmp_path / "again")
    assert (again / "SHA256SUMS").read_bytes() == (folder / "SHA256SUMS").read_bytes()


def test_the_published_distribution_holds_whatever_another_fit_would_say(copy):
    path = copy / "distribution.csv"
    text = path.read_text()
    row = re.search(r"homicides,01,0,(\d+),.*\nhomicides,01,1,(\d+),", text)
    new = row[0].replace(f",0,{row[1]},", f",0,{int(row[1]) + 1},")
    new = new.replace(f",1,{row[2]},", f",1,{int(row[2]) - 1},")
    path.write_text(text.replace(row[0], new))
    column = load(sealed(copy)).only
    assert column.histograms[0].rows[0] == column.estimate.histograms[0].rows[0] + 1
    inside = column.counts[(column.group == 0) & column.measured]
    assert (inside == 0).sum() == column.histograms[0].rows[0]


@pytest.mark.parametrize("name", ["rows.csv", "table.csv", "README.md", "release.json"])
def test_a_damaged_file_is_named(copy, name):
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(HoldfastError, match=f"{name}.*(changed|JSON|UTF)"):
        load(copy)


@pytest.mark.parametrize("name", ["rows.csv", "table.csv", "release.json", "SHA256SUMS"])
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    with pytest.raises(HoldfastError, match=f"{name}` is missing"):
        load(copy)


def test_links_are_not_followed(copy, tmp_path):
    (tmp_path / "elsewhere.csv").write_bytes((copy / "rows.csv").read_bytes())
    (copy / "rows.csv").unlink()
    (copy / "rows.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(HoldfastError, match="is missing"):
        load(copy)


def test_no_folder_and_another_schema_are_told(tmp_path, copy):
    with pytest.raises(HoldfastError, match="no folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(HoldfastError, match="schema 1"):
        load(changed(copy, schema=2))


FORGED = [
    ("rows.csv", lambda text: text.replace("\n01003,01,", "\n01003,nowhere,", 1)),
    ("rows.csv", lambda text: text.rsplit("\n", 2)[0] + "\n"),
    ("rows.csv", lambda text: re.sub(r"\n01001,01,-?\d+", "\n01001,01,1e3", text)),
    ("rows.csv", lambda text: re.sub(r"\n01001,01,-?\d+", f"\n01001,01,{9**30}", text)),
    ("rows.csv", lambda text: text.replace("\n01003,01", '\n01003,"01', 1)),
    ("rows.csv", lambda text: text.replace("_noisy", "_noise", 1)),
    ("rows.csv", lambda text: text.replace("\n01003,", "\n01003,,", 1)),
    ("distribution.csv", lambda text: text.replace("homicides,01,0,", "homicides,01,1,", 1)),
    ("distribution.csv", lambda text: text.replace("homicides,01,0,", "homicides,01,-1,", 1)),
]


@pytest.mark.parametrize("number", range(len(FORGED)))
def test_what_cannot_be_read_is_refused_in_words(copy, number):
    name, forge = FORGED[number]
    text = (copy / name).read_text()
    assert forge(text) != text
    (copy / name).write_text(forge(text))
    with pytest.raises(HoldfastError):
        load(sealed(copy)).counts  # noqa: B018


FIELDS = {
    "counts": [], "groups": {}, "promise": None, "published": ["nobody"], "category": 3,
    "table": {"file": "../table.csv", "rows": 3, "structural_zeros": 0, "delimiter": ",",
              "newline": "\n", "bom": False},
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_a_record_that_does_not_say_what_it_must_is_refused_in_words(copy, name):
    with pytest.raises(HoldfastError):
        load(changed(copy, **{name: FIELDS[name]})).cells  # noqa: B018


def test_names_of_groups_must_be_those_of_their_labels(copy):
    said = json.loads((copy / "release.json").read_text())
    said["groups"]["names"][0] = "another"
    with pytest.raises(HoldfastError, match="name its groups"):
        load(changed(copy, groups=said["groups"]))


BOMBS = {
    "twice": b'{"a": 1, "a": 1}',
    "nan": b'{"a": NaN}',
    "deep": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "digits": b'{"a": ' + b"9" * 5000 + b"}",
    "entries": b"[" + b"1," * (limits.MOST_ENTRIES + 2) + b"1]",
    "list": b"[1]",
    "text": b"\xff\xfe",
    "open": b'{"a": "' + b"\\" * 100_001,
    "quotes": b'{"a' * 100_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_strict_json_refuses_what_takes_for_ever_or_means_two_things(name):
    with pytest.raises(HoldfastError):
        parse_json(BOMBS[name], "x.json")


def test_a_file_larger_than_it_may_be_is_not_read(copy):
    with (copy / "release.json").open("ab") as file:
        file.truncate(limits.MOST_BYTES["release.json"] + 1)
    with pytest.raises(HoldfastError, match="larger than"):
        load(copy)


def test_a_parquet_file_that_would_grow_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    cells = {"id": [f"p{i}" for i in range(3000)]}
    release = replace(made_release({"n": [1, 2] * 1500}, cells), table_format="parquet")
    folder = release.save(tmp_path / "r")
    same = pa.DictionaryArray.from_arrays(np.zeros(3000, dtype=np.int32), ["x" * 1_000_000])
    long = pa.table({"id": same, "n": release.counts})
    options = {"store_schema": False, "write_statistics": False}
    parquet.write_table(long, folder / "table.parquet", **options)
    assert (folder / "table.parquet").stat().st_size < 3_000_000
    with pytest.raises(HoldfastError, match="more data than"):
        load(sealed(folder)).cells  # noqa: B018


def test_makers_and_readers_have_the_same_limits(monkeypatch, copy, tmp_path):
    monkeypatch.setattr("holdfast.release.record.MOST_GROUPS", 10)
    with pytest.raises(HoldfastError, match="46 groups, and a release at most 10"):
        load(copy)
    cells, counts = counties()
    with pytest.raises(HoldfastError, match="46 groups, and a release at most 10"):
        made_release({"n": counts}, cells, within="state").save(tmp_path / "r")


def test_every_round_trip_of_small_tables_is_exact(tmp_path):
    rng = np.random.default_rng(3)
    for number in range(20):
        rows = int(rng.integers(1, 60))
        marks = rng.permutation(rows)[: int(rng.integers(0, max(rows // 3, 1)))]
        absent, zero = np.split(marks, [len(marks) // 2])
        cells = {"k": [str(x) for x in rng.integers(0, 3, rows)]}
        release = made_release(
            {"n": rng.integers(0, 40, rows) * ~np.isin(np.arange(rows), zero)}, cells,
            within="k", missing=absent, structural_zero=zero, seed=number, epsilon=2,
            contributions=int(rng.integers(1, 4)),
        )  # fmt: skip
        again = load(release.save(tmp_path / str(number)))
        assert (again.counts == release.counts).all()
        assert plain(again.only.measurement) == plain(release.only.measurement)
