"""What the tests of the ledger share."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def quick():
    """A folder without a disk to wait for, where there is one, so that processes meet often."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
