"""A folder with a table, and somebody at the page."""

import re
from pathlib import Path

import pytest

from holdfast.page.state import write_json
from holdfast.page.work import work
from page_visits import visit, write_counties


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the page may read and write; what it keeps lies beside it."""
    (tmp_path / "private").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "private"))
    (tmp_path / "tables").mkdir()
    write_counties(tmp_path / "tables" / "deaths.csv")
    return tmp_path / "tables"


@pytest.fixture
def visitor(folder):
    somebody = visit(folder)
    yield somebody
    somebody.site.state.remove()


@pytest.fixture
def at_once(monkeypatch):
    """Runs take place in this process, before the page goes on."""

    class Process:
        pid = 0

        def __init__(self, words, **_options):
            place, queue = map(Path, words[-2:])
            write_json(place / "end.json", work(place, queue))

        def wait(self):
            return 0

    monkeypatch.setattr("holdfast.page.runs.subprocess.Popen", Process)


@pytest.fixture
def released(visitor, at_once):
    """A release that somebody has made; the address of its page."""
    draft = visitor.start(path="deaths.csv")
    visitor.fill(draft)
    page = visitor.press(draft, out="first").text
    return re.search(r"/releases/[0-9a-f]+", page)[0]
