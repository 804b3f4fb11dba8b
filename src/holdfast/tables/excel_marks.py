"""What a workbook knows of its cells and its values do not tell: hidden, failed, not computed."""

import io
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from holdfast.errors import HoldfastError

_Cell = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Rows and cells of a sheet that need care, counted from 0."""

    errors: dict[_Cell, str]  #: cells that show an error such as #N/A, and which
    uncomputed: tuple[_Cell, ...]  #: formulas without a value
    hidden: tuple[int, ...]  #: rows that are not shown

    def refuse(self, rows: range, columns: Collection[int]) -> None:
        """Raise if rows of the table are hidden or cells of it were never computed."""
        for at, column in self.uncomputed:
            if at in rows and column in columns:
                raise HoldfastError(
                    f"cell {cell_name(at, column)} holds a formula whose value was never computed. "
                    "Hint: open the workbook in Excel or LibreOffice and save it."
                )
        unseen = [at for at in self.hidden if at in rows]
        if unseen:
            raise HoldfastError(
                f"row {unseen[0] + 1} of the sheet is hidden, so it is not clear whether it is "
                "meant to be in the table. Hint: clear the filter and show all rows, or take out "
                "those that are not meant."
            )


def read_marks(data: bytes, sheet: str) -> Marks:
    """The marks of a sheet, from the XML that Excel wrote."""
    errors, uncomputed, hidden = {}, [], []
    with (
        zipfile.ZipFile(io.BytesIO(data)) as archive,
        archive.open(sheet_parts(archive)[sheet]) as xml,
    ):
        for at, row in _numbered_rows(xml):
            if row.get("hidden") in ("1", "true"):
                hidden.append(at)
            for column, cell in _numbered_cells(row):
                value = cell.findtext("{*}v") or ""
                if cell.get("t") == "e":
                    errors[at, column] = value
                elif cell.find("{*}f") is not None and not value and cell.get("t") != "str":
                    uncomputed.append((at, column))
    return Marks(errors=errors, uncomputed=tuple(uncomputed), hidden=tuple(hidden))


def cell_name(row: int, column: int) -> str:
    """A cell as Excel calls it, counted from 0.

    >>> cell_name(0, 0), cell_name(9, 27)
    ('A1', 'AB10')
    """
    letters, left = "", column + 1
    while left:
        left, letter = divmod(left - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row + 1}"


def sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """The file in the workbook that holds each sheet."""
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    parts = {}
    for sheet in book.iterfind("{*}sheets/{*}sheet"):
        key = next(value for name, value in sheet.items() if name.endswith("}id"))
        parts[sheet.get("name", "")] = _from_top(targets[key])
    return parts


def _from_top(target: str) -> str:
    return target[1:] if target.startswith("/") else f"xl/{target}"


def _numbered_rows(xml: Any) -> Iterator[tuple[int, Any]]:
    at = -1
    for _, element in ElementTree.iterparse(xml):
        if element.tag.rpartition("}")[2] == "row":
            at = int(element.get("r", at + 2)) - 1
            yield at, element
            element.clear()


def _numbered_cells(row: Any) -> Iterator[tuple[int, Any]]:
    column = -1
    for cell in row.iterfind("{*}c"):
        column = column_number(cell.get("r", "")) if cell.get("r") else column + 1
        yield column, cell


def column_number(name: str) -> int:
    """The number of a column, from 0, in the name of a cell.

    >>> column_number("A1"), column_number("AB10")
    (0, 27)
    """
    number = 0
    for letter in name.rstrip("0123456789"):
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
