"""The SQLite file behind a ledger: opened for one transaction at a time, and closed again.

A rollback journal, flushed to disk at every commit; the write lock is taken before anything is
read, so that what is checked is still true when it is recorded. A killed process leaves no lock,
because locks end with their process, and no half of a transaction, because the next one to open
the file rolls it back.

Whenever it is opened all of it is checked: the pages and their number, the tables to the letter,
every entry's hash and place, their number on the first page, the head in `about` and beside the
releases. What does not fit is refused; nothing is ever repaired or guessed.
"""

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from getpass import getuser
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.former.ledger.book import Book
from holdfast.former.ledger.chain import Receipt, link
from holdfast.former.ledger.entries import Body, Kind, as_text
from holdfast.former.ledger.first_version import carry_over, first_entries, make_tables
from holdfast.former.ledger.head import check_head, head_file, write_head
from holdfast.former.ledger.schema import (
    APPLICATION,
    FIRST_APPLICATION,
    FIRST_TABLES,
    FIRST_VERSION,
    TABLES,
    has_tables,
)

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
    path: Path
    book: Book = field(default_factory=Book)
    name: str = ""
    """The random name of the ledger; none before it has a chain."""
    key: bytes = b""
    hashes: list[str] = field(default_factory=list)
    """The hash of each entry."""

    def append(self, body: Body) -> Receipt:
        """Write an entry at the end of the chain; it is on disk when the transaction ends."""
        text, number = as_text(body), len(self.hashes) + 1
        digest = link(self.key, (self.hashes or [self.name])[-1], number, text)
        self.db.execute("INSERT INTO entries VALUES (?, ?, ?)", (number, text, digest))
        self.db.execute("UPDATE about SET entries = ?, head = ?", (number, digest))
        self.db.execute(f"PRAGMA user_version = {number}")  # on the first page
        self.book.add(body)
        self.hashes.append(digest)
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
    new = path.with_name(f".{path.name}.new-{secrets.token_hex(8)}")
    try:
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            with _opened(new, timeout) as db, _transaction(db):
                make_tables(db, secrets.token_bytes(32))
                _begin(_read_about(db, new), earlier=0)
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
            if not pages.name:
                pages = _carried_over(pages)
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


def _begin(pages: Pages, *, earlier: int) -> None:
    pages.append({"kind": Kind.BEGUN, "time": now(), "user": user(), "earlier": earlier})


def _give_name(new: Path, path: Path) -> None:
    """Put a finished file in its place, unless another process was quicker."""
    try:
        os.link(new, path)
    except FileExistsError:
        return
    except OSError:  # no links on this file system
        if not path.exists():
            new.rename(path)


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
    except sqlite3.Error as error:
        raise _unusable(error, path, timeout) from None
    except UnicodeDecodeError:  # the words of an error quoted what is damaged
        raise damaged(path, "it cannot be read") from None


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
        first = _is_first(db, path)
        _check_pages(db, path)
        if not has_tables(db, FIRST_TABLES if first else TABLES):
            raise damaged(path, "its tables are not those of a ledger")
        return _read_first(db, path) if first else _read_chain(db, path)
    except (sqlite3.Error, HoldfastError):
        raise
    except Exception:  # whatever damage makes of the content
        raise damaged(path, "what stands in it cannot be read") from None


def _is_first(db: sqlite3.Connection, path: Path) -> bool:
    """Whether a ledger is of the first version; raises where it is not a ledger at all."""
    db.execute("SELECT 1 FROM sqlite_master").fetchone()
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    first = (application, version) == (FIRST_APPLICATION, FIRST_VERSION)
    if application != APPLICATION and not first:
        raise _no_ledger(path)
    return first


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


def _read_about(db: sqlite3.Connection, path: Path) -> Pages:
    ((name, key, _, _),) = db.execute("SELECT id, key, entries, head FROM about").fetchall()
    return Pages(db=db, path=path, name=name, key=key)


def _read_chain(db: sqlite3.Connection, path: Path) -> Pages:
    pages = _read_about(db, path)
    previous = pages.name
    rows = db.execute("SELECT entry, body, hash FROM entries ORDER BY entry").fetchall()
    for number, (entry, text, digest) in enumerate(rows, start=1):
        if entry != number or digest != link(pages.key, previous, number, text):
            raise damaged(path, f"entry {number} is not as it was written")
        pages.hashes.append(digest)
        previous = digest
    stated = db.execute("SELECT entries, head FROM about").fetchall()
    (first_page,) = db.execute("PRAGMA user_version").fetchone()
    if not rows or stated != [(len(rows), previous)] or first_page != len(rows):
        raise damaged(path, "its last entries are gone")
    _read_bodies(pages, [text for _, text, _ in rows])
    check_head(path, pages.name, pages.hashes)
    return pages


def _read_bodies(pages: Pages, texts: list[str]) -> None:
    for text in texts:
        body = json.loads(text)
        if body["kind"] not in list(Kind):
            raise HoldfastError(
                f"`ledger` {pages.path} has entries of a newer holdfast. Hint: upgrade holdfast."
            )
        pages.book.add(body)


def _read_first(db: sqlite3.Connection, path: Path) -> Pages:
    """A ledger of the first version; the place of its releases may already know of a chain."""
    pages = Pages(db=db, path=path)
    check_head(path, "", [])
    ((pages.key,),) = db.execute("SELECT key FROM about").fetchall()
    for body in first_entries(db):
        pages.book.add(body)
    return pages


def _carried_over(old: Pages) -> Pages:
    """Begin the chain over what stands in a ledger of the first version."""
    bodies = first_entries(old.db)
    carry_over(old.db)
    pages = _read_about(old.db, old.path)
    _begin(pages, earlier=len(bodies))
    for body in bodies:
        pages.append(body)
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
        f"`ledger` {path} is not a holdfast ledger, or it was damaged. "
        "Hint: check the path; where it was a ledger, put back its newest copy."
    )
