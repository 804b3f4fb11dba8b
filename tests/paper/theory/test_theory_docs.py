"""docs/theory.md: every line runs, and the pictures are those that the code draws."""

import doctest
import re
from pathlib import Path

import pytest

import theory_pictures
from theory_sizes import CASES, HEADER, number_of_vertices

DOCS = Path(__file__).parents[3] / "docs"


def test_every_line_of_the_page_runs():
    page = (DOCS / "theory.md").read_text(encoding="utf-8")
    text = re.sub(r"^```.*$", "", page, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, "theory.md", "docs/theory.md", 0)
    assert len(test.examples) > 40
    results = doctest.DocTestRunner(verbose=False).run(test)
    assert results.failed == 0


@pytest.mark.parametrize(("label", "z"), CASES)
def test_the_table_of_sizes_is_what_the_benchmark_counts(label, z):
    page = (DOCS / "theory.md").read_text(encoding="utf-8")
    assert HEADER in page
    names = ("U", "R_U", "F", "R_F") if len(z) < 4 else ("U", "R_U", "F")  # R_F takes too long
    cells = [label, len(z), *(number_of_vertices(name, z) for name in names)]
    assert f"| {' | '.join(map(str, cells))} |" in page


@pytest.mark.parametrize("name", theory_pictures.documentation())
def test_the_pictures_are_up_to_date(name, tmp_path):
    theory_pictures.main(str(tmp_path))
    committed = (DOCS / name).read_text(encoding="utf-8")
    assert committed == (tmp_path / name).read_text(encoding="utf-8")
    assert len(committed) < 10_000
    assert f"]({name})" in (DOCS / "theory.md").read_text(encoding="utf-8")
