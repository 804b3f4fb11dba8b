"""The folder that the page may read and write, and nothing outside of it."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.tables.formats import format_of

DEEP, MANY = 3, 300
"""How far down and how many files are listed to choose from."""


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

    def find(self, text: str) -> Path:
        """What is at a path inside, which must be there; the path is true, without links."""
        try:
            path = (self.root / text.strip()).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            raise _not_there(text) from None
        if not text.strip() or not path.is_relative_to(self.root):
            raise _not_there(text)
        return path

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
        return [self.shown(path) for path in self._files() if _is_candidate(path)]

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


def _is_candidate(path: Path) -> bool:
    return format_of(path) is not None and not (path.parent / "release.json").exists()


def _not_there(text: str) -> HoldfastError:
    if not text.strip():
        return HoldfastError("nothing is named yet. Hint: choose from the list, or drop a file.")
    return HoldfastError(
        f"there is no “{text.strip()[:100]}” in the folder of this page, where paths start. "
        "Hint: choose from the list, or drop the file; or put it into that folder."
    )
