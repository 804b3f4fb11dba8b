"""The text table: a CSV file as it was read, every cell kept as text, and written back alike."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from types import SimpleNamespace
from typing import Any

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.columns import find_column
from holdfast.tables.counts import MISSING
from holdfast.tables.csv_blocks import BlockReader
from holdfast.tables.csv_text import (
    DELIMITERS,
    LONGEST_HEADER,
    CsvStyle,
    find_encoding,
    read_header,
)
from holdfast.tables.rows import ListRows
from holdfast.tables.source import Held

CHUNK = 1 << 12  # rows that are written at a time
SHOWN = 10  # rows, in a notebook


class CsvTable(Held):
    r"""A text table exactly as read; nothing in it is converted.

    >>> table = parse_csv(b"county;deaths\r\nKent;3\r\nEly;0\r\n")
    >>> table.columns, table.column("deaths")
    (['county', 'deaths'], ['3', '0'])
    >>> table.to_bytes()
    b'county;deaths\r\nKent;3\r\nEly;0\r\n'
    """

    body: ListRows

    def __init__(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        delimiter: str = ",",
        newline: str = "\n",
        encoding: str = "utf-8",
        bom: bytes = b"",
    ) -> None:
        """Names of columns and rows as long; what stands between cells, what ends a line, how text
        becomes bytes, and the byte order mark before it."""
        columns = [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in header]
        self._keep(ListRows(tuple(header), columns), CsvStyle(delimiter, newline, encoding, bom))

    @staticmethod
    def of(body: ListRows, written: CsvStyle | None = None, file: str = "") -> "CsvTable":
        """The table of rows that are kept by column, and the file that it was read from."""
        table = CsvTable.__new__(CsvTable)
        table._keep(body, CsvStyle() if written is None else written, file)
        return table

    def _keep(self, body: ListRows, written: CsvStyle, file: str = "") -> None:
        self.body, self.written, self.file = body, written, file
        self.header, self.columns = tuple(body.names), list(body.names)
        self.name = f"`{file or 'table'}`"

    @property
    def rows(self) -> list[list[str]]:
        """The cells, each row as long as the header."""
        return list(map(list, zip(*self.body.columns, strict=True)))

    @property
    def style(self) -> CsvStyle:
        """How a release of it is written: what is left of a table in Windows-1252 could be taken
        for UTF-8, so that is written."""
        written = self.written
        if written.encoding == "cp1252":
            return CsvStyle(written.delimiter, written.newline)
        return written

    def column(self, name: str, parameter: str = "column") -> list[str]:
        """The cells of one column; `parameter` is what an error calls the name."""
        return self.body.columns[find_column(self.header, name, parameter)]

    def take(self, rows: Integers) -> "CsvTable":
        """Other rows, or the same in another order."""
        return CsvTable.of(self.body.take(rows), self.written, self.file)

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> "CsvTable":
        """A text table, written as it came."""
        columns = [
            ["" if c == MISSING else str(c) for c in counts[name].tolist()]
            if name in counts
            else self.body.cells(name)
            for name in names
        ]
        return CsvTable.of(ListRows(tuple(names), columns), self.style)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CsvTable):
            return False
        return (self.body, self.written) == (other.body, other.written)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.body)

    def __getitem__(self, name: str) -> list[str]:
        return self.column(name)

    def _repr_html_(self) -> str:
        lines = [("th", self.header), *(("td", row) for row in self._some(slice(SHOWN)))]
        body = "".join(
            f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
            for tag, cells in lines
        )
        more = len(self) - SHOWN
        return f"<table>{body}</table>" + (f"<p>… and {more:,} more rows</p>" if more > 0 else "")

    def _some(self, rows: slice) -> Iterable[tuple[str, ...]]:
        return zip(*(cells[rows] for cells in self.body.columns), strict=True)

    def to_bytes(self) -> bytes:
        """The table as a file: same delimiter, line ends, encoding and byte order mark."""
        encoding = self.written.encoding
        try:
            return self.written.bom + b"".join(part.encode(encoding) for part in self._texts())
        except UnicodeEncodeError:
            raise HoldfastError(
                f"a cell cannot be written in {encoding}. Hint: use encoding='utf-8'."
            ) from None

    def _texts(self) -> Iterator[str]:
        """The header, and some rows at a time."""
        # Unquoted, some names would mislead the next reader: those with another delimiter inside,
        # with what looks like a byte order mark in front, or with nothing that can be seen.
        misleading = (
            any(d in name for d in DELIMITERS for name in self.header)
            or self.header[0].startswith("\ufeff")
            or not "".join(self.header).strip()
        )
        yield self._lines([self.header], csv.QUOTE_ALL if misleading else csv.QUOTE_MINIMAL)
        for at in range(0, len(self), CHUNK):
            yield self._lines(self._some(slice(at, at + CHUNK)), csv.QUOTE_MINIMAL)

    def _lines(self, rows: Iterable[Sequence[str]], quoting: Any) -> str:
        # One column shows no delimiter; the next reader will take it for a comma.
        delimiter = self.written.delimiter if len(self.header) > 1 else DELIMITERS[0]
        return csv_text(rows, newline=self.written.newline, delimiter=delimiter, quoting=quoting)


def csv_text(rows: Iterable[Iterable[Any]], *, newline: str = "\n", **style: Any) -> str:
    """Rows as lines of a CSV file, in which a cell that holds either end of a line is quoted: the
    writer of older Pythons quotes its own alone."""
    lines: list[str] = []
    sink = SimpleNamespace(write=lines.append)
    csv.writer(sink, lineterminator="\r\n", **style).writerows(rows)
    return "".join(lines if newline == "\r\n" else [line[:-2] + newline for line in lines])


def parse_csv(data: bytes, part: Callable[[bytes], bytes] = bytes) -> CsvTable:
    """The text table in the bytes of a file, as `holdfast.tables.csv_text` defines it; `part` gives
    the lines of it that are meant."""
    encoding = find_encoding(lambda: [data])
    text = data[len(encoding.bom) :]
    if encoding.name != "utf-8":
        text = text.decode(encoding.name).encode()
    text = part(text)
    header = read_header(text[:LONGEST_HEADER], whole=len(text) <= LONGEST_HEADER)
    body = text[len(header.text.encode()) :]
    columns: list[list[str]] = [[] for _ in header.names]
    for rows in BlockReader(header).read([body]):
        for at, column in enumerate(columns):
            column += rows.cells_at(at)
    style = CsvStyle(header.delimiter, header.newline, encoding.name, encoding.bom)
    return CsvTable.of(ListRows(header.names, columns), style)
