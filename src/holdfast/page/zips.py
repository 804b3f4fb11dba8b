"""Releases in zip files: packed with their report, unpacked with suspicion."""

import lzma
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO

from holdfast.errors import HoldfastError

MOST_BYTES, MOST_FILES = 1 << 30, 500
CHUNK = 1 << 20
BUNDLE = "release.json"
MOST_LISTED = 1 << 20  # bytes of the list of files
_END, _END_OF_LARGE, _LONGEST_END = b"PK\x05\x06", b"PK\x06\x07", 22 + 20 + (1 << 16)
_TOO_LARGE = "this zip file is too large for the page. Hint: unpack it yourself."
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, NotImplementedError, RuntimeError, OSError, ValueError),
)


def pack(folder: Path, beside: Mapping[str, str], target: IO[bytes]) -> None:
    """A release's files in a folder of its name, and texts beside that folder."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.iterdir() if path.is_file()):
            archive.write(path, f"{folder.name}/{path.name}")
        for name, text in beside.items():
            archive.writestr(name, text)


def unpack(source: IO[bytes], folder: Path) -> None:
    """The files of the one release in a zip, into a new folder; only plain names are
    written, and no more bytes than are taken."""
    _check_directory(source)
    try:
        with zipfile.ZipFile(source) as archive:
            members = _bundle(archive)
            folder.mkdir(mode=0o700)
            with ExitStack() as undo:
                undo.callback(shutil.rmtree, folder, ignore_errors=True)
                left = MOST_BYTES
                for member, inside in members:
                    left -= _copy(archive, member, folder / inside, left)
                undo.pop_all()  # all of it is there
    except HoldfastError:
        raise
    except _UNREADABLE as error:
        raise HoldfastError(
            f"this zip file cannot be read ({type(error).__name__}). Hint: get it again."
        ) from None


def _check_directory(source: IO[bytes]) -> None:
    """Refuse a long list of files, which would be read as a whole before anything is looked at."""
    source.seek(max(source.seek(0, os.SEEK_END) - _LONGEST_END, 0))
    end = source.read()
    sizes = [
        int.from_bytes(end[at.start() + 12 : at.start() + 16], "little")
        for at in re.finditer(re.escape(_END), end)
    ]
    if _END_OF_LARGE in end or max(sizes, default=0) > MOST_LISTED:
        raise HoldfastError(_TOO_LARGE)
    source.seek(0)


def _bundle(archive: zipfile.ZipFile) -> list[tuple[zipfile.ZipInfo, str]]:
    """The members beside release.json, each with its plain name."""
    members = [member for member in archive.infolist() if not member.is_dir()]
    homes = {_home(m) for m in members if PurePosixPath(m.filename).name == BUNDLE}
    if len(homes) != 1:
        raise HoldfastError(
            "this zip file does not hold one release. Hint: a release is a folder with the file "
            f"{BUNDLE} in it."
        )
    inside = [member for member in members if _home(member) in homes]
    if len(inside) > MOST_FILES or sum(member.file_size for member in inside) > MOST_BYTES:
        raise HoldfastError(_TOO_LARGE)
    return [(member, PurePosixPath(member.filename).name) for member in inside]


def _home(member: zipfile.ZipInfo) -> PurePosixPath:
    return PurePosixPath(member.filename.replace("\\", "/")).parent


def _copy(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, most: int) -> int:
    size = 0
    with archive.open(member) as packed, path.open("xb") as file:
        while chunk := packed.read(CHUNK):
            size += len(chunk)
            if size > most:
                raise HoldfastError("this zip file holds more than it says; it was not unpacked.")
            file.write(chunk)
    return size
