"""One row has one best estimate and one interval, wherever it is asked; groups have one order."""

import csv
import sys

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.former import HoldfastError
from holdfast.former.analysis.typed import answer_typed, in_words
from holdfast.former.cli import main

COUNTS = np.random.default_rng(2).geometric(0.3, 600) - 1
FRAME = pd.DataFrame(
    {
        "place": [f"{k:05}" for k in range(600)],
        "state": [("TX", "AL", "CA")[k % 3] for k in range(600)],
        "district": [k % 12 + 1 for k in range(600)],
        "n": COUNTS,
    }
)
OPTIONS = {"max_count": 9, "count": "n", "category": "place", "keep": ["state", "district"]}


@pytest.fixture(scope="module")
def release():
    return holdfast.privatize(FRAME, epsilon=1, seed=1, **OPTIONS)


@pytest.fixture(scope="module")
def by_group():
    return holdfast.privatize(FRAME, epsilon=1, seed=1, within="state", **OPTIONS)


@pytest.fixture(scope="module")
def few():
    """So few rows that intervals do without z."""
    return holdfast.privatize(FRAME[:50], epsilon=1, seed=1, **OPTIONS)


@pytest.mark.parametrize("kind", ["release", "by_group", "few"])
def test_one_row_has_one_interval_wherever_it_is_asked(kind, request, tmp_path):
    release = request.getfixturevalue(kind)
    every = release.intervals()
    with (release.save(tmp_path / "out") / "intervals.csv").open() as file:
        lines = {line["label"]: line for line in csv.DictReader(file)}
    for row in range(0, 50, 7):
        name, ends = FRAME.place[row], (int(every.low[row]), int(every.high[row]))
        assert (int(lines[name]["low"]), int(lines[name]["high"])) == ends
        asked = [release.row(name), release.total_of([name])]
        asked += [release.ask("mean", where=[name]), answer_typed(release, f"row {name}")]
        for answer in asked:
            assert answer.interval == ends
            assert answer.estimate == pytest.approx(float(lines[name]["expected"]), abs=6e-4)


def test_a_released_count_outside_its_own_interval_is_explained(release):
    told = [release.row(name) for name in FRAME.place[:30]]
    for row, answer in enumerate(told):
        outside = not answer.interval[0] <= release.counts[row] <= answer.interval[1]
        assert outside == any("released count is not in the interval" in x for x in answer.notes)
    assert "true count of 00003, released as" in str(told[3])


def test_the_top_of_a_row_is_or_more_and_its_ends_are_counts(release):
    top = release.row(FRAME.place[int(np.argmax(release.counts))])
    assert (
        "interval 6 or more)" in str(top)
        and ".0" not in str(top).split("interval")[1].split(")")[0]
    )


def test_a_row_without_a_count_is_refused_by_its_name():
    table = FRAME.assign(n=np.where(np.arange(600) == 4, -999, COUNTS))
    release = holdfast.privatize(table, epsilon=1, seed=1, missing=[-999], **OPTIONS)
    with pytest.raises(HoldfastError, match="count of '00004' is missing"):
        release.row("00004")
    assert release.row("00005").interval[1] <= 9


def test_groups_stand_in_the_order_of_groups_csv(by_group, tmp_path):
    with (by_group.save(tmp_path / "out") / "groups.csv").open() as file:
        listed = [line["state"] for line in csv.DictReader(file)]
    assert list(by_group.ask("mean", by="state")) == listed == ["AL", "CA", "TX"]
    assert list(by_group.ask("mean", by="district")) == list(range(1, 13))


def test_notes_of_some_groups_name_them():
    high = FRAME.assign(n=np.where(FRAME.state == "CA", 9, np.minimum(COUNTS, 4)))
    release = holdfast.privatize(high, epsilon=2, seed=1, **OPTIONS)
    answers = release.ask("mean", by="state")
    capped = "counts above 9 were published as 9 and enter as 9"
    assert f"CA: {capped}" in answers.notes and capped in answers["CA"].notes
    assert answers.notes[-1].startswith("SIMULATION")  # of all of them
    assert answers.question == "mean count"
    bound = "counts capped at 9, a lower bound, "
    assert answers["CA"].question == f"mean of {bound}state CA"
    assert bound in release.ask("total", where="state == CA").question
    assert "lower bound" not in answers["CA"].difference(answers["AL"]).question


def said(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["holdfast", "ask", *words])
    with pytest.raises(SystemExit, match="0"):
        main()
    return capsys.readouterr().out.strip()


def test_two_parts_are_compared_at_the_command_line(release, tmp_path, capsys, monkeypatch):
    folder = str(release.save(tmp_path / "out"))
    where = ["--where", "state == AL", "--less", "state == CA"]
    words = said(monkeypatch, capsys, folder, "mean", *where)
    parts = [release.ask("mean", where=f"state == {name}") for name in ("AL", "CA")]
    found = parts[0].difference(parts[1])
    assert words == str(found)
    assert said(monkeypatch, capsys, folder, "row 00003") == str(release.row("00003"))
    for wrong in ({"less": "state == CA"}, {"where": "state == CA", "less": "state == CA"}):
        with pytest.raises(HoldfastError, match=r"`less` fits|share rows"):
            answer_typed(release, "mean", **wrong)
    with pytest.raises(HoldfastError, match="does not go with"):
        answer_typed(release, "mean", where="state == AL", less="state == CA", by="district")


def test_nothing_prints_as_minus_zero(release):
    zero = release.ask("mean", where="state == AL")
    turned = zero.difference(release.ask("mean", where="state == CA"))
    assert turned.in_words(-1e-9) == "0.00" and turned.in_words(-1.0) == "-1.00"
    assert "-0 " not in in_words(turned, 9)


def test_an_estimator_is_refused_with_the_reason(release, by_group):
    for asked, why in (
        (lambda: by_group.ask("mean", estimator="target"), "a release by group"),
        (lambda: release.ask("mean", where="state == AL", estimator="target"), "some of the rows"),
    ):
        with pytest.raises(HoldfastError, match=why):
            asked()


def test_two_releases_of_the_same_data_are_not_two_years(release):
    again = holdfast.privatize(FRAME, epsilon=1, seed=2, **OPTIONS)
    part = {"where": "state == AL"}
    assert any("not two years" in x for x in again.ask("mean", against=release, **part).notes)
    years = [
        holdfast.privatize(FRAME, epsilon=1, seed=seed, period=year, **OPTIONS)
        for seed, year in ((1, 2025), (2, 2026), (3, 2026))
    ]
    told = [years[2].ask("mean", against=earlier, **part).notes for earlier in years[:2]]
    assert not any("noise alone" in note for note in told[0])
    assert any("both are of 2026" in note for note in told[1])


def test_rows_chosen_by_their_released_counts_are_noticed(release):
    drawn = release.ask("mean", where=release.counts > 3)
    assert any("chosen by what was drawn for them" in note for note in drawn.notes)
    public = release.ask("mean", where=(FRAME.state == "AL").to_numpy())
    assert not any("chosen by what" in note for note in public.notes)


def test_an_interval_at_the_top_is_said_once():
    sure = holdfast.privatize([9] * 300 + [0] * 300, epsilon=9, max_count=9, seed=1)
    assert "(90% interval 9 or more)" in str(sure.row(0))


@pytest.mark.parametrize("kind", ["release", "by_group", "few"])
def test_a_share_of_one_row_is_as_sure_as_its_count(kind, request):
    release = request.getfixturevalue(kind)
    for name in FRAME.place[:12]:
        low, high = release.row(name).interval
        for least in (1, 3):
            found = release.ask("share", at_least=least, where=[name])
            assert found.interval == (float(low >= least), float(high >= least))
            assert 0 <= found.estimate <= 1 and "0% or 100%" in str(found)
        median = release.ask("median", where=[name])
        assert median.interval == (low, high) and median.estimate % 1 == 0


def test_a_total_below_the_top_is_known_by_its_counts_as_well():
    """Counts of 0 and 1 of forty rows, and a noise of sixty on their total."""
    frame = pd.DataFrame({"g": ["a"] * 40 + ["b"] * 40, "n": [0, 1] * 20 + [30] * 40})
    options = {"max_count": 30, "count": "n", "keep": ["g"], "within": "g", "totals": "1/20"}
    options |= {"publish_anyway": ["g", "row order"], "epsilon": 1}
    for seed in range(4):
        release = holdfast.privatize(frame, seed=seed, **options)
        alone, both = release.groups["a"].total, release.ask("total", where="g == a")
        assert both.interval[0] <= 20 <= both.interval[1] and "of these rows" in both.notes[0]
        assert both.interval[1] - both.interval[0] < 0.8 * (alone.high - alone.low)
        assert both.interval[0] <= both.estimate <= both.interval[1]
        assert release.ask("mean", where="g == a").estimate == pytest.approx(both.estimate / 40)
        high, total = release.ask("total", where="g == b"), release.groups["b"].total
        assert high.interval == (total.low, total.high) and "measured as a total" in high.notes[0]
