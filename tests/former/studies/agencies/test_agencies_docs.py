"""docs/agencies.md: the pictures are those that the code draws, the promises those it computes."""

from pathlib import Path

import agencies_page
from holdfast.former.studies.methods import find_methods

DOCS = Path(__file__).parents[3] / "docs"


def test_the_pictures_are_up_to_date(tmp_path):
    agencies_page.draw(tmp_path)
    for name in agencies_page.PICTURES:
        assert (DOCS / name).read_text() == (tmp_path / name).read_text(), name


def test_the_promises_of_the_page_are_computed():
    page = (DOCS / "agencies.md").read_text(encoding="utf-8")
    for method in find_methods(agencies_page.METHODS):
        row = next(line for line in page.splitlines() if agencies_page.TITLES[method.name] in line)
        assert row.endswith(f"| {agencies_page.promise(method)} |")
