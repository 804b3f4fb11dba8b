"""A release that tells little says so."""

import numpy as np
import pytest

import holdfast
from holdfast.release_text import read_me

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
    text = read_me(release.summary(), "table.csv")
    for words in ("not the true counts", "epsilon = 1/2", "at most 3", "7 means 7 or more"):
        assert words in text
    assert text.splitlines()[2].startswith("SIMULATION")
