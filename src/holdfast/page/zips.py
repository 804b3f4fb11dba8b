"""Releases in zip files: packed with their report and script, unpacked with suspicion."""

import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from holdfast.errors import HoldfastError

MOST_BYTES, MOST_FILES = 1 << 30, 64
CHUNK = 1 << 20
BUNDLE = "release.json"


def pack(folder: Path, beside: Mapping[str, str], target: IO[bytes]) -> None:
    """A release's files in a folder of its name, and texts beside that folder."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, f"{folder.name}/{path.name}")
        for name, text in beside.items():
            archive.writestr(name, text)


def unpack(source: IO[bytes], folder: Path) -> None:
    """The files of the one release in a zip, into a new folder; only names without a path are
    written, and no more bytes than are taken."""
    try:
        with zipfile.ZipFile(source) as archive:
            members = _bundle(archive)
            folder.mkdir(mode=0o700)
            left = MOST_BYTES
            for member in members:
                name = PurePosixPath(member.filename).name
                left -= _copy(archive, member, folder / name, left)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise HoldfastError(
            f"this zip file cannot be read ({type(error).__name__}). Hint: get it again."
        ) from None


def _bundle(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The members beside release.json."""
    members = [member for member in archive.infolist() if not member.is_dir()]
    homes = {_home(m) for m in members if PurePosixPath(m.filename).name == BUNDLE}
    if len(homes) != 1:
        raise HoldfastError(
            "this zip file does not hold one release. Hint: a release is a folder with the file "
            f"{BUNDLE} in it."
        )
    found = [member for member in members if _home(member) in homes]
    if len(found) > MOST_FILES or sum(member.file_size for member in found) > MOST_BYTES:
        raise HoldfastError("this zip file is too large for the page. Hint: unpack it yourself.")
    return found


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
