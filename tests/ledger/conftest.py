"""What the tests of the ledger share."""

import os
import tempfile
from pathlib import Path

import pytest

MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None


@pytest.fixture
def quick():
    """A folder without a disk to wait for, where there is one, so that processes meet often."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)
