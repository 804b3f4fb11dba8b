"""The file of weights: what is written is read, by both readers and by the one in the docs."""

import hashlib
import io
import re
import zlib
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast.former as holdfast
from bundles import make
from holdfast.errors import HoldfastError
from holdfast.former.mechanism.weights import TOTAL
from holdfast.former.release.mechanism_file import decode_weights, encode_weights, packed
from holdfast.former.verify import mechanism as forms
from holdfast.former.verify.certificate import check_certificate, worst_ratio
from holdfast.former.verify.exact import exp_from_below
from holdfast.former.verify.mechanism import WeightTable
from holdfast.former.verify.record import Budget
from holdfast.former.verify.report import Damage
from holdfast.former.verify.weights import read_weights
from holdfast.former.privacy.rational import exp_below

weights_of_any_kind = st.integers(2, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, TOTAL), min_size=n, max_size=n), min_size=n, max_size=n
    )
)


@given(weights_of_any_kind)
def test_both_readers_read_what_was_written(tmp_path_factory, rows):
    weights = np.array(rows, dtype=np.int64)
    folder = tmp_path_factory.mktemp("weights")
    (folder / "mechanism.weights").write_bytes(encode_weights(weights))
    assert np.array_equal(decode_weights((folder / "mechanism.weights").read_bytes()), weights)
    columns = read_weights(folder, {"max_count": len(weights) - 1}).columns
    assert np.array_equal(columns.T.astype(np.int64), weights)


def test_the_reader_in_the_docs_reads_it(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "bundle.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n((?:(?!```).)*def read_weights.*?)```", text, re.DOTALL)[1]
    release = make(max_count=30)
    folder = release.save(tmp_path / "release")
    names = {}
    exec(code, names)
    rows = names["read_weights"](folder / "mechanism.weights")
    assert rows == release.mechanism.weights.tolist()


def test_the_format_does_not_change_unseen():
    weights = np.array([[1, 2, 2**62 - 3], [2**61, 2**61, 0], [0, 0, 2**62]])
    data = encode_weights(weights)
    length = (len(data) - 32).to_bytes(8, "little")
    assert data[:32] == b"holdfast" + b"\1\0\0\0" + b"\3\0\0\0" + bytes(7) + b"\x40" + length
    digest = hashlib.sha256(zlib.decompress(data[32:])).hexdigest()
    assert digest.startswith("f05c68aa0b439a7c")


@pytest.mark.parametrize("n", [51, 201])
def test_it_is_smaller_than_npz(n):
    z = np.exp(-np.arange(n) / (n / 8))
    mechanism = holdfast.constructors.Heuristic()(z / z.sum(), epsilon="0.5").mechanism
    packed = io.BytesIO()
    np.savez_compressed(packed, weights=mechanism.weights)
    assert len(encode_weights(mechanism.weights)) < 0.9 * packed.tell()


def test_what_is_no_file_of_weights_is_refused():
    with pytest.raises(HoldfastError, match="not the file of a mechanism"):
        decode_weights(bytes(64))
    with pytest.raises(HoldfastError, match="not a file of weights"):
        decode_weights(packed(2, 1, TOTAL, bytes(8)))


@given(st.lists(st.lists(st.integers(1, TOTAL), min_size=4, max_size=4), min_size=4, max_size=4))
def test_the_worst_ratio_is_that_of_fractions(rows):
    columns = np.array(rows, dtype=np.uint64)
    ratio, i, k, j = worst_ratio(WeightTable(columns))
    pairs = [(a, b) for column in rows for a, b in pairwise(column)]
    assert ratio == max(Fraction(max(a, b), min(a, b)) for a, b in pairs)
    assert ratio == Fraction(rows[j][i], rows[j][k])


def test_ratios_that_differ_in_the_last_bit_are_told_apart():
    big = TOTAL - 1
    columns = np.array([[big, big - 2, big - 1], [big, big - 1, big - 2]], dtype=np.uint64)
    assert worst_ratio(WeightTable(columns))[0] == Fraction(big, big - 2)


def test_more_weights_than_a_block_are_looked_at(monkeypatch):
    monkeypatch.setattr(forms, "STRIP", 8)
    columns = np.full((5, 4), 100, dtype=np.uint64)
    columns[3, 3] = 50
    assert worst_ratio(WeightTable(columns)) == (Fraction(2), 2, 3, 3)


@pytest.mark.parametrize("x", ["0", "1/1000000", "1/3", "1", "10"])
def test_the_two_bounds_on_e_agree(x):
    ours, theirs = exp_from_below(Fraction(x)), exp_below(Fraction(x))
    assert theirs <= ours and ours - theirs < ours / 2**240


def test_sums_that_wrap_around_are_not_taken_for_the_total():
    columns = np.full((4, 4), TOTAL, dtype=np.uint64)  # 2^64 = 0, and 2^62 more
    columns = np.vstack([columns, columns[:1]])[:, [0, 1, 2, 3, 0]]
    with pytest.raises(Damage, match="add up"):
        WeightTable(columns).check_row_totals()


def claims(epsilon, delta, promised, steps=1):
    """A record and a budget for a mechanism with a delta."""
    budget = Budget(
        **dict.fromkeys(
            ("epsilon", "bound", "stage_1", "bound_certified", "stage_1_certified"), Fraction()
        ),
        stage_2=Fraction(epsilon) * steps,
        stage_2_certified=Fraction(epsilon) * steps,
        delta=Fraction(promised),
        contributions=steps,
        steps=steps,
    )
    claim = {"epsilon": epsilon, "delta": delta, "certified_epsilon": epsilon}
    claim |= dict.fromkeys(("worst_ratio", "inputs", "output"))
    return {"certificate": claim | {"row_total": str(TOTAL)}}, budget


def test_a_delta_is_the_exact_excess_of_adjacent_rows():
    part = TOTAL // 8
    rows = np.array([[8 * part, 0], [7 * part, part]], dtype=np.uint64)
    columns = WeightTable(np.ascontiguousarray(rows.T))
    # at epsilon = 1/100 the second row exceeds the first by 1/8, the first by less
    check_certificate(columns, *claims("1/100", "1/8", "1/8"))
    with pytest.raises(Damage, match="input 1 exceeds input 0 by more than delta"):
        check_certificate(columns, *claims("1/100", "1249/10000", "1/8"))
    with pytest.raises(Damage, match="comes to in all its steps"):
        check_certificate(columns, *claims("1/100", "1/8", "1/9"))
    with pytest.raises(Damage, match="comes to in all its steps"):
        check_certificate(columns, *claims("1/100", "1/8", "1/4", steps=2))
    check_certificate(columns, *claims("1/100", "1/8", "3/10", steps=2))
