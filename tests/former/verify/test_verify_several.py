"""A bundle of several counts that was tampered with does not pass."""

import hashlib
import json
import shutil
from fractions import Fraction

import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.verify.record import check_fields
from several_tables import NAMES, TOPS, three_counts


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several") / "out"
    release = holdfast.privatize(
        three_counts(), count=list(NAMES), category="name", max_count=TOPS, epsilon=3, seed=1,
        joint=True,
    )  # fmt: skip
    release.save(folder)
    return folder


@pytest.fixture
def bundle(original, tmp_path):
    return shutil.copytree(original, tmp_path / "out")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def edit(folder, change):
    """Change a record, and make all sums right again."""
    record = json.loads((folder / "release.json").read_text())
    change(record)
    (folder / "release.json").write_text(json.dumps(record, indent=1) + "\n")
    resum(folder)


def resum(folder):
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    names = [line.split("  ")[1] for line in lines]
    text = "".join(f"{digest(folder / name)}  {name}\n" for name in names)
    (folder / "SHA256SUMS").write_text(text)


def edit_column(bundle, name, change):
    edit(bundle / name, change)
    edit(bundle, lambda record: restated(record, bundle))


def restated(record, bundle):
    for place in record["counts"]:
        place["sha256"] = digest(bundle / place["folder"] / "SHA256SUMS")


def test_a_release_of_three_columns_verifies(original):
    report = holdfast.verify(original)
    assert report.passed and report.simulated and report.warnings == ()
    assert {"a: certificate", "b: measurement", "c: measurement", "budget"} <= {
        check.name for check in report.checks
    }
    fits = [c.detail for c in report.checks if c.name in ("b: measurement", "c: measurement")]
    assert all("joint fit" in detail for detail in fits)


def test_a_column_alone_verifies_and_says_what_it_takes_more(original):
    report = holdfast.verify(original / "2-b")
    assert report.passed and "whole release" in report.warnings[0]


def test_one_column_is_not_saved_beside_counts_that_nothing_vouches_for(tmp_path):
    release = holdfast.privatize(
        three_counts(), count=list(NAMES), category="name", max_count=TOPS, epsilon=3, seed=1
    )
    with pytest.raises(HoldfastError, match="save the whole release"):
        release["a"].save(tmp_path / "out")


def test_counts_that_a_single_column_was_put_beside_are_not_vouched_for(bundle):
    folder = bundle / "1-a"
    record = json.loads((folder / "release.json").read_text())
    del record["table_above"]
    found = check_fields(record)
    assert found.claimed and "they may be true counts" in found.warning


def charge_one_for_two(record):
    record["privacy"]["person_in"] = "one column"
    record["privacy"]["epsilon"] = "1"


def another_weight(record):
    record["privacy"]["weights"] = ["1", "2", "3"]


def fewer_rows(record):
    record["privacy"]["person_rows"] = 2


def other_words(record):
    record["privacy"]["neighbours"] = record["privacy"]["neighbours"].replace("by at most 1", "")


def apart(record):
    record["joint"] = False


def more_certified(record):
    record["privacy"]["certified_epsilon_decimal"] = "2"


@pytest.mark.parametrize(
    "change", [charge_one_for_two, another_weight, fewer_rows, other_words, apart, more_certified]
)
def test_a_promise_that_the_columns_do_not_keep_is_found(bundle, change):
    edit(bundle, change)
    assert not holdfast.verify(bundle)


def test_a_column_with_less_than_its_part_is_found(bundle):
    def change(record):
        privacy = record["privacy"]
        privacy["epsilon"] = str(Fraction(privacy["epsilon"]) / 2)

    edit_column(bundle, "2-b", change)
    assert not holdfast.verify(bundle)


def test_another_target_is_found(bundle):
    def change(record):
        first, second = record["target"][:2]
        record["target"][:2] = [first - 0.01, second + 0.01]

    edit_column(bundle, "2-b", change)
    assert not holdfast.verify(bundle)


def test_columns_that_changed_places_are_found(bundle):
    (bundle / "2-b").rename(bundle / "x")
    (bundle / "3-c").rename(bundle / "2-b")
    (bundle / "x").rename(bundle / "3-c")
    edit(bundle, lambda record: restated(record, bundle))
    assert not holdfast.verify(bundle)


@pytest.mark.parametrize("name", ["README.md", "table.csv", "2-b/mechanism.groups", "1-a"])
def test_a_file_that_was_changed_or_lost_is_found(bundle, name):
    path = bundle / name
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.write_bytes(path.read_bytes() + b" ")
    assert not holdfast.verify(bundle)


def test_a_file_too_many_is_found(bundle):
    (bundle / "notes.txt").write_text("hello")
    assert not holdfast.verify(bundle)
