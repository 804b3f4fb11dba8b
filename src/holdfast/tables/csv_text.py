r"""What a CSV file is: one definition, for files of any size.

1. Its encoding is that of its byte order mark (UTF-8, UTF-16); else UTF-8; else, where it is not
   that and holds no control characters, Windows-1252. All of it is valid, and nothing in it is NUL.
   Where it is known which columns are published, they and the header decide, and bytes elsewhere
   that are no UTF-8 are read as Windows-1252: no count decides how labels are read.
2. Line ends (LF, CR LF, CR) before the header are passed over. The header does not begin with a
   second byte order mark, is not blank, and ends within the first 4 MiB.
3. The delimiter is the one of , ; tab | that the header has most of outside of double quotes.
4. A cell in double quotes holds whatever stands between them, a quote doubled; nothing but a
   delimiter or a line end follows it. In other cells quotes are characters like any other.
5. A cell has at most 131,072 characters, a record about 16 MiB, the header 100,000 cells.
6. Every record has as many cells as the header. Blank lines at the end are no records; a blank
   line elsewhere is an error, but in a table of one column an empty line is an empty cell.

`holdfast.verify` reads tables by the same definition with code of its own.
"""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from holdfast.errors import HoldfastError

DELIMITERS = (",", ";", "\t", "|")
MAX_COLUMNS = 100_000
LONGEST_CELL = 131_072  # characters; also what Python's csv module reads
LONGEST_RECORD = 1 << 24  # bytes
LONGEST_HEADER = 1 << 22  # bytes
_HEADER_LINE = re.compile(r'(?:[^"\r\n]+|"[^"]*")*+')
_LINE_END = re.compile(r"\r\n|\r|\n")
BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Encoding:
    """How text became the bytes of a file."""

    name: str
    bom: bytes = b""


@dataclass(frozen=True)
class CsvStyle:
    """How a CSV file is written."""

    delimiter: str = ","
    newline: str = "\n"
    encoding: str = "utf-8"
    bom: bytes = b""


@dataclass(frozen=True)
class Header:
    """The first record of a file, and what it tells of the others."""

    names: tuple[str, ...]
    delimiter: str
    newline: str
    text: str  #: all that was read, up to where the first row begins


def find_encoding(pieces: Callable[[], Iterable[bytes]], called: str = "the file") -> Encoding:
    """The encoding of a file that comes in pieces, as often as they are asked for.

    >>> find_encoding(lambda: [b"caf\\xe9"]), find_encoding(lambda: [b"caf\\xc3", b"\\xa9"]).name
    (Encoding(name='cp1252', bom=b''), 'utf-8')
    """
    first = next(iter(pieces()), b"")
    bom = next((mark for mark in BOMS if first.startswith(mark)), b"")
    for name in [BOMS[bom]] if bom else ["utf-8", "cp1252"]:
        if _is_text(pieces(), name, len(bom)):
            return Encoding(name, bom)
    raise HoldfastError(
        f"{called} does not look like a text table. Hint: save it as CSV, in UTF-8, or give a "
        "Parquet file the suffix .parquet."
    )


def _is_text(pieces: Iterable[bytes], name: str, skipped: int) -> bool:
    """Whether all of a file is text in an encoding; so many bytes come before it."""
    decoder = codecs.getincrementaldecoder(name)()
    try:
        for number, piece in enumerate(pieces):
            data = piece if number else piece[skipped:]
            if "\0" in decoder.decode(data) or (name == "cp1252" and _CONTROL.search(data)):
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def read_header(start: bytes, *, whole: bool) -> Header:
    """The header in the first bytes of a file in UTF-8, after the byte order mark; `whole` where
    there are no others. Bytes that are no UTF-8 become surrogates."""
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(start)
    body = text.lstrip("\r\n")
    if body.startswith(("\ufeff", "ï»¿")):  # the second is how UTF-8's looks in Windows-1252
        raise HoldfastError(
            "the header begins with a byte order mark that is not the first thing in the file. "
            "Hint: save the file again, with one or none."
        )
    above = len(_LINE_END.findall(text[: len(text) - len(body)]))
    delimiter, lines = _delimiter(body), io.StringIO(body, newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = next(reader, [])
    except csv.Error:
        raise BrokenCsv(f"line {above + reader.line_num}") from None
    line = body[: lines.tell()]
    if not line.strip():
        raise HoldfastError("the file is empty. Hint: its first line must hold the column names.")
    if len(line) == len(body) and not whole:
        raise HoldfastError(
            "the header does not end within 4 MiB. Hint: the first line must hold the names of the "
            "columns, and nothing else."
        )
    _check_names(names)
    newline = next((end for end in ("\r\n", "\r") if line.endswith(end)), "\n")
    used = text[: len(text) - len(body) + len(line)]
    return Header(tuple(names), delimiter, newline, used)


def _delimiter(text: str) -> str:
    line = _HEADER_LINE.match(text)
    bare = re.sub('"[^"]*"', "", line[0] if line else "")
    return max(DELIMITERS, key=bare.count)


def _check_names(names: list[str]) -> None:
    if len(names) > MAX_COLUMNS:
        raise HoldfastError(
            f"the file has {len(names):,} columns, at most {MAX_COLUMNS:,} are read. "
            "Hint: one category per row, one column for its count; is the table transposed?"
        )
    if too_long(names):
        raise BrokenCsv("line 1")


def too_long(cells: Iterable[str]) -> bool:
    """Whether a cell is above the limit, which Python's csv module may have been told to forget."""
    return max(map(len, cells), default=0) > LONGEST_CELL


class BrokenCsv(HoldfastError):
    """What is no CSV."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"the file cannot be read as CSV near {place}. Hint: look for a quoted cell that is "
            f"not closed, text after a closing quote, or a cell above {LONGEST_CELL:,} characters."
        )
