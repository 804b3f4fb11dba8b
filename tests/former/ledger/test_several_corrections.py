"""Several columns of counts in a ledger: of a period, shown again, corrected."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.ledger.ledger import Ledger

ROWS = 40
CHANCE = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {
        "county": [f"county {k}" for k in range(ROWS)],
        "murder": CHANCE.poisson(1.0, ROWS),
        "theft": CHANCE.poisson(1.5, ROWS),
    }
)


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=1, per_period=True)
    return ledger


def release(ledger, frame=FRAME, **changes):
    usual = {"count": ["murder", "theft"], "category": "county", "max_count": 2, "epsilon": 1}
    named = {"ledger": ledger, "dataset": "crime", "period": 2026}
    return holdfast.privatize(frame, **(usual | named | changes))


def test_several_columns_are_paid_by_their_period_and_shown_again_with_more_columns(ledger):
    first = release(ledger)
    again = release(ledger, FRAME.assign(region="west"), keep=["region"])
    assert again.repeated and "these are the counts of 2026" in first["theft"].notes
    for name in ("murder", "theft"):
        assert (again[name].counts == first[name].counts).all()
    assert "region" in again.table.columns
    with pytest.raises(HoldfastError, match="cannot afford this in 2026"):
        release(ledger, count=["theft", "murder"])


def test_several_columns_are_corrected_together_and_not_one_for_the_other(ledger):
    first = release(ledger)
    better = FRAME.assign(county=FRAME.county.str.upper())
    corrected = release(ledger, better, corrects=first)
    assert corrected.repeated and list(corrected.table.county) == list(better.county)
    assert (corrected["theft"].counts == first["theft"].counts).all()
    exchanged = FRAME.rename(columns={"murder": "theft", "theft": "murder"})
    with pytest.raises(HoldfastError, match="this is another release"):
        release(ledger, exchanged, corrects=first)
    assert len(ledger.spends("crime")) == 1
