"""What `verify` finds in bundles whose mechanism is made of curves, sums and digest repaired."""

import hashlib
import os
import re
import shutil
import struct
import zlib
from fractions import Fraction

import numpy as np
import pytest

import holdfast.former as holdfast
from bundles import forge, make_curves, read_record, repair
from holdfast.former.mechanism.weights import TOTAL
from holdfast.former.release.mechanism_file import HEADER, decode_curves
from holdfast.former.verify.curve_table import CurveTable
from holdfast.former.verify.curves import exact_powers
from holdfast.former.privacy.rational import decay_table

NAME = "mechanism.curves"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make_curves().save(tmp_path_factory.mktemp("whole") / "release")


@pytest.fixture
def bundle(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "release")


def rewrite(bundle, *, digest=True, lift=0, magic=b"holdfast", version=2, n=9, more=b"", **changes):
    """The file with some of its integers changed, its digest and all sums repaired."""
    epsilon = read_record(bundle)["certificate"]["epsilon"]
    curves = decode_curves((bundle / NAME).read_bytes(), Fraction(epsilon))
    arrays = {k: getattr(curves, k).copy() for k in ("turns", "heights", "floors")}
    for name, change in changes.items():
        change(arrays[name])
    data = np.stack(list(arrays.values())).astype("<i8").tobytes()
    packed = zlib.compress(data) + more
    (bundle / NAME).write_bytes(HEADER.pack(magic, version, n, lift, len(packed)) + packed)
    sums = hashlib.sha256(f"holdfast curves n={n} lift={lift} epsilon={epsilon}\n".encode() + data)
    forge(bundle, **{"mechanism_digest": sums.hexdigest()} if digest else {})


def add(at, by):
    def change(array):
        array[at] += by

    return change


LIVE = 3

FORGERIES = {
    "a turn": ({"turns": add(LIVE, 1)}, "not in order at output 4"),
    "a height": ({"heights": add(LIVE, 2**54)}, "fixed point|certificate|negative|expected"),
    "a height by one": ({"heights": add(LIVE, 1), "digest": False}, "mechanism_digest"),
    "a floor": ({"floors": add(LIVE, 1)}, "add up to 2\\^62|outside its range"),
    "a floor moved": (
        {"floors": lambda f: (add(LIVE, -1)(f), add(LIVE + 1, 1)(f)), "digest": False},
        "mechanism_digest",
    ),
    "no floor": (
        {"floors": lambda f: (add(0, int(f[LIVE]))(f), add(LIVE, -int(f[LIVE]))(f))},
        "impossible|certificate|negative",
    ),
    "the last curve": ({"heights": add(8, -1)}, "add up to 2\\^62|not in order"),
    "a negative turn": ({"turns": add(LIVE, -99)}, "outside its range"),
    "a height above all": ({"heights": add(LIVE, 2**62)}, "outside its range"),
    "a negative floor": ({"floors": add(LIVE, -99)}, "a floor lies outside its range"),
    "a huge floor": ({"floors": add(LIVE, 2**61)}, "a floor lies outside its range"),
    "a lift": ({"lift": 2**50}, "certificate|fixed point"),
    "a lift beyond all": ({"lift": 2**63}, "outside its range"),
    "curves in disorder": (
        {"turns": lambda t: t.__setitem__(slice(2, 4), t[2:4][::-1].copy()),
         "heights": lambda h: h.__setitem__(slice(2, 4), h[2:4][::-1].copy())},
        "not in order at output",
    ),
    "magic": ({"magic": b"holdfart"}, "does not begin as a file of curves"),
    "version": ({"version": 1}, "does not begin as a file of curves"),
    "n": ({"n": 10}, "n = 10, max_count \\+ 1 is 9"),
    "more bytes": ({"more": b"x"}, "three numbers for every count"),
}  # fmt: skip


def test_the_bundle_is_whole(whole):
    holdfast.verify(whole).require()
    assert os.path.exists(whole / NAME) and not os.path.exists(whole / "mechanism.weights")


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_named_and_not_loaded(bundle, name):
    changes, words = FORGERIES[name]
    rewrite(bundle, **changes)
    report = holdfast.verify(bundle)
    assert not report.passed
    assert any(re.search(words, damage) for damage in report.damage), report.damage
    with pytest.raises(holdfast.HoldfastError):
        holdfast.load(bundle)


def test_another_epsilon_is_found_by_what_the_curves_make_of_it(bundle):
    certificate = read_record(bundle)["certificate"]
    forge(bundle, certificate={"epsilon": str(Fraction(certificate["epsilon"]) * Fraction(9, 10))})
    assert not holdfast.verify(bundle)


def test_a_bomb_is_not_inflated(bundle):
    packed = zlib.compress(bytes(10**8))
    (bundle / NAME).write_bytes(struct.pack("<8sIIQQ", b"holdfast", 2, 9, 0, len(packed)) + packed)
    repair(bundle)
    assert any("length that its header" in damage for damage in holdfast.verify(bundle).damage)


@pytest.mark.parametrize("size", [0, 31, 32, 60])
def test_a_short_file_is_found(bundle, size):
    os.truncate(bundle / NAME, size)
    repair(bundle)
    assert not holdfast.verify(bundle)


def test_both_files_of_a_mechanism_are_one_too_many(bundle):
    shutil.copy(bundle / NAME, bundle / "mechanism.weights")
    assert any("exactly one of" in damage for damage in holdfast.verify(bundle).damage)


@pytest.mark.parametrize("epsilon", ["0.01", "1/3", "2", "10"])
def test_the_verifiers_powers_are_those_of_the_maker(epsilon):
    own = exact_powers(Fraction(epsilon), 400)
    made = decay_table(Fraction(epsilon), 400, total=TOTAL)
    assert own.tolist() == made + [0] * (400 - len(made))


def test_columns_between_equal_curves_are_not_looked_through():
    n, keep = 3000, TOTAL - 5 * 3000
    turns = np.repeat([0, 700, n - 1], [1000, 1999, 1])
    heights = np.repeat([keep // 3, keep // 2, keep], [1000, 1999, 1])
    table = CurveTable(
        turns,
        heights,
        np.full(n, 5),
        lift=0,
        powers=exact_powers(Fraction(1, 10), n),
    )
    found = list(table.pairs())
    outputs = np.unique(np.concatenate([pairs.outputs for pairs in found]))
    assert outputs.tolist() == [0, 1000, n - 1]
    columns = np.array([table.column(j) for j in range(n)])
    changing = np.flatnonzero((columns != columns[:, :1]).any(axis=1))
    assert changing.tolist() == outputs.tolist()
    seen = np.full((n, n), False)
    for outputs, rows, upper, lower in found:
        seen[outputs, rows] = True
        assert upper.astype(float) == pytest.approx(columns[outputs, rows], rel=1e-12)
        assert lower.astype(float) == pytest.approx(columns[outputs, rows + 1], rel=1e-12)
    assert not (np.diff(columns, axis=1) != 0)[~seen[:, :-1]].any()
