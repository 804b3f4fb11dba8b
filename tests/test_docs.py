"""The documentation is a book: every page has its place in it, and its links lead somewhere."""

import re
from itertools import pairwise
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}


def test_every_page_has_one_place_in_the_book():
    listed = [
        name
        for toc in re.findall(r"```\{toctree\}\n(.*?)```", PAGES["index"], re.DOTALL)
        for name in toc.splitlines()
        if name and not name.startswith(":")
    ]
    assert sorted(listed) == sorted(set(PAGES) - {"index"})


def test_every_door_and_every_question_is_on_the_first_pages():
    for door in ("steward", "analyst", "researcher"):
        assert f"]({door}.md)" in PAGES["index"]


def test_every_public_name_is_in_the_reference():
    import holdfast

    modules = {"paper", "BudgetError", "CertificateError", "HoldfastError", "LeakError"}
    missing = [
        name for name in set(holdfast.__all__) - modules if f"holdfast.{name}\n" not in PAGES["api"]
    ]
    assert not missing


def test_links_between_pages_lead_to_pages():
    for name, text in PAGES.items():
        for link in re.findall(r"\]\(([a-z0-9_-]+\.(?:md|svg))", text):
            assert (DOCS / link).exists(), f"{name}: {link}"


def test_links_are_called_by_what_they_lead_to_and_not_by_a_file():
    for name, text in PAGES.items():
        assert not re.findall(r"\[[\w-]+\.md\]\(", text), name


def test_no_line_of_a_paragraph_is_taken_for_a_list():
    start = re.compile(r"(?:[-+*]|[0-9]+[.)]) ")
    for name, text in PAGES.items():
        lines = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()
        for before, line in pairwise(lines):
            inside = before.strip() and not start.match(before.strip()) and before[:1] != " "
            if start.match(line) and inside:
                assert before.rstrip().endswith(":"), f"{name}: {before} / {line}"
