"""The highest count stands for itself and all above it, and every answer about rows says so."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from analysis_releases import named, released
from holdfast.former.analysis.grammar import parse
from holdfast.former.analysis.report.blocks import html, markdown
from holdfast.former.analysis.report.content import report
from holdfast.former.analysis.report.workbook import groups_sheet
from holdfast.former.cli import main

RELEASE = released(counts=[0] * 300 + [1] * 100 + [90] * 60, epsilon=6)
HIGH, LOW = (np.flatnonzero(RELEASE.counts == count).tolist() for count in (7, 0))
SAID = "counts above 7, if any, were published as 7"


def told(notes, words=SAID):
    return any(words in note for note in notes)


def test_every_answer_about_a_row_that_may_have_the_highest_count_says_so():
    assert told(RELEASE.posterior(7).notes) and not told(RELEASE.posterior(0).notes)
    assert told(RELEASE.intervals().notes)
    assert told(RELEASE.top(2)[0].notes)
    assert told(RELEASE.top(2)[0].notes, "is the highest cannot be told")
    assert told(RELEASE.compare(HIGH[0], LOW[0]).notes)
    assert told(RELEASE.compare(*HIGH[:2]).notes, "has more cannot be told")
    assert not told(RELEASE.compare(*LOW[:2]).notes)
    capped = "counts above 7 were published as 7"
    assert told(RELEASE.total_of(HIGH).notes, capped)
    assert told(RELEASE.ask("quantile", at=0.95).notes)
    assert not told(RELEASE.ask("quantile", at=0.2).notes)


def test_the_difference_of_rows_at_the_top_has_an_open_end():
    both, above = RELEASE.compare(*HIGH[:2]), RELEASE.compare(HIGH[0], LOW[0])
    assert both.interval == (-np.inf, np.inf) and np.isnan(both.difference)
    assert both.unknown > 0.95 and both.equal < 0.05
    assert "difference cannot be told (at 90%)" in str(both)
    assert above.interval[0] >= 6 and above.interval[1] == np.inf
    assert " or more (at 90%)" in str(above) and above.unknown < 0.01
    gap = RELEASE.row(HIGH[0]).difference(RELEASE.row(LOW[0]))
    assert gap.interval[1] == np.inf and " or more)" in str(gap)
    assert gap.to_dict()["interval"][1] is None


def test_rows_as_likely_as_the_last_one_shown_are_counted():
    shown = RELEASE.top(3)
    assert {row.tied for row in shown} == {len(HIGH) - 3}
    assert told(shown[0].notes, f"{len(HIGH) - 3} rows not shown are as likely as")
    assert RELEASE.top(len(HIGH))[0].tied == 0
    assert f"{len(HIGH) - 5} rows not shown" in markdown(report(RELEASE))


@pytest.fixture(scope="module")
def by_state():
    """Counts run to 90 and are capped at 20; OR's two rows are both above it."""
    chance = np.random.default_rng(3)
    counts = np.append(
        np.where(chance.random(240) < 0.2, chance.integers(25, 90, 240), 1), [70, 80]
    )
    state = np.append(np.repeat(["CA", "NE", "TX"], 80), ["OR", "OR"])
    table = pd.DataFrame({"place": [f"p{k}" for k in range(242)], "state": state, "n": counts})
    table["area"] = np.where(state == "CA", "west", np.where(np.arange(242) % 2, "mid", "east"))
    table["people"] = chance.integers(1_000, 90_000, 242)
    return holdfast.privatize(
        table.sample(frac=1, random_state=1), epsilon=6, max_count=20, seed=2, count="n",
        category="place", keep=["state", "area", "people"], within="state", totals=True,
    )  # fmt: skip


def test_measured_and_capped_answers_are_named_and_not_mixed(by_state):
    found = by_state.ask("total", by="area")
    assert found.mixed and "measured, not capped" in str(found) and "capped at 20" in str(found)
    assert found.to_pandas()["counts"].tolist().count("capped at 20") == 2
    assert not by_state.ask("total", by="state").mixed
    with pytest.raises(holdfast.HoldfastError, match="counts capped at 20"):
        found["west"].difference(found["mid"])
    mean = by_state.ask("mean", where="state == 'NE'")
    with pytest.raises(holdfast.HoldfastError, match="a total and a mean"):
        found["west"].difference(mean)
    gap = by_state.ask("mean", where="state == 'CA'").ratio(mean)
    assert "state == 'CA', over mean count, where state == 'NE'" in gap.question


def test_a_rate_at_the_top_has_no_upper_end(by_state):
    rate = by_state.derive("rate = n per 1,000 of people")
    top = by_state.counts == 20
    assert np.isinf(rate.high[top]).mean() > 0.9 and np.isfinite(rate.high[~top]).mean() > 0.9
    assert told(rate.notes, "have no upper end")
    part = rate.ask(where="area == 'mid'")
    assert "counts capped at 20, a lower bound, where area == 'mid'" in part.question
    whole = [rate.ask(where=f"state == '{name}'") for name in ("CA", "NE")]
    assert "capped" not in whole[0].question
    assert "where state == 'NE'" in whole[0].ratio(whole[1]).question
    with pytest.raises(holdfast.HoldfastError, match="counts capped at 20"):
        rate.ask(where="state == 'CA'").difference(part)


def test_a_fit_says_that_counts_enter_capped(by_state):
    assert told(by_state.regress("people ~ n", family="gaussian").notes, "enter as 20")
    fit = by_state.regress("n ~ state")
    assert told(fit.notes, "state[OR]: all rows were published as 20")
    with pytest.raises(holdfast.HoldfastError, match="must be a coefficient"):
        fit.interval(0.9)
    assert fit.interval("state[NE]", level=0.9)[0] < fit.coefficients["state[NE]"]
    with pytest.raises(holdfast.HoldfastError, match=r"the formula names 'stat'.*'state'"):
        by_state.regress("n ~ stat")
    with pytest.raises(holdfast.HoldfastError, match="`given` must be a column"):
        by_state.impute(1, given=["stat"])
    for given in (np.ones(3), pd.DataFrame({"state": [1]}), [1]):
        with pytest.raises(holdfast.HoldfastError, match="`given` must be the names"):
            by_state.impute(1, given=given)
    assert by_state.impute(1, given=["state"])[0]["n"].dtype == np.int64


def test_the_report_and_the_workbook_agree_on_groups(by_state):
    content = report(by_state)
    assert "The other way round" not in markdown(content)
    sheet = groups_sheet(by_state, content)
    mean = by_state.ask("mean", where="state == 'CA'")
    assert sheet[0][:5] == ("CA", 80, mean.estimate, *mean.interval)
    assert sheet[0][8] == "measured, not capped"
    assert len(sheet[0]) == 2 + 7 + 21


def test_shares_differ_by_points_and_numbers_have_no_commas(by_state):
    share = [by_state.ask("share", equal=1, where=f"state == '{name}'") for name in ("CA", "NE")]
    gap = share[0].difference(share[1])
    assert str(gap).splitlines()[0].endswith(" points)") and "%" not in str(gap).split("(")[0]
    with pytest.raises(holdfast.HoldfastError, match="numbers are written without commas"):
        by_state.ask("mean", where="people < 10,000")


def test_words_say_or_more_and_json_keeps_numbers(tmp_path, monkeypatch, capsys):
    RELEASE.save(tmp_path / "release")

    def asked(*words):
        monkeypatch.setattr(sys, "argv", ["holdfast", "ask", str(tmp_path / "release"), *words])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().out

    assert "true count 7 or more (90%)" in asked("released 7")
    assert ", 7 or more, " in asked("top 2")
    assert "count at quantile 0.95: 7 or more" in asked("quantile 0.95")
    answer = json.loads(asked("released 7", "--json"))
    assert answer["interval"] == [7, 7] and told(answer["notes"])
    assert "as likely as" in asked("top 2")
    answer = json.loads(asked(f"compare {HIGH[0]} with {HIGH[1]}", "--json"))
    assert answer["interval"] == [None, None] and answer["difference"] is None


def test_the_report_says_so_beside_both_tables_of_rows():
    content = report(RELEASE)
    for text in (markdown(content), html(content)):
        rows, top = text.split("Which rows are highest")
        assert "7 or more" in rows and "7 or more" in top
        assert SAID[1:] in rows and SAID[1:] in top


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.total_of(5), "`group` must be a list"),
        (lambda r: r.ask(lambda shares: 1 / 0), "ZeroDivisionError"),
        (lambda r: r.ask(lambda shares: shares[99]), "IndexError"),
        (lambda r: parse("share below 0"), "no count is below 0"),
    ],
)
def test_what_fails_is_refused_in_words(ask, words):
    with pytest.raises(holdfast.HoldfastError, match=words):
        ask(named())


def test_hints_are_questions_that_are_answered():
    with pytest.raises(holdfast.HoldfastError) as refused:
        parse("quantile 0")
    assert "quantile 0%" not in str(refused.value) and "quantile 0.9" in str(refused.value)


def test_numbers_of_numpy_are_numbers():
    assert RELEASE.top(np.int64(3)) == RELEASE.top(3)
    assert RELEASE.ask("mean", level=np.float32(0.9)) == RELEASE.ask("mean")
    assert str(RELEASE.ask("share", at_least=0)).startswith("share of rows with 0 or more: 100% (")


@pytest.mark.parametrize("extra", [["--out", "release"], ["--dry-run"]])
def test_column_names_steer_no_screen(tmp_path, monkeypatch, capsys, extra):
    monkeypatch.chdir(tmp_path)
    lines = [f"place {i},{i % 4}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["pla\x1b[2Jce,n", *lines]) + "\n")
    words = ["privatize", "t.csv", "--count", "n", "--max-count", "3", "--epsilon", "1", *extra]
    words += ["--keep", "pla\x1b[2Jce"]
    monkeypatch.setattr(sys, "argv", ["holdfast", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    printed = capsys.readouterr()
    assert not stop.value.code and "pla [2Jce" in printed.out
    assert "\x1b" not in printed.out + printed.err


def test_the_top_of_some_rows_and_of_each_group(by_state):
    every = by_state.top(3)
    some = by_state.top(2, where="state == 'NE'")
    inside = by_state.to_pandas().state.to_numpy() == "NE"
    assert all(inside[row.row] for row in some) and not all(inside[row.row] for row in every)
    groups = by_state.top(2, by="state")
    assert set(groups) == set(by_state.groups.names)
    assert groups["NE"] == some
    assert sum(row.probability for row in by_state.top(len(inside))) == pytest.approx(len(inside))


def test_a_share_at_the_top_of_a_long_range_says_why_it_is_less_sure_than_its_rows():
    counts = np.repeat([5, 300, 20_000], [500, 400, 40])
    release = holdfast.privatize(counts, epsilon=1, max_count=20_000, seed=1)
    whole = release.ask("share", at_least=20_000)
    part = release.ask("share", at_least=20_000, where=counts >= 300)
    for found in (whole, part):
        assert any("may truly have a little less" in note for note in found.notes)
    below = release.ask("share", at_least=15_000)
    assert not any("a little less" in note for note in below.notes)
    assert below.interval[1] - below.interval[0] < 0.2 * (whole.interval[1] - whole.interval[0])
    nobody = holdfast.privatize(counts, epsilon=1, max_count=50_000, seed=1)
    assert not any("a little less" in n for n in nobody.ask("share", at_least=50_000).notes)
