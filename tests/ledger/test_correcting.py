"""A table that changed beside its counts: shown again where its rows are surely the same."""

from dataclasses import replace

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.stored import moved_labels
from small_engine import release as small_release

ROWS = 40
N = np.random.default_rng(3).poisson(1.5, ROWS)
COUNTY = [f"county {k}" for k in range(ROWS)]
STATE = ["NE", "CA"] * (ROWS // 2)
BESIDE = {"county": COUNTY, "state": STATE}


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=5)
    return ledger


@pytest.fixture
def first(ledger):
    return release(ledger)


def release(ledger, counts=N, beside=BESIDE, category="county", **changes):
    return small_release(ledger, counts, beside=beside, category=category, **changes)


def spends(ledger):
    return len(ledger.spends("crime"))


def renamed(name, before, now):
    return BESIDE | {name: [now if cell == before else cell for cell in BESIDE[name]]}


def swapped():
    """Two rows of equal counts in each other's place."""
    one, other = np.flatnonzero(N == 1)[:2]
    order = np.arange(ROWS)
    order[[one, other]] = other, one
    return {name: [cells[at] for at in order] for name, cells in BESIDE.items()}


ADDED = {
    "at the end": BESIDE | {"region": ["west"] * ROWS},
    "at the front": {"region": ["west"] * ROWS} | BESIDE,
    "none, in another order": {"state": STATE, "county": COUNTY},
}


@pytest.mark.parametrize("how", ADDED)
def test_an_added_column_is_no_second_payment(ledger, first, how):
    again = release(ledger, beside=ADDED[how])
    assert again.repeated and spends(ledger) == 1
    assert again.noisy == first.noisy and again.receipt == first.receipt


OTHER_COUNT = np.where(np.arange(ROWS) == 3, N + 1, N)
PAID = {
    "a label": {"beside": renamed("county", "county 7", "County Seven")},
    "a cell": {"beside": renamed("state", "CA", "California")},
    "a column taken away": {"beside": {"county": COUNTY}},
    "rows of equal counts in each other's place": {"beside": swapped()},
    "a count": {"counts": OTHER_COUNT},
    "the name of the column": {"counts": {"deaths": N}},
}


@pytest.mark.parametrize("what", PAID)
def test_whatever_else_changed_is_measured_and_paid_unless_somebody_vouches(ledger, first, what):
    assert not release(ledger, **PAID[what]).repeated and spends(ledger) == 2


def test_rows_without_labels_of_their_own_are_never_the_same_by_columns_alone(ledger):
    release(ledger, beside={"state": STATE}, category=None)
    for labels in (COUNTY, COUNTY[::-1]):
        beside = {"state": STATE, "county": labels}
        assert not release(ledger, beside=beside).repeated
    assert spends(ledger) == 3


@pytest.mark.parametrize("what", ["a label", "a cell", "a column taken away"])
def test_a_correction_shows_the_same_measurement_beside_what_is_right(ledger, first, what):
    again = release(ledger, **PAID[what], corrects=first)
    assert again.repeated and spends(ledger) == 1
    assert again.noisy == first.noisy and again.beside == PAID[what]["beside"]
    day = ledger.spends("crime")[0].time[:10]
    assert f"are those of the release that was paid for on {day}" in again.notes[-1]


OTHER = {
    "a count": {"counts": OTHER_COUNT},
    "the name of the column": {"counts": {"deaths": N}},
    "an epsilon": {"epsilon": "0.25"},
    "a parameter": {"request": {"totals": True}},
    "the period": {"period": 2026},
    "the groups": {"group": np.arange(ROWS) % 2},
    "a structural zero": {"zeros": N == 0},
    "the order of the rows": {"counts": N[::-1]},
    "what cannot be known": {"known": False},
}


@pytest.mark.parametrize("what", OTHER)
def test_nothing_but_labels_and_columns_can_be_corrected(ledger, first, what):
    with pytest.raises(HoldfastError, match="this is another release"):
        release(ledger, corrects=first, **OTHER[what])
    assert spends(ledger) == 1


def test_the_same_labels_in_other_rows_are_no_correction(ledger, first):
    for moved in (COUNTY[::-1], swapped()["county"]):
        with pytest.raises(HoldfastError, match="stand in other rows"):
            release(ledger, beside=BESIDE | {"county": moved}, corrects=first)
    assert spends(ledger) == 1


def test_a_label_that_moved_is_found_among_labels_that_are_new(ledger, first):
    labels = list(COUNTY)
    labels[3], labels[4], labels[9] = labels[4], "County Three", "County Nine"
    with pytest.raises(HoldfastError, match="stand in other rows here: 'county 4'"):
        release(ledger, beside=BESIDE | {"county": labels}, corrects=first)


def test_a_row_that_took_the_place_of_another_is_found_by_the_rows_behind_it(ledger, first):
    labels = [*COUNTY[1:], "county 40"]
    with pytest.raises(HoldfastError, match="stand in other rows here"):
        release(ledger, beside=BESIDE | {"county": labels}, corrects=first)


def test_numbers_written_in_another_way_are_the_same_labels():
    assert not moved_labels(["1", "2", "03"], ["01", "2.0", "3"])
    assert moved_labels(["1", "2", "03"], ["01", "3", "2.0"]) == ["3", "2.0"]


def test_a_correction_names_a_release_that_this_dataset_of_the_ledger_paid_for(ledger):
    ledger.set_limit("other", epsilon=1)
    foreign = release(ledger, dataset="other")
    unpaid = release(None, dataset=None)
    for wrong in (foreign, unpaid, replace(foreign, receipt="nothing")):
        with pytest.raises(HoldfastError, match="must be a release that this ledger paid for"):
            release(ledger, corrects=wrong)
    for given in ({"ledger": None, "dataset": None}, {"ledger": ledger, "seed": 1}):
        with pytest.raises(HoldfastError, match="needs the ledger"):
            release(corrects=foreign, **given)
    assert spends(ledger) == 0


def test_a_correction_of_a_correction_is_one_as_well(ledger, first):
    second = release(ledger, **PAID["a label"], corrects=first)
    beside = renamed("county", "county 7", "Seven")
    third = release(ledger, beside=beside, corrects=second)
    assert third.noisy == first.noisy and spends(ledger) == 1


def test_several_columns_are_corrected_together_and_not_one_for_the_other(ledger):
    both = {"murder": N, "theft": N[::-1]}
    first = release(ledger, both)
    corrected = release(ledger, both, **PAID["a label"], corrects=first)
    assert corrected.repeated and corrected.noisy == first.noisy
    exchanged = {"murder": both["theft"], "theft": both["murder"]}
    with pytest.raises(HoldfastError, match="this is another release"):
        release(ledger, exchanged, corrects=first)
    assert spends(ledger) == 1


def test_what_was_to_be_corrected_and_is_gone_is_said(ledger, first):
    folder = ledger.folder(ledger.spends()[0])
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(HoldfastError, match="is gone"):
        release(ledger, **PAID["a label"], corrects=first)
