"""The file of a draft, and which part of it is the table."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.page.draft import Draft
from holdfast.former.page.folder import Folder, stamp

MARKS = ("thousands", "decimal")


def source(draft: Draft, folder: Folder) -> Path:
    """The file that a draft is about: a dropped one, or one in the folder."""
    dropped = draft.one("file", "dropped")
    if dropped:
        return draft.upload(dropped)
    return folder.find(draft.one("file", "path"))


def part_of(draft: Draft, folder: Folder) -> dict[str, Any]:
    """Which part of its file is the table, and how numbers are written in it: as it was said; of
    lines that nobody named, as they were found."""
    said: dict[str, Any] = {name: draft.one("file", name) for name in ("sheet", *MARKS)}
    rows = {name: draft.one("file", name).strip() for name in ("header_row", "last_row")}
    said |= {name: whole(text, name) for name, text in rows.items() if text}
    left_out = draft.one("file", "leave_out").replace(",", " ").split()
    said["leave_out"] = [whole(text, "leave_out") for text in left_out]
    said = {name: value for name, value in said.items() if value}
    return found_lines(draft, folder) | said


def found_lines(draft: Draft, folder: Folder) -> dict[str, int]:
    """The lines of a CSV file that seem to be its table, where there are others."""
    return dict(_found(stamp(source(draft, folder))))


def rows_as_shown(message: str, draft: Draft, folder: Folder) -> str:
    """A message that counts the rows below the header, with their numbers as an editor or Excel
    shows them; where rows have none there, or a file is too large to look, as it is."""
    from holdfast.former.engines.looking import is_large
    from holdfast.former.tables.files import rows_as_in_file

    if "data row" not in message or is_large(path := source(draft, folder)):
        return message
    return rows_as_in_file(message, path, part_of(draft, folder), "row {}")


@lru_cache(maxsize=64)
def _found(file: tuple[str, int, int]) -> dict[str, int]:
    from holdfast.former.engines.looking import is_large
    from holdfast.former.tables.files import find_part

    path = Path(file[0])
    try:
        return {} if is_large(path) else find_part(path)
    except HoldfastError:  # whoever reads it says what is wrong
        return {}


def whole(text: str, name: str) -> int:
    """A field that is to hold a whole number."""
    if not text.isdecimal() or not text.isascii():
        raise HoldfastError(f"`{name}` must be a whole number, got {text!r:.40}.")
    return int(text)
