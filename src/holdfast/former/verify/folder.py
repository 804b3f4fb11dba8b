"""The files of a bundle: which there must be, opened without following links, and their sums."""

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from holdfast.former.verify.report import Damage, Found, NotChecked, shown

TABLES = ("table.csv", "table.parquet")
SUMS, RECORD = "SHA256SUMS", "release.json"
CURVES, WEIGHTS = "mechanism.curves", "mechanism.weights"
GROUPS, LABELS = "mechanism.groups", "groups.csv"
MECHANISMS = (CURVES, WEIGHTS, GROUPS)
TEXTS = ("README.md", "deployment.yaml", "distribution.svg")
INTERVALS, MATRIX, CODEBOOK = "intervals.csv", "mechanism.csv", "codebook.md"
PLAIN = (INTERVALS, MATRIX, CODEBOOK)  # for people without holdfast: releases may have them
LARGEST = {  # in bytes, of files that are read as a whole
    RECORD: 1 << 26,  # a million shares
    SUMS: 1 << 12,
    "README.md": 1 << 20,
    "deployment.yaml": 1 << 20,
    "distribution.svg": 1 << 21,
    LABELS: 1 << 25,
    MATRIX: 1 << 24,
    CODEBOOK: 1 << 24,
}
_CHUNK = 1 << 20
if sys.platform == "win32":
    _READING = os.O_RDONLY | os.O_BINARY
else:
    _READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_SUM_LINE = re.compile(r"([0-9a-f]{64})  ((?:[0-9]+-[a-z0-9-]+/)?[A-Za-z0-9_.]+)", re.ASCII)
LEFT_BY_SYSTEMS = (".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints")


def find_table(folder: Path) -> str:
    """The name of the table, of which there must be one."""
    return _one_of(folder, TABLES)


def find_mechanism(folder: Path) -> str:
    """The name of the file with the mechanism's integers, of which there must be one."""
    return _one_of(folder, MECHANISMS)


def _one_of(folder: Path, names: tuple[str, ...]) -> str:
    found = [name for name in names if os.path.lexists(folder / name)]
    if len(found) != 1:
        raise Damage(f"the folder must hold exactly one of {', '.join(names)}.")
    return found[0]


def _hashed(folder: Path, *, above: bool = False) -> list[str]:
    """The files whose sums release.json gives; a table in the folder above is not among them."""
    mechanism = find_mechanism(folder)
    listed = [LABELS] if mechanism == GROUPS else []
    table = [] if above else [find_table(folder)]
    return sorted([*TEXTS, mechanism, *listed, *table, *plain_files(folder)])


def plain_files(folder: Path) -> set[str]:
    """Which of the files for people without holdfast there are."""
    return {name for name in PLAIN if os.path.lexists(folder / name)}


def check_folder(folder: Path, *, above: bool = False) -> Found:
    """All files are there, are plain files, and are alone but for what systems leave behind."""
    with os.scandir(folder) as entries:
        all_entries = list(entries)
    left = sorted(entry.name for entry in all_entries if entry.name in LEFT_BY_SYSTEMS)
    found = {_plain_name(entry) for entry in all_entries if entry.name not in LEFT_BY_SYSTEMS}
    expected = {*TEXTS, SUMS, RECORD, *MECHANISMS, *PLAIN, *(() if above else TABLES)}
    grouped = {LABELS} if GROUPS in found else set()
    expected |= grouped
    extra = sorted(found - expected)
    if extra:
        raise Damage(f"the folder holds {shown(extra[0])}, which is not a file of a release.")
    missing = sorted({*TEXTS, SUMS, RECORD, *grouped} - found)
    if missing:
        raise Damage(f"{missing[0]} is missing.")
    _hashed(folder, above=above)
    if left:
        names = ", ".join(left)
        return Found(f"all there, no links; not opened: {names}", f"the folder also holds {names}.")
    return Found("all there, nothing else, no links")


def _plain_name(entry: "os.DirEntry[str]") -> str:
    if entry.is_symlink():
        raise Damage(f"{shown(entry.name)} is a symbolic link; a release holds plain files.")
    if not entry.is_file(follow_symlinks=False):
        raise Damage(f"{shown(entry.name)} is not a plain file.")
    return entry.name


@contextmanager
def opened(folder: Path, name: str) -> Iterator[IO[bytes]]:
    """A plain file of the folder, open for reading; never a link, a pipe or a device."""
    if (folder / name).is_symlink():
        raise Damage(f"{name} is a symbolic link; a release holds plain files.")
    try:
        handle = os.open(folder / name, _READING)
    except FileNotFoundError:
        raise Damage(f"{name} is missing.") from None
    except OSError as error:
        raise NotChecked(f"{name} cannot be opened ({error.strerror}).") from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Damage(f"{name} is not a plain file.")
        yield file


def read_small(folder: Path, name: str) -> bytes:
    """A file that is never large; raises at once if it is."""
    with opened(folder, name) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST[name]:
            raise Damage(f"{name} has {size} bytes; at most {LARGEST[name]} are read.")
        return file.read(size)


def check_sizes(folder: Path, record: dict[str, Any]) -> str:
    """release.json names the files that are there, and their lengths."""
    names = _hashed(folder, above="table_above" in record)
    listed = record["files"]
    for name in listed:
        if not re.fullmatch(r"[A-Za-z0-9_.]+", name) or name.startswith("."):
            raise Damage(f"release.json names a file outside the folder: {shown(name)}.")
    if sorted(listed) != names:
        odd = sorted(set(listed) ^ set(names))[0]
        raise Damage(f"release.json and the folder disagree about the file {shown(odd)}.")
    for name in names:
        check_size(folder, record, name)
    return f"{len(names)} files have the lengths that release.json gives"


def check_size(folder: Path, record: dict[str, Any], name: str) -> None:
    """One file has the length that release.json gives."""
    if name not in record["files"]:
        raise Damage(f"release.json and the folder disagree about the file {shown(name)}.")
    if not os.path.lexists(folder / name):
        raise Damage(f"{name} is missing.")
    size, stated = (folder / name).lstat().st_size, record["files"][name]["bytes"]
    if size != stated:
        kind = "truncated" if size < stated else "longer than it was"
        raise Damage(f"{name} is {kind}: {size} bytes, release.json says {stated}.")


def check_sums(folder: Path, record: dict[str, Any]) -> str:
    """Every SHA-256 sum, against release.json and against SHA256SUMS."""
    names = _hashed(folder, above="table_above" in record)
    check_hashes(folder, record, names)
    return f"{len(names) + 1} files are as they were when the release was made"


def check_hashes(
    folder: Path, record: dict[str, Any], names: list[str], more: dict[str, str] | None = None
) -> None:
    """The sums of these files and of `more`, which are stated elsewhere in release.json."""
    sums = _read_sums(folder, [*names, RECORD, *(more or ())])
    stated = {name: record["files"][name]["sha256"] for name in names} | (more or {})
    for name, one in stated.items():
        if one != sums[name]:
            raise Damage(f"release.json and SHA256SUMS give different sums for {name}.")
        if _sha256(folder, name) != one:
            raise Damage(f"{name} was changed after the release was made: its SHA-256 differs.")
    if _sha256(folder, RECORD) != sums[RECORD]:
        raise Damage("release.json was changed after the release was made: SHA256SUMS differs.")


def _read_sums(folder: Path, names: list[str]) -> dict[str, str]:
    try:
        text = read_small(folder, SUMS).decode("ascii")
    except UnicodeDecodeError:
        raise Damage("SHA256SUMS is not plain text.") from None
    *lines, end = text.split("\n")
    matches = [_SUM_LINE.fullmatch(line) for line in lines]
    found = {match[2]: match[1] for match in matches if match}
    if end or len(found) != len(lines) or sorted(found) != sorted(names):
        raise Damage("SHA256SUMS does not list every file of the release once.")
    return found


def _sha256(folder: Path, name: str) -> str:
    digest = hashlib.sha256()
    with opened(folder, name) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
