"""Settings that all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from command_line import run
from holdfast.analysis import stage_one

settings.register_profile("holdfast", max_examples=40, deadline=None, print_blob=True)
settings.register_profile("thorough", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile("holdfast")

# how often answers repeat stage 1; `as_released` where it is looked at how good they are
REPEATS = {"FITS": stage_one.FITS, "BOOTSTRAP": stage_one.BOOTSTRAP}
stage_one.FITS, stage_one.BOOTSTRAP = 20, 80


@pytest.fixture
def as_released(monkeypatch):
    """Stage 1 is repeated as often as outside of tests."""
    for name, times in REPEATS.items():
        monkeypatch.setattr(stage_one, name, times)


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
