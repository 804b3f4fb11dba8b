"""The numbers of rows as an editor or Excel shows them, which `leave_out` takes."""

import itertools
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.tables.csv_part import Lines, Record, find_lines, records_of, row_numbers
from holdfast.tables.csv_text import find_encoding
from holdfast.tables.formats import Format, format_of

_DATA_ROW = re.compile(r"\bdata row ([1-9][0-9]*)\b")
_FILE = re.compile(r"`([^`]+)`: ")


def as_in_file(message: str, lines: Lines, sheet: str | None = None) -> str:
    """A message that begins with a file and counts rows below its header, with the numbers that
    rows have in the file; as it is where they have none there, as in Parquet."""
    named = _FILE.match(message)
    wanted = set(map(int, _DATA_ROW.findall(message)))
    if named is None or not wanted:
        return message
    with suppress(HoldfastError, OSError, ValueError):
        rows = itertools.islice(row_numbers_in(Path(named[1]), lines, sheet), max(wanted))
        for row, number in enumerate(rows, 1):
            if row in wanted:
                message = re.sub(rf"\bdata row {row}\b", f"row {number} of the file", message)
    return message


def row_numbers_in(path: Path, lines: Lines, sheet: str | None = None) -> Iterator[int]:
    """The number of each row of a table in its file; none for Parquet."""
    kind = format_of(path)
    if kind is Format.EXCEL:
        from holdfast.tables.excel import numbered_rows

        _, rows = numbered_rows(path.read_bytes(), sheet, lines)
        yield from (number for number, _ in rows)
    elif kind is Format.TEXT:
        encoding = find_encoding(lambda: _pieces(path))
        with path.open(encoding=encoding.name, newline="") as text:
            yield from row_numbers(text, lines)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            yield piece


def file_records(path: Path, sheet: str | None = None) -> list[Record]:
    """The records of a file as they lie in it, whatever they hold; none for Parquet."""
    kind = format_of(path)
    if kind is Format.EXCEL:
        from holdfast.tables.excel import sheet_rows

        rows = enumerate(sheet_rows(path.read_bytes(), sheet), 1)
        return [(number, number, cells) for number, cells in rows]
    return records_of(path.read_bytes()) if kind is Format.TEXT else []


def find_part(path: Path, sheet: str | None = None) -> dict[str, int]:
    """Which lines of a file seem to be its table: `header_row` and `last_row`, where there is
    more in it. In a workbook lines of a single cell above the table are passed over anyway."""
    records = file_records(path, sheet)
    if format_of(path) is Format.EXCEL:
        records = list(itertools.dropwhile(lambda record: sum(map(bool, record[2])) < 2, records))
    return {name: number for name, number in vars(find_lines(records)).items() if number}
