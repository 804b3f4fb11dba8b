"""The command line in an empty folder."""

import pytest

from commands import run


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    """A function of words: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return lambda *words: run(capsys, monkeypatch, *words)
