"""Options that several commands read alike."""

from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError


def whole(text: str, name: str, hint: str = "digits only, such as 50") -> int:
    """A whole number written in digits."""
    try:
        return int(text)
    except ValueError:
        raise HoldfastError(
            f"`{name}` must be a whole number, got {text!r:.40}. Hint: {hint}."
        ) from None


def listed(text: str | None) -> list[str] | None:
    """The parts of a list with commas; None stays None."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def read_whole(file: Path, sheet: str | None, header_row: int | None) -> Any:
    """The table in a file, which is a workbook where a sheet or a row of it is named."""
    from holdfast.tables.files import read_excel, read_file

    if sheet is None and header_row is None:
        return read_file(file)
    return read_excel(file, sheet=sheet, header_row=header_row)
