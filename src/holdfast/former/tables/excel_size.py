"""Whether a workbook is small enough to be read, before anything makes room for its cells.

A cell far from the others costs a few bytes in the file and, once the sheet is laid out, the whole
area up to it. So the parts are read as a stream first, and only what was counted is believed.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import closing
from xml.parsers import expat

from holdfast.errors import HoldfastError
from holdfast.former.tables.excel_marks import cell_name, column_number, sheet_parts

_BYTES = 512 * 2**20  # of all parts, unpacked
_CELLS = 20_000_000  # from A1 to the last row and the last column
_ROWS, _COLUMNS = 2**20, 2**14  # of a sheet in Excel
_LOOSE = 2_000_000  # elements in one row, or around the rows
_CHUNK = 2**16
_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FIRST = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")  # they name the sheets
_CELL = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")


class _TooLargeError(Exception):
    """What makes a part too large."""


def check_size(data: bytes) -> None:
    """Raise `HoldfastError` if a workbook is too large; other errors mean that it is not one."""
    with closing(zipfile.ZipFile(io.BytesIO(data))) as archive:
        _check_names(archive)
        left = _BYTES
        for part in (*_FIRST, *sorted(set(archive.namelist()) - set(_FIRST))):
            try:
                left = _check_part(archive, part, left)
            except _TooLargeError as what:
                raise HoldfastError(
                    f"{_sheet_of(archive, part)}: {what} makes it too large to be read. Hint: "
                    "delete what stands far below or right of the table, whole rows and columns, "
                    "and save the workbook; or save the table as CSV."
                ) from None
        if not all(part.lower().endswith(".xml") for part in sheet_parts(archive).values()):
            raise ValueError("a sheet in a part that was not checked")


def _check_names(archive: zipfile.ZipFile) -> None:
    """Every reader must find the same parts, so a name stands for one part only."""
    names = [name.lower() for name in archive.namelist()]
    if len(set(names)) < len(names) or {"xl/workbook.bin", "content.xml"} & set(names):
        raise ValueError("not one workbook")


def _check_part(archive: zipfile.ZipFile, part: str, left: int) -> int:
    """The bytes left for other parts."""
    sheet = _Sheet() if part.lower().endswith(".xml") or part in _FIRST else None
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
        for name, its_part in sheet_parts(archive).items():
            if its_part == part:
                return f"sheet {name!r:.60}"
    return f"part {part!r:.60} of the workbook"


class _Sheet:
    """The extent of the cells in a part, as its XML passes by."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._has_cells = False
        self._row = self._column = 0  # where the parser is
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
            self._cell(attributes.get("r"))
        elif kind == "row" and self._has_cells:
            self._next_row(attributes.get("r"))
        elif kind == "sheetData":
            self._has_cells = True
        elif kind == "mergeCell":
            for corner in attributes["ref"].split(":"):
                self._extend(*_place(corner))

    def _next_row(self, number: str | None) -> None:
        self._row = int(number) if number else self._row + 1
        self._column = 0
        self._row_elements += 1
        self._most_loose, self._loose = max(self._most_loose, self._loose), 0
        if not 1 <= self._row <= _ROWS or self._row_elements > _ROWS:
            raise _TooLargeError("the number of its rows")

    def _cell(self, name: str | None) -> None:
        if name:
            row, self._column = _place(name)
            self._row = max(self._row, row)
        else:
            self._column += 1
        self._extend(self._row, self._column)

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
    found = _CELL.fullmatch(name)
    if found is None or not int(found[2]):
        raise ValueError("not the name of a cell")
    return int(found[2]), column_number(found[1].upper()) + 1
