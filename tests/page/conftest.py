"""A folder with a table, and somebody at the page."""

import shutil
from pathlib import Path

import pytest

import holdfast
from holdfast.page.folder import write_json
from holdfast.page.work import work
from page_visitor import visit, write_deaths


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the page may read and write; what it keeps lies beside it."""
    (tmp_path / "private").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "private"))
    (tmp_path / "tables").mkdir()
    write_deaths(tmp_path / "tables" / "deaths.csv")
    return tmp_path / "tables"


@pytest.fixture
def visitor(folder):
    with visit(folder) as somebody:
        yield somebody


class Process:
    """A run that takes place in this process, before the page goes on."""

    pid = 0

    def __init__(self, words, **_options):
        place, queue = map(Path, words[-2:])
        write_json(place / "end.json", work(place, queue))

    def wait(self):
        return 0


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr("holdfast.page.runs.subprocess.Popen", Process)


@pytest.fixture(scope="session")
def bundle(tmp_path_factory):
    """A release of a small table, in groups."""
    place = tmp_path_factory.mktemp("bundle")
    table = write_deaths(place / "deaths.csv", rows=80)
    names = {"count": "deaths", "category": "county", "keep": "state", "within": "state"}
    holdfast.privatize(table, epsilon=2, out=place / "first", **names)
    return place / "first"


@pytest.fixture
def released(visitor, folder, bundle):
    """A release that somebody has opened; its address."""
    shutil.copytree(bundle, folder / "first")
    return visitor.post("/releases", {"path": "first"}).url.path


@pytest.fixture(scope="session")
def reader(bundle, tmp_path_factory):
    """Somebody who reads a release, for tests that change nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("reader")))
        with visit(bundle.parent) as somebody:
            yield somebody


@pytest.fixture(scope="session")
def opened(reader):
    """The address of that release."""
    return reader.post("/releases", {"path": "first"}).url.path
