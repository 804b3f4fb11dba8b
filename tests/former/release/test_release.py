"""The bundle on disk: whole or not there, and never silently changed."""

import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from bundles import COUNTS, forge, make, reweigh
from holdfast.errors import HoldfastError
from holdfast.former.mechanism.weights import Weights
from holdfast.former.release import bundle as bundle_module
from holdfast.former.release.target_text import target_to_json


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make().save(tmp_path_factory.mktemp("whole") / "release")


@pytest.fixture
def bundle(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "release")


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_a_bundle_loads_as_it_was_saved(tmp_path, table_format):
    release = make(contributions=2)
    loaded = holdfast.load(release.save(tmp_path / "out", table_format=table_format))
    assert np.array_equal(loaded.counts, release.counts)
    assert np.array_equal(loaded.target, release.target)
    assert np.array_equal(loaded.mechanism.weights, release.mechanism.weights)
    assert loaded.privacy == release.privacy
    assert loaded.summary() == release.summary()
    assert loaded.privacy.simulated
    files = {"table." + table_format, "release.json", "mechanism.weights", "distribution.svg"}
    files |= {"README.md", "deployment.yaml", "SHA256SUMS"}
    files |= {"intervals.csv", "mechanism.csv", "codebook.md"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == files
    assert os.listdir(tmp_path) == ["out"]


def test_a_plain_array_makes_a_bundle_too(tmp_path):
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=8)
    loaded = holdfast.load(release.save(tmp_path / "out"))
    assert np.array_equal(loaded.table, release.counts)
    assert not loaded.privacy.simulated


def test_a_bundle_with_structural_zeros_loads(tmp_path):
    mask = (COUNTS == 0).tolist()
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=8, structural_zero=mask)
    loaded = holdfast.load(release.save(tmp_path / "out"))
    assert loaded.structural_zeros == sum(mask)


def test_a_corrupt_weight_fails_on_loading(bundle):
    def move(weights, change):
        weights[0, 0] -= change
        weights[0, 1] += change
        return weights

    before = (bundle / "mechanism.weights").read_bytes()
    reweigh(bundle, lambda weights: move(weights, 2**58))
    with pytest.raises(HoldfastError, match="fixed point"):
        holdfast.load(bundle)
    (bundle / "mechanism.weights").write_bytes(before)
    with pytest.raises(HoldfastError, match=r"mechanism\.weights"):
        holdfast.load(bundle)


def test_a_corrupt_row_total_fails_on_loading(bundle):
    def lessen(weights):
        weights[2, 2] -= 1
        return weights

    reweigh(bundle, lessen)
    with pytest.raises(HoldfastError, match="add up"):
        holdfast.load(bundle)


@pytest.mark.parametrize(
    "privacy",
    [
        {"epsilon": "1/2"},
        {"stage_2": "1/2"},
        {"epsilon": "9/10", "stage_2": "2/3"},
        {"contributions": 2},
        {"steps": 2},
        {"contributions": 2, "steps": 2},
        {"stage_1_certified": "9"},
        {"stage_1": "1/0"},
        {"stage_2_certified": "1/100"},
        {"bound": "1/100"},
        {"bound_certified": "1/100"},
        {"delta": "1"},
        {"delta": "-1/9"},
    ],
)
def test_a_corrupt_epsilon_fails_on_loading(bundle, privacy):
    forge(bundle, privacy=privacy)
    with pytest.raises(HoldfastError):
        holdfast.load(bundle)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 1},
        {"schema": 4},
        {"rows": 3},
        {"rows": 405, "structural_zeros": -5},
        {"max_count": 9},
        {"target": [1]},
        {"files": {}},
        {"files": ["table.csv"]},
        {"files": {"../secret": "0"}},
    ],
    ids=str,
)
def test_a_record_that_does_not_fit_fails_on_loading(bundle, change):
    forge(bundle, **change)
    with pytest.raises(HoldfastError):
        holdfast.load(bundle)


@pytest.mark.parametrize(
    "change", [None, {"max_count": 7}, {"epsilon": "1/9"}, {"q": "1/0"}], ids=str
)
def test_a_bound_that_does_not_fit_fails_on_loading(tmp_path, change):
    quantile = holdfast.PrivateQuantile("0.9", epsilon="1/8", highest=20)
    bundle = make(max_count=quantile).save(tmp_path / "release")
    record = json.loads((bundle / "release.json").read_text())["max_count_found"]
    assert record["max_count"] < 7
    forge(bundle, max_count_found=record)
    assert holdfast.load(bundle).max_count_found.epsilon == Fraction(1, 8)
    forge(bundle, max_count_found=change and record | change)
    with pytest.raises(HoldfastError):
        holdfast.load(bundle)


@pytest.mark.parametrize(
    "name", ["table.csv", "release.json", "mechanism.weights", "deployment.yaml"]
)
def test_a_missing_or_broken_file_fails_on_loading(bundle, name):
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(HoldfastError):
        holdfast.load(bundle)
    (bundle / name).unlink()
    with pytest.raises(HoldfastError):
        holdfast.load(bundle)


def test_a_changed_table_fails_on_loading(bundle):
    text = (bundle / "table.csv").read_text()
    (bundle / "table.csv").write_text(text.replace("p7,", "p7,1"))
    with pytest.raises(HoldfastError, match=r"table\.csv"):
        holdfast.load(bundle)


@pytest.mark.parametrize("key", ["simulated", "stage_1_certified", "randomness"])
def test_a_record_that_was_edited_by_hand_fails_on_loading(bundle, key):
    path = bundle / "release.json"
    record = json.loads(path.read_text())
    record["privacy"][key] = {"simulated": False, "stage_1_certified": "0"}.get(key, "dice")
    path.write_text(json.dumps(record))
    with pytest.raises(HoldfastError, match="was changed"):
        holdfast.load(bundle)


def test_what_is_no_folder_is_said(tmp_path):
    with pytest.raises(HoldfastError, match="no folder"):
        holdfast.load(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(HoldfastError, match="not a whole"):
        holdfast.load(tmp_path / "empty")


def test_an_unknown_table_format_is_refused(tmp_path):
    with pytest.raises(HoldfastError, match="table_format"):
        make().save(tmp_path / "release", table_format="xlsx")
    assert os.listdir(tmp_path) == []


def test_what_is_there_already_is_never_touched(tmp_path):
    release = make()
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    for name in ("folder", "file"):
        with pytest.raises(HoldfastError, match="exists already"):
            release.save(tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    assert list((tmp_path / "folder").iterdir()) == []


def test_of_many_at_once_one_writes_and_the_others_are_told(tmp_path):
    release = make()

    def attempt(_):
        try:
            return release.save(tmp_path / "release")
        except HoldfastError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(attempt, range(8)))
    told = [result for result in results if isinstance(result, str)]
    assert len(told) == 7 and all("exists already" in words for words in told)
    assert os.listdir(tmp_path) == ["release"] and holdfast.verify(tmp_path / "release")


def test_what_appears_at_the_last_moment_is_not_touched(tmp_path, monkeypatch):
    rename = os.rename

    def race(source, place):
        place.mkdir()
        (place / "mine").touch()
        rename(source, place)

    monkeypatch.setattr(os, "rename", race)
    with pytest.raises(HoldfastError, match="exists already"):
        make().save(tmp_path / "release")
    assert [path.name for path in tmp_path.rglob("*")] == ["release", "mine"]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    with pytest.raises(HoldfastError, match="does not exist"):
        make().save(tmp_path / "missing" / "release")
    (tmp_path / "file").write_text("")
    with pytest.raises(HoldfastError, match="does not exist"):
        make().save(tmp_path / "file" / "release")


def test_a_bundle_of_the_first_schema_is_refused_by_name(bundle):
    forge(bundle, schema=1)
    with pytest.raises(
        HoldfastError, match="schema 1, of an older holdfast; this one reads 2 to 5"
    ):
        holdfast.load(bundle)


@pytest.mark.parametrize("step", ["file_hash", "_flush", "written"])
def test_a_failure_half_way_leaves_nothing(tmp_path, monkeypatch, step):
    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(bundle_module, step, fail)
    with pytest.raises(HoldfastError, match="nothing was released"):
        make().save(tmp_path / "release")
    assert os.listdir(tmp_path) == []


def test_a_tampered_mechanism_is_not_saved(tmp_path):
    release = make()
    weights = release.mechanism.weights.copy()
    weights[0, 0] -= 1
    weights[0, 1] += 1
    object.__setattr__(release.mechanism, "integers", Weights(weights))
    with pytest.raises(HoldfastError):
        release.save(tmp_path / "release")
    assert os.listdir(tmp_path) == []


def arrays_in(thing, seen):
    """Every array that can be reached from an object."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, pd.DataFrame):
        yield from (thing[column].to_numpy() for column in thing)
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from arrays_in(value, seen)
    elif isinstance(thing, tuple | list):
        for value in thing:
            yield from arrays_in(value, seen)
    elif hasattr(thing, "__dict__"):
        yield from arrays_in(vars(thing), seen)


def test_nothing_in_a_release_is_a_true_count_or_histogram():
    true = [COUNTS, COUNTS.clip(max=8), np.bincount(COUNTS.clip(max=8), minlength=9)]
    found = list(arrays_in(make(), {}))
    assert len(found) >= 4
    for array in found:
        assert not any(np.array_equal(array, secret) for secret in true)


@pytest.mark.parametrize("delta", ["1e-6", "3e-7", "1e-12"])
def test_a_release_with_a_small_delta_can_be_saved_and_loaded(tmp_path, delta):
    gaussian = holdfast.baselines.DiscreteGaussian(delta=delta)
    release = holdfast.privatize([0, 1, 2], epsilon=1, max_count=3, constructor=gaussian)
    assert holdfast.load(release.save(tmp_path / "release")).privacy == release.privacy


@pytest.fixture(scope="module")
def long_release():
    return holdfast.privatize([0] * 300 + [15_000] * 20, epsilon=1, max_count=20_000, seed=2)


def test_z_of_a_long_range_is_a_short_text_and_may_be_numbers_as_before(tmp_path, long_release):
    folder = long_release.save(tmp_path / "out")
    stated = json.loads((folder / "release.json").read_text())["target"]
    assert isinstance(stated, str) and len(stated) < 40_000
    assert np.array_equal(holdfast.load(folder).target, long_release.target)
    forge(folder, target=long_release.target.tolist())
    assert np.array_equal(holdfast.load(folder).target, long_release.target)


@pytest.mark.parametrize(
    ("forged", "said"),
    [
        (lambda z: "no Base64!", "its text is damaged"),
        (lambda z: "AAAA", "its text is damaged"),
        (lambda z: target_to_json(z[:-1]), "a number for every count"),
        (lambda z: target_to_json(z)[:-8], "a number for every count|damaged"),
        (lambda z: target_to_json(np.append(z, 0.0)), "a number for every count"),
        (lambda z: target_to_json(z[::-1]), "fixed point"),
        (lambda z: target_to_json(z - 1), "not a number of 0 or more"),
    ],
)
def test_a_forged_text_of_z_is_found(tmp_path, long_release, forged, said):
    folder = long_release.save(tmp_path / "out")
    forge(folder, target=forged(long_release.target))
    assert re.search(said, " ".join(holdfast.verify(folder).damage))


def test_a_readme_promises_no_noise_where_counts_are_large(tmp_path):
    counts = np.random.default_rng(1).lognormal(7, 1, size=300).astype(int)
    release = holdfast.privatize(counts, epsilon=1, max_count=50_000, seed=1)
    release.save(tmp_path / "release")
    said = (tmp_path / "release" / "README.md").read_text()
    assert "mostly noise" not in said and "off by more than one row is" in said
    assert ">50,000+</text>" in (tmp_path / "release" / "distribution.svg").read_text()
