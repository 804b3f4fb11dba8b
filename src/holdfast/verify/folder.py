"""The files of a bundle: which there must be, opened without following links, and their sums. What
people read in them must say what the record says, and do nothing.

Two ways, one after the other. The promise and the marks of a simulation are checked by code of this
package alone. Then everything is compared with what the maker's functions make of the bundle. These
are borrowed, on purpose: what they say wrongly the first check still finds.
"""

import hashlib
import math
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from io import BufferedReader
from itertools import zip_longest
from pathlib import Path
from typing import Any

from holdfast.release.codebook import codebook
from holdfast.release.deployment import deployment_yaml
from holdfast.release.picture import distribution_picture
from holdfast.release.readme import read_me
from holdfast.release.record import MOST_BYTES
from holdfast.release.release import Release
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
MARK = "SIMULATION"
_STATED = re.compile(r"epsilon = ([0-9./]*[0-9])")
_EPSILON = re.compile(r"epsilon\b.*[0-9]", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(/?)([a-zA-Z]+)((?:\s[^<>]*)?)>")
_TAGS = {"svg", "rect", "text", "g", "path", "title", "tspan", "line"}
_DANGEROUS = re.compile(r"\bon[a-z]+\s*=|href|javascript|<script|<!|<\?|url\(", re.IGNORECASE)
_END = re.compile(r'(?<= y[12]=")-?[0-9]{1,4}\.[0-9](?=")')
ROUNDED = 2.0  # of a panel's height of 220: what rounding on another machine may move a whisker by
NEARLY = 0.02  # of an interval's width: what rounding on another machine may move its ends by


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


def check_words(folder: Path, record: dict[str, Any]) -> str:
    """README.md states the promise once and no other; a simulation is marked where it must be."""
    promise = record["promise"]
    said = read_text(folder, "README.md")
    said = "\n".join(map(_without_code, said.split("\n")))  # names and labels, whatever they say
    unit = promise["persons"]["unit"]
    if not re.search(f"\n- epsilon = [0-9./]+ for one {unit}[.]", said):
        raise Damage("README.md does not state the promise of release.json.")
    if any(Fraction(number) != Fraction(promise["epsilon"]) for number in _STATED.findall(said)):
        raise Damage("README.md states another epsilon than release.json.")
    if any(map(_EPSILON.search, record["notes"])):
        raise Damage("a note of release.json states an epsilon, which the promise alone does.")
    for name in ("README.md", "deployment.yaml"):
        if (MARK in read_text(folder, name).upper()) is not promise["simulated"]:
            raise Damage(f"{name} and release.json differ in whether it is a simulation.")
    picture = read_text(folder, "distribution.svg")
    outside = {match[2] for match in _TAG.finditer(picture)} - _TAGS
    if outside or _DANGEROUS.search(re.sub(r'xmlns="[^"]*"', "", picture)):
        raise Damage("distribution.svg holds more than a picture.")
    return "README.md, deployment.yaml and the picture agree with release.json"


def _without_code(line: str) -> str:
    """A line of Markdown without what stands between runs of backticks of one length.

    >>> _without_code("a `b` c ``d ` e`` f `g")
    'a … c … f `g'
    """
    parts, place, kept = re.split("(`+)", line), 0, list[str]()
    last = {run: at for at, run in enumerate(parts) if at % 2}
    while place < len(parts):
        run = parts[place]
        if place % 2 and last[run] > place:
            place = parts.index(run, place + 1)
            run = "…"
        kept.append(run)
        place += 1
    return "".join(kept)


def check_written(
    folder: Path, record: dict[str, Any], release: Release, answers: list[tuple[str, ...]]
) -> Found:
    """What people read follows from the bundle, as the maker's functions write it."""
    record = {name: value for name, value in record.items() if name != "files"}
    for name, text in {
        "README.md": read_me(record, answers),
        "codebook.md": codebook(record),
        "deployment.yaml": deployment_yaml(record),
    }.items():
        there = read_text(folder, name)
        if there != text:
            pairs = enumerate(zip_longest(there.split("\n"), text.split("\n")), 1)
            line = next(number for number, (a, b) in pairs if a != b)
            raise Damage(f"{name} is not what the release makes it: line {line} differs.")
    there, anew = read_text(folder, "distribution.svg"), distribution_picture(release)
    if there == anew:
        return Found("the texts and the picture follow from the release")
    if not _nearly_drawn(there, anew):
        raise Damage("distribution.svg is not the picture that the release makes.")
    warning = "ends of some whiskers of distribution.svg are rounded otherwise on this machine."
    return Found("the texts and the picture follow from the release", warning)


def _nearly_drawn(there: str, anew: str) -> bool:
    """Whether two pictures are the same but for the rounding of where whiskers end."""
    if _END.sub("", there) != _END.sub("", anew):
        return False
    pairs = zip(_END.findall(there), _END.findall(anew), strict=True)
    return all(abs(float(a) - float(b)) <= ROUNDED for a, b in pairs)


def compare(
    name: str, there: Iterable[Sequence[str]], anew: Iterable[Sequence[str]], exact: int
) -> bool:
    """Whether records of a file are those made anew, whose first `exact` cells, the answer among
    them, must be equal to the letter; False where ends of intervals differ by what another
    machine's rounding explains."""
    same = True
    for at, (line, remade) in enumerate(zip_longest(there, anew), 1):
        if line is None or remade is None or tuple(line[:exact]) != tuple(remade[:exact]):
            raise Damage(f"{name} is not what the release makes it: record {at} differs.")
        if tuple(line) != tuple(remade):
            same = False
            if not _near(line[exact - 1 :], remade[exact - 1 :]):
                raise Damage(f"{name} is not what the release makes it: record {at} differs.")
    return same


def _near(there: Sequence[str], anew: Sequence[str]) -> bool:
    try:
        a, b = [float(x or "nan") for x in there], [float(x or "nan") for x in anew]
    except ValueError:
        return False
    if len(a) != len(b) or [math.isnan(x) for x in a] != [math.isnan(x) for x in b]:
        return False
    width = max(max(b) - min(b), abs(b[0]) * 1e-6) if not any(map(math.isnan, b)) else 0.0
    digits = max((len(x.partition(".")[2]) for x in anew), default=0)
    return all(
        abs(x - y) <= NEARLY * width + 1.01 * 10.0**-digits or math.isnan(x)
        for x, y in zip(a, b, strict=True)
    )
