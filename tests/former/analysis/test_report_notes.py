"""What a report keeps, whatever its format, and what it must not claim."""

import dataclasses
import json
import re

import pytest

import holdfast.former as holdfast
from analysis_releases import COUNTS, released
from holdfast.former.analysis.report.blocks import html, markdown
from holdfast.former.analysis.report.content import report
from holdfast.former.analysis.report.pictures import row_picture
from holdfast.former.privatizers.named import find_privatizer


def test_a_flat_mechanism_can_be_drawn():
    flat = {"probabilities": [1 / 600] * 600, "true_count": 3}
    assert row_picture(flat).count("<rect") == 14


def test_evening_out_moves_shares_neither_up_nor_down():
    for n in (2, 4, 6):
        view = released(counts=COUNTS[n > COUNTS], max_count=n - 1, epsilon="0.05").evidence
        assert view.middle.sum() == pytest.approx(1)


FEW = released(counts=[0] * 3 + [1] * 10 + [2] * 7, epsilon=1)


def test_every_format_keeps_what_a_reader_should_know():
    content = report(FEW)
    promise = content["promise"]
    assert "too few rows for this budget" in " ".join(content["distribution_notes"])
    told = [note for q in content["questions"] for note in q["notes"] if "SIMULATION" not in note]
    plain = markdown(content).replace("\\", "")
    page = html(content).replace("<code>", "`").replace("</code>", "`")
    told += [promise["neighbours"], promise["randomness"], content["estimators"][0]["words"]]
    for words in (*content["distribution_notes"], *content["single_rows_notes"], *told):
        assert words[1:] in plain
        assert words[1:].replace("'", "&#x27;") in page
    assert content == json.loads(json.dumps(content))
    assert all(
        "too few rows for this budget" in " ".join(b["notes"]) for b in content["distribution"][:2]
    )


def test_names_cannot_break_out_of_the_markdown():
    name = "a`<script>alert(1)</script>[x](http://x)"
    table = holdfast.former.tables.csv.CsvTable((name, "n"), [["x", "1"], ["y", "0"]] * 20)
    text = markdown(report(released(counts=table, count="n", keep=[name], publish_anyway=[name])))
    assert f"`` {name} ``" in text
    assert text.count("<script>") == 1


def test_levels_are_never_rounded_to_a_false_claim(tmp_path):
    release = released()
    content = report(release, 0.999)
    for text in (markdown(content), html(content), str(release.ask("mean", level=0.999))):
        assert "99.9% interval" in text and "100% interval" not in text
    assert "99.9% interval" in str(release.compare(0, 700, level=0.999))
    assert list(release.intervals(0.999).columns())[:2] == ["low_99.9", "high_99.9"]


def test_a_report_without_bands_where_none_can_be_computed():
    for release in (
        dataclasses.replace(released(), methods=("Elsewhere()", "Heuristic()")),
        released(constructor=holdfast.baselines.TruncatedGeometric(), epsilon="1e-6"),
    ):
        content = report(release)
        assert all(bar["interval"] is None for bar in content["distribution"])
        assert not content["questions"]
        assert content["distribution_notes"] and "unknown" in markdown(content)
        assert "<rect" in html(content) and json.dumps(content)


def test_a_baseline_claims_no_stage_it_does_not_have():
    release = released(constructor=holdfast.baselines.TruncatedGeometric(), epsilon=3)
    content = report(release)
    for text in (markdown(content), html(content)):
        assert not re.search("(?<!no )stage 1|both stages|Kohli|private distribution z", text)
        assert "TruncatedGeometric" in text
    flat = released(constructor=holdfast.baselines.TruncatedGeometric(), counts=[0] * 9, epsilon=9)
    assert not any("stage 1" in note for note in flat.ask("mean").notes)


def test_the_estimate_does_not_depend_on_the_level():
    for release in (released(), FEW):
        for question in ("mean", "gini", "variance", "median"):
            assert len({release.ask(question, level=q).estimate for q in (0.5, 0.9, 0.99)}) == 1
        for k in range(8):
            found = {release.ask("share", equal=k, level=q).estimate for q in (0.5, 0.9, 0.99)}
            assert len(found) == 1


def test_few_rows_for_the_budget_are_told():
    for question, options in (("share", {"equal": 0}), ("median", {}), ("gini", {})):
        assert "too few rows" in " ".join(FEW.ask(question, **options).notes)
        assert "too few rows" not in " ".join(released().ask(question, **options).notes)


@pytest.mark.parametrize(
    "text",
    ["CumulativeGaussian(delta=Fraction(1, 0))", "ExpectedError()", "Skipped()", "Privatizer()",
     "CumulativeGaussian(delta=7)", "ExpectedError(size=1, bias=2)"],
)  # fmt: skip
def test_only_privatizers_are_found(text):
    assert find_privatizer(text) is None
