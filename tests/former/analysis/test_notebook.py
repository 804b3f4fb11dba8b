"""What a release shows in a notebook, and by which column it names its rows."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import holdfast.former as holdfast
from holdfast.former import HoldfastError
from holdfast.former.analysis.frames import as_frame
from holdfast.former.analysis.typed import answer_typed
from holdfast.former.cli import main

COUNTS = np.random.default_rng(2).geometric(0.3, 600) - 1
NAMES = [f"Kent, {k} <b>" for k in range(600)]


@pytest.fixture(scope="module")
def release():
    frame = pd.DataFrame({"state": [f"{k % 3:02}" for k in range(600)], "place": NAMES})
    return holdfast.privatize(
        frame.assign(n=COUNTS), epsilon=2, max_count=9, seed=1,
        count="n", category="place", keep=["state"], within="state",
    )  # fmt: skip


@pytest.fixture(scope="module")
def loaded(release, tmp_path_factory):
    return holdfast.load(release.save(tmp_path_factory.mktemp("notebook") / "out"))


def test_rows_are_named_by_the_category_wherever_it_stands(release, loaded):
    assert release.table.columns[0] == "state"
    for each in (release, loaded):
        assert each.category == "place"
        assert {row.label for row in each.top(3)} <= set(NAMES)
        assert each.compare(NAMES[0], NAMES[1]).first == NAMES[0]


def test_names_with_commas_can_be_asked(release):
    typed = answer_typed(release, f'total of "{NAMES[0]}", "{NAMES[1]}"')
    assert typed.estimate == release.total_of(NAMES[:2]).estimate
    typed = answer_typed(release, f'compare "{NAMES[0]}" with "{NAMES[1]}"')
    assert typed.first == NAMES[0] and typed.second == NAMES[1]


def test_a_loaded_table_is_a_frame_whose_texts_stay_texts(loaded):
    table = loaded.table
    assert isinstance(table, pd.DataFrame) and table.shape == (600, 3)
    assert table["state"].tolist()[:3] == ["00", "01", "02"]
    assert (table["n"] == loaded.counts).all() and table.equals(loaded.to_pandas()[table.columns])
    chosen = loaded.ask("mean", where=lambda frame: frame["state"] == "01")
    assert chosen.estimate == loaded.ask("mean", where="state == '01'").estimate


def test_a_loaded_table_is_one_of_polars_without_pandas_and_text_without_either(
    loaded, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(as_frame(loaded.cells), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert as_frame(loaded.cells) is loaded.cells


def test_a_text_table_shows_in_a_notebook(loaded):
    text = loaded.cells
    assert text.shape == (600, 3) and len(text.head()) == 5
    assert "Kent, 0 &lt;b&gt;" in text._repr_html_() and "590 more rows" in text._repr_html_()


def test_pictures_of_the_distribution_of_groups_and_of_a_row(release, tmp_path):
    whole, groups, row = release.plot(), release.plot(groups=True), release.plot(row=NAMES[0])
    for picture in (whole, groups, row):
        assert picture.svg.startswith("<svg xmlns") and "<b>" not in picture._repr_html_()
        assert picture.save(tmp_path / "p.svg").read_text() == picture.svg
    assert "9+" in whole.svg and "3 groups" in groups.words
    low, high = release.intervals().low[0], release.intervals().high[0]
    assert f"truly {low} to {high}" in row.words
    assert row.svg.count("#c2410c") == high - low + 1
    alone = holdfast.privatize([0, 1, 2] * 30, epsilon=1, max_count=3, seed=1)
    with pytest.raises(HoldfastError, match="has no groups"):
        alone.plot(groups=True)


def test_a_report_has_the_stewards_title_and_names_what_was_counted(
    release, tmp_path, monkeypatch, capsys
):
    release.save(tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    cover = ["--title", "Cases <i> in 2026", "--by", "Health | Office", "--date", "May"]
    for form in ("md", "html"):
        words = ["report", "out", "--format", form, "--out", f"r.{form}", *cover]
        monkeypatch.setattr("sys.argv", ["holdfast", *words, "--purpose", "planning"])
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code
    capsys.readouterr()
    text, page = (tmp_path / "r.md").read_text(), (tmp_path / "r.html").read_text()
    assert text.startswith("# Cases \\<i\\> in 2026\n\nHealth | Office · May · planning\n")
    assert "<h1>Cases &lt;i&gt; in 2026</h1>" in page
    assert "## The distribution of `n`" in text and "<h2>The distribution of <code>n</code>" in page
    assert '<th scope="col">place</th>' in page and '<th scope="row" class="n">9+</th>' in page
    assert "9+: " in page  # on the picture too


def test_a_tail_that_would_vanish_is_drawn_again():
    counts = np.concatenate([np.zeros(9000, int), np.random.default_rng(1).integers(0, 30, 400)])
    made = holdfast.privatize(counts, epsilon=3, max_count=30, seed=1)
    from holdfast.former.analysis.report.blocks import html, markdown
    from holdfast.former.analysis.report.content import report

    content = report(made)
    assert "The same from 1 on, enlarged:</p>\n<svg" in html(content)
    assert "enlarged" not in markdown(content)  # which has no pictures


def test_classes_of_ones_own_stand_in_their_order(release):
    size = pd.Series(np.arange(600)[::-1])
    found = release.ask("mean", by=pd.cut(size, [-1, 99, 299, 600]))
    assert [str(name) for name in found] == ["(-1, 99]", "(99, 299]", "(299, 600]"]
    assert "notes" not in repr(release.top(1)[0])
