"""CSV files of a bundle: one dialect for all of them, written and read in batches.

docs/bundle.md is the specification; `holdfast.verify` reads them with code of its own.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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

DELIMITERS, NEWLINES = (",", ";", "\t", "|"), ("\n", "\r\n")
AT_A_TIME = 16  # records of up to LONGEST_RECORD characters that are read unasked
_MARKS = (*DELIMITERS, '"', "\r", "\ufeff", *(f"\n{sign}" for sign in "=+-@'"))


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
        return self.joined([[csv_cell(label)] for label in labels])

    def joined(self, columns: Sequence[Sequence[str]]) -> str:
        """Records of columns whose cells are escaped, as `cells_of` has them."""
        if len(columns) == 1:
            lines: Iterable[str] = (cell or '""' for cell in columns[0])
        else:
            lines = map(self.delimiter.join, zip(*columns, strict=True))
        text = self.newline.join(lines)
        return text + self.newline if len(columns[0]) else ""

    def file(self, records: Iterable[Sequence[Any]]) -> str:
        """A whole file of a few records, in which labels are texts and numbers anything else."""
        return self.start + "".join(self.line(map(str, record)) for record in records)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))


def texts_of(cells: Sequence[Any]) -> list[str]:
    """The texts of cells: "" where there is nothing."""
    if set(map(type, cells)) <= {str}:
        return list(cells)
    return [_text(cell) for cell in cells]


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    try:
        return "" if cell is None or cell != cell else str(cell)
    except TypeError:  # pandas' NA is neither equal to itself nor not
        return ""


def cells_of(texts: list[str]) -> list[str]:
    """Texts as they are written between delimiters; most columns hold nothing to escape.

    >>> cells_of(["a", "b"]), cells_of(["a", "-b", "c,d"])
    (['a', 'b'], ['a', "'-b", '"c,d"'])
    """
    together = "\n".join(["", *texts])
    if together.count("\n") == len(texts) and not any(mark in together for mark in _MARKS):
        return texts
    return [csv_cell(text) for text in texts]


class _Guarded(Iterator[str]):
    """Lines of a file, none of them without end, and how many characters they had."""

    def __init__(self, file: TextIO, name: str) -> None:
        self._file, self._name = file, name
        self.characters = self._since = 0

    def __next__(self) -> str:
        line = self._file.readline(LONGEST_RECORD)
        self.characters += len(line)
        if not line:
            raise StopIteration
        if self.characters - self._since > AT_A_TIME * LONGEST_RECORD or (
            len(line) == LONGEST_RECORD and not line.endswith(("\n", "\r"))
        ):
            raise HoldfastError(
                f"`{self._name}` has a record of more than {LONGEST_RECORD:,} characters."
            )
        return line

    def passed(self) -> None:
        """Say that all records so far were of bearable length."""
        self._since = self.characters


def read_columns(
    path: Path, dialect: Dialect, names: Sequence[str]
) -> Iterator[list[tuple[str, ...]]]:
    """The columns of a CSV file in batches; its header must have these names."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if file.read(1) != "\ufeff" or not dialect.bom:
                file.seek(0)
            yield from _batches(_Guarded(file, path.name), dialect, names, path.name)
    except UnicodeDecodeError:
        raise HoldfastError(f"`{path.name}` is not UTF-8.") from None
    except csv.Error as error:
        raise HoldfastError(f"`{path.name}` cannot be read as CSV: {error}.") from None


def _batches(
    lines: _Guarded, dialect: Dialect, names: Sequence[str], file: str
) -> Iterator[list[tuple[str, ...]]]:
    reader = csv.reader(lines, delimiter=dialect.delimiter, strict=True)
    header = list(map(from_csv_label, next(reader, [])))
    if header != list(names):
        raise HoldfastError(f"`{file}` does not have the columns that release.json says.")
    while True:
        records, start = list[list[str]](), lines.characters
        while len(records) < BATCH_ROWS and lines.characters - start < BATCH_CHARACTERS:
            some = list(islice(reader, AT_A_TIME))
            lines.passed()
            records += some
            if len(some) < AT_A_TIME:
                break
        if not records:
            return
        if set(map(len, records)) != {len(names)}:
            raise HoldfastError(f"`{file}` has records of more or fewer cells than columns.")
        yield list(zip(*records, strict=True))


def labels_of(cells: Sequence[str]) -> list[str]:
    """The labels that cells were written for."""
    if not any(cell[:1] == "'" for cell in cells):
        return list(cells)
    return [from_csv_label(cell) for cell in cells]
