"""A CSV file as a source of rows, however large: its encoding, its header, its lines in between."""

import codecs
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.tables.csv import BLOCK, BlockReader, CsvTable
from holdfast.tables.csv_part import ALL, Lines, kept_lines, unexplained, unmarked
from holdfast.tables.csv_text import (
    LONGEST_HEADER,
    CsvStyle,
    Encoding,
    Header,
    find_encoding,
    read_header,
)
from holdfast.tables.source import ListRows, Piece, Source, refuse_special, unreadable

SMALL = 1 << 26  # bytes of files that are held in memory to be put in order


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """What is no UTF-8, read as Windows-1252: in cells that are not published."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("holdfast.windows", _as_windows)


class _CsvSource(Source):
    """Text in files, all with the same header."""

    header: Header
    encoding: Encoding

    @property
    def is_small(self) -> bool:
        """Whether its files are small enough to be held in memory."""
        return sum(path.stat().st_size for path in self.paths) <= SMALL

    @property
    def style(self) -> CsvStyle:
        """How it is written; what is left of Windows-1252 could be taken for UTF-8, so that is
        written, with a mark by which Excel on Windows knows it."""
        name, bom, header = self.encoding.name, self.encoding.bom, self.header
        if name == "cp1252":
            name, bom = "utf-8", codecs.BOM_UTF8
        return CsvStyle(header.delimiter, header.newline, name, bom)

    def held(self) -> CsvTable:
        """All rows as lists of cells."""
        parts = [piece.rows for piece in self.read(self.columns)]
        columns = [
            list(chain.from_iterable(part.cells(name) for part in parts)) for name in self.columns
        ]
        unmarked = next((part.unmarked for part in parts), None)
        return CsvTable(ListRows(self.columns, columns, unmarked), self.style)


class CsvFile(_CsvSource):
    """A CSV file, read as often as asked, a block of rows at a time.

    Which encoding it has is decided by its header and by the columns that are published, so that
    no count decides how labels are read.
    """

    def __init__(
        self,
        path: Path,
        lines: Lines = ALL,
        thousands: str | None = None,
        decimal: str | None = None,
    ) -> None:
        self.path, self.paths, self.name, self._lines = path, (path,), f"`{path}`", lines
        marks = thousands is not None or decimal is not None
        self._unmarked = unmarked(thousands, decimal) if marks else None
        refuse_special(path)
        found = find_encoding(self._pieces, self.name)
        self._valid = self._decided = found.name != "cp1252"
        """Whether all of the file is text in its encoding; and whether that is decided."""
        self.encoding = found if self._valid else Encoding("utf-8")
        self._read_header()
        if not _is_valid(self.header.text):
            self._decide(windows=True)

    def settle(self, published: Sequence[str], counts: Collection[str]) -> None:
        """Decide on the encoding, where the columns that are published have to."""
        if self._decided:
            return
        valid = True
        for rows in BlockReader(self.header).read(self._body("surrogateescape")):
            valid = valid and all(_is_valid("".join(rows.cells(name))) for name in published)
        self._decide(windows=not valid)

    def refuse_unexplained(self, published: Sequence[str]) -> None:
        """Raise for numbers of which nobody said what their points mean, found in the first rows:
        whoever reads them would take thousands for decimals, or the reverse."""
        pieces = itertools.islice(self.read(published), self._unmarked is None)
        for name, piece in itertools.product(published, pieces):
            if number := unexplained(piece.rows.cells(name)):
                raise HoldfastError(
                    f"{self.name}: column {name!r:.60} would be published, and {number} in it is "
                    "thousands to some and a decimal number to others. Hint: say what the point "
                    "means, with `thousands`, --thousands . or with `decimal`, --decimal ."
                )

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """The rows, some at a time."""
        reader = BlockReader(self.header, lists=self._unmarked is not None)
        row, size = 0, max(self.path.stat().st_size, 1)
        self._read = 0
        try:
            for rows in reader.read(self._body("holdfast.windows")):
                if isinstance(rows, ListRows) and self._unmarked is not None:
                    rows = replace(rows, unmarked=self._unmarked)
                yield Piece(rows, row, str(self.path), min(1.0, self._read / size))
                row += len(rows)
        except HoldfastError as error:
            raise self._named(error) from None

    def _decide(self, *, windows: bool) -> None:
        self._decided = True
        if windows:
            self.encoding, self._valid = Encoding("cp1252"), True
            self._read_header()

    def _read_header(self) -> None:
        head = b""
        for piece in self._content("surrogateescape"):
            head += piece
            if len(head) > LONGEST_HEADER:
                break
        try:
            self.header = read_header(head[:LONGEST_HEADER], whole=len(head) <= LONGEST_HEADER)
        except HoldfastError as error:
            raise self._named(error) from None
        self.columns = self.header.names

    def _body(self, errors: str) -> Iterator[bytes]:
        """The text after the header."""
        skipped = len(self.header.text.encode(errors="surrogateescape"))
        for piece in self._content(errors):
            yield piece[skipped:]
            skipped = max(0, skipped - len(piece))

    def _content(self, errors: str) -> Iterator[bytes]:
        """The text of the table in UTF-8; `errors` says what becomes of bytes that are none."""
        pieces = self._recoded(errors)
        return pieces if self._lines == ALL else iter([kept_lines(b"".join(pieces), self._lines)])

    def _recoded(self, errors: str) -> Iterator[bytes]:
        name, skipped = self.encoding.name, len(self.encoding.bom)
        decoder = codecs.getincrementaldecoder(name)("strict" if self._valid else errors)
        for piece in self._pieces():
            data, skipped = piece[skipped:], 0
            plain = name == "utf-8" and (self._valid or errors == "surrogateescape")
            yield data if plain else decoder.decode(data).encode()
        yield decoder.decode(b"", final=True).encode()

    def _pieces(self) -> Iterator[bytes]:
        """The bytes of the file."""
        try:
            with self.path.open("rb") as file:
                while piece := file.read(max(BLOCK, 4)):  # a byte order mark is not cut
                    self._read = file.tell()
                    yield piece
        except OSError as error:
            raise unreadable(self.path, error.strerror) from None
        except ValueError:
            raise unreadable(self.path, "not a path") from None

    def _named(self, error: HoldfastError) -> HoldfastError:
        return HoldfastError(f"{self.name}: {error}")


class CsvFolder(_CsvSource):
    """CSV files with the same header in a folder, in the order of their names."""

    def __init__(self, path: Path, files: Sequence[Path]) -> None:
        self.path, self.paths, self.name = path, files, f"`{path}`"
        self.files = [CsvFile(file) for file in files]
        first = self.files[0]
        self.columns = first.columns
        self.header, self.encoding = first.header, first.encoding
        for file in self.files:
            if file.columns != first.columns:
                raise HoldfastError(
                    f"`{file.path}`: the columns are not those of `{first.path.name}`. Hint: files "
                    "of a folder must have the same columns in the same order."
                )

    def settle(self, published: Sequence[str], counts: Collection[str]) -> None:
        """Decide on the encoding of each file."""
        for file in self.files:
            file.settle(published, counts)
            if file.encoding != self.encoding:
                self.encoding = Encoding("utf-8")

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """The rows of one file after the other."""
        for number, file in enumerate(self.files):
            for piece in file.read(names):
                done = (number + (piece.done or 0.0)) / len(self.files)
                yield replace(piece, done=done)


def _is_valid(text: str) -> bool:
    """Whether no byte of a text was none of UTF-8."""
    return not any("\udc80" <= sign <= "\udcff" for sign in text) if not text.isascii() else True
