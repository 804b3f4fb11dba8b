"""The files of a bundle: which there must be, opened without following links, and their sums."""

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from holdfast.release.record import MOST_BYTES
from holdfast.verify.report import Damage, Failure, Found, shown

TABLES = ("table.csv", "table.parquet")
SUMS, RECORD, ROWS = "SHA256SUMS", "release.json", "rows.csv"
FILES = (
    *("README.md", "answers.csv", "codebook.md", "deployment.yaml", "distribution.csv"),
    *("distribution.svg", RECORD, ROWS, SUMS),
)
"""All but the table."""
LEFT_BY_SYSTEMS = (".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints")
if sys.platform == "win32":
    _READING = os.O_RDONLY | os.O_BINARY
else:
    _READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_SUM_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9_.]+)", re.ASCII)


def check_folder(folder: Path) -> Found:
    """All files are there, are plain files, and are alone but for what systems leave behind."""
    with os.scandir(folder) as entries:
        every = sorted(entries, key=lambda entry: entry.name)
    left = [entry.name for entry in every if entry.name in LEFT_BY_SYSTEMS]
    names = {_plain_name(entry) for entry in every if entry.name not in LEFT_BY_SYSTEMS}
    tables = names & set(TABLES)
    if len(tables) != 1:
        raise Damage(f"the folder must hold exactly one of {', '.join(TABLES)}.")
    for name in sorted(set(FILES) - names):
        raise Damage(f"{name} is missing.")
    for name in sorted(names - tables - set(FILES)):
        words = f"the folder holds {shown(name)}, which is not a file of a release."
        raise Damage(words, Failure.BESIDE)
    if left:
        also = ", ".join(left)
        return Found(f"all there, no links; not opened: {also}", f"the folder also holds {also}.")
    return Found("all there, nothing else, no links")


def _plain_name(entry: "os.DirEntry[str]") -> str:
    if entry.is_symlink():
        raise Damage(f"{shown(entry.name)} is a symbolic link; a release holds plain files.")
    if not entry.is_file(follow_symlinks=False):
        raise Damage(f"{shown(entry.name)} is not a plain file.")
    return entry.name


@contextmanager
def opened(folder: Path, name: str) -> Iterator[BufferedReader]:
    """A plain file of the folder, open for reading; never a link, a pipe or a device."""
    if (folder / name).is_symlink():
        raise Damage(f"{name} is a symbolic link; a release holds plain files.")
    try:
        handle = os.open(folder / name, _READING)
    except FileNotFoundError:
        raise Damage(f"{name} is missing.") from None
    except OSError as error:
        words = f"{name} cannot be opened ({error.strerror})."
        raise Damage(words, Failure.MACHINE) from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Damage(f"{name} is not a plain file.")
        yield file


def read_small(folder: Path, name: str) -> bytes:
    """A file that is never large; raises at once if it is."""
    with opened(folder, name) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MOST_BYTES[name]:
            raise Damage(f"{name} has {size} bytes; at most {MOST_BYTES[name]} are read.")
        return file.read(size)


def read_text(folder: Path, name: str) -> str:
    """A small file as text."""
    try:
        return read_small(folder, name).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Damage(f"{name} is not UTF-8 at byte {error.start}.") from None


def check_sizes(folder: Path, record: dict[str, Any]) -> str:
    """release.json names the files that are there, and their lengths."""
    names = _hashed(record)
    if sorted(record["files"]) != names:
        odd = sorted(set(record["files"]) ^ set(names))[0]
        raise Damage(f"release.json and the folder disagree about the file {shown(odd)}.")
    for name in names:
        if not os.path.lexists(folder / name):
            raise Damage(f"{name} is missing.")
        size, stated = (folder / name).lstat().st_size, record["files"][name]["bytes"]
        if size != stated:
            kind = "truncated" if size < stated else "longer than it was"
            raise Damage(f"{name} is {kind}: {size} bytes, release.json says {stated}.")
        if size > MOST_BYTES.get(name, size):
            raise Damage(f"{name} has {size} bytes; at most {MOST_BYTES[name]} are read.")
    return f"{len(names)} files have the lengths that release.json gives"


def check_sums(folder: Path, record: dict[str, Any]) -> str:
    """Every SHA-256 sum, against release.json and against SHA256SUMS."""
    names = _hashed(record)
    sums = _read_sums(folder, [*names, RECORD])
    for name in names:
        stated = record["files"][name]["sha256"]
        if stated != sums[name]:
            raise Damage(f"release.json and SHA256SUMS give different sums for {name}.")
        if _sha256(folder, name) != stated:
            raise Damage(f"{name} was changed after the release was made: its SHA-256 differs.")
    if _sha256(folder, RECORD) != sums[RECORD]:
        raise Damage("release.json was changed after the release was made: SHA256SUMS differs.")
    return f"{len(names) + 1} files are as they were when the release was made"


def _hashed(record: dict[str, Any]) -> list[str]:
    """The files whose sums release.json gives."""
    return sorted({*FILES, record["table"]["file"]} - {RECORD, SUMS})


def _read_sums(folder: Path, names: list[str]) -> dict[str, str]:
    *lines, end = read_text(folder, SUMS).split("\n")
    matches = [_SUM_LINE.fullmatch(line) for line in lines]
    sums = {match[2]: match[1] for match in matches if match}
    if end or len(sums) != len(lines) or sorted(sums) != sorted(names):
        raise Damage("SHA256SUMS does not list every file of the release once.")
    return sums


def _sha256(folder: Path, name: str) -> str:
    with opened(folder, name) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
