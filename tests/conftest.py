"""Settings that all tests share."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from command_line import run
from fits import fitted

settings.register_profile("holdfast", max_examples=40, deadline=None, print_blob=True)
settings.register_profile("thorough", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile("holdfast")

# a release and a payment are flushed to the disk; in memory there is no disk to wait for
MEMORY, ROOM = Path("/dev/shm"), 2 << 30
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None  # looked up before: xdist makes the workers' folders


@pytest.fixture
def shared_data() -> Path:
    """The paper's published data, where somebody has put it beside the checkout."""
    default = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("HOLDFAST_DATA", default))
    if not (folder / "crime_murder_by_county.csv").is_file():
        pytest.skip("the paper's data are not here; set HOLDFAST_DATA to their folder")
    return folder


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    """`holdfast words…` in a folder of its own; exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return lambda *words: run(capsys, monkeypatch, *words)


@pytest.fixture(scope="session", autouse=True)
def shared_fits():
    """Releases of equal measurements share their fit: tests make, load and verify many of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.release.release.fit", fitted)
        yield
