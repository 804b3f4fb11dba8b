"""Whatever is paid for can be saved, verified, loaded and shown again, whatever was asked for."""

import random
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.ledger.ledger import Ledger

ROWS = 60
CHANCE = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "place": [f"p{k:02}" for k in range(ROWS)],
        "state": [("NE", "CA", "TX")[k % 3] for k in range(ROWS)],
        "people": CHANCE.integers(100, 9000, ROWS),
        "closed": [k % 10 == 0 for k in range(ROWS)],
        "n": np.where(np.arange(ROWS) % 10 == 0, 0, CHANCE.poisson(3.0, ROWS)),
        "m": np.where(np.arange(ROWS) % 10 == 0, 0, CHANCE.poisson(0.5, ROWS) * 40),
    }
)
CHOICES = {
    "epsilon": ["0.01", "1/3", 1, 10],
    "count": ["n", ["n", "m"], ["m", "n"]],
    "category": [None, "place"],
    "keep": [[], ["state"], ["state", "people"]],
    "within": [None, "state", "people"],
    "contributions": [1, 3, 1000],
    "rows": [1, 4],
    "unit": ["person", "household"],
    "person_in": ["all columns", "one column"],
    "totals": [False, True, "1/2"],
    "split": [None, "0.01", "0.99"],
    "structural_zero": [None, "closed"],
    "missing": [[], [-9]],
    "subset": [None, {"state": "NE"}],
    "top": [None, 2],
    "relations": [False, True],
    "order_by": [None, "place"],
    "period": [None, "2026-Q1"],
}


def asked(seed):
    """Some of all combinations; every value of every option is in many."""
    chance = random.Random(seed)
    made = {name: chance.choice(values) for name, values in CHOICES.items()}
    if made["within"] == "people":
        made["within"] = holdfast.classes("people", 3)
    made["relations"] &= isinstance(made["count"], list)
    if made["category"] is None:
        made["order_by"] = None
    if not made["keep"]:
        made |= {"keep_none": True}
        del made["keep"]
    return {name: value for name, value in made.items() if value is not None}


def frame(asked):
    if "missing" not in asked or not asked["missing"]:
        return FRAME
    return FRAME.assign(n=FRAME.n.where(FRAME.index != 7, -9))


@pytest.mark.parametrize("seed", range(16))
def test_what_is_paid_for_can_be_saved_verified_loaded_and_shown_again(seed, quick):
    ledger = Ledger(quick / "b.ledger")
    ledger.set_limit("d", epsilon=10)
    options = asked(seed) | {"ledger": ledger, "dataset": "d"}
    first, again = (holdfast.privatize(frame(options), **options) for _ in range(2))
    assert again.repeated and [spend.epsilon for spend in ledger.spends()] == [
        first.promise.epsilon
    ]
    loaded = holdfast.load(again.save(quick / "again"))
    for column, *others in zip(first.columns, again.columns, loaded.columns, strict=True):
        for other in others:
            assert np.array_equal(column.noisy, other.noisy)
            assert np.array_equal(column.counts, other.counts)
            assert column.distribution.values.tolist() == other.distribution.values.tolist()
    if find_spec("holdfast.verify.verify") is not None:
        assert holdfast.verify(quick / "again").passed


def test_options_that_cannot_go_together_are_paid_for_by_nobody(quick):
    ledger = Ledger(quick / "b.ledger")
    ledger.set_limit("d", epsilon=10)
    wrong = [
        {"count": "n", "weights": [1]},
        {"count": ["n", "n"]},
        {"count": "n", "within": "nowhere"},
        {"count": "n", "order_by": "people"},
        {"count": "n", "table_format": "xlsx"},
        {"count": "n", "out": quick},
        {"count": "n", "contributions": 10**7},
        {"count": "n", "subset": {"state": "ZZ"}},
    ]
    for options in wrong:
        with pytest.raises(HoldfastError):
            holdfast.privatize(FRAME, epsilon=1, **options, ledger=ledger, dataset="d")
    assert ledger.spends() == []


def test_a_table_in_parquet_that_could_not_be_written_is_paid_for_by_nobody(quick, monkeypatch):
    ledger = Ledger(quick / "b.ledger")
    ledger.set_limit("d", epsilon=10)
    monkeypatch.setattr("holdfast.engine.run.find_spec", lambda _: None)
    options = {"epsilon": 1, "count": "n", "table_format": "parquet", "keep_none": True}
    with pytest.raises(HoldfastError, match="needs pyarrow"):
        holdfast.privatize(FRAME, **options, ledger=ledger, dataset="d")
    assert ledger.spends() == []


def test_counts_as_large_as_they_may_be_in_many_groups_are_paid_for_and_released(quick):
    """Whether they lie far apart is known only when they are measured."""
    ledger = Ledger(quick / "b.ledger")
    ledger.set_limit("d", epsilon=10)
    frame = pd.DataFrame(
        {"state": [f"s{k % 150}" for k in range(400)], "n": CHANCE.poisson(3, 400)}
    )
    frame.loc[[5, 77, 300], "n"] = 2**53
    options = {"count": "n", "within": "state", "epsilon": 1, "ledger": ledger, "dataset": "d"}
    release = holdfast.privatize(frame, **options)
    assert abs(int(release.counts[5]) - 2**53) < 100
    assert holdfast.verify(release.save(quick / "out")).passed
