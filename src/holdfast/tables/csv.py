"""The text table: a CSV file as it was read, every cell kept as text, and written back alike."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from types import SimpleNamespace
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.columns import find_column
from holdfast.tables.csv_blocks import BlockReader
from holdfast.tables.csv_text import DELIMITERS, LONGEST_HEADER, find_encoding, read_header
from holdfast.tables.text_rows import CHUNK, TextRows

SHOWN = 10  # rows, in a notebook


@dataclass(frozen=True)
class CsvTable:
    r"""A text table exactly as read; nothing in it is converted.

    >>> table = parse_csv(b"county;deaths\r\nKent;3\r\nEly;0\r\n")
    >>> table.columns, table.column("deaths")
    (['county', 'deaths'], ['3', '0'])
    >>> table.to_bytes()
    b'county;deaths\r\nKent;3\r\nEly;0\r\n'
    """

    header: tuple[str, ...]  #: the column names
    rows: Sequence[list[str]] = field(repr=False)  #: the cells, each row as long as the header
    delimiter: str = ","  #: what stands between cells
    newline: str = "\n"  #: what ends a line
    encoding: str = "utf-8"  #: how text becomes bytes, without the byte order mark
    bom: bytes = b""  #: the byte order mark

    @property
    def columns(self) -> list[str]:
        """The column names, in order."""
        return list(self.header)

    def column(self, name: str, parameter: str = "column") -> list[str]:
        """The cells of one column; `parameter` is what an error calls the name."""
        return self._cells(find_column(self.header, name, parameter))

    def _cells(self, at: int) -> list[str]:
        if isinstance(self.rows, TextRows):
            return self.rows.columns[at]
        return [row[at] for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> list[str]:
        return self.column(name)

    def _repr_html_(self) -> str:
        lines = [("th", self.header), *(("td", row) for row in self.rows[:SHOWN])]
        body = "".join(
            f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
            for tag, cells in lines
        )
        more = len(self) - SHOWN
        return f"<table>{body}</table>" + (f"<p>… and {more:,} more rows</p>" if more > 0 else "")

    def to_bytes(self) -> bytes:
        """The table as a file: same delimiter, line ends, encoding and byte order mark."""
        try:
            return self.bom + b"".join(part.encode(self.encoding) for part in self._texts())
        except UnicodeEncodeError:
            raise HoldfastError(
                f"a cell cannot be written in {self.encoding}. Hint: use encoding='utf-8'."
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
        for at in range(0, len(self.rows), CHUNK):
            yield self._lines(self.rows[at : at + CHUNK], csv.QUOTE_MINIMAL)

    def _lines(self, rows: Iterable[Sequence[str]], quoting: Any) -> str:
        # One column shows no delimiter; the next reader will take it for a comma.
        delimiter = self.delimiter if len(self.header) > 1 else DELIMITERS[0]
        return csv_text(rows, newline=self.newline, delimiter=delimiter, quoting=quoting)


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
    style = header.delimiter, header.newline, encoding.name, encoding.bom
    return CsvTable(header.names, TextRows(columns), *style)
