"""Help is light, fits the screen, and shows every field of a request once, the first ten first."""

import re
import shlex
import subprocess
import sys

import pytest

from commands import run
from holdfast.request import FIELDS, Panel, Request

COMMANDS = [
    *("demo", "count", "privatize", "verify", "report", "ask", "regroup", "plan", "compare"),
    *("explain", "page", "ledger", "paper"),
]
HEAVY = {"numpy", "scipy", "opendp", "narwhals", "numba", "pyarrow", "pandas", "matplotlib"}


def test_help_lists_the_commands_in_the_order_of_a_steward_s_work(capsys, monkeypatch):
    code, out, _ = run(capsys, monkeypatch, "--help")
    assert code == 0
    assert re.findall(r"^  (\w+)  ", out, flags=re.MULTILINE) == COMMANDS


@pytest.mark.parametrize("words", ["--help", *(f"{command} --help" for command in COMMANDS[:-1])])
def test_help_imports_nothing_heavy(words):
    code = (
        "import sys\nfrom holdfast.cli import main\n"
        f"sys.argv = ['holdfast', *{words.split()!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "print({name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not eval(done.stderr) & HEAVY
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.fixture
def help_of_privatize(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    return run(capsys, monkeypatch, "privatize", "--help")[1]


def test_the_first_panel_has_ten_options_and_all_others_are_headed(help_of_privatize):
    panels = dict(
        re.findall(r"^(\S[^\n]*)\n((?:  [^\n]*\n)+)", help_of_privatize + "\n", flags=re.MULTILINE)
    )
    options = {
        heading: re.findall(r"^  (--[a-z-]+)", lines, flags=re.MULTILINE)
        for heading, lines in panels.items()
    }
    assert len(options[f"{Panel.FIRST}:"]) == 10
    assert options[f"{Panel.FIRST}:"][-1] == "--dry-run"
    for heading in Panel:
        wanted = [about.option for about in FIELDS.values() if about.panel is heading]
        assert [one for one in options[f"{heading}:"] if one != "--dry-run"] == wanted


def test_help_has_no_narrow_column(help_of_privatize):
    filled = [line for line in help_of_privatize.splitlines() if line.startswith(" " * 29)]
    assert max(map(len, filled)) > 74
    assert max(map(len, help_of_privatize.splitlines())) <= 80
    assert len(help_of_privatize.splitlines()) < 140


class Reached(Exception):
    """A request that reached its table."""


@pytest.fixture
def request_of(monkeypatch):
    def asked(_source, request):
        raise Reached(request)

    monkeypatch.setattr("holdfast.engine.privatize.opened", asked)
    monkeypatch.setenv("HOLDFAST_DEBUG", "1")

    def request_of(*words):
        from holdfast.cli import main

        monkeypatch.setattr(sys, "argv", ["holdfast", *words])
        with pytest.raises(Reached) as reached:
            main()
        return reached.value.args[0]

    return request_of


REQUESTS = [
    {"epsilon": "1.0", "count": "a"},
    {"epsilon": "1/3", "count": ["a", "b"], "weights": {"a": 1, "b": "0.5"}},
    {"epsilon": 2, "count": ["a", "b"], "contributions": {"a": 1, "b": 5}, "rows": 3},
    {"epsilon": 1, "count": ["a", "b"], "person_in": "one column", "unit": "household"},
    {"epsilon": 1, "count": "a", "missing": ["-999", ""], "keep": ["x y", "it's"], "top": 50},
    {"epsilon": 1, "count": "a", "within": "state", "totals": True, "subset": {"state": "N=E"}},
    {"epsilon": 1, "count": "a", "totals": "0.25", "split": "0.1", "order_by": "county"},
    {"epsilon": 1, "count": "a", "keep_none": True, "repeated_categories": True, "seed": 7},
    {"epsilon": 1, "count": "a", "sheet": "T 1", "header_row": 3, "last_row": 9, "leave_out": [5]},
    {"epsilon": 1, "count": "a", "thousands": ",", "decimal": ".", "table_format": "parquet"},
    {"epsilon": 1, "count": "a", "ledger": "l", "dataset": "d", "purpose": "p", "corrects": "r"},
    {"epsilon": 1, "count": "a", "period": "2026-Q1", "publish_anyway": ["row order", "totals"]},
    {"epsilon": 1, "from_people": True, "by": ["a", "b"], "categories": "c.csv", "per": "id"},
    {"epsilon": 1, "count": "a", "query": "FROM visits", "structural_zero": "no_school"},
]


@pytest.mark.parametrize("options", REQUESTS)
def test_the_command_of_a_request_is_read_as_that_request(request_of, options):
    request = Request.read(**options, out="release-1")
    assert request_of(*shlex.split(request.as_command("a.csv"))[1:]) == request


def test_classes_and_crossed_groups_are_read_from_words(request_of):
    found = request_of(
        *("privatize", "a.csv", "--epsilon", "1", "--count", "a", "--dry-run"),
        *("--within", "state", "--within", "population:8", "--within", "age:auto"),
    )
    assert str(found.within) == "state and 8 classes of population and classes of age"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--count", "a"], "`a.csv`: No such file"),
        (["--epsilon", "nine"], "`epsilon` must be a finite number"),
        (["--epsilon", "1"], "`--out` is missing"),
        (["--epsilon", "1", "--rows", "1,000"], "write all digits and no marks"),
        (["--epsilon", "1", "--ledger", "x"], "`ledger` and `dataset` go together"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_one_sentence(capsys, monkeypatch, words, message):
    code, out, err = run(capsys, monkeypatch, "privatize", "a.csv", *words)
    assert (code, out) == (2, "")
    assert message in err and "Traceback" not in err


def test_gone_options_are_gone(capsys, monkeypatch):
    for option in ("--max-count", "--privatizer", "--constructor", "--joint", "--stream"):
        code, _, err = run(capsys, monkeypatch, "privatize", "a.csv", option, "1")
        assert code == 2 and "No such option" in err


def test_a_docstring_explains_every_option_of_its_command_and_passes_on_the_others():
    import inspect

    from holdfast.cli.options import explained

    def command(file: str, level: float = 0.9, **others: str) -> None:
        """Do it.

        Options:

        FILE: A file.
        --level SHARE
        --by COLUMN…: A column.
        --within
        """

    shown = inspect.signature(explained(command)).parameters
    assert list(shown) == ["file", "level", "by", "within"]
    assert (command.__doc__, shown["level"].default) == ("Do it.", 0.9)
    option = shown["within"].annotation.__metadata__[0]
    assert (option.help, option.metavar) == (FIELDS["within"].help, FIELDS["within"].takes)

    def silent(file: str, level: float = 0.9) -> None:
        """Do it.

        Options:

        FILE: A file.
        """

    with pytest.raises(TypeError, match="silent does not explain level"):
        explained(silent)
