"""docs/ledger.md: every command and every line of Python in it does what it says."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import holdfast.former as holdfast
from composition import HEADER, row

DOCS = Path(__file__).parents[2] / "docs"
PAGE, YEARS = ((DOCS / name).read_text(encoding="utf-8") for name in ("ledger.md", "years.md"))
TABLE = Path(holdfast.__file__).parent / "data" / "county_homicides_1996.csv"
DRAWN = re.compile(r"(?<![\w-])[+-]?\d+(?:\.\d+)?%?(?= |,|\)|$)", re.MULTILINE)
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class UpToNumbers(doctest.OutputChecker):
    """Numbers that a draw decides become #."""

    def check_output(self, want, got, flags):
        return super().check_output(DRAWN.sub("#", want), DRAWN.sub("#", got), flags | LOOSE)


def test_every_command_prints_what_the_page_shows(cli):
    shutil.copy(TABLE, "counties.csv")
    steps = commands(PAGE)
    assert len(steps) == 5
    for command, shown in steps:
        code, out, err = cli(*shlex.split(command))
        assert code == (2 if shown.startswith("Error") else 0)
        assert doctest.OutputChecker().check_output(shown, out + err, LOOSE), out + err


def commands(page):
    """Every command of a page, with what it prints."""
    blocks = re.findall(r"^```console\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    return [step.split("\n", 1) for block in blocks for step in block.split("$ holdfast ")[1:]]


def test_the_page_on_years_prints_what_it_shows_up_to_what_was_drawn(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    steps = commands(YEARS)
    assert len(steps) == 8
    for command, shown in steps:
        code, out, err = cli(*shlex.split(command))
        assert code == (2 if shown.startswith("Error") else 0), err
        assert UpToNumbers().check_output(shown, err + out, 0), err + out


def test_every_line_of_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = re.sub(r"^```.*$", "", PAGE, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, "ledger.md", "docs/ledger.md", 0)
    assert len(test.examples) > 12
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_the_figures_are_those_of_the_benchmark():
    assert HEADER in PAGE
    for releases in (5, 20, 100):
        assert row(releases) in PAGE
