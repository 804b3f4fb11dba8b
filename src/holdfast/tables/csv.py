"""The text table: a CSV file as it was read, every cell kept as text, and written back alike. Rows
of a file in blocks: as spans of bytes where these are regular, else as lists."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import StringIO
from types import SimpleNamespace
from typing import Any

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import find_column
from holdfast.tables.counts import MISSING
from holdfast.tables.csv_scan import scan
from holdfast.tables.csv_text import (
    DELIMITERS,
    LONGEST_CELL,
    LONGEST_RECORD,
    BrokenCsv,
    CsvStyle,
    Header,
    too_long,
)
from holdfast.tables.source import Held, ListRows, Rows

SHOWN = 10  # rows, in a notebook


@dataclass(repr=False)
class CsvTable(Held):
    r"""A text table exactly as read; nothing in it is converted.

    >>> table = CsvTable(ListRows(("county", "deaths"), [["Kent", "Ely"], ["3", "0"]]))
    >>> table["deaths"], table.to_bytes()
    (['3', '0'], b'county,deaths\nKent,3\nEly,0\n')
    """

    body: ListRows
    style: CsvStyle = field(default=CsvStyle())
    file: str = field(default="", compare=False)

    @property
    def rows(self) -> list[list[str]]:
        """The cells, each row as long as the header."""
        return list(map(list, zip(*self.body.columns, strict=True)))

    def column(self, name: str, parameter: str = "column") -> list[str]:
        """The cells of one column; `parameter` is what an error calls the name."""
        return self.body.columns[find_column(self.columns, name, parameter)]

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> "CsvTable":
        """A text table, written as it came."""
        columns = [
            ["" if c == MISSING else str(c) for c in counts[name].tolist()]
            if name in counts
            else self.body.cells(name)
            for name in names
        ]
        return CsvTable(ListRows(tuple(names), columns), self.style)

    def __len__(self) -> int:
        return len(self.body)

    def __getitem__(self, name: str) -> list[str]:
        return self.column(name)

    def _repr_html_(self) -> str:
        lines = [("th", self.columns), *(("td", row) for row in self.rows[:SHOWN])]
        body = "".join(
            f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
            for tag, cells in lines
        )
        more = len(self) - SHOWN
        return f"<table>{body}</table>" + (f"<p>… and {more:,} more rows</p>" if more > 0 else "")

    def to_bytes(self) -> bytes:
        """The table as a file: same delimiter, line ends, encoding and byte order mark."""
        # Unquoted, some names would mislead the next reader: those with another delimiter inside,
        # with what looks like a byte order mark in front, or with nothing that can be seen.
        misleading = (
            any(d in name for d in DELIMITERS for name in self.columns)
            or self.columns[0].startswith("\ufeff")
            or not "".join(self.columns).strip()
        )
        header = self._lines([self.columns], csv.QUOTE_ALL if misleading else csv.QUOTE_MINIMAL)
        text = header + self._lines(zip(*self.body.columns, strict=True), csv.QUOTE_MINIMAL)
        return self.style.bom + text.encode(self.style.encoding)

    def _lines(self, rows: Iterable[Iterable[str]], quoting: Any) -> str:
        """Rows as lines, in which a cell that holds either end of a line is quoted: the writer of
        older Pythons quotes its own alone."""
        # One column shows no delimiter; the next reader will take it for a comma.
        delimiter = self.style.delimiter if len(self.columns) > 1 else DELIMITERS[0]
        lines: list[str] = []
        sink: Any = SimpleNamespace(write=lines.append)
        csv.writer(sink, lineterminator="\r\n", delimiter=delimiter, quoting=quoting).writerows(
            rows
        )
        return "".join(line[:-2] + self.style.newline for line in lines)


BLOCK = 1 << 20  # bytes, whose cells a processor's cache holds


class BlockReader:
    """The rows below the header of a file that comes in pieces, in UTF-8.

    >>> head = Header(("place", "n"), ",", "\\n", "place,n\\n")
    >>> blocks = BlockReader(head).read([b"Kent,3\\nE", b"ly,0\\n\\n"])
    >>> [rows.cells("place") for rows in blocks]
    [['Kent'], ['Ely']]
    """

    def __init__(self, header: Header, *, lists: bool = False) -> None:
        """`lists` asks for lists in any case."""
        self._header, self._lists = header, lists
        self._rows, self._blank = 0, 0

    def read(self, pieces: Iterable[bytes]) -> Iterator[Rows]:
        """Some rows at a time."""
        rest = b""
        for data, final in _without_last_ends(pieces):
            rest += data
            rows, used = self._parsed(rest, final)
            rest = rest[used:]
            if len(rest) > LONGEST_RECORD + BLOCK:
                raise self._broken()
            self._rows += len(rows)
            if len(rows):
                yield rows

    def _parsed(self, data: bytes, final: bool) -> tuple[Rows, int]:
        names, newline = self._header.names, self._header.newline
        if not self._lists and not self._blank and data:
            rows = scan(data, names, self._header.delimiter, newline, final=final)
            if rows is not None:
                return rows, rows.used
        return self._as_lists(data, final)

    def _as_lists(self, data: bytes, final: bool) -> tuple[ListRows, int]:
        """The records as Python's `csv` reads them; the last one only where nothing follows it."""
        lines = list(StringIO(data.decode(errors="surrogateescape"), newline=""))
        reader = csv.reader(iter(lines), delimiter=self._header.delimiter, strict=True)
        rows: list[list[str]] = []
        read = 0
        while True:
            try:
                record = next(reader, None)
            except csv.Error:
                if final or reader.line_num < len(lines):
                    raise self._broken(len(rows)) from None
                break
            if record is None or (reader.line_num == len(lines) and not final):
                break
            read = reader.line_num
            self._take(record, rows)
        width = len(self._header.names)
        columns = [list(cells) for cells in zip(*rows, strict=True)] if rows else [[]] * width
        used = sum(len(line.encode(errors="surrogateescape")) for line in lines[:read])
        return ListRows(self._header.names, columns), used

    def _take(self, record: list[str], rows: list[list[str]]) -> None:
        """Another row, unless it is a blank line, of which there are only some at the end."""
        width, number = len(self._header.names), self._rows + len(rows) + 1
        if not record and width == 1:
            record = [""]
        if not record or (width > 1 and len(record) == 1 and not record[0].strip(" \t")):
            self._blank += 1
            return
        if self._blank:
            above = f"data row {number - 1}" if number > 1 else "the names of the columns"
            raise HoldfastError(
                f"below {above} is an empty line. Hint: take the line out; if notes follow, name "
                "the table's last line with `last_row`, --last-row."
            )
        if len(record) != width:
            raise HoldfastError(
                f"data row {number} has {len(record)} cells, the header has {width}. Hint: quote "
                "cells that contain the delimiter, and fill up short rows; lines above and below "
                "the table are left out with `header_row`, --header-row and `last_row`, --last-row."
            )
        size = sum(map(len, record))
        if size > LONGEST_CELL and (too_long(record) or size > LONGEST_RECORD):
            raise HoldfastError(
                f"data row {number} has a cell above {LONGEST_CELL:,} characters, or is above "
                "16 MiB."
            )
        rows.append(record)

    def _broken(self, rows: int = 0) -> HoldfastError:
        return BrokenCsv(f"data row {self._rows + rows + 1}")


def _without_last_ends(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Pieces without the line ends after the last record, and whether one is the last."""
    ready, held = b"", b""
    for piece in pieces:
        data = held + piece
        kept = len(data.rstrip(b"\r\n"))
        held = data[kept:]
        if kept and ready:
            yield ready, False
        ready = data[:kept] or ready
    yield ready, True
