"""docs/optimum.md: every line runs, and the picture is the one that the code draws."""

import doctest
import re
from pathlib import Path

from holdfast.studies import optimum_picture

DOCS = Path(__file__).parents[2] / "docs"


def test_every_line_of_the_page_runs():
    page = (DOCS / "optimum.md").read_text(encoding="utf-8")
    text = re.sub(r"^```.*$", "", page, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, "optimum.md", "docs/optimum.md", 0)
    assert len(test.examples) > 30
    failures = []
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_the_picture_is_up_to_date(tmp_path):
    optimum_picture.main(str(tmp_path))
    committed = (DOCS / optimum_picture.NAME).read_text(encoding="utf-8")
    assert committed == (tmp_path / optimum_picture.NAME).read_text(encoding="utf-8")
    assert f"]({optimum_picture.NAME})" in (DOCS / "optimum.md").read_text(encoding="utf-8")


def test_the_page_gives_the_counts_that_its_code_prints():
    page = (DOCS / "optimum.md").read_text(encoding="utf-8")
    assert "[7, 29]" in page and "7 of the 31 counts" in page and "geometric has 29" in page
