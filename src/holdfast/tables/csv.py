"""The text table: a CSV file as it was read, every cell kept as text, and written back alike."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from types import SimpleNamespace
from typing import Any

from holdfast.arrays import Integers
from holdfast.tables.cell_text import find_column
from holdfast.tables.counts import MISSING
from holdfast.tables.csv_text import DELIMITERS, CsvStyle
from holdfast.tables.source import Held, ListRows

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
