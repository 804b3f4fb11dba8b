"""The tutorials: every line runs, and says what the page says up to the numbers drawn."""

import doctest
import re
import sys
from pathlib import Path

import pytest

from holdfast.former.cli import main

DOCS = Path(__file__).parents[1] / "docs"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def masked(text):
    """Numbers that a draw decides become #; fields that a label pads lose their padding."""
    return re.sub(r"-?\d+(,\d{3})*(\.\d+)?%?", "#", text)


class UpToNumbers(doctest.OutputChecker):
    def check_output(self, want, got, flags):
        return super().check_output(masked(want), masked(got), flags | FLAGS)


def run_python(block, names, failures):
    test = doctest.DocTestParser().get_doctest(block, names, "tutorial", None, 0)
    runner = doctest.DocTestRunner(UpToNumbers(), verbose=False)
    runner.run(test, out=failures.append, clear_globs=False)
    names.update(test.globs)
    return len(test.examples)


def run_console(block, monkeypatch, capsys, failures):
    commands = re.findall(r"^\$ holdfast (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    for line, wanted in commands:
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]
        monkeypatch.setattr(sys, "argv", ["holdfast", *words])
        try:
            main()
        except SystemExit as stop:
            if stop.code and "Error" not in wanted:
                failures.append(f"{line}: exit code {stop.code}")
        printed = capsys.readouterr()
        if not UpToNumbers().check_output(wanted, printed.err + printed.out, 0):
            failures.append(f"$ {line}\nexpected:\n{wanted}\ngot:\n{printed.err}{printed.out}")
    return len(commands)


def run_page(page, monkeypatch, capsys):
    text, names, failures, done = (DOCS / f"{page}.md").read_text("utf-8"), {}, [], 0
    for kind, block in BLOCK.findall(text):
        if kind == "python":
            done += run_python(block, names, failures)
        else:
            done += run_console(block, monkeypatch, capsys, failures)
    return done, failures


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("tutorial-analyst", 20),
        ("tutorial-steward", 12),
        ("tutorial-researcher", 20),
        ("two-years", 14),
        ("pairs", 12),
        ("merging", 12),
        ("agencies", 4),
        ("example-homicides", 18),
        ("example-schools", 12),
    ],
)
def test_every_line_of_a_tutorial_runs(page, least, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    done, failures = run_page(page, monkeypatch, capsys)
    assert not failures, "\n".join(failures)
    assert done >= least


def test_the_tutorials_are_held_to_their_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failures = []
    run_python(">>> print('47.0% of rows')\n47.2% of columns\n", {}, failures)
    assert failures


def test_the_grammar_in_the_tutorial_is_the_grammar(tmp_path):
    from holdfast.former.analysis.grammar import parse

    page = (DOCS / "tutorial-analyst.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*`) \|", page, re.MULTILINE)
    questions = [question for row in rows for question in re.findall(r"`([^`]+)`", row)]
    assert len(questions) > 20
    for question in questions:
        parse(question)
