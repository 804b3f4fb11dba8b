"""CSV files of a bundle: one dialect for all of them, written and read in batches.

docs/bundle.md is the specification.
"""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.release.escape import csv_cell, csv_label, from_csv_label
from holdfast.release.record import LARGEST_COUNT, LONGEST_RECORD
from holdfast.tables.cell_text import Texts, cell_text, lines
from holdfast.tables.csv_scan import scan
from holdfast.tables.spans import digits, keys_between, numbered

DELIMITERS, NEWLINES = (",", ";", "\t", "|"), ("\n", "\r\n")
PIECE = 1 << 20  # bytes that are read at a time: their arrays fit into a processor's cache
_MARKS, _FIRST = (*DELIMITERS, '"', "\r", "\ufeff"), b"=+-@'\t\r"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_PLAIN = re.compile(r"[\w. ]*", re.ASCII)
_BLANK_LINE = re.compile(rb"(?:^|\n)\r?\n")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How CSV files are written: as the steward's own was, so that it opens where that does.

    >>> Dialect(delimiter=";").line(["Kent; Surrey", "=1", ""])
    '"Kent; Surrey";\\'=1;\\n'
    """

    delimiter: str = ","
    newline: str = "\n"
    bom: bool = False
    """Whether files begin with a byte order mark: without one Excel takes them for Windows-1252."""

    def __post_init__(self) -> None:
        if self.delimiter not in DELIMITERS or self.newline not in NEWLINES:
            raise HoldfastError("a CSV file has , ; tab or | between cells, LF or CR LF at ends.")

    def line(self, labels: Iterable[str]) -> str:
        """A record of any labels, escaped."""
        texts = list(labels)
        plain = _PLAIN.fullmatch("".join(texts))
        cells = self.delimiter.join(texts if plain else map(csv_cell, texts))
        return (cells or '""') + self.newline  # a line must not be blank

    def joined(self, columns: Sequence[Texts]) -> Iterator[bytes]:
        """Records of columns whose cells are escaped, as `cells_of` has them, some at a time."""
        return lines(columns, self.delimiter, self.newline)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))

    @staticmethod
    def from_dict(record: Mapping[str, Any]) -> "Dialect":
        """The inverse of `to_dict`, among other fields."""
        return Dialect(**{name: record[name] for name in ("delimiter", "newline", "bom")})


def opened(path: Path, dialect: Dialect, header: Iterable[str], stack: ExitStack) -> TextIO:
    """A new file that is written in this dialect, with its header."""
    file = stack.enter_context(path.open("x", encoding="utf-8", newline=""))
    file.write("\ufeff" * dialect.bom + dialect.line(header))
    file.flush()  # what comes next may be bytes
    return file


def texts_of(cells: Any) -> Texts:
    """The texts of cells: "" where there is nothing."""
    if isinstance(cells, Texts):
        return cells
    texts = None if isinstance(cells, list) else Texts.of_arrow(cells)
    if texts is not None:
        return texts
    cells = cells if isinstance(cells, list) else cells.to_pylist()
    plain = set(map(type, cells)) <= {str}
    return Texts.of(cells if plain else list(map(cell_text, cells)))


def cells_of(texts: Texts) -> Texts:
    """Texts as they are written between delimiters; most columns hold nothing to escape.

    >>> cells_of(Texts.of(["a", "-b", "c,d"])).to_pylist()
    ['a', "'-b", '"c,d"']
    """
    together = "" if texts.plain else texts.each_before("\n")
    odd = together.count("\n") > len(texts) or any(mark in together for mark in _MARKS)
    if not odd and not texts.begin_with(_FIRST):
        return texts
    return Texts.of([csv_cell(text) for text in texts.to_pylist()])


def escaped(texts: Texts) -> Texts:
    """Texts as cells hold them, with an apostrophe where a spreadsheet would compute them."""
    if not texts.begin_with(_FIRST):
        return texts
    return Texts.of([csv_label(text) for text in texts.to_pylist()])


def labels_of(cells: Texts) -> Texts:
    """The texts that cells were written for: the inverse of `escaped`."""
    if not cells.begin_with(b"'"):
        return cells
    return Texts.of([from_csv_label(cell) for cell in cells.to_pylist()])


def whole_numbers(cells: Texts, file: str) -> Integers:
    """The numbers in cells, each in its only spelling; 0 where a cell is empty.

    >>> whole_numbers(Texts.of(["-12", "", "0"]), "rows.csv")
    array([-12,   0,   0])
    """
    if not len(cells.data):
        return np.zeros(len(cells), dtype=np.int64)
    filled, last = cells.starts < cells.stops, len(cells.data) - 1
    negative = filled & (cells.data[np.minimum(cells.starts, last)] == ord("-"))
    first = cells.starts + negative
    numbers, odd = digits(cells.data, first, cells.stops)
    odd |= (cells.data[np.minimum(first, last)] == ord("0")) & (cells.stops > cells.starts + 1)
    np.negative(numbers, out=numbers, where=negative)
    rows = np.flatnonzero(odd & filled)
    numbers[rows] = [_whole_number(cell, file) for cell in cells[rows].to_pylist()]
    return numbers


def _whole_number(cell: str, file: str) -> int:
    if not _WHOLE.fullmatch(cell) or abs(int(cell)) > LARGEST_COUNT:
        raise HoldfastError(f"`{file}` has a cell that is no whole number of bearable size.")
    return int(cell)


def numbers_of(cells: Texts, numbers: Mapping[str, int], file: str) -> Integers:
    """The number of each label; raises where a label has none."""
    which, rows = numbered(keys_between(cells.data, cells.starts, cells.stops))
    try:
        every = [numbers[label] for label in labels_of(cells[rows]).to_pylist()]
    except KeyError:
        raise HoldfastError(f"`{file}` names a group that release.json does not have.") from None
    return np.array(every, dtype=np.int64)[which]


def read_columns(
    file: IO[bytes], name: str, dialect: Dialect, names: Sequence[str]
) -> Iterator[list[Texts]]:
    """The columns of a CSV file, some rows at a time: cells as they stand between their quotes.

    The header must have these names, and every record as many cells. What is plainly regular is
    read by NumPy, the rest by Python's `csv`; no more of a file is held than its longest record.
    """
    rest, header = file.read(len(BOM_UTF8)), True
    if (rest == BOM_UTF8) is not dialect.bom:
        raise HoldfastError(f"`{name}` does not begin as release.json says.")
    rest = rest[len(BOM_UTF8) * dialect.bom :]
    while data := rest + (piece := file.read(max(PIECE, len(rest)))):
        final = not piece
        columns, used = _records(data, name, dialect.delimiter, len(names), final=final)
        rest = data[used:]
        if len(rest) > LONGEST_RECORD and len(rest.decode(errors="replace")) > LONGEST_RECORD:
            raise _too_long(name)
        if header and len(columns[0]):
            header = False
            _check_header([labels_of(cells[:1]).to_pylist()[0] for cells in columns], name, names)
            columns = [cells[1:] for cells in columns]
        if len(columns[0]):
            yield columns
    if header:
        _check_header([], name, names)


def _check_header(header: list[str], name: str, names: Sequence[str]) -> None:
    if header != list(names):
        raise HoldfastError(f"`{name}` does not have the columns that release.json says.")


def _records(
    data: bytes, name: str, delimiter: str, width: int, *, final: bool
) -> tuple[list[Texts], int]:
    """The columns of the whole records at the beginning of some bytes, and how many bytes these
    are."""
    if b"\0" in data:
        raise HoldfastError(f"`{name}` holds a NUL.")
    blank = width == 1 and _BLANK_LINE.search(data)
    try:
        places = tuple(map(str, range(width)))
        rows = None if blank else scan(data, places, delimiter, final=final)
        if rows is None:
            return _listed(data, name, delimiter, width, final=final)
        data[: rows.used].decode()
    except UnicodeDecodeError:
        raise HoldfastError(f"`{name}` is not UTF-8.") from None
    return [rows.column(place) for place in places], rows.used


def _listed(
    data: bytes, name: str, delimiter: str, width: int, *, final: bool
) -> tuple[list[Texts], int]:
    """The same as Python's `csv` reads them."""
    text = data.decode() if final else data[: data.rfind(b"\n") + 1].decode()
    seen = used = 0

    def lines_of_records() -> Iterator[str]:
        nonlocal seen
        for line in StringIO(text, newline=""):
            seen += len(line)
            if seen - used > LONGEST_RECORD:
                raise _too_long(name)
            yield line

    rows = list[list[str]]()
    try:
        for cells in csv.reader(lines_of_records(), delimiter=delimiter, strict=True):
            if len(cells) != width:
                raise HoldfastError(f"`{name}` has records of more or fewer cells than columns.")
            rows.append(cells)
            used = seen
    except csv.Error as error:
        if final or seen < len(text):  # what has not come yet may close a quote
            raise HoldfastError(f"`{name}` cannot be read as CSV: {error}.") from None
    columns = [Texts.of(cells) for cells in zip(*rows, strict=True)] or [Texts.of([])] * width
    return columns, len(text[:used].encode())


def _too_long(name: str) -> HoldfastError:
    return HoldfastError(f"`{name}` has a record of more than {LONGEST_RECORD:,} characters.")
