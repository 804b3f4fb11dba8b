"""Rows publicly known to be zero: a release tells which they are, an older one how many."""

import dataclasses
import json
import sys
from functools import cache

import numpy as np
import pytest

import bundles
import holdfast.former as holdfast
from analysis_releases import COUNTS, released
from holdfast.former.analysis.answer import SIMULATED
from holdfast.former.analysis.report.content import single_rows
from holdfast.former.cli import main
from holdfast.former.release.row_marks import marks_to_text

KNOWN = 200
ALL = np.concatenate([np.zeros(KNOWN, dtype=int), COUNTS])
MASK = np.arange(len(ALL)) < KNOWN


def with_zeros(seed=1, counts=ALL, mask=MASK, **options):
    return released(seed=seed, counts=counts, structural_zero=mask, **options)


def undecided(release):
    """As if the bundle did not say which rows they are."""
    return dataclasses.replace(release, structural_zero_rows=None)


@cache
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


def test_known_rows_are_zero_for_sure_and_the_others_are_drawn():
    release = with_zeros()
    rows, drawn = release.intervals(), released(seed=1)
    assert (
        (rows.high[MASK] == 0).all()
        and (rows.zero[MASK] == 1).all()
        and rows.notes[1:] == (SIMULATED,)
    )
    zero = ~MASK & (release.counts == 0)
    assert rows.zero[zero][0] == pytest.approx(release.posterior(0).equal(0)) and drawn.rows == 800
    pair = release.compare(0, int(np.flatnonzero(zero)[0]))
    assert pair.first_more == 0 and pair.equal == pytest.approx(release.posterior(0).equal(0))
    assert release.total_of(range(KNOWN)).interval == (0, 0)
    everything, others = release.total_of(range(len(ALL))), release.total_of((~MASK).tolist())
    assert everything.estimate == others.estimate and everything.interval == others.interval
    assert others.interval[0] < COUNTS.sum() < others.interval[1]


@pytest.mark.parametrize("tell", [True, False])
def test_rows_are_covered_on_average_with_zeros_known(tell):
    covered, stated = [], []
    for seed in range(15):
        release = with_zeros(seed) if tell else undecided(with_zeros(seed))
        rows = release.intervals()
        covered.append(((rows.low <= ALL) & (rows.high >= ALL)).mean())
        stated.append(rows.probability.mean())
        zero = release.counts == 0
        assert (ALL[zero] == 0).mean() == pytest.approx(rows.zero[zero].mean(), abs=0.1)
    assert np.mean(covered) == pytest.approx(np.mean(stated), abs=0.02)


def test_every_question_about_rows_that_show_0_says_so_where_they_are_not_told():
    release = undecided(with_zeros())
    shown = np.flatnonzero(release.counts == 0).tolist()
    other = np.flatnonzero(release.counts == 2).tolist()
    pair, last = release.compare(shown[0], other[0]), release.top(len(ALL))[-1]
    for answer in (release.intervals(), release.total_of(shown), pair, last):
        assert any("200 rows publicly known to be zero" in note for note in answer.notes)
    for answer in (release.total_of(other), release.compare(*other[:2]), release.top(1)[0]):
        assert not any("publicly known" in note for note in answer.notes)
    assert "publicly known" in str(release.compare(shown[0], other[0]))


def test_a_total_counts_known_zeros_as_zero():
    release = undecided(with_zeros())
    everything = release.total_of(range(len(ALL)))
    assert everything.interval[0] < COUNTS.sum() < everything.interval[1]


@pytest.mark.parametrize("tell", [True, False])
def test_chances_to_be_on_top_add_up_with_zeros_known(tell):
    release = with_zeros() if tell else undecided(with_zeros())
    assert sum(row.probability for row in release.top(len(ALL))) == pytest.approx(len(ALL))


@pytest.mark.parametrize("tell", [True, False])
def test_nothing_breaks_where_only_known_rows_show_0(tmp_path, monkeypatch, capsys, tell):
    release = without_drawn_zeros() if tell else undecided(without_drawn_zeros())
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


@pytest.mark.parametrize("tell", [True, False])
def test_the_command_line_says_so_too(tmp_path, monkeypatch, capsys, tell):
    (with_zeros() if tell else undecided(with_zeros())).save(tmp_path / "release")
    monkeypatch.setattr(sys, "argv", ["holdfast", "ask", str(tmp_path / "release"), "released 0",
                                      "--json"])  # fmt: skip
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    answer = json.loads(capsys.readouterr().out)
    assert "200 rows" in answer["notes"][0]


@pytest.mark.parametrize("rows", [8, 9, 4001])
def test_a_bundle_tells_which_rows_they_are_and_an_older_one_still_loads(tmp_path, rows):
    mask = np.arange(rows) % 3 == 1
    counts = np.where(mask, 0, np.arange(rows) % 8)
    release = with_zeros(counts=counts, mask=mask)
    loaded = holdfast.load(release.save(tmp_path / "release"))
    assert loaded.structural_zero_rows.tolist() == mask.tolist()
    older = holdfast.load(undecided(release).save(tmp_path / "older"))
    assert older.structural_zero_rows is None and older.structural_zeros == mask.sum()
    assert released().structural_zero_rows is None


def test_a_stream_tells_which_rows_they_are(tmp_path):
    table = tmp_path / "table.csv"
    lines = [f"{count},{str(bool(known)).lower()}" for count, known in zip(ALL, MASK, strict=True)]
    table.write_text("\n".join(["n,known", *lines]) + "\n")
    made = holdfast.privatize_stream(
        table,
        tmp_path / "release",
        epsilon=1,
        max_count=7,
        count="n",
        structural_zero="known",
        publish_anyway=["row order"],
    )
    assert made.load().structural_zero_rows.tolist() == MASK.tolist()


def test_forged_marks_are_found(tmp_path):
    release = with_zeros()
    bundle = release.save(tmp_path / "release")
    words = []
    drawn = int(np.flatnonzero(release.counts)[0])
    moved = MASK.copy()
    moved[[0, drawn]] = False, True
    for text in (marks_to_text(moved), marks_to_text(MASK[:-8]), marks_to_text(~MASK), "?", ""):
        bundles.forge(bundle, structural_zero_rows=text)
        words += holdfast.verify(bundle).damage
    assert f"data row {drawn + 1} is a structural zero, and is not 0" in words[0]
    assert [("does not mark" in said, "not Base64" in said) for said in words[1:]] == [
        (True, False), (True, False), (False, True), (True, False)
    ]  # fmt: skip
