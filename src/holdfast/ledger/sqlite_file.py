"""The SQLite file behind a ledger: opened for one transaction at a time, and closed again.

A rollback journal, flushed to disk at every commit; the write lock is taken before anything is
read, so that what is checked is still true when it is recorded. A killed process leaves no lock,
because locks end with their process, and no half of a transaction, because the next one to open
the file rolls it back.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from holdfast.errors import HoldfastError

APPLICATION, VERSION = 0x686F6C64, 1  # "hold", in the file's header

_TABLES = """
CREATE TABLE about (key BLOB NOT NULL);
CREATE TABLE limits (
  id INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon TEXT NOT NULL,
  delta TEXT NOT NULL, time TEXT NOT NULL);
CREATE TABLE spends (
  id INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon TEXT NOT NULL,
  delta TEXT NOT NULL, parts TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done', 'abandoned')),
  time TEXT NOT NULL, ended TEXT, fingerprint TEXT NOT NULL, what TEXT NOT NULL);
CREATE INDEX spends_of_a_dataset ON spends (dataset, epsilon, delta, state);
CREATE TRIGGER spends_stay BEFORE DELETE ON spends
  BEGIN SELECT RAISE(ABORT, 'a spend cannot be taken back'); END;
CREATE TRIGGER amounts_stay
  BEFORE UPDATE OF id, dataset, epsilon, delta, parts, time, fingerprint, what ON spends
  BEGIN SELECT RAISE(ABORT, 'a spend cannot be changed'); END;
CREATE TRIGGER ends_stay BEFORE UPDATE OF state, ended ON spends WHEN OLD.state != 'open'
  BEGIN SELECT RAISE(ABORT, 'a spend that ended cannot be changed'); END;
CREATE TRIGGER spends_are_new BEFORE INSERT ON spends
  WHEN EXISTS (SELECT 1 FROM spends WHERE id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'a spend cannot be replaced'); END;
CREATE TRIGGER limits_stay BEFORE DELETE ON limits
  BEGIN SELECT RAISE(ABORT, 'limits stay on record'); END;
CREATE TRIGGER limits_are_kept BEFORE UPDATE ON limits
  BEGIN SELECT RAISE(ABORT, 'limits stay on record'); END;
CREATE TRIGGER limits_are_new BEFORE INSERT ON limits
  WHEN EXISTS (SELECT 1 FROM limits WHERE id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'limits stay on record'); END;
CREATE TRIGGER key_stays BEFORE UPDATE ON about
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER key_is_kept BEFORE DELETE ON about
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER key_is_one BEFORE INSERT ON about WHEN EXISTS (SELECT 1 FROM about)
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
"""


def create(path: Path, timeout: float) -> None:
    """Make the file, for its owner alone, if there is none; processes may race for it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise HoldfastError(f"`ledger` {path} cannot be made: {error.strerror}.") from None
    with _opened(path, timeout) as db, _transaction(db):
        if _header(db) == (0, 0) and not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in _statements():
                db.execute(statement)
            db.execute("INSERT INTO about VALUES (?)", (secrets.token_bytes(32),))
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def change(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    """One transaction that reads and writes: all of it is on disk afterwards, or none of it."""
    with _opened(path, timeout) as db, _transaction(db):
        _check(db, path)
        yield db


@contextmanager
def read(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    """One transaction that reads."""
    with _opened(path, timeout) as db:
        db.execute("BEGIN")
        _check(db, path)
        yield db


def now() -> str:
    """The time, in UTC, as text that sorts."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@contextmanager
def _opened(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise HoldfastError(
            f"`ledger` {path} is not there. Hint: check the path; "
            "`holdfast ledger set-limit` starts a new ledger."
        )
    try:
        address = f"{path.resolve().as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None)
        ) as db:
            db.execute("PRAGMA synchronous = EXTRA")
            db.execute("PRAGMA fullfsync = ON")
            yield db
    except sqlite3.OperationalError as error:
        raise _unusable(error, path, timeout) from None
    except sqlite3.DatabaseError:
        raise _no_ledger(path) from None


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _check(db: sqlite3.Connection, path: Path) -> None:
    if _header(db) != (APPLICATION, VERSION):
        raise _no_ledger(path)


def _header(db: sqlite3.Connection) -> tuple[int, int]:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return application, version


def _statements() -> Iterator[str]:
    statement = ""
    for line in _TABLES.strip().splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _unusable(error: sqlite3.OperationalError, path: Path, timeout: float) -> HoldfastError:
    code = vars(error).get("sqlite_errorcode", 0)  # some errors are Python's own
    if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return HoldfastError(
            f"`ledger` {path} was in use by other processes for {timeout:g} seconds and was not "
            "changed. Hint: try again."
        )
    return HoldfastError(
        f"`ledger` {path} cannot be used ({error}). Hint: can its folder be written to?"
    )


def _no_ledger(path: Path) -> HoldfastError:
    return HoldfastError(
        f"`ledger` {path} is not a holdfast ledger of version {VERSION}, or it was damaged. "
        "Hint: check the path; a new ledger starts with `holdfast ledger set-limit`."
    )
