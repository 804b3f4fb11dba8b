"""docs/ledger.md and docs/years.md: every command and every line of Python does what they say."""

import doctest
import re
import shlex
import sys
from pathlib import Path

import pytest

from composition import HEADER, row
from holdfast.cli import main

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "ledger.md").read_text(encoding="utf-8")
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands(page):
    """Every command of a page, with what it prints."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [step.split("\n", 1) for block in blocks for step in block.split("$ holdfast ")[1:]]


@pytest.mark.parametrize("page, number", [("ledger.md", 6), ("years.md", 6)])
def test_every_command_prints_what_the_page_shows(page, number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    steps = commands(page)
    if page == "ledger.md":
        steps.insert(0, ["demo --table counties.csv", "..."])
    assert len(steps) == number
    for command, shown in steps:
        monkeypatch.setattr(sys, "argv", ["holdfast", *shlex.split(command)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        printed = capsys.readouterr()
        assert code == (2 if shown.startswith("Error") else 0), printed.err
        found = printed.out + (printed.err if code else "")
        assert doctest.OutputChecker().check_output(shown, found, LOOSE), found


def test_every_line_of_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = re.sub(r"^```.*$", "", PAGE, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, "ledger.md", "docs/ledger.md", 0)
    assert len(test.examples) > 12
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_the_figures_are_those_of_the_benchmark():
    assert HEADER in PAGE
    for releases in (5, 20, 100, 500):
        assert row(releases) in PAGE
