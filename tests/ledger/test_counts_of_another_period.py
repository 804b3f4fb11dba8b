"""Counts that were released as those of another period: asked about before they are paid for."""

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.recognition import TableDigest
from holdfast.ledger.stored import refuse_same_counts
from holdfast.tables.subset import read_period
from small_engine import release

CHANCE = np.random.default_rng(3)
MURDER, THEFT = CHANCE.poisson(1.0, 40), CHANCE.poisson(1.5, 40)


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=1, per_period=True)
    return ledger


def test_the_counts_of_another_period_are_asked_about_before_they_are_paid(ledger):
    release(ledger, {"murder": MURDER}, period=2025)
    with pytest.raises(HoldfastError, match=r"for 2026 are, row by row, .* for 2025") as error:
        release(ledger, {"murder": MURDER}, period=2026)
    assert "--publish-anyway 'same counts'" in str(error.value)
    with pytest.raises(HoldfastError, match="those that were released for 2025"):
        release(ledger, {"murder 2026": MURDER}, period=2026, epsilon="0.25")
    assert len(ledger.spends("crime")) == 1


def test_what_is_meant_is_measured_and_paid_and_no_note_tells(ledger):
    release(ledger, {"murder": MURDER}, period=2025)
    same = release(ledger, {"murder": MURDER}, period=2026, same_counts=True)
    assert not same.repeated and len(ledger.spends("crime")) == 2 and same.notes == ()
    assert release(ledger, {"murder": MURDER}, period=2026).repeated  # asked once


def test_one_row_of_difference_and_one_period_are_not_asked_about(ledger):
    release(ledger, {"murder": MURDER}, period=2025)
    release(ledger, {"murder": MURDER}, period=2025, epsilon="0.25")
    release(ledger, {"murder": MURDER + (np.arange(40) == 3)}, period=2026)
    assert len(ledger.spends("crime")) == 3


def test_counts_without_a_period_are_those_of_every_one(ledger):
    release(ledger, {"murder": MURDER})
    release(ledger, {"murder": MURDER}, period=2026)
    assert len(ledger.spends("crime")) == 2


def test_of_several_counts_the_columns_that_repeat_are_named(ledger):
    release(ledger, {"murder": MURDER, "theft": THEFT}, period=2025)
    with pytest.raises(HoldfastError, match="the counts of 'murder' for 2026"):
        release(ledger, {"murder": MURDER, "theft": THEFT[::-1]}, period=2026)


def test_what_cannot_be_afforded_is_refused_first(ledger):
    release(ledger, {"murder": MURDER}, period=2025)
    with pytest.raises(HoldfastError, match="cannot afford this in 2026"):
        release(ledger, {"murder": MURDER}, period=2026, epsilon=2)


def test_same_counts_are_refused_without_a_request(ledger):
    release(ledger, {"murder": MURDER}, period=2025)
    digest = TableDigest(["other name"])
    digest.add({"other name": MURDER})
    prints, year = ledger.prints(digest.content()), read_period(2026)
    with pytest.raises(HoldfastError, match="released for 2025"):
        refuse_same_counts(ledger, "crime", prints, year)
    refuse_same_counts(ledger, "crime", prints, None)
