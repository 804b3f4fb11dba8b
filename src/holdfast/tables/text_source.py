"""A text table in memory as a source of rows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.arrays import Integers
from holdfast.tables.counts import MISSING
from holdfast.tables.csv import CsvTable
from holdfast.tables.csv_text import Style
from holdfast.tables.rows import ListRows
from holdfast.tables.source import Held, Piece
from holdfast.tables.text_rows import TextRows


@dataclass(frozen=True)
class TextSource(Held):
    """A text table: one batch."""

    rows: ListRows
    written: Style
    file: str = ""
    """What it was read from."""

    @staticmethod
    def of(table: CsvTable, file: str = "") -> "TextSource":
        """The source of a table.

        What is left of one in Windows-1252 could be taken for UTF-8: it is written as UTF-8."""
        columns = TextRows.of(table.rows, len(table.header)).columns
        encoding = "utf-8" if table.encoding == "cp1252" else table.encoding
        style = Style(table.delimiter, table.newline, encoding, table.bom)
        return TextSource(ListRows(table.header, columns), style, file)

    @property
    def style(self) -> Style:
        """How it is written as CSV."""
        return self.written

    @property
    def name(self) -> str:
        """What an error calls it."""
        return f"`{self.file or 'table'}`"

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self.rows.names

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows."""
        yield Piece(self.rows, file=self.file)

    def take(self, rows: Integers) -> "TextSource":
        """Other rows, or the same in another order."""
        return replace(self, rows=self.rows.take(rows))

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """A text table."""
        columns = [
            ["" if c == MISSING else str(c) for c in counts[name].tolist()]
            if name in counts
            else self.rows.cells(name)
            for name in names
        ]
        return CsvTable(tuple(names), TextRows(columns), **vars(self.style))
