"""The text table: a CSV file as it was read, every cell kept as text, and written back alike."""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.tables.columns import find_column

DELIMITERS = (",", ";", "\t", "|")
MAX_COLUMNS = 100_000
_HEADER_LINE = re.compile(r'(?:[^"\r\n]+|"[^"]*")*+')
_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NOT_TEXT = (
    "the file does not look like a text table. "
    "Hint: save it as CSV, in UTF-8, or give a Parquet file the suffix .parquet."
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
        """The same table with these columns alone, in the order they have."""
        places = [at for at, name in enumerate(self.header) if name in names]
        rows = [[row[at] for at in places] for row in self.rows]
        return replace(self, header=tuple(self.header[at] for at in places), rows=rows)

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
        # Another delimiter inside a name would mislead the next reader, unless quoted.
        misleading = any(d in name for d in DELIMITERS for name in self.header)
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
    """The text table in the bytes of a file."""
    text, encoding, bom = _decode(data)
    text = text.lstrip("\r\n")
    if not text.strip():
        raise HoldfastError("the file is empty. Hint: its first line must hold the column names.")
    delimiter = _delimiter(text)
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = next(reader)
        newline = _newline(text[: lines.tell()])
        _check_width(header)
        rows = list(reader)
    except csv.Error:
        raise _broken(reader.line_num) from None
    rows = _rectangular(rows, len(header))
    return CsvTable(tuple(header), rows, delimiter, newline, encoding, bom)


def _decode(data: bytes) -> tuple[str, str, bytes]:
    bom = next((b for b in _BOMS if data.startswith(b)), b"")
    encoding = _BOMS.get(bom, "utf-8")
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        if bom or _CONTROL.search(data):
            raise HoldfastError(_NOT_TEXT) from None
        text, encoding = _decode_windows(data), "cp1252"
    if "\0" in text:
        raise HoldfastError(_NOT_TEXT)
    return text, encoding, bom


def _decode_windows(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        raise HoldfastError(_NOT_TEXT) from None


def _delimiter(text: str) -> str:
    match = _HEADER_LINE.match(text)
    bare = re.sub('"[^"]*"', "", match[0] if match else "")
    return max(DELIMITERS, key=bare.count)


def _newline(header_line: str) -> str:
    return next((end for end in ("\r\n", "\r") if header_line.endswith(end)), "\n")


def _check_width(header: list[str]) -> None:
    if len(header) > MAX_COLUMNS:
        raise HoldfastError(
            f"the file has {len(header):,} columns, at most {MAX_COLUMNS:,} are read. "
            "Hint: one category per row, one column for its count; is the table transposed?"
        )


def _rectangular(rows: list[list[str]], width: int) -> list[list[str]]:
    while rows and _is_blank(rows[-1], width):
        rows.pop()
    if width == 1:
        rows = [row or [""] for row in rows]
    if set(map(len, rows)) <= {width}:
        return rows
    at = next(i for i, row in enumerate(rows) if len(row) != width)
    if not rows[at]:
        raise HoldfastError(f"data row {at + 1} is an empty line. Hint: take the line out.")
    raise HoldfastError(
        f"data row {at + 1} has {len(rows[at])} cells, the header has {width}. "
        "Hint: quote cells that contain the delimiter, and fill up short rows."
    )


def _is_blank(row: list[str], width: int) -> bool:
    return not row or (width > 1 and len(row) == 1 and not row[0].strip())


def _broken(line: int) -> HoldfastError:
    return HoldfastError(
        f"the file cannot be read as CSV near line {line}. Hint: look for a quoted cell that is "
        f"not closed, text after a closing quote, or a cell above {csv.field_size_limit():,} "
        "characters."
    )
