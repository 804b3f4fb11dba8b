"""Files: which may be read, and writing one whole or not at all."""

import os
from pathlib import Path

from holdfast.errors import HoldfastError


def refuse_special(path: Path) -> None:
    """Raise for a pipe or a device, which could be waited for without end, or read but once."""
    try:
        special = path.exists() and not path.is_file() and not path.is_dir()
    except (OSError, ValueError):  # no such path: reading it says so
        return
    if special:
        raise unreadable(path, "it is a pipe or a device, not a file")


def unreadable(path: str | os.PathLike[str], reason: object) -> HoldfastError:
    """The error for a file that cannot be opened."""
    return HoldfastError(f"`{path}` cannot be read: {reason}. Hint: check the path.")


def write_whole(path: Path, data: bytes) -> Path:
    """Write a file beside its place and rename it, so that it is there whole or not at all."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise HoldfastError(f"`{path}` cannot be written ({error.strerror}).") from None
    return path
