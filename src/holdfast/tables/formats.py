"""Which files hold tables, by how their names end."""

import os
from enum import Enum
from pathlib import Path

from holdfast.errors import HoldfastError


class Format(Enum):
    """How a table lies in a file; its value is how names of such files end."""

    TEXT = (".csv", ".tsv", ".txt")
    PARQUET = (".parquet", ".pq")
    EXCEL = (".xlsx", ".xlsm")


def format_of(path: str | os.PathLike[str]) -> Format | None:
    """The format of a file; None where it does not end like a table.

    >>> format_of("counts.CSV").name, format_of("Kent")
    ('TEXT', None)
    """
    suffix = Path(path).suffix.lower()
    return next((each for each in Format if suffix in each.value), None)


def wrong_ending(path: Path, *formats: Format) -> HoldfastError:
    """The error for a file that does not end like a table."""
    endings = ", ".join(suffix for each in formats for suffix in each.value)
    return HoldfastError(f"`{path}` must end in one of {endings}. Hint: save the table as CSV.")


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
