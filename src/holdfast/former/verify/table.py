"""The released table, read a row at a time: its columns, its length, and every count.

What a CSV file is was written down once, in `holdfast.former.tables.csv_text`, and is read here by code
of its own: encoding, header, delimiter, quotes, and how long a cell may be.
"""

import base64
import codecs
import csv
import io
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any, NamedTuple

from holdfast.former.verify.exact import Mask
from holdfast.former.verify.folder import opened
from holdfast.former.verify.members import Members
from holdfast.former.verify.parquet import open_parquet, read_columns
from holdfast.former.verify.parquet_pages import check_pages
from holdfast.former.verify.parquet_size import check_size
from holdfast.former.verify.report import Damage, shown

EMPTY = -1  # a cell with nothing in it
# a count, None for what is not a whole number, and the cells of the columns that were asked for
Counts = Generator[tuple[int | None, tuple[Any, ...]], None, None]
LONGEST_LINE = 1 << 26
LONGEST_CELL = 131_072
MOST_MARKED = 1 << 24  # rows, up to which release.json says which of them are missing
LONGEST_HEADER = 1 << 24  # more than release.json has room for
_COUNT = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DELIMITERS = (",", ";", "\t", "|")
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def check_table(
    folder: Path, name: str, record: dict[str, Any], members: Members | None = None
) -> list[int]:
    """How many rows have each count from 0 to max_count; `members` is shown every row that has
    one and is not known to be zero."""
    reader = _parquet_counts if name == "table.parquet" else _csv_counts
    tally = [0] * (record["max_count"] + 1)
    rows, expected, empty = 0, rows_in(record), 0
    marks = _read_marks(record, expected, "structural_zero")
    gaps = _read_marks(record, expected, "missing")
    columns = _grouped_by(record)
    with opened(folder, name) as file, closing(reader(file, record, columns)) as counts:
        for count, cells in counts:
            rows += 1
            if rows > expected:
                raise Damage(f"{name} has more rows than rows + structural_zeros.")
            if gaps and _marked(gaps, rows):
                if count is not EMPTY:
                    raise Damage(f"{name}: data row {rows} is marked as missing, and is not.")
                continue
            if count is EMPTY and not gaps and empty < record.get("missing", 0):
                empty += 1  # too many rows to say which are missing: as many as are stated
                continue
            if count is None or count is EMPTY:
                raise Damage(f"{name}: the count of data row {rows} is not a whole number.")
            if not 0 <= count < len(tally):
                raise Damage(f"{name}: the count of data row {rows} is above max_count.")
            known = bool(marks) and _marked(marks, rows)
            if count and known:
                raise Damage(f"{name}: data row {rows} is a structural zero, and is not 0.")
            tally[count] += 1
            if members is not None and not known:
                members.add(count, cells, rows)
    if not gaps and empty != record.get("missing", 0):
        raise Damage(f"{name} has fewer missing counts than release.json states.")
    if rows < expected:
        raise Damage(f"{name} has fewer rows than rows + structural_zeros.")
    if tally[0] < record["structural_zeros"]:
        raise Damage(f"{name} has fewer zeros than structural_zeros.")
    return tally


class Row(NamedTuple):
    """A row of a table that was found in order."""

    label: str
    released: int | None
    """None where it is missing."""
    is_drawn: bool


def rows_of(
    folder: Path, name: str, record: dict[str, Any], label: str | None
) -> Generator[Row, None, None]:
    """The rows of a table that `check_table` let pass, with what one column says of each."""
    reader = _parquet_counts if name == "table.parquet" else _csv_counts
    marks = _read_marks(record, rows_in(record), "structural_zero")
    columns = [] if label is None else [label]
    with opened(folder, name) as file, closing(reader(file, record, columns)) as counts:
        for number, (count, cells) in enumerate(counts, 1):
            known = bool(marks) and _marked(marks, number)
            there = count is not None and count is not EMPTY
            yield Row(
                label=str(cells[0]) if cells else "",
                released=count if there else None,
                is_drawn=there and not known,
            )


def rows_in(record: dict[str, Any]) -> int:
    """The rows that the table must have."""
    missing = record.get("missing", 0)
    rows = int(record["rows"] + record["structural_zeros"] + missing)
    told = "missing_rows" in record
    if missing < 0 or (told and not missing) or (missing and not told and rows <= MOST_MARKED):
        raise Damage("release.json: missing and missing_rows do not go together.")
    return rows


def _marked(marks: bytes, row: int) -> bool:
    return bool(marks[(row - 1) >> 3] >> (7 - (row - 1 & 7)) & 1)


def _read_marks(record: dict[str, Any], rows: int, what: str) -> bytes:
    """Which rows are structural zeros, or missing, one bit per row; empty where it is not said."""
    name, number = (f"{what}_rows", "missing" if what == "missing" else f"{what}s")
    text = record.get(name)
    if text is None:
        return b""
    try:
        marks = base64.b64decode(text, validate=True)
    except ValueError:
        raise Damage(f"release.json: {name} is not Base64.") from None
    marked = int.from_bytes(marks, "big").bit_count()
    spare = 8 * len(marks) - rows
    if not 0 <= spare < 8 or marked != record[number] or marks[-1] & ((1 << spare) - 1):
        raise Damage(f"{name} does not mark {number} of the table's rows.")
    return marks


def check_possible(possible: Mask, tally: list[int], record: dict[str, Any]) -> str:
    """Every released count has a positive weight; structural zeros did not go through it."""
    drawn = [tally[0] - record["structural_zeros"], *tally[1:]]
    for count, rows in enumerate(drawn):
        if rows and not possible[count]:
            raise Damage(f"the count {count} was released, but the mechanism never gives it.")
    return f"all {sum(drawn):,} counts are possible"


def _check_header(header: list[str], record: dict[str, Any]) -> int:
    if header != record["columns"]:
        raise Damage("the table's columns are not those that release.json names.")
    name = record["count_column"] if record["count_column"] is not None else "count"
    if header.count(name) != 1:
        raise Damage(f"the table must have one column {shown(name)}, its counts.")
    counts = {name, *record.get("other_counts", ())}
    if record["unchanged_columns"] != [other for other in header if other not in counts]:
        raise Damage("unchanged_columns does not name all columns of the table but the counts.")
    if "category" in record and record["unchanged_columns"].count(record["category"]) != 1:
        raise Damage("category must name one column of the table, and not the counts.")
    return header.index(name)


def _csv_counts(file: IO[bytes], record: dict[str, Any], columns: list[str]) -> Counts:
    text = io.TextIOWrapper(file, encoding=_encoding(file), newline="")
    try:
        yield from _text_counts(text, record, columns)
    except UnicodeDecodeError:
        raise Damage("table.csv is not text in one encoding.") from None
    finally:
        text.detach()


def _text_counts(text: IO[str], record: dict[str, Any], columns: list[str]) -> Counts:
    lines = _lines(text)
    head = _header_text(lines)
    bare = re.sub('"[^"]*"', "", head)
    delimiter = max(_DELIMITERS, key=bare.count)
    cells = csv.reader(_join(head, lines), delimiter=delimiter, strict=True)
    try:
        header = next(cells)
        at = _check_header(header, record)
        places = [header.index(other) for other in columns]
        for row in cells:
            if len(row) != len(header):  # no line of a release is empty: a gap is written as ""
                raise Damage(f"table.csv: line {cells.line_num} has {len(row)} cells.")
            if max(map(len, row), default=0) > LONGEST_CELL:
                raise Damage(f"table.csv: line {cells.line_num} has a cell that is too long.")
            cell = row[at]
            count = int(cell) if _COUNT.fullmatch(cell) else None if cell else EMPTY
            yield count, tuple(row[place] for place in places)
    except csv.Error:
        raise Damage(f"table.csv cannot be read near line {cells.line_num}.") from None


def _encoding(file: IO[bytes]) -> str:
    """By the byte order mark; else UTF-8, and cp1252 where the file is not that."""
    start = file.read(4)
    file.seek(0)
    marked = [name for bom, name in _BOMS.items() if start.startswith(bom)]
    if marked:
        return marked[0]
    decoder = codecs.getincrementaldecoder("utf-8")()
    found, control = "utf-8", False
    while chunk := file.read(1 << 20):
        control = control or _CONTROL.search(chunk) is not None
        found = found if found != "utf-8" or _decodes(decoder, chunk) else "cp1252"
    file.seek(0)
    if found == "utf-8" and _decodes(decoder, b"", final=True):
        return found
    if control:
        raise Damage("table.csv is neither UTF-8 nor text in another encoding.")
    return "cp1252"


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _lines(text: IO[str]) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise Damage(f"table.csv has a line above {LONGEST_LINE} characters.")
        if "\0" in line:
            raise Damage("table.csv holds a NUL, which is no text.")
        yield line


def _header_text(lines: Iterator[str]) -> str:
    """The lines of the header: one, or more where a quoted name goes over a line end."""
    parts: list[str] = []
    length, quotes = 0, 0
    for line in lines:
        if not parts and not line.strip("\r\n"):
            continue
        parts.append(line)
        length, quotes = length + len(line), quotes + line.count('"')
        if quotes % 2 == 0 or length > LONGEST_LINE:
            break
    head = "".join(parts)
    if len(head) > LONGEST_HEADER:
        raise Damage("table.csv: its header is longer than all names of release.json.")
    if not head.strip():
        raise Damage("table.csv is empty.")
    if head.startswith("\ufeff"):
        raise Damage("table.csv: its header begins with a second byte order mark.")
    if quotes % 2:
        raise Damage("table.csv: a quote in its header is not closed.")
    return head


def _join(head: str, rest: Iterable[str]) -> Iterator[str]:
    yield from io.StringIO(head, newline="")
    yield from rest


def _parquet_counts(file: IO[bytes], record: dict[str, Any], columns: list[str]) -> Counts:
    source = open_parquet(file)
    names = list(source.schema_arrow.names)
    name = names[_check_header(names, record)]
    if source.metadata.num_rows != rows_in(record):
        raise Damage("table.parquet must have rows + structural_zeros rows.")
    try:
        check_size(source, file, name)
        check_pages(source, file)
    except Damage:
        raise
    except Exception:
        raise Damage("table.parquet cannot be read as Parquet.") from None
    for cell, *cells in read_columns(source, [name, *columns]):
        yield EMPTY if cell is None else cell if type(cell) is int else None, tuple(cells)


def _grouped_by(record: dict[str, Any]) -> list[str]:
    """The columns that say which group a row is in; each is there once."""
    columns: list[str] = record["within"]["columns"] if "within" in record else []
    for column in columns:
        if record["columns"].count(column) != 1:
            raise Damage(f"the table must have one column {shown(column)}, its groups.")
    return columns
