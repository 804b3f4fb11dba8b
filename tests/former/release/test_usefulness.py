"""A release that tells little says so."""

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.former.release.text import read_me

COUNTS = np.random.default_rng(3).negative_binomial(1, 0.3, 4000)


def test_a_good_release_has_no_notes():
    assert holdfast.privatize(COUNTS, epsilon=2, max_count=20, seed=1).notes == ()


def test_too_few_rows_are_noted():
    notes = holdfast.privatize(COUNTS[:6], epsilon=1, max_count=20, seed=1).notes
    assert any("6 rows" in note for note in notes)


def test_counts_that_are_mostly_noise_are_noted():
    notes = holdfast.privatize(COUNTS, epsilon="0.05", max_count=20, seed=1).notes
    assert any("says little about its own row" in note for note in notes)


def test_a_single_value_is_noted():
    stage_1 = holdfast.privatizers.CumulativeIsotonic()
    notes = holdfast.privatize(
        [3, 3], epsilon="0.01", max_count=4, split="paper", privatizer=stage_1, seed=2
    ).notes
    assert any("same count" in note for note in notes)


def test_the_expected_change_is_what_happens():
    release = holdfast.privatize(COUNTS, epsilon=2, max_count=20, seed=4)
    happened = np.abs(release.counts - COUNTS.clip(max=20)).mean()
    assert release.expected_change == pytest.approx(happened, rel=0.15)


def test_the_bundles_read_me_says_what_a_reader_needs():
    release = holdfast.privatize(
        {"n": [1, 2]}["n"], epsilon="1/2", max_count=7, contributions=3, seed=5
    )
    facts = {"fixed_point": True, "target": release.target.tolist()}
    text = read_me(release.summary() | facts, "table.csv", "mechanism.curves")
    for words in ("not the true counts", "epsilon = 1/2", "at most 3", "7 means 7 or more"):
        assert words in text
    assert text.splitlines()[2].startswith("SIMULATION")


def test_the_note_knows_the_noise_of_the_privatizer():
    wide = holdfast.privatizers.CumulativeGaussian(delta="1e-6")
    narrow = holdfast.privatizers.CumulativeIsotonic()
    options = {"epsilon": 1, "max_count": 20, "split": "0.1", "seed": 1}
    notes = holdfast.privatize(COUNTS[:700], privatizer=wide, **options).notes
    assert any("standard deviation of" in note for note in notes)
    assert holdfast.privatize(COUNTS[:700], privatizer=narrow, **options).notes == ()


@pytest.mark.parametrize("stage", ["privatizer", "constructor"])
def test_a_name_in_place_of_a_stage_is_refused_before_it_is_paid(tmp_path, stage):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("d", epsilon=1)
    with pytest.raises(holdfast.HoldfastError, match=f"`{stage}` must be"):
        holdfast.privatize(
            [1, 2, 3], epsilon=1, max_count=5, ledger=ledger, dataset="d", **{stage: "optimal"}
        )
    assert ledger.balance("d").epsilon_spent == 0
