"""The folder that the page may read and write, and nothing outside of it but what the page keeps
while it runs: drafts, and releases that are packed, for this user alone."""

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from holdfast.errors import HoldfastError
from holdfast.tables.formats import UNKNOWN, format_of

DEEP, MANY = 3, 300
"""How far down and how many files are listed to choose from."""
PRIVATE = 0o700


@dataclass(frozen=True)
class Folder:
    """A folder with all that is in it; links that lead out of it lead nowhere."""

    root: Path
    """Its true path."""

    @staticmethod
    def at(path: Path) -> "Folder":
        """The folder at a path, which must be there."""
        if not path.is_dir():
            raise HoldfastError(f"there is no folder `{path}`. Hint: name one that exists.")
        return Folder(path.resolve())

    def find(self, text: str, hint: str = "choose from the list, or drop a file") -> Path:
        """What is at a path inside, which must be there; the path is true, without links."""
        typed = text.strip()
        if not typed:
            raise HoldfastError(f"nothing is named yet. Hint: {hint}.")
        with suppress(OSError, ValueError, RuntimeError):
            path = (self.root / typed).resolve(strict=True)
            if path.is_relative_to(self.root):
                return path
        raise HoldfastError(
            f"there is no “{typed[:100]}” in the folder of this page, where paths start. "
            f"Hint: {hint}; or put it into that folder."
        )

    def free(self, name: str) -> str:
        """A name like this one that nothing here has yet."""
        names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
        return next(each for each in names if not (self.root / each).exists())

    def new(self, name: str) -> Path:
        """The path of something that is to be made right here."""
        if not re.fullmatch(r"[\w][\w .()+-]{0,99}", name) or name.endswith((".", " ")):
            raise HoldfastError(
                f"`{name[:60]}` cannot be the name of a folder. "
                "Hint: letters, digits, spaces, dots and dashes, no slash."
            )
        return self.root / name

    def shown(self, path: Path) -> str:
        """A path as it is written inside the folder."""
        return path.relative_to(self.root).as_posix()

    def tables(self) -> list[str]:
        """Files that look like tables, but for those of releases."""
        files = (path for path in self._files() if format_of(path) is not UNKNOWN)
        return [self.shown(path) for path in files if not (path.parent / "release.json").exists()]

    def releases(self) -> list[str]:
        """Folders that hold a release."""
        return [self.shown(path.parent) for path in self._files() if path.name == "release.json"]

    def ledgers(self) -> list[str]:
        """Files that are called ledgers."""
        return [self.shown(path) for path in self._files() if path.suffix == ".ledger"]

    def _files(self) -> Iterator[Path]:
        left = MANY
        for place, folders, files in os.walk(self.root):
            depth = len(Path(place).relative_to(self.root).parts)
            visible = [name for name in sorted(folders) if _is_for_people(name, files)]
            folders[:] = visible if depth < DEEP else []
            for name in sorted(files):
                path = Path(place, name)
                if path.is_symlink() or name.startswith("."):
                    continue
                yield path
                left -= 1
                if not left:
                    return


def _is_for_people(folder: str, beside: list[str]) -> bool:
    """Whether a folder may be listed: not a hidden one, nor what a ledger keeps beside itself."""
    kept = folder.endswith(".releases") and folder.removesuffix(".releases") in beside
    return not folder.startswith(".") and not kept


def stamp(path: Path) -> tuple[str, int, int]:
    """A file as it is now."""
    try:
        now = path.stat()
    except OSError as error:
        raise HoldfastError(f"`{path.name}` cannot be read ({error.strerror}).") from None
    return str(path), now.st_mtime_ns, now.st_size


@dataclass(frozen=True)
class PrivateFolder:
    """A private folder, locked for one running page, removed when it ends.

    What a killed page leaves is taken over by the next one for the same folder: the drafts go on.
    """

    root: Path
    lock: IO[bytes]

    @staticmethod
    def take(folder: Path) -> "PrivateFolder":
        """The state for a folder; a new one where another page is running on it."""
        digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
        name = f"holdfast-page-{os.getuid()}-{digest}"
        for place in (base / name, base / f"{name}-{secrets.token_hex(8)}"):
            lock = _locked(place)
            if lock is not None:
                return PrivateFolder(place, lock)
        raise HoldfastError(f"`{base}` cannot hold the page's private files. Hint: set TMPDIR.")

    def remove(self) -> None:
        """Everything goes."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.lock.close()

    def place(self, kind: str, name: str) -> Path:
        """The folder of something that is kept: `kind` is drafts or zips."""
        if not name.isalnum():
            raise HoldfastError("there is no such page. Hint: start from the first page.")
        return self.root / kind / name

    def make(self, kind: str) -> Path:
        """A new folder for something to keep."""
        made = self.place(kind, secrets.token_hex(8))
        made.parent.mkdir(mode=PRIVATE, exist_ok=True)
        made.mkdir(mode=PRIVATE)
        return made

    def names(self, kind: str) -> list[str]:
        """What is kept, the newest first."""
        places = [place for place in (self.root / kind).glob("*") if place.is_dir()]
        return [p.name for p in sorted(places, key=lambda p: p.stat().st_mtime_ns, reverse=True)]


def _locked(place: Path) -> IO[bytes] | None:
    """Make or take over a folder that only this user can read; None if it is not to be had."""
    try:
        place.mkdir(mode=PRIVATE, exist_ok=True)
        about = os.lstat(place)
        open_to_others = stat.S_IMODE(about.st_mode) & 0o077
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or open_to_others:
            return None
        lock = (place / "lock").open("ab")
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(place / "lock").st_ino == os.fstat(lock.fileno()).st_ino:
            return lock
    except OSError:
        pass  # another page has it, or has just taken it away
    lock.close()
    return None


def write_json(path: Path, content: Any) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(f".{path.name}-{secrets.token_hex(6)}")
    partial.write_text(json.dumps(content), encoding="utf-8")
    os.replace(partial, path)


def read_json(path: Path) -> Any:
    """What was written; None where there is nothing."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
