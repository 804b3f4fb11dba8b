"""The highest count stands for itself and all above it, and every answer about rows says so."""

import json
import sys

import numpy as np
import pytest

import holdfast
from analysis_releases import named, released
from holdfast.analysis.grammar import parse
from holdfast.analysis.report.blocks import html, markdown
from holdfast.analysis.report.content import report
from holdfast.cli import main

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
    assert "interval cannot be told" in str(both)
    assert above.interval[0] >= 6 and above.interval[1] == np.inf
    assert " or more)" in str(above) and above.unknown < 0.01
    gap = RELEASE.row(HIGH[0]).difference(RELEASE.row(LOW[0]))
    assert gap.interval[1] == np.inf and " or more)" in str(gap)
    assert gap.to_dict()["interval"][1] is None


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
