"""Releases in zip files: packed with their report and script, unpacked with suspicion."""

import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from holdfast.errors import HoldfastError

MOST_BYTES, MOST_FILES = 1 << 30, 500
CHUNK = 1 << 20
BUNDLE = "release.json"


def pack(folder: Path, beside: Mapping[str, str], target: IO[bytes]) -> None:
    """A release's files in a folder of its name, and texts beside that folder."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
        for name, text in beside.items():
            archive.writestr(name, text)


def unpack(source: IO[bytes], folder: Path) -> None:
    """The files of the one release in a zip, into a new folder; only plain names are written, in it
    or in the folder of a column of counts, and no more bytes than are taken."""
    try:
        with zipfile.ZipFile(source) as archive:
            members = _bundle(archive)
            folder.mkdir(mode=0o700)
            left = MOST_BYTES
            for member, inside in members:
                (folder / inside).parent.mkdir(mode=0o700, exist_ok=True)
                left -= _copy(archive, member, folder / inside, left)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise HoldfastError(
            f"this zip file cannot be read ({type(error).__name__}). Hint: get it again."
        ) from None


def _bundle(archive: zipfile.ZipFile) -> list[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """The members beside release.json, and beside those in folders right under it; each with its
    path from there."""
    members = [member for member in archive.infolist() if not member.is_dir()]
    homes = {_home(m) for m in members if PurePosixPath(m.filename).name == BUNDLE}
    top = min(homes, key=lambda home: len(home.parts), default=PurePosixPath())
    if not homes or any(home.parent != top for home in homes - {top}):
        raise HoldfastError(
            "this zip file does not hold one release. Hint: a release is a folder with the file "
            f"{BUNDLE} in it."
        )
    found = [member for member in members if _home(member) in homes]
    if len(found) > MOST_FILES or sum(member.file_size for member in found) > MOST_BYTES:
        raise HoldfastError("this zip file is too large for the page. Hint: unpack it yourself.")
    return [(member, _inside(member, top)) for member in found]


def _inside(member: zipfile.ZipInfo, top: PurePosixPath) -> PurePosixPath:
    """Where a member goes: its name, in the folder of its column where it has one."""
    column = _home(member).relative_to(top)
    if ".." in column.parts:
        raise HoldfastError("this zip file has a path that leads out of it; it was not unpacked.")
    return column / PurePosixPath(member.filename).name


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
