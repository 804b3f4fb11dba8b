"""What the page keeps while it runs: drafts and unpacked releases, for this user alone."""

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from holdfast.errors import HoldfastError

PRIVATE = 0o700


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
        """The folder of something that is kept: `kind` is drafts or releases."""
        if not name.isalnum():
            raise HoldfastError("there is no such page. Hint: start from the first page.")
        return self.root / kind / name

    def make(self, kind: str, name: str = "") -> Path:
        """A new folder for something to keep."""
        made = self.place(kind, name or secrets.token_hex(8))
        made.parent.mkdir(mode=PRIVATE, exist_ok=True)
        made.mkdir(mode=PRIVATE, exist_ok=bool(name))
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
