"""Rows publicly known to be zero: a release tells their number, not which they are."""

import json
import sys

import numpy as np
import pytest

import holdfast
from analysis_releases import COUNTS, released
from holdfast.analysis.report import single_rows
from holdfast.cli import main

KNOWN = 200
ALL = np.concatenate([np.zeros(KNOWN, dtype=int), COUNTS])
MASK = np.arange(len(ALL)) < KNOWN


def with_zeros(seed=1, counts=ALL, mask=MASK, **options):
    return released(seed=seed, counts=counts, structural_zero=mask, **options)


def without_drawn_zeros():
    """Stage 1 gave 0 no share, so every 0 in the table is publicly known."""
    for seed in range(60):
        counts = np.concatenate([np.zeros(30, dtype=int), np.repeat([3, 4], 300)])
        release = with_zeros(
            seed=seed, counts=counts, mask=np.arange(630) < 30, epsilon=8,
            privatizer=holdfast.privatizers.CumulativeIsotonic(),
        )  # fmt: skip
        if release.target[0] == 0:
            return release
    raise AssertionError("no seed left 0 out")


def test_rows_are_covered_on_average_with_zeros_known():
    covered, stated = [], []
    for seed in range(15):
        rows = with_zeros(seed).intervals()
        covered.append(((rows.low <= ALL) & (rows.high >= ALL)).mean())
        stated.append(rows.probability.mean())
        zero = with_zeros(seed).counts == 0
        assert (ALL[zero] == 0).mean() == pytest.approx(rows.zero[zero][0], abs=0.1)
    assert np.mean(covered) == pytest.approx(np.mean(stated), abs=0.02)


def test_every_question_about_rows_that_show_0_says_so():
    release = with_zeros()
    shown = np.flatnonzero(release.counts == 0).tolist()
    other = np.flatnonzero(release.counts == 2).tolist()
    pair, last = release.compare(shown[0], other[0]), release.top(len(ALL))[-1]
    for answer in (release.intervals(), release.total_of(shown), pair, last):
        assert any("200 rows publicly known to be zero" in note for note in answer.notes)
    for answer in (release.total_of(other), release.compare(*other[:2]), release.top(1)[0]):
        assert not any("publicly known" in note for note in answer.notes)
    assert "publicly known" in str(release.compare(shown[0], other[0]))


def test_a_total_counts_known_zeros_as_zero():
    release = with_zeros()
    everything = release.total_of(range(len(ALL)))
    assert everything.interval[0] < COUNTS.sum() < everything.interval[1]
    with pytest.raises(holdfast.HoldfastError, match="cannot be told apart"):
        release.total_of(range(len(ALL)), method="unbiased")


def test_chances_to_be_on_top_add_up_with_zeros_known():
    release = with_zeros()
    assert sum(row.probability for row in release.top(len(ALL))) == pytest.approx(len(ALL))


def test_nothing_breaks_where_only_known_rows_show_0(tmp_path, monkeypatch, capsys):
    release = without_drawn_zeros()
    rows = release.intervals()
    zero = release.counts == 0
    assert zero.sum() == 30 and (rows.high[zero] == 0).all() and (rows.zero[zero] == 1).all()
    assert release.total_of(range(30)).interval == (0, 0)
    assert release.total_of(range(630)).estimate == pytest.approx(2100, rel=0.05)
    assert release.top(3)[0].released >= 3 and release.compare(0, 100).second_more == 1
    assert all(row["released"] > 0 for row in single_rows(release, 0.9))
    release.save(tmp_path / "release")
    for words in (["report", "--format", "md"], ["ask", "released 0"], ["ask", "top 2"],
                  ["report", "--with-intervals"]):  # fmt: skip
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["holdfast", words[0], "release", *words[1:]])
        try:
            main()
        except SystemExit as stop:
            assert not stop.code
        assert "Traceback" not in capsys.readouterr().err


def test_the_command_line_says_so_too(tmp_path, monkeypatch, capsys):
    with_zeros().save(tmp_path / "release")
    monkeypatch.setattr(sys, "argv", ["holdfast", "ask", str(tmp_path / "release"), "released 0",
                                      "--json"])  # fmt: skip
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    answer = json.loads(capsys.readouterr().out)
    assert "200 rows" in answer["notes"][0]
