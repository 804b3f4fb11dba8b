"""The Excel workbook of a release: a copy that says what the bundle says, in the same bytes."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from analysis_releases import released
from command_line import run
from holdfast.former.analysis.report.workbook import (
    groups_sheet,
    totals_sheet,
    workbook,
    workbook_of_several,
)
from holdfast.former.tables.csv import CsvTable

pytest.importorskip("xlsxwriter")
pytest.importorskip("python_calamine")

ROWS = [["=1+1", "007", "3"], ["@b", "2.50", "0"], ["c\nd", "0.25", "1"], ["é", "12", "7"]] * 30


@pytest.fixture(scope="module")
def release():
    rows = [[f"{name}{at}", code, count] for at, (name, code, count) in enumerate(ROWS)]
    table = CsvTable(("place", "code", "n"), rows)
    return released(
        counts=table,
        count="n",
        category="place",
        keep=["code"],
        publish_anyway=["code", "row order"],
    )


@pytest.fixture(scope="module")
def data(release):
    return workbook(release)


def sheets(data):
    return pd.read_excel(io.BytesIO(data), sheet_name=None, engine="calamine", dtype=object)


def test_the_table_has_every_row_with_its_interval(release, data):
    found, wanted = sheets(data)["Table"], release.intervals(0.9)
    assert found["n"].tolist() == release.counts.tolist()
    assert found["low_90"].tolist() == wanted.low.tolist()
    assert found["high_90"].tolist() == wanted.high.tolist()


def test_rows_without_a_count_stay_in_the_table_and_open_ends_are_said_in_words():
    counts = [-9, *range(5), *[7] * 54]
    table = pd.DataFrame({"place": [f"p{i}" for i in range(60)], "n": counts})
    release = released(counts=table, count="n", category="place", missing=[-9])
    found = sheets(workbook(release))
    assert len(found["Table"]) == 60 and found["Table"].iloc[0, 1:].isna().all()
    assert found["Table"]["n"].notna().sum() == 59
    words = found["Answers"].set_index("question")["90% interval in words"]
    assert words["median count"].endswith(" or more")
    about = pd.read_excel(io.BytesIO(workbook(release)), header=None, engine="calamine")
    assert "60 rows, of which 1 without a count" in " ".join(map(str, about[1]))


def test_text_stays_text_and_numbers_are_numbers(data):
    found = sheets(data)["Table"]
    assert found["place"].tolist()[:4] == ["=1+10", "@b1", "c\nd2", "é3"]
    assert found["code"].tolist()[:4] == ["007", "2.50", 0.25, 12]


def test_the_distribution_and_the_answers_are_those_of_the_report(release):
    found = sheets(workbook(release, 0.8))
    np.testing.assert_allclose(
        found["Distribution"]["share released"].astype(float), release.distribution, atol=1e-15
    )
    mean = found["Answers"].set_index("question").loc[release.ask("mean").question]
    assert mean["estimate"] == pytest.approx(release.ask("mean").estimate, rel=1e-14)
    assert "80% interval, from" in found["Answers"].columns


def test_the_first_sheet_says_what_was_promised_and_warns(data):
    about = pd.read_excel(io.BytesIO(data), sheet_name=0, header=None, engine="calamine")
    said = dict(zip(about[0], about[1], strict=True))
    assert said["epsilon promised"] == "3/2"
    assert said["Warning"].startswith("SIMULATION")
    assert said["Published unchanged"] == "place, code"


def test_a_release_without_intervals_still_has_its_table():
    noisy = holdfast.baselines.DiscreteGaussian(delta="1/1000")
    plain = released(constructor=noisy, epsilon="1/100", counts=[0, 1, 2, 3] * 3)
    found = sheets(workbook(plain))
    assert list(found["Table"].columns) == ["count"]
    assert found["Table"]["count"].tolist() == plain.counts.tolist()


def test_the_workbook_is_written_beside_the_bundle_in_the_same_bytes(
    release, data, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    release.save("out")
    code, said, _ = run(capsys, monkeypatch, "report", "out", "--format", "xlsx")
    assert code == 0 and "out-report.xlsx" in said
    assert (tmp_path / "out-report.xlsx").read_bytes() == data
    assert holdfast.verify("out").passed
    with pytest.raises(holdfast.HoldfastError, match="cannot be written: File exists"):
        release.to_excel("out-report.xlsx")


def test_an_excel_file_is_released_and_reported_in_excel(tmp_path, capsys, monkeypatch):
    import xlsxwriter

    monkeypatch.chdir(tmp_path)
    with xlsxwriter.Workbook("in.xlsx") as book:
        for name, rows in {
            "read me": [["x"]],
            "data": [["n"], *([k % 3] for k in range(60))],
        }.items():
            page = book.add_worksheet(name)
            for at, row in enumerate(rows):
                page.write_row(at, 0, row)
    words = ("privatize", "in.xlsx", "--epsilon", "1", "--max-count", "5", "--seed", "1")
    code, _, said = run(capsys, monkeypatch, *words, "--out", "none")
    assert code == 2 and "--sheet" in said
    assert run(capsys, monkeypatch, *words, "--sheet", "data", "--out", "out")[0] == 0
    assert holdfast.load("out").rows == 60
    code, _, said = run(
        capsys, monkeypatch, "privatize", "in.csv", *words[2:], "--sheet", "d", "--out", "x"
    )
    assert code == 2 and "is for workbooks" in said


def test_measured_totals_have_a_sheet():
    table = CsvTable(("n",), [[str(k % 5)] for k in range(300)])
    release = released(counts=table, totals=True, epsilon="3", constructor=None)
    whole = release.totals.whole
    found = sheets(workbook(release))["Totals"]
    assert found.iloc[0].tolist() == ["all rows", whole.value, whole.low, whole.high]


def test_groups_have_rows_of_their_own():
    rows = [[f"p{k}", "NE" if k % 2 else "TX", str(k % 5)] for k in range(400)]
    release = holdfast.privatize(
        CsvTable(("place", "state", "n"), rows), epsilon=3, max_count=6, count="n",
        category="place", within="state", totals=True, seed=1,
    )  # fmt: skip
    assert [row[:2] for row in groups_sheet(release, {"groups": []})] == [("NE", 200), ("TX", 200)]
    assert [row[0] for row in totals_sheet(release, {})] == ["all rows", "NE", "TX"]
    found = sheets(workbook(release))
    assert found["Groups"]["group"].tolist() == ["NE", "TX"]
    assert found["Table"]["n"].tolist() == release.counts.tolist()


def test_several_counts_stand_side_by_side_with_their_intervals_and_gaps(tmp_path):
    chance = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "place": [f"p{k}" for k in range(60)],
            "theft_expected": "mine",
            "murder": chance.poisson(1, 60),
            "theft": chance.poisson(2, 60),
        }
    )
    frame.loc[5, "theft"] = -9
    release = holdfast.privatize(
        frame, count=["murder", "theft"], category="place", keep=["theft_expected"], epsilon=2,
        max_count={"murder": 4, "theft": 6}, missing=[-9], totals=True, seed=1,
    )  # fmt: skip
    data = workbook_of_several(release)
    release.to_excel(tmp_path / "both.xlsx")
    assert data == (tmp_path / "both.xlsx").read_bytes()
    found = sheets(data)
    table, theft = found["Table"], release["theft"]
    assert len(table) == 60 and table["place"].tolist() == frame.place.tolist()
    assert table["murder"].tolist() == release["murder"].counts.tolist()
    assert table["theft"].isna().tolist() == (theft.counts < 0).tolist()
    known = table[theft.counts >= 0]
    assert known["theft_low_90"].tolist() == theft.intervals(0.9).low.tolist()
    assert known["theft_high_90"].tolist() == theft.intervals(0.9).high.tolist()
    assert set(table["theft_expected"]) == {"mine"} and "theft_expected_of_count" in table
    shares = found["Distribution"]
    assert shares["counts of"].value_counts().to_dict() == {"theft": 7, "murder": 5}
    assert found["Totals"]["counts of"].tolist() == ["murder", "theft"]
    about = dict(
        pd.read_excel(io.BytesIO(data), sheet_name=0, header=None, engine="calamine").values
    )
    assert about["epsilon promised"] == 2
    assert about["Highest count"] == "murder: 4 means 4 or more; theft: 6 means 6 or more"


def test_the_command_line_writes_the_workbook_and_the_intervals_of_several_counts(cli):
    frame = pd.DataFrame({"place": range(50), "a": [0, 1, 2, 1, 0] * 10, "b": [2, 0, 1, 3, 3] * 10})
    roles = {"count": ["a", "b"], "category": "place", "epsilon": 3, "max_count": 3}
    holdfast.privatize(frame, **roles, seed=1).save("release")
    words = "report", "release", "--format", "xlsx", "--with-intervals"
    code, out, err = cli(*words)
    assert code == 0 and "release-report.xlsx" in out, err
    table = pd.read_csv("release-report-intervals.csv")
    assert len(table) == 50 and {"a_low_90", "b_high_90"} <= set(table.columns)


def test_groups_of_a_long_range_have_all_of_their_z_on_a_sheet():
    counts = np.random.default_rng(1).integers(0, 19_000, 60)
    frame = pd.DataFrame({"state": ["NE", "TX"] * 30, "n": counts})
    release = holdfast.privatize(
        frame, epsilon=2, max_count=20_000, count="n", within="state", seed=1
    )
    found = sheets(workbook(release))["Groups"]
    shares = [name for name in found if str(name).startswith("share of ") and "private" in name]
    assert 20 < len(shares) < 60 and "share of 20,000, by the private distribution" in shares
    assert found[shares].sum(axis=1).tolist() == pytest.approx([1, 1])


def test_a_report_has_the_format_that_its_file_says(cli, release):
    release.save("release")
    for name, begins in (("a.md", b"# "), ("a.xlsx", b"PK"), ("a.html", b"<!doctype")):
        assert cli("report", "release", "--out", name)[0] == 0
        assert Path(name).read_bytes().startswith(begins)
