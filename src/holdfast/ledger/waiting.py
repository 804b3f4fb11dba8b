"""Equal requests at one time: one of them pays, the others wait for it.

The lock is one of SQLite's on an empty file: it ends with its process, however that ends. The
file is removed by whoever holds it; whoever waited for a file that is gone looks for the new one.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.errors import HoldfastError

PAUSE = 0.05  # seconds between two tries


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Be the only one, among processes and threads, that holds this file; wait as long as it
    takes."""
    held = _hold(file)
    while held is None:
        time.sleep(PAUSE)
        held = _hold(file)
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink()
        held.close()


def _hold(file: Path) -> sqlite3.Connection | None:
    """The lock on a file, unless another has it or it was removed meanwhile."""
    try:
        file.touch(mode=0o600)
        number = file.stat().st_ino  # before it is opened: a file that is open keeps its number
    except FileNotFoundError as error:
        if not file.parent.is_dir():
            raise _unusable(file, error.strerror) from None
        return None
    except OSError as error:
        raise _unusable(file, error.strerror) from None
    address, db = f"{file.resolve().as_uri()}?mode=rw", None
    try:
        db = sqlite3.connect(address, uri=True, timeout=0, isolation_level=None)
        db.execute("BEGIN EXCLUSIVE")
        if _number(file) == number:
            return db
    except sqlite3.Error as error:
        code = vars(error).get("sqlite_errorcode", 0) & 0xFF
        if code != sqlite3.SQLITE_BUSY and _number(file) == number:
            raise _unusable(file, str(error)) from None
    if db is not None:
        db.close()
    return None


def _number(file: Path) -> int | None:
    """By what a file system knows a file; None where it is gone."""
    try:
        return file.stat().st_ino
    except OSError:
        return None


def _unusable(file: Path, why: str | None) -> HoldfastError:
    return HoldfastError(
        f"`{file}` cannot be used ({why}). Nothing was spent. Hint: can its folder be written to?"
    )
