"""Equal requests at one time: one of them pays, the others wait for it.

The lock is one of SQLite's on an empty file, which stays: it ends with its process, however that
ends.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from holdfast.errors import HoldfastError

PAUSE = 0.05  # seconds between two tries


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Be the only one, among processes and threads, that holds this file; wait as long as it
    takes."""
    try:
        file.touch(mode=0o600)
    except OSError as error:
        raise _unusable(file, error.strerror) from None
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as db:
        while not _is_held(db, file):
            time.sleep(PAUSE)
        yield


def _is_held(db: sqlite3.Connection, file: Path) -> bool:
    """Whether the file is now this connection's; not while another holds it."""
    try:
        db.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if vars(error).get("sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise _unusable(file, str(error)) from None
        return False
    return True


def _unusable(file: Path, why: str | None) -> HoldfastError:
    return HoldfastError(
        f"`{file}` cannot be used ({why}). Nothing was spent. Hint: can its folder be written to?"
    )
