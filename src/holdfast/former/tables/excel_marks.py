"""What a workbook knows of its cells and its values do not tell: hidden, failed, not computed."""

import io
import re
import zipfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree import ElementTree

from holdfast.errors import HoldfastError

_Cell = tuple[int, int]
_UTF_8 = re.compile(rb"""(\xef\xbb\xbf)?<(\?xml[^>]{0,80}encoding=["']utf-8|[a-z])""", re.I)
_ERROR = re.compile(rb"""\st\s*=\s*["'][e&]""")


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
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        xml = archive.read(sheet_parts(archive)[sheet])
    for at, row in _numbered_rows(io.BytesIO(xml)) if _may_be_marked(xml) else ():
        if row.get("hidden") in ("1", "true"):
            hidden.append(at)
        for column, cell in _numbered_cells(row):
            inside = {_kind(element): element.text or "" for element in cell}
            if cell.get("t") == "e":
                errors[at, column] = inside.get("v", "")
            elif "f" in inside and not inside.get("v") and cell.get("t") != "str":
                uncomputed.append((at, column))
    return Marks(errors=errors, uncomputed=tuple(uncomputed), hidden=tuple(hidden))


def _may_be_marked(xml: bytes) -> bool:
    """Whether there can be a mark: where there can be none, no cell need be looked at."""
    words = b"hidden" in xml or b"<f" in xml or b":f" in xml
    return words or not _UTF_8.match(xml) or bool(_ERROR.search(xml))


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
        if _kind(element) == "row":
            at = int(element.get("r", at + 2)) - 1
            yield at, element
            element.clear()


def _numbered_cells(row: Any) -> Iterator[tuple[int, Any]]:
    column = -1
    for cell in row:
        if _kind(cell) == "c":
            name = cell.get("r")
            column = column_number(name.rstrip("0123456789")) if name else column + 1
            yield column, cell


def _kind(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


@cache
def column_number(letters: str) -> int:
    """The number of a column, from 0, by its letters.

    >>> column_number("A"), column_number("AB")
    (0, 27)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
