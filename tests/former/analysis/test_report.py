"""`holdfast report` and `holdfast ask`."""

import csv
import dataclasses
import html.parser
import itertools
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import holdfast.former as holdfast
from analysis_releases import COUNTS, QUICK, released
from holdfast.former.analysis.report import blocks
from holdfast.former.analysis.report.content import questions, runs, thresholds
from holdfast.former.analysis.report.pictures import band_picture
from holdfast.former.cli import main
from holdfast.former.tables.table import CsvTable


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["holdfast", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def release(tmp_path):
    rows = [[f"<b>place</b> {i}", str(count)] for i, count in enumerate(COUNTS)]
    made = released(
        counts=CsvTable(("place | <i>", "n"), rows),
        count="n",
        keep="place | <i>",
        publish_anyway=["place | <i>", "row order"],
    )
    made.save(tmp_path / "release")
    return made


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.links, self.open = set(), [], []

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.links += [v for k, v in attributes if k in ("src", "href", "action", "data")]
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_report_is_one_file_that_asks_for_nothing(cli, release):
    code, out, _ = cli("report", "release")
    assert code == 0 and "release-report.html" in out
    page = Path("release-report.html").read_text("utf-8")
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert tags.links == ["data:,"] and "script" not in tags.seen
    assert "url(" not in page and "@import" not in page
    assert "default-src 'none'" in page and "width=device-width" in page and "@media print" in page


def test_the_report_says_what_it_must(cli, release):
    cli("report", "release")
    page = Path("release-report.html").read_text("utf-8")
    for words in ("What was promised", "certified", "The distribution of <code>n</code>",
                  "Common questions",
                  "How far a single count may be off", "What not to do", "How to cite",
                  "SIMULATION"):  # fmt: skip
        assert words in page
    assert "place | &lt;i&gt;" in page and "<i>" not in page
    answer = release.ask("share", equal=0)
    assert answer.in_words(answer.estimate) in page


def test_a_real_release_is_not_called_a_simulation(cli, tmp_path):
    holdfast.privatize([0, 1, 2, 0] * 20, epsilon=2, max_count=3).save("real")
    code, out, _ = cli("report", "real", "--format", "md")
    assert code == 0 and "SIMULATION" not in out
    assert json.loads(cli("ask", "real", "mean", "--json")[1])["simulated"] is False


def test_markdown_and_json_say_the_same(cli, release):
    code, text, _ = cli("report", "release", "--format", "md")
    assert code == 0 and text.startswith("# A private table of counts")
    code, out, _ = cli("report", "release", "--format", "json")
    content = json.loads(out)
    assert code == 0 and content["simulated"] and len(content["distribution"]) == 8
    for question in content["questions"]:
        assert question["words"] in text and question["interval_words"] in text
    assert sum(bar["released"] for bar in content["distribution"]) == pytest.approx(1)


def test_intervals_become_columns_of_the_table(cli, release):
    assert cli("report", "release", "--with-intervals", "--out", "r.html")[0] == 0
    with open("r-intervals.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "place | <i>", "n", "low_90", "high_90", "expected", "median", "probability_zero"
    ]  # fmt: skip
    assert [int(row["n"]) for row in rows] == release.counts.tolist()
    found = release.intervals()
    assert [int(row["low_90"]) for row in rows] == found.low.tolist()


def test_a_file_that_is_there_is_not_touched(cli, release):
    Path("mine.html").touch()
    code, _, err = cli("report", "release", "--out", "mine.html")
    assert code == 2 and "exists already" in err
    assert Path("mine.html").read_text() == ""
    assert cli("report", "release", "--out", "no/such.html")[0] == 2
    assert cli("report", "release", "--format", "pdf")[0] == 2
    assert cli("report", "nowhere")[0] == 2


def test_questions_on_the_command_line(cli, release):
    code, out, _ = cli("ask", "release", "share zero")
    assert code == 0 and re.match(r"share of rows equal to 0: [\d.]+% \(90% interval", out)
    assert "SIMULATION" in out
    assert cli("ask", "release", "share", "zero")[:2] == (0, out)  # a question needs no quotes
    code, out, _ = cli("ask", "release", "top 2")
    assert code == 0 and len(out.splitlines()) == 7
    for question in ("top 2", "released 1", "compare 0 with 5", "total of 0, 5", "mean"):
        assert "SIMULATION" in cli("ask", "release", question)[1].splitlines()[-1]
    code, out, _ = cli("ask", "release", "released 1")
    assert "a released 1: true count" in out
    code, out, _ = cli("ask", "release", "share zero", "--json", "--estimator", "released")
    answer = json.loads(out)
    assert answer["estimate"] == pytest.approx(release.distribution[0]) and answer["simulated"]
    code, out, _ = cli("ask", "release", "compare <b>place</b> 0 with <b>place</b> 5")
    assert code == 0 and "has more than" in out
    assert cli("ask", "release", "compare 0 with 5")[1] == out  # no label: the rows' numbers
    assert cli("ask", "release", "compare 0 with 5000")[0] == 2


def test_questions_that_cannot_be_answered_say_what_can(cli, release):
    code, out, err = cli("ask", "release", "meann")
    assert code == 2 and out == "" and "did you mean 'mean'" in err
    assert "does not fit" in cli("ask", "release", "top 3", "--estimator", "target")[2]
    assert "from 0 to 7" in cli("ask", "release", "share 12")[2]
    assert "there is no folder" in cli("ask", "elsewhere", "mean")[2]


def test_a_release_with_a_delta_or_a_private_max_count_says_so(cli):
    gaussian = holdfast.privatizers.CumulativeGaussian(delta="1e-6")
    released(privatizer=gaussian).save("gaussian")
    assert "with delta = " in cli("report", "gaussian", "--format", "md")[1]
    bound = holdfast.PrivateQuantile("0.9", highest=30)
    released(max_count=bound, epsilon=5).save("bound")
    assert "| max_count | " in cli("report", "bound", "--format", "md")[1]
    released(constructor=holdfast.baselines.TruncatedGeometric()).save("baseline")
    code, text, _ = cli("report", "baseline", "--format", "md")
    assert code == 0 and "the distribution of counts |" not in text


def test_a_wide_range_is_drawn_in_runs(cli):
    counts = [0] * 500 + [3] * 300 + [60] * 100
    released(counts=counts, max_count=80, epsilon=3, **QUICK).save("wide")
    content = json.loads(cli("report", "wide", "--format", "json")[1])
    assert len(content["distribution"]) <= 61
    assert sum(bar["released"] for bar in content["distribution"]) == pytest.approx(1)
    assert "<svg" in blocks.html(content)


def test_the_runs_of_a_long_range_widen_and_its_axis_names_powers_of_ten():
    places = runs(100_001)
    assert places[0] == (0, 0) and places[-1] == (100_000, 100_000) and len(places) <= 61
    assert all(a[1] + 1 == b[0] for a, b in itertools.pairwise(places))
    bars = [
        {"first": a, "last": b, "open": a == 100_000, "released": 1 / len(places),
         "estimate": None, "interval": None}
        for a, b in places
    ]  # fmt: skip
    svg = band_picture(bars)
    for name in ("0", "1", "10", "100", "1,000", "10,000", "100,000+"):
        assert f">{name}</text>" in svg


def test_rows_named_by_dates_or_numbers_are_found_and_printed(cli, monkeypatch):
    import datetime

    import pandas

    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(40)]
    frame = pandas.DataFrame({"day": days, "id": range(100, 140), "n": [0, 1, 2, 3] * 10})
    made = released(counts=frame, count="n", keep=["day", "id"])
    # labels that JSON does not know
    monkeypatch.setattr("holdfast.former.release.bundle.load", lambda _: made)
    code, out, _ = cli("ask", "days", "top 2", "--json")
    assert code == 0 and json.loads(out)["rows"][0]["label"].startswith("2020-0")
    code, out, _ = cli("ask", "days", "compare 2020-01-01 with 2020-01-03")
    assert code == 0 and out.startswith("2020-01-01 has more")
    code, out, _ = cli("ask", "days", "compare 101 with 139", "--label", "id", "--json")
    assert code == 0 and str(json.loads(out)["second"]) == "139"
    code, _, err = cli("ask", "days", "total of 101, 3", "--label", "id")
    assert code == 2 and "a number is a label" in err


def test_intervals_stand_beside_the_columns_of_the_table_and_replace_none(cli, tmp_path):
    import pyarrow

    names = ("low_90", "low_90_of_count", "expected")
    table = pyarrow.table({name: [f"{name} a", None] * 30 for name in names} | {"n": [1, 2] * 30})
    released(counts=table, count="n", keep=names, publish_anyway=names).save(
        tmp_path / "release", table_format="parquet"
    )
    assert cli("report", "release", "--with-intervals")[0] == 0
    lines = (tmp_path / "release-report-intervals.csv").read_text("utf-8").splitlines()
    head, first, second, *_ = csv.reader(lines)
    assert head == [*names, "n", "low_90_of_count_of_count", "high_90", "expected_of_count",
                    "median", "probability_zero"]  # fmt: skip
    assert first[:3] == [f"{name} a" for name in names]
    assert second[:3] == ["", "", ""]


def test_a_citation_names_the_version_that_drew_the_release():
    from holdfast.former.analysis.report.content import cite

    release = dataclasses.replace(released(), made_with="0.0.7")
    assert "made with holdfast 0.0.7," in cite(release)


def test_counts_that_no_row_has_are_not_listed():
    """Rows of nothing but 0.00% would bury the others."""
    bars = [
        {"first": 0, "last": 0, "released": 1.0, "estimate": 1.0, "interval": [0.9, 1.0]},
        {"first": 1, "last": 1, "released": 0.0, "estimate": 0.0, "interval": [0.0, 0.0]},
        {"first": 2, "last": 2, "released": 0.0, "estimate": None, "interval": None},
    ]
    assert [blocks._tells(bar) for bar in bars] == [True, False, True]


def test_common_questions_go_where_the_counts_are_by_z_alone():
    draw = np.random.default_rng(1)
    high = holdfast.privatize(
        (draw.lognormal(7, 1, size=800) + 100).astype(int), epsilon=1, max_count=50_000, seed=1
    )
    low = holdfast.privatize(draw.poisson(2, size=800), epsilon=1, max_count=50_000, seed=1)
    shares = [q for q in questions(high, 0.9) if "or more" in q["question"]]
    told = [q for q in shares if 0.005 < q["estimate"] < 0.98]
    assert len(told) == len(shares) >= 5  # none has all rows or none
    assert [q["question"] for q in shares][-1] == "share of rows with 10,000 or more"
    assert [q["question"] for q in questions(low, 0.9)][1] == "share of rows with 1 or more"
    capped = np.append(np.ones(1_000), np.ones(1) * 50) / 1_050
    assert max(thresholds(capped)) == 500  # not 1,000, which rows just below it are carried to
