"""A folder with a table, and somebody at the page."""

import shutil
from pathlib import Path

import pytest

import holdfast
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


@pytest.fixture(scope="session")
def bundle(tmp_path_factory):
    """A release of a small table."""
    place = tmp_path_factory.mktemp("bundle")
    table = write_counties(place / "deaths.csv", rows=80)
    names = {"count": "deaths", "category": "county"}
    quick = holdfast.privatizers.CumulativeIsotonic()  # answers repeat it a hundred times
    release = holdfast.privatize(table, epsilon=2, max_count=4, privatizer=quick, **names)
    release.save(place / "first")
    return place / "first"


@pytest.fixture
def released(visitor, folder, bundle):
    """A release that somebody has opened; its address."""
    shutil.copytree(bundle, folder / "first")
    return visitor.post("/releases", {"path": "first"}).url.path
