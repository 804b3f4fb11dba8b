"""CSV files of a bundle: one dialect for all of them, written and read in batches.

docs/bundle.md is the specification; `holdfast.verify` reads them with code of its own.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from holdfast.errors import HoldfastError
from holdfast.release.escape import csv_cell, from_csv_label
from holdfast.release.limits import (
    BATCH_CHARACTERS,
    BATCH_ROWS,
    LONGEST_RECORD,
)
from holdfast.tables.cell_text import cell_text
from holdfast.tables.texts import Texts, lines

DELIMITERS, NEWLINES = (",", ";", "\t", "|"), ("\n", "\r\n")
AT_A_TIME = 16  # records of up to LONGEST_RECORD characters that are read unasked
PIECE = 1 << 20  # characters
_MARKS, _FIRST = (*DELIMITERS, '"', "\r", "\ufeff"), b"=+-@'"


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

    @property
    def start(self) -> str:
        """What a file begins with."""
        return "\ufeff" if self.bom else ""

    def line(self, labels: Iterable[str]) -> str:
        """A record of any labels, escaped."""
        cells = self.delimiter.join(map(csv_cell, labels))
        return (cells or '""') + self.newline  # a line must not be blank

    def joined(self, columns: Sequence[Texts]) -> str:
        """Records of columns whose cells are escaped, as `cells_of` has them."""
        return lines(columns, self.delimiter, self.newline)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))


def opened(path: Path, dialect: Dialect, stack: ExitStack) -> TextIO:
    """A new file that is written in this dialect."""
    file = stack.enter_context(path.open("x", encoding="utf-8", newline=""))
    file.write(dialect.start)
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
    together = texts.by_line()
    odd = together.count("\n") > len(texts) or any(mark in together for mark in _MARKS)
    if not odd and not texts.begin_with(_FIRST):
        return texts
    return Texts.of([csv_cell(text) for text in texts.to_pylist()])


class _BoundedLines:
    """Lines of a file, with their ends, of which no more than a bearable number is held at a time;
    none is without end."""

    def __init__(self, file: TextIO, name: str) -> None:
        self._file, self._name = file, name
        self.characters = self.passed = 0
        """Characters that were read, and those of records that are whole."""

    def __iter__(self) -> Iterator[str]:
        rest = ""
        while piece := self._file.read(PIECE):
            rest, self.characters = rest + piece, self.characters + len(piece)
            beyond = self.characters - self.passed > AT_A_TIME * LONGEST_RECORD
            if beyond or len(rest) > PIECE + LONGEST_RECORD:
                raise HoldfastError(
                    f"`{self._name}` has a record of more than {LONGEST_RECORD:,} characters."
                )
            whole = rest.rfind("\n") + 1
            yield from StringIO(rest[:whole], newline="")
            rest = rest[whole:]
        yield from StringIO(rest, newline="")


def read_columns(path: Path, dialect: Dialect, names: Sequence[str]) -> Iterator[list[list[str]]]:
    """The columns of a CSV file in batches; its header must have these names."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if file.read(1) != "\ufeff" or not dialect.bom:
                file.seek(0)
            yield from _batches(_BoundedLines(file, path.name), dialect, names, path.name)
    except UnicodeDecodeError:
        raise HoldfastError(f"`{path.name}` is not UTF-8.") from None
    except csv.Error as error:
        raise HoldfastError(f"`{path.name}` cannot be read as CSV: {error}.") from None


def _batches(
    lines: _BoundedLines, dialect: Dialect, names: Sequence[str], file: str
) -> Iterator[list[list[str]]]:
    reader = csv.reader(iter(lines), delimiter=dialect.delimiter, strict=True)
    header = list(map(from_csv_label, next(reader, [])))
    if header != list(names):
        raise HoldfastError(f"`{file}` does not have the columns that release.json says.")
    width = {len(names)}
    while True:
        columns, start = [list[str]() for _ in names], lines.characters
        while len(columns[0]) < BATCH_ROWS and lines.characters - start < BATCH_CHARACTERS:
            some = list(islice(reader, AT_A_TIME))  # few: lists of lists are what Python counts
            lines.passed = lines.characters
            if not some:
                break
            if set(map(len, some)) != width:
                raise HoldfastError(f"`{file}` has records of more or fewer cells than columns.")
            for column, cells in zip(columns, zip(*some, strict=True), strict=True):
                column += cells
        if not columns[0]:
            return
        yield columns


def labels_of(cells: list[str]) -> list[str]:
    """The labels that cells were written for."""
    if "\n'" not in "\n".join(["", *cells]):
        return cells
    return [from_csv_label(cell) for cell in cells]
