"""What the command line says to who waits, on a terminal and nowhere else."""

import io

import numba
import pytest
from rich.console import Console

from holdfast.former.cli import screen
from holdfast.former.cli.releases import verifying

LONG = '{"max_count": 1000000, "within": {"groups": 12}}'


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (LONG, "Verifying 12 groups with counts up to 1,000,000: some 12 seconds …"),
        (LONG.replace("12", "2"), "Verifying …"),
        (LONG.replace("12", "9" * 400), "Verifying …"),
        (LONG.replace("12", "1e400"), "Verifying …"),
        (LONG.replace("12", "null"), "Verifying …"),
        (LONG.replace('{"groups": 12}', "7"), "Verifying …"),
        ('{"max_count": 1000000}', "Verifying …"),
        ("[1]", "Verifying …"),
        ("{", "Verifying …"),
        (None, "Verifying …"),
    ],
)
def test_how_long_verifying_takes_is_said_where_it_is_long(tmp_path, record, words):
    if record is not None:
        (tmp_path / "release.json").write_text(record)
    assert verifying(tmp_path) == words


@pytest.fixture
def said(monkeypatch):
    """What a status shows, one after the other; the terminal is pretended."""
    words = []

    class Status:
        def __init__(self, message):
            words.append(message)

        update = staticmethod(words.append)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    shown = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(shown, "status", Status)
    monkeypatch.setattr(screen, "asides", shown)
    return words


def compiles():
    numba.njit(lambda x: 2 * x)(2)


def test_compiling_is_said_while_it_lasts_and_only_then(said):
    with screen.working_with_kernels("Privatizing …"):
        pass
    assert said == ["Privatizing …"]
    with screen.working_with_kernels("Privatizing …"):
        compiles()
    assert said[1:] == ["Privatizing …", screen.COMPILING, "Privatizing …"]


def test_nothing_is_said_to_who_does_not_watch(said, monkeypatch):
    with screen.working_with_kernels("Privatizing …", quiet=True):
        compiles()
    monkeypatch.setattr(screen, "asides", Console(file=io.StringIO(), force_terminal=False))
    with screen.working_with_kernels("Privatizing …"):
        compiles()
    assert said == [] and screen.asides.file.getvalue() == ""
