"""A sample of benchmarks/attacks_verify.py: what is forged is found, and wears nobody out."""

import hashlib
import shutil
import sys
import tracemalloc

import numpy as np
import pytest

import holdfast.former as holdfast
from attacks import (
    WORST,
    heavy_weights,
    many_chunks,
    many_columns,
    plant_record,
    reason,
    record_mutations,
    text_mutations,
    tied_weights,
)
from bundles import make, make_curves, read_record, repair, without_plain_files
from holdfast.former.release.text import written

MIB = 1 << 20


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    make().save(folder / "weights")
    make_curves().save(folder / "curves")
    return folder


@pytest.mark.parametrize("strong", [False, True], ids=["weak", "strong"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # pictures of records that make no sense
def test_what_passes_after_an_edit_of_the_record_has_a_reason(whole, tmp_path, strong):
    mutations = list(record_mutations(read_record(whole / "curves")))
    assert len(mutations) > 300
    for k, (path, record) in enumerate(mutations[strong::18]):
        bundle = shutil.copytree(whole / "curves", tmp_path / str(k))
        plant_record(bundle, record, strong=strong)
        assert not holdfast.verify(bundle) or reason(path), path


@pytest.mark.parametrize("name", ["README.md", "deployment.yaml", "distribution.svg"])
def test_no_edit_of_a_text_passes(whole, tmp_path, name):
    text = (whole / "curves" / name).read_text()
    bundle = shutil.copytree(whole / "curves", tmp_path / "release")
    for changed in text_mutations(text, np.random.default_rng(3), 12):
        (bundle / name).write_text(changed)
        repair(bundle)
        assert not holdfast.verify(bundle)


def peak(bundle):
    tracemalloc.start()
    try:
        assert not holdfast.verify(bundle)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


LARGE = ("weights", "ties", "Parquet", "a row of", "a header of", "600,000 columns")
SMALL = [name for name in WORST if not name.startswith(LARGE)]


@pytest.mark.parametrize("name", SMALL)
def test_texts_that_would_wear_a_reader_out_take_little_memory(whole, tmp_path, name):
    bundle = shutil.copytree(whole / "weights", tmp_path / "release")
    WORST[name](bundle)
    assert peak(bundle) < 250 * MIB


def test_many_columns_take_little_memory_for_each(whole, tmp_path):
    bundle = shutil.copytree(whole / "weights", tmp_path / "release")
    many_columns(bundle, 15_000)  # a fortieth of what a record has room for
    assert peak(bundle) < 8 * MIB


@pytest.mark.parametrize("inflict", [heavy_weights, tied_weights])
def test_hostile_weights_take_no_more_room_than_weights_do(whole, tmp_path, inflict):
    n = 1_024
    bundle = shutil.copytree(whole / "weights", tmp_path / "release")
    inflict(bundle, n)
    assert peak(bundle) < 8 * n * n + 12 * MIB


def calls(bundle):
    """How many calls a verification makes."""
    events = [0]

    def count(frame, event, argument):
        events[0] += 1

    sys.setprofile(count)
    try:
        holdfast.verify(bundle)
    finally:
        sys.setprofile(None)
    return events[0]


def test_work_grows_with_the_columns_of_a_parquet_table_and_not_with_their_square(whole, tmp_path):
    work = []
    for columns in (50, 100, 200):
        bundle = shutil.copytree(whole / "weights", tmp_path / str(columns))
        many_chunks(bundle, columns, groups=10)
        work.append(calls(bundle))
    assert work[2] - work[1] < 2.5 * (work[1] - work[0])


def test_a_mechanism_of_curves_takes_memory_for_its_columns_alone(tmp_path):
    n = 2_001
    z = np.exp(-np.arange(n) / 300)
    counts = np.random.default_rng(1).choice(n, 3_000, p=z / z.sum())
    release = holdfast.privatize(counts, epsilon=2, max_count=n - 1, seed=1)
    bundle = release.save(tmp_path / "release")
    holdfast.verify(bundle).require()
    tracemalloc.start()
    try:
        assert holdfast.verify(bundle)
        assert tracemalloc.get_traced_memory()[1] < 8 * n * n / 4
    finally:
        tracemalloc.stop()


def plant_counts(bundle, counts):
    lines = (bundle / "table.csv").read_text().splitlines()
    rows = [f"{cell}\n" for cell in [lines[0], *counts]]
    (bundle / "table.csv").write_text("".join(rows))
    repair(bundle)
    without_plain_files(bundle)


@pytest.mark.parametrize("forged", ["zero", "flat", "doubled"])
def test_absurd_counts_are_possible_and_warned_of(tmp_path, forged):
    counts = np.random.default_rng(1).poisson(2, 5_000)
    release = holdfast.privatize(counts, epsilon=4, max_count=20, seed=1)
    bundle = release.save(tmp_path / "release")
    report = holdfast.verify(bundle)
    assert report and report.warnings == ()
    detail = next(check.detail for check in report.checks if check.name == "chance")
    assert "has probability" in detail and "10^" not in detail
    others = {
        "zero": np.zeros(5_000, dtype=int),
        "flat": np.arange(5_000) % 21,
        "doubled": np.minimum(release.counts * 2, 20),
    }
    plant_counts(bundle, others[forged])
    report = holdfast.verify(bundle)
    assert report.damage == ()
    (warning,) = report.warnings
    assert "has probability at most 10^-" in warning


def test_a_release_of_few_rows_is_not_called_absurd(tmp_path):
    for seed in range(6):
        release = holdfast.privatize([0, 0, 7, 1] * 5, epsilon="0.1", max_count=9, seed=seed)
        assert holdfast.verify(release.save(tmp_path / str(seed))).warnings == ()


def test_the_words_of_schema_3_do_not_change_unseen(whole):
    """Once a release is out, other words are of another schema: see `holdfast.verify.texts`."""
    record = read_record(whole / "curves") | {"holdfast": "0.1.0"}
    del record["intervals"], record["category"]
    rows = [100, 100, 50, 50, 40, 30, 20, 5, 5]
    for first, expected in ((True, "0b9574a04375f507"), (False, "9ad821b6c236571b")):
        texts = written(record, rows, "table.csv", "mechanism.curves", first=first)
        digest = hashlib.sha256("".join(texts.values()).encode()).hexdigest()
        assert digest[:16] == expected
