"""Sizes: what could not be read again is refused before it is paid, and the largest is readable."""

import pandas as pd
import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.release import record as limits
from holdfast.release.load import load
from holdfast.release.record import check_size
from made_releases import made_release

FINE = {"rows": 10, "columns": 1, "names": ("a",), "labels": [("x",)]}
TOO_MUCH = {
    "rows": {"rows": limits.MOST_ROWS + 1},
    "columns of counts": {"columns": limits.MOST_COLUMNS + 1},
    "groups": {"labels": [("x",)] * (limits.MOST_GROUPS + 1)},
    "groups in all columns": {"labels": [("x",)] * 6000, "columns": 9},
    "in the label of a group": {"labels": [("x" * 600, "y" * 600)]},
    "in labels of groups": {"labels": [("x" * 100,)] * 10_000, "columns": 2},
    "in the names": {"names": ("n" * 40_000, "m" * 40_000)},
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_what_is_too_large_is_named(what):
    check_size(**FINE)
    with pytest.raises(HoldfastError, match=f"{what}.*at most"):
        check_size(**FINE | TOO_MUCH[what])


def test_names_and_labels_of_the_longest_kind_are_written_and_read_again(tmp_path):
    longest = "\U0001f4a5" * limits.LONGEST_LABEL  # four bytes, ten characters in YAML
    labels = [f"{longest[:-2]}{k:02d}" for k in range(6)]
    names = ["k", *(f"{'ü<|`' * 1500}{k}" for k in range(10))]
    cells = dict.fromkeys(names, labels)
    counts = {f"{'=<é`' * 40}{k}": [k % 3] * 6 for k in range(20)}
    release = made_release(counts, cells, within="k", epsilon=20)
    again = load(release.save(tmp_path / "r"))
    assert again.group_names == release.group_names and again.published == release.published


def test_too_many_groups_are_refused_before_anything_is_paid(tmp_path):
    ledger, table = tmp_path / "ledger.json", {"id": range(10_001), "n": [1] * 10_001}
    frame = pd.DataFrame(table)
    with pytest.raises(HoldfastError, match="10,001 groups, and a release at most 10,000"):
        holdfast.privatize(
            frame, epsilon=1, count="n", category="id", within="id", ledger=ledger, dataset="d"
        )
    assert not ledger.exists()


def test_counts_that_no_float_holds_are_verified_exactly(tmp_path):
    """The highest count of a table is 2^53, and noise makes some of them odd numbers above it."""
    cells = {"place": [f"p{k}" for k in range(24)], "state": [f"s{k % 4}" for k in range(24)]}
    release = made_release([2**53] * 12 + [0] * 12, cells, within="state")
    assert any(count > 2**53 and count % 2 for count in release.counts.tolist())
    assert holdfast.verify(release.save(tmp_path / "r")).passed


LONG = "0.123456789012345678901234567890123456789012"


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": f"{LONG}1"},
        {"epsilon": 1, "split": LONG},
        {"epsilon": 1, "totals": LONG},
        {"epsilon": 1, "count": ["n", "m"], "weights": {"n": LONG, "m": 1}},
        {"epsilon": 1, "top": 2**53 + 1},
    ],
)
def test_numbers_that_nobody_would_read_again_are_refused_before_they_are_paid(tmp_path, options):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("d", epsilon=5)
    table = {"id": range(40), "n": [1, 4] * 20, "m": [2, 7, 1, 0] * 10}
    options = {"count": "n", "category": "id"} | options
    with pytest.raises(HoldfastError, match=r"digits|must be a whole number"):
        holdfast.privatize(pd.DataFrame(table), ledger=ledger, dataset="d", **options)
    assert not ledger.spends()


@pytest.mark.parametrize("top", [1000, 2**31, 2**53])
def test_a_top_code_above_every_count_is_verified(tmp_path, top):
    release = holdfast.privatize([0, 3, 1, 7] * 20, epsilon=1, seed=1, top=top)
    assert holdfast.verify(release.save(tmp_path / "r")).passed


def test_the_longest_exact_numbers_that_are_taken_are_read_again(tmp_path):
    release = holdfast.privatize(
        [0, 3, 1, 7] * 20, epsilon="0.9999999999", contributions=9973, rows=9973,
        totals="0.123456789", split="0.987654321", seed=1,
    )  # fmt: skip
    assert holdfast.verify(release.save(tmp_path / "r")).passed
