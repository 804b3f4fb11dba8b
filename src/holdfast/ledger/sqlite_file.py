"""The SQLite file behind a ledger: opened for one transaction at a time, and closed again.

A rollback journal, flushed to disk at every commit; the write lock is taken before anything is
read, so that what is checked is still true when it is recorded. A killed process leaves no lock,
because locks end with their process, and no half of a transaction, because the next one to open
the file rolls it back.

Whenever it is opened all of it is checked: that it has one name, the pages and their number, the
tables to the letter, every entry's hash and place, their number on the first page, the head in
`about` and beside the releases. What does not fit is refused; nothing is ever repaired or guessed.
"""

import json
import os
import re
import secrets
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from getpass import getuser
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.ledger.book import Book
from holdfast.ledger.chain import Receipt, check_head, head_file, link, write_head
from holdfast.ledger.entries import Body, EntryKind, as_text

APPLICATION = 0x686F6C33  # "hol3" in the file's header; beside it stands the number of entries

TABLES = """
CREATE TABLE about (
  id TEXT NOT NULL, key BLOB NOT NULL, entries INTEGER NOT NULL, head TEXT NOT NULL);
CREATE TABLE entries (entry INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TRIGGER entries_stay BEFORE DELETE ON entries
  BEGIN SELECT RAISE(ABORT, 'entries stay on record'); END;
CREATE TRIGGER entries_are_kept BEFORE UPDATE ON entries
  BEGIN SELECT RAISE(ABORT, 'an entry cannot be changed'); END;
CREATE TRIGGER entries_are_new BEFORE INSERT ON entries
  WHEN EXISTS (SELECT 1 FROM entries WHERE entry >= NEW.entry)
  BEGIN SELECT RAISE(ABORT, 'an entry cannot be replaced'); END;
CREATE TRIGGER key_stays BEFORE UPDATE OF id, key ON about
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER head_goes_on BEFORE UPDATE OF entries ON about WHEN NEW.entries <= OLD.entries
  BEGIN SELECT RAISE(ABORT, 'entries stay on record'); END;
CREATE TRIGGER key_is_kept BEFORE DELETE ON about
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER key_is_one BEFORE INSERT ON about WHEN EXISTS (SELECT 1 FROM about)
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
"""
STATEMENTS = re.split(r";\n(?=CREATE)", TABLES.strip().removesuffix(";"))

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_MACHINE = (  # not the file's fault
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)


@dataclass(kw_only=True)
class Pages:
    """A ledger while it is open: what stands in it, and a way to write more."""

    db: sqlite3.Connection
    name: str
    """The random name of the ledger."""
    key: bytes = field(repr=False)
    book: Book = field(default_factory=Book)
    hashes: list[str] = field(default_factory=list)
    """The hash of each entry."""

    def append(self, body: Body) -> Receipt:
        """Write an entry at the end of the chain; it is on disk when the transaction ends."""
        text, number = as_text(body), len(self.hashes) + 1
        digest = link(self.key, (self.hashes or [self.name])[-1], number, text)
        self.db.execute("INSERT INTO entries VALUES (?, ?, ?)", (number, text, digest))
        self.db.execute("UPDATE about SET entries = ?, head = ?", (number, digest))
        self.db.execute(f"PRAGMA user_version = {number}")  # on the first page
        self.hashes.append(digest)
        self.book.add(json.loads(text), self.head)  # as the next one to open it reads it
        return self.head

    @property
    def head(self) -> Receipt:
        """The last entry."""
        return Receipt(self.name, len(self.hashes), self.hashes[-1])


def create(path: Path, timeout: float) -> None:
    """Make the file, for its owner alone, if there is none; processes may race for it."""
    remembered = head_file(path).exists()  # first: another process makes the ledger before it
    if path.exists():
        return
    if remembered:
        raise HoldfastError(
            f"`{path}` is not there, but `{head_file(path).parent}` holds its releases. Hint: put "
            "back the ledger; for a new one choose another name."
        )
    new = path.with_name(f"{_unfinished(path)}{secrets.token_hex(8)}")
    try:
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            with _opened(new, timeout) as db, _transaction(db):
                _begin(db)
            _give_name(new, path)
        finally:
            new.unlink(missing_ok=True)
    except OSError as error:
        raise HoldfastError(f"`ledger` {path} cannot be made: {error.strerror}.") from None


@contextmanager
def change(path: Path, timeout: float) -> Iterator[Pages]:
    """One transaction that reads and writes: all of it is on disk afterwards, or none of it."""
    with _opened(path, timeout) as db:
        with _transaction(db):
            pages = _load(db, path)
            yield pages
        write_head(path, pages.head)


@contextmanager
def read(path: Path, timeout: float) -> Iterator[Pages]:
    """One transaction that reads."""
    with _opened(path, timeout) as db:
        db.execute("BEGIN")
        yield _load(db, path)


def now() -> str:
    """The time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def user() -> str:
    """Who runs this, as far as the system says."""
    try:
        return getuser()
    except (KeyError, OSError, ImportError):
        return ""


def _begin(db: sqlite3.Connection) -> None:
    """The tables of a new ledger, its name and key, and its first entry."""
    for statement in STATEMENTS:
        db.execute(statement)
    name, key = secrets.token_hex(16), secrets.token_bytes(32)
    db.execute("INSERT INTO about VALUES (?, ?, 0, ?)", (name, key, name))
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    Pages(db=db, name=name, key=key).append(
        {"kind": EntryKind.BEGUN, "time": now(), "user": user()}
    )


def _give_name(new: Path, path: Path) -> None:
    """Put a finished file in its place, unless another process was quicker."""
    try:
        os.link(new, path)
    except FileExistsError:
        return
    except OSError:  # no links on this file system
        if not path.exists():
            new.rename(path)


def _unfinished(path: Path) -> str:
    """How the name of a ledger begins that does not have its own name yet."""
    return f".{path.name}.new-"


@contextmanager
def _opened(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise HoldfastError(
            f"`ledger` {path} is not there. Hint: check the path, or start one: holdfast ledger "
            f"set-limit {shlex.quote(str(path))} --dataset NAME --epsilon 2"
        )
    file = path.resolve()
    _check_only_name(file)
    try:
        address = f"{file.as_uri()}?mode=rw"
        with closing(
            sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None)
        ) as db:
            db.execute("PRAGMA synchronous = EXTRA")
            db.execute("PRAGMA fullfsync = ON")
            yield db
    except sqlite3.Error as error:
        raise _unusable(error, path, timeout) from None
    except UnicodeDecodeError:  # the words of an error quoted what is damaged
        raise damaged(path, "it cannot be read") from None


def _check_only_name(file: Path) -> None:
    """Raise if a ledger has a second name: whoever opens it by that one finds neither the head nor
    the journal of a killed process, since both are called after the first."""
    if _names(file) > 1:
        with suppress(OSError):  # a process that was killed as it gave the ledger its name left one
            for other in file.parent.iterdir():
                if other.name.startswith(_unfinished(file)) and other.samefile(file):
                    other.unlink()
    if _names(file) > 1:
        raise HoldfastError(
            f"`ledger` {file} has another name on this disk (a hard link), under which it would "
            "forget what it spends under this one. Nothing was granted. Hint: remove the other "
            "name; a symbolic link does no harm."
        )


def _names(file: Path) -> int:
    """How many names a file has; 0 where it is gone, which SQLite will say."""
    try:
        return file.stat().st_nlink
    except OSError:
        return 0


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


def _load(db: sqlite3.Connection, path: Path) -> Pages:
    """All that stands in a ledger, checked; the locks are held from the first look on."""
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
        if db.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
            raise _no_ledger(path)
        _check_pages(db, path)
        pages = _read_chain(db, path)
        check_head(path, pages.name, pages.hashes)
        return pages
    except (sqlite3.Error, HoldfastError):
        raise
    except Exception:  # whatever damage makes of the content
        raise damaged(path, "what stands in it cannot be read") from None


def _check_pages(db: sqlite3.Connection, path: Path) -> None:
    (mode,) = db.execute("PRAGMA journal_mode").fetchone()
    (encoding,) = db.execute("PRAGMA encoding").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    (number,) = db.execute("PRAGMA page_count").fetchone()
    if size * number != path.stat().st_size:
        raise damaged(path, "the file is shorter or longer than it was written")
    if (mode, encoding) != ("delete", "UTF-8"):
        raise damaged(path, "its header was changed")
    if db.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        raise damaged(path, "its pages do not fit together")
    tables = db.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    if sorted(sql for (sql,) in tables) != sorted(STATEMENTS):
        raise damaged(path, "its tables are not those of a ledger")


def _read_chain(db: sqlite3.Connection, path: Path) -> Pages:
    """Every entry, once its hash was found to be that of its place, its text and all before it."""
    ((name, key, number, head),) = db.execute("SELECT * FROM about").fetchall()
    pages, previous = Pages(db=db, name=name, key=key), name
    rows = db.execute("SELECT entry, body, hash FROM entries ORDER BY entry").fetchall()
    for place, (entry, text, digest) in enumerate(rows, start=1):
        if entry != place or digest != link(key, previous, place, text):
            raise damaged(path, f"entry {place} is not as it was written")
        pages.hashes.append(digest)
        pages.book.add(json.loads(text), pages.head)
        previous = digest
    (first_page,) = db.execute("PRAGMA user_version").fetchone()
    if not rows or (number, head, first_page) != (len(rows), previous, len(rows)):
        raise damaged(path, "its last entries are gone")
    return pages


def damaged(path: Path, what: str) -> HoldfastError:
    """What is raised for a ledger that is not as it was written."""
    return HoldfastError(
        f"`ledger` {path} is damaged: {what}. Nothing was granted. Hint: keep the file and put "
        "back its newest copy; docs/ledger.md says how to go on without one."
    )


def _unusable(error: sqlite3.Error, path: Path, timeout: float) -> HoldfastError:
    code = vars(error).get("sqlite_errorcode", 0) & 0xFF  # some errors are Python's own
    if code in _BUSY:
        return HoldfastError(
            f"`ledger` {path} was in use by other processes for {timeout:g} seconds and was not "
            "changed. Hint: try again."
        )
    if code == sqlite3.SQLITE_FULL:
        return HoldfastError(f"`ledger` {path} was not changed: the disk is full. Hint: make room.")
    if code in _MACHINE:
        return HoldfastError(
            f"`ledger` {path} cannot be used ({error}). Hint: can its folder be written to?"
        )
    if code == sqlite3.SQLITE_NOTADB:
        return _no_ledger(path)
    return damaged(path, "it cannot be read")


def _no_ledger(path: Path) -> HoldfastError:
    return HoldfastError(
        f"`ledger` {path} is not a ledger of this holdfast, or it was damaged. "
        "Hint: check the path; where it was a ledger, put back its newest copy."
    )
