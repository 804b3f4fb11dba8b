r"""The table in a CSV file with more in it: lines above and below, marks inside numbers.

The lines of the table, from the one with the names of the columns on, are a CSV file as
`holdfast.tables.csv_text` defines it. `find_lines` suggests them; only what is named is read.
"""

import csv
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import reads_as_number
from holdfast.tables.csv_text import DELIMITERS, find_encoding

MARKS = {",": ",", ".": ".", "'": "'’", " ": " \u00a0\u202f"}
"""What may separate thousands, and the characters that count as each."""
DECIMALS = (".", ",")
_POINT = re.compile(r"[ \t]*(?:[+-]?(?:[1-9][0-9]{0,2}(\.[0-9]{3})|[0-9]+))?[ \t]*")
LOOKED_AT = 1000
"""Lines from which a delimiter and a width are found."""


@dataclass(frozen=True)
class Lines:
    """Where a table lies in its file, by the numbers that an editor shows; None: from the first
    line with something in it, to the last."""

    header_row: int | None = None
    last_row: int | None = None
    leave_out: tuple[int, ...] = ()
    """Lines in between that are not meant, such as totals."""

    def check(self, filled: Sequence[bool]) -> None:
        """Raise where a file, in whose lines there is something or not, has no such lines."""
        if self.header_row is not None and not (
            0 < self.header_row <= len(filled) and filled[self.header_row - 1]
        ):
            raise HoldfastError(
                "`header_row` must be the number of a line with the names of the columns, got "
                f"{self.header_row}. Hint: editors and Excel show it left of the line."
            )
        if self.last_row is not None and not (self.header_row or 1) < self.last_row <= len(filled):
            raise HoldfastError(
                "`last_row` must be the number of a line below the names of the columns, got "
                f"{self.last_row}. Hint: the file has {len(filled):,} lines."
            )


ALL = Lines()
Record = tuple[int, int, list[str]]
"""Cells between the first and the last line that they stand in."""


def row_numbers(text: Iterable[str], lines: Lines) -> Iterator[int]:
    r"""In which line of its file each row of a table begins; the file comes line by line.

    >>> list(row_numbers(["Deaths\n", "a,n\n", '"Kent\n', 'East",3\n', "Ely,0\n"], Lines(2)))
    [3, 5]
    """
    last = math.inf if lines.last_row is None else lines.last_row
    kept = (
        (number, line)
        for number, line in enumerate(text, 1)
        if (lines.header_row or 1) <= number <= last and number not in lines.leave_out
    )
    first = list(itertools.islice(kept, LOOKED_AT))
    delimiter, width = _shape(first)
    records = _records(itertools.chain(first, kept), delimiter)
    below = itertools.islice(itertools.dropwhile(lambda record: not record[2], records), 1, None)
    return (number for number, _, cells in below if cells or width == 1)


def kept_lines(data: bytes, lines: Lines) -> bytes:
    r"""The lines of a table among those of its file.

    >>> kept_lines(b"Deaths\na,n\nKent,3\nTotal,3\n", Lines(2, 3))
    b'a,n\nKent,3\n'
    """
    every = data.splitlines(keepends=True)
    lines.check([bool(line.strip()) for line in every])
    first = 1 if lines.header_row is None else lines.header_row
    last = len(every) if lines.last_row is None else lines.last_row
    check_left_out(lines.leave_out, first, last)
    kept = (at for at in range(first, last + 1) if at not in lines.leave_out)
    return b"".join(every[at - 1] for at in kept)


def check_left_out(rows: Sequence[int], first: int, last: int) -> None:
    """Raise for rows to leave out that are not below the names of the columns."""
    odd = next((row for row in rows if not first < row <= last), None)
    if odd is not None:
        raise HoldfastError(
            f"`leave_out` must hold numbers of rows of the table, from {first + 1} to {last}, got "
            f"{odd}."
        )


def unmarked(thousands: str | None, decimal: str | None) -> Callable[[str], str]:
    """Makes of a number with marks one without; other text stays."""
    if thousands not in (None, *MARKS):
        raise HoldfastError(
            f"`thousands` must be a comma, point, apostrophe or space, got {thousands!r:.20}."
        )
    if decimal not in (None, *DECIMALS) or (decimal and decimal == thousands):
        raise HoldfastError(
            "`decimal` must be a comma or a point, and another mark than `thousands`."
        )
    signs = "" if thousands is None else f"[{re.escape(MARKS[thousands])}]"
    grouped = rf"[1-9][0-9]{{0,2}}(?:{signs}[0-9]{{3}})+|" if signs else ""
    point = re.escape(decimal or ".")
    written = re.compile(rf"[ \t]*([+-]?(?:{grouped}[0-9]+))(?:{point}([0-9]+))?[ \t]*")

    def without_marks(cell: str) -> str:
        match = written.fullmatch(cell)
        if not match:
            return cell
        whole = re.sub(signs, "", match[1]) if signs else match[1]
        # where a mark was named three zeros are decimals, and would be taken for thousands
        return whole if match[2] in (None, "000") else f"{whole}.{match[2]}"

    return without_marks


def unmarked_cells(cells: Sequence[Any], request: Mapping[str, Any] | None) -> Sequence[Any]:
    """The cells of a published column, without the marks that a request named for numbers."""
    thousands, decimal = ((request or {}).get(name) for name in ("thousands", "decimal"))
    if thousands is None and decimal is None:
        return cells
    without_marks = unmarked(thousands, decimal)
    return [without_marks(cell) if isinstance(cell, str) else cell for cell in cells]


def unexplained(cells: Iterable[str]) -> str:
    """A number with a point, where no cell tells whether points stand between thousands or before
    decimals; "" where one does, or where not all cells are numbers.

    >>> unexplained(["6.815", "921", ""]), unexplained(["6.815", "0.52"])
    ('6.815', '')
    """
    first = ""
    for cell in cells:
        match = _POINT.fullmatch(cell)
        if match is None:
            return ""
        first = first or (match[0].strip() if match[1] else "")
    return first


def records_of(data: bytes) -> list[Record]:
    """The records of a CSV file, whatever they hold."""
    encoding = find_encoding(lambda: [data])
    text = io.StringIO(data[len(encoding.bom) :].decode(encoding.name), newline="")
    lines = list(enumerate(text, 1))
    return list(_records(lines, _shape(lines[:LOOKED_AT])[0]))


def find_lines(records: Sequence[Record]) -> Lines:
    r"""Where the table of a file seems to lie: below a title, above notes.

    >>> find_lines(records_of(b"Deaths in 2023\n\na,n\nKent,3\nEly,0\n\nSource: us\n"))
    Lines(header_row=3, last_row=5, leave_out=())
    """
    filled = [record for record in records if _filled(record[2])]
    widths = Counter(len(cells) for _, _, cells in filled[:LOOKED_AT])
    width = max(widths, key=lambda width: (widths[width], width), default=0)  # that most have
    if width < 2:
        return Lines()
    top = _top([cells for _, _, cells in records], width)
    rows = [(end, cells) for _, end, cells in records[top + 1 :]]
    least = min(2, width - 1)  # cells of a row that are filled
    full = (end for end, cells in rows[::-1] if len(cells) == width and _filled(cells) >= least)
    last = next(full, None)
    header = records[top][0]
    return Lines(
        None if header == filled[0][0] else header, None if last in (None, filled[-1][1]) else last
    )


def _shape(lines: Sequence[tuple[int, str]]) -> tuple[str, int]:
    """The delimiter that cuts most lines alike, and into how many cells."""
    shapes = []
    for delimiter in DELIMITERS:
        widths = Counter(len(cells) for _, _, cells in _records(lines, delimiter) if cells)
        width, number = max(widths.items(), key=lambda one: (one[1], one[0]), default=(0, 0))
        shapes.append((number * (width - 1), delimiter, width))
    _, delimiter, width = max(shapes, key=lambda one: one[0])
    return delimiter, width


def _records(lines: Iterable[tuple[int, str]], delimiter: str) -> Iterator[Record]:
    """Each record with the numbers of its first and last line."""
    numbers: list[int] = []

    def fed() -> Iterator[str]:
        for number, line in lines:
            numbers.append(number)
            yield line

    try:
        for cells in csv.reader(fed(), delimiter=delimiter):
            yield numbers[0], numbers[-1], cells
            numbers.clear()
    except csv.Error:  # it is no row, and whoever reads the table says so
        yield numbers[0], numbers[-1], [""]


def _top(records: Sequence[list[str]], width: int) -> int:
    """Which record has the names: above the first with numbers, and mostly filled."""
    wide = [at for at, cells in enumerate(records) if len(cells) == width]
    full = [at for at in wide if 2 * _filled(records[at]) > width]
    data = next((at for at in full if any(map(reads_as_number, records[at]))), len(records))
    above = [at for at in wide if at < data]
    if not above:
        return next(at for at, cells in enumerate(records) if cells)
    return next((at for at in full if at < data), above[0])


def _filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)
