"""A folder with a table, and somebody at the page."""

import pytest

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
