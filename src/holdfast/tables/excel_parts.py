"""The parts of a workbook, read as a stream before anything makes room for their cells: whether it
is small enough, and what its values do not tell: cells hidden, failed, not computed.

A cell far from the others costs a few bytes in the file and, once the sheet is laid out, the whole
area up to it. So only what was counted is believed.
"""

import io
import re
import zipfile
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from xml.etree import ElementTree
from xml.parsers import expat

from holdfast.errors import HoldfastError

_BYTES = 512 * 2**20  # of all parts, unpacked
_CELLS = 20_000_000  # from A1 to the last row and the last column
_ROWS, _COLUMNS = 2**20, 2**14  # of a sheet in Excel
_LOOSE = 2_000_000  # elements in one row, or around the rows
_CHUNK = 2**16
_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FIRST = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")  # they name the sheets
_CELL = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")


@dataclass(frozen=True)
class Marks:
    """Rows and cells of a sheet that need care, counted from 0."""

    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    """Cells that show an error such as #N/A, and which."""
    uncomputed: list[tuple[int, int]] = field(default_factory=list)
    """Formulas without a value."""
    hidden: list[int] = field(default_factory=list)
    """Rows that are not shown."""

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


class _TooLargeError(Exception):
    """What makes a part too large."""


def read_marks(data: bytes) -> dict[str, Marks]:
    """The marks of each sheet of a workbook. Raises `HoldfastError` if it is too large; other
    errors mean that it is not one."""
    with closing(zipfile.ZipFile(io.BytesIO(data))) as archive:
        _check_names(archive)
        left, sheets = _BYTES, dict[str, _Sheet]()
        for part in (*_FIRST, *sorted(set(archive.namelist()) - set(_FIRST))):
            sheet = _Sheet() if part.lower().endswith(".xml") or part in _FIRST else None
            try:
                left = _read_part(archive, part, sheet, left)
            except _TooLargeError as what:
                raise HoldfastError(
                    f"{_sheet_of(archive, part)}: {what} makes it too large to be read. Hint: "
                    "delete what stands far below or right of the table, whole rows and columns, "
                    "and save the workbook; or save the table as CSV."
                ) from None
            if sheet:
                sheets[part] = sheet
        # a sheet in a part that was not read is a KeyError
        return {name: sheets[part].marks for name, part in _sheet_parts(archive).items()}


def _check_names(archive: zipfile.ZipFile) -> None:
    """Every reader must find the same parts, so a name stands for one part only."""
    names = [name.lower() for name in archive.namelist()]
    if len(set(names)) < len(names) or {"xl/workbook.bin", "content.xml"} & set(names):
        raise ValueError("not one workbook")


def _read_part(archive: zipfile.ZipFile, part: str, sheet: "_Sheet | None", left: int) -> int:
    """The bytes left for other parts."""
    for chunk in _unpacked(archive.getinfo(part), archive, left):
        left -= len(chunk)
        if left < 0:
            raise _TooLargeError("its size when unpacked")
        if sheet:
            sheet.parser.Parse(chunk, False)
    if sheet:
        sheet.end()
    return left


def _unpacked(info: zipfile.ZipInfo, archive: zipfile.ZipFile, left: int) -> Iterator[bytes]:
    if info.compress_type not in _PACKING:
        raise ValueError("packed in a way that Excel does not use")
    info.file_size = left + 2 * _CHUNK  # what the file states may be false: read until it is more
    with archive.open(info) as packed:
        while chunk := packed.read(_CHUNK):
            yield chunk


def _sheet_of(archive: zipfile.ZipFile, part: str) -> str:
    if part not in _FIRST:
        for name, its_part in _sheet_parts(archive).items():
            if its_part == part:
                return f"sheet {name!r:.60}"
    return f"part {part!r:.60} of the workbook"


def _sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """The file in the workbook that holds each sheet."""
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    parts = {}
    for sheet in book.iterfind("{*}sheets/{*}sheet"):
        target = targets[next(value for name, value in sheet.items() if name.endswith("}id"))]
        parts[sheet.get("name", "")] = target[1:] if target.startswith("/") else f"xl/{target}"
    return parts


class _Sheet:
    """The extent of the cells in a part and their marks, as its XML passes by."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.marks = Marks()
        self._has_cells = False
        self._row = self._column = 0  # where the parser is
        self._type: str | None = None  # of the cell that it is in
        self._formula, self._value = False, ""
        self._rows = self._columns = 0  # the extent so far
        self._row_elements = self._loose = self._most_loose = 0

    def end(self) -> None:
        self.parser.Parse(b"", True)
        if self._has_cells and max(self._loose, self._most_loose) > _LOOSE:
            raise _TooLargeError("what stands beside the cells")

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        kind = element.rpartition(":")[2]
        self._loose += 1
        if kind == "c" and self._has_cells:
            self._cell(attributes)
        elif kind == "v" or kind == "f":
            self._formula |= kind == "f"
            if self._type is not None and (self._formula or self._type == "e"):
                self.parser.CharacterDataHandler = self._read if kind == "v" else None
                self.parser.EndElementHandler = self._end
        elif kind == "row" and self._has_cells:
            self._next_row(attributes)
        elif kind == "sheetData":
            self._has_cells = True
        elif kind == "mergeCell":
            for corner in attributes["ref"].split(":"):
                self._extend(*_place(corner))

    def _read(self, text: str) -> None:
        self._value += text

    def _end(self, element: str) -> None:
        """A cell that needs care, or an element in it, ends."""
        self.parser.CharacterDataHandler = None
        if element.rpartition(":")[2] != "c":
            return
        self.parser.EndElementHandler = None
        place = self._row - 1, self._column - 1
        if self._type == "e":
            self.marks.errors[place] = self._value
        elif self._formula and not self._value and self._type != "str":
            self.marks.uncomputed.append(place)
        self._type = None

    def _next_row(self, attributes: dict[str, str]) -> None:
        number = attributes.get("r")
        self._row = int(number) if number else self._row + 1
        self._column = 0
        self._row_elements += 1
        self._most_loose, self._loose = max(self._most_loose, self._loose), 0
        if not 1 <= self._row <= _ROWS or self._row_elements > _ROWS:
            raise _TooLargeError("the number of its rows")
        if attributes.get("hidden") in ("1", "true"):
            self.marks.hidden.append(self._row - 1)

    def _cell(self, attributes: dict[str, str]) -> None:
        name = attributes.get("r")
        if name:
            row, self._column = _place(name)
            self._row = max(self._row, row)
        else:
            self._column += 1
        self._extend(self._row, self._column)
        self._type, self._formula, self._value = attributes.get("t", ""), False, ""
        if self._type == "e":
            self.parser.EndElementHandler = self._end

    def _extend(self, row: int, column: int) -> None:
        if row <= self._rows and column <= self._columns:
            return
        self._rows, self._columns = max(self._rows, row), max(self._columns, column)
        too_many = self._rows * self._columns > _CELLS
        if too_many or self._rows > _ROWS or self._columns > _COLUMNS:
            raise _TooLargeError(f"what stands in cell {cell_name(row - 1, column - 1)}")

    def _refuse_doctype(self, *_: object) -> None:
        raise ValueError("Excel writes no document type, so no entities")


def _place(name: str) -> tuple[int, int]:
    """The row and the column of a cell, counted from 1.

    >>> _place("A1"), _place("AB10")
    ((1, 1), (10, 28))
    """
    match = _CELL.fullmatch(name)
    if match is None or not int(match[2]):
        raise ValueError("not the name of a cell")
    return int(match[2]), _column_number(match[1].upper())


@cache
def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def cell_name(row: int, column: int) -> str:
    """A cell as Excel calls it, counted from 0.

    >>> cell_name(0, 0), cell_name(9, 27)
    ('A1', 'AB10')
    """
    from xlsxwriter.utility import xl_rowcol_to_cell

    return str(xl_rowcol_to_cell(row, column))
