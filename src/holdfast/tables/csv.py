"""The text table: a CSV file as it was read, every cell kept as text, and written back alike."""

import csv
import io
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.columns import find_column
from holdfast.tables.csv_text import (
    DELIMITERS,
    LONGEST_CELL,
    LONGEST_HEADER,
    LONGEST_RECORD,
    broken,
    find_encoding,
    read_header,
    too_long,
)


@dataclass(frozen=True)
class CsvTable:
    r"""A text table exactly as read; nothing in it is converted.

    >>> table = parse_csv(b"county;deaths\r\nKent;3\r\nEly;0\r\n")
    >>> table.columns, table.column("deaths")
    (['county', 'deaths'], ['3', '0'])
    >>> table.with_column("deaths", [2, 1]).to_bytes()
    b'county;deaths\r\nKent;2\r\nEly;1\r\n'
    """

    header: tuple[str, ...]  #: the column names
    rows: list[list[str]] = field(repr=False)  #: the cells, each row as long as the header
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
        at = find_column(self.header, name, parameter)
        return [row[at] for row in self.rows]

    def with_column(self, name: str, values: Iterable[Any]) -> "CsvTable":
        """The same table with the cells of one column replaced."""
        at = find_column(self.header, name, "column")
        cells = list(map(str, values))
        if len(cells) != len(self.rows):
            raise HoldfastError("`values` must have one entry per row of the table.")
        rows = [row.copy() for row in self.rows]
        for row, cell in zip(rows, cells, strict=True):
            row[at] = cell
        return replace(self, rows=rows)

    def select(self, names: Collection[str]) -> "CsvTable":
        """The same table with these columns alone, in the order they have.

        What is left of a file in Windows-1252 could be taken for UTF-8, so that it becomes.
        """
        wanted = set(names)
        places = [at for at, name in enumerate(self.header) if name in wanted]
        rows = [[row[at] for at in places] for row in self.rows]
        encoding = "utf-8" if self.encoding == "cp1252" else self.encoding
        header = tuple(self.header[at] for at in places)
        return replace(self, header=header, rows=rows, encoding=encoding)

    def to_bytes(self) -> bytes:
        """The table as a file: same delimiter, line ends, encoding and byte order mark."""
        try:
            return self.bom + self._text().encode(self.encoding)
        except UnicodeEncodeError:
            raise HoldfastError(
                f"a cell cannot be written in {self.encoding}. Hint: use encoding='utf-8'."
            ) from None

    def _text(self) -> str:
        # The writer quotes only its own line end: with CR LF, cells holding either are quoted.
        lines: list[str] = []
        sink = SimpleNamespace(write=lines.append)
        # Unquoted, some names would mislead the next reader: those with another delimiter inside,
        # with what looks like a byte order mark in front, or with nothing that can be seen.
        misleading = (
            any(d in name for d in DELIMITERS for name in self.header)
            or self.header[0].startswith("\ufeff")
            or not "".join(self.header).strip()
        )
        quoting = csv.QUOTE_ALL if misleading else csv.QUOTE_MINIMAL
        # One column shows no delimiter; the next reader will take it for a comma.
        delimiter = self.delimiter if len(self.header) > 1 else DELIMITERS[0]
        style = {"delimiter": delimiter, "lineterminator": "\r\n"}
        csv.writer(sink, **style, quoting=quoting).writerow(self.header)  # type: ignore[arg-type]
        csv.writer(sink, **style).writerows(self.rows)  # type: ignore[arg-type]
        if self.newline == "\r\n":
            return "".join(lines)
        return "".join([line[:-2] + self.newline for line in lines])


def parse_csv(data: bytes) -> CsvTable:
    """The text table in the bytes of a file, as `holdfast.tables.csv_text` defines it."""
    encoding = find_encoding(lambda: [data])
    start = len(encoding.bom)
    head = data[start : start + LONGEST_HEADER]
    header = read_header(head, encoding.name, whole=start + len(head) == len(data))
    file = io.BytesIO(data)
    file.seek(start + len(header.text.encode(encoding.name)))
    reader = csv.reader(
        io.TextIOWrapper(file, encoding.name, newline=""), delimiter=header.delimiter, strict=True
    )
    try:
        rows = list(reader)
    except csv.Error:
        raise broken(header.lines + reader.line_num) from None
    rows = _rectangular(rows, len(header.names))
    _check_lengths(rows, header.lines, len(data))
    style = header.delimiter, header.newline, encoding.name, encoding.bom
    return CsvTable(header.names, rows, *style)


def _check_lengths(rows: list[list[str]], before: int, size: int) -> None:
    """Cells, and records, where there can be any that are too long."""
    if csv.field_size_limit() > LONGEST_CELL < size:
        for at, row in enumerate(rows):
            if too_long(row):
                raise broken(before + at + 1)
    if size > LONGEST_RECORD:
        for at, row in enumerate(rows):
            if sum(map(len, row)) > LONGEST_RECORD:
                raise HoldfastError(f"data row {at + 1} is above 16 MiB.")


def _rectangular(rows: list[list[str]], width: int) -> list[list[str]]:
    while rows and _is_blank(rows[-1], width):
        rows.pop()
    if width == 1:
        rows = [row or [""] for row in rows]
    if set(map(len, rows)) <= {width}:
        return rows
    at = next(i for i, row in enumerate(rows) if len(row) != width)
    if _is_blank(rows[at], width):
        raise HoldfastError(f"data row {at + 1} is an empty line. Hint: take the line out.")
    raise HoldfastError(
        f"data row {at + 1} has {len(rows[at])} cells, the header has {width}. "
        "Hint: quote cells that contain the delimiter, and fill up short rows."
    )


def _is_blank(row: list[str], width: int) -> bool:
    return not row or (width > 1 and len(row) == 1 and not row[0].strip(" \t"))
