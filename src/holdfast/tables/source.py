"""What holds a table: something that gives its rows, some at a time, as often as asked; its rows
as they are read, and as they are checked."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import refuse_odd_texts
from holdfast.tables.counts import MISSING, text_counts
from holdfast.tables.csv_text import CsvStyle
from holdfast.tables.partition import Coded, coded
from holdfast.tables.spans import Keys, text_keys


class Rows:
    """Some rows of a table, in the form in which they came."""

    names: Sequence[str]
    """The names of the columns."""
    text = False
    """Whether all cells are text, as in a CSV file."""
    unmarked: Callable[[str], str] | None = None
    """Takes the marks out of a number, where the file is said to have some."""

    def __len__(self) -> int:
        raise NotImplementedError

    def counts(self, name: str, where: str, missing: Sequence[Any]) -> Integers:
        """A column of counts, -1 where one is not known; `where` is what an error calls it."""
        return text_counts(self.numbers(name), where, missing)

    def cells(self, name: str, rows: Integers | None = None) -> list[Any]:
        """The cells of a column as Python objects, in all rows or some."""
        raise NotImplementedError

    def column(self, name: str) -> Any:
        """A column in the form in which it came: `Texts` of a CSV file, an Arrow array of Parquet
        and other tables of Arrow, else a list of cells."""
        return self.cells(name)

    def numbers(self, name: str, rows: Integers | None = None) -> list[Any]:
        """The cells of a column, numbers without the marks of the file."""
        cells = self.cells(name, rows)
        return cells if self.unmarked is None else list(map(self.unmarked, cells))

    def codes(self, name: str) -> Coded:
        """The number of the cell in each row, and the different cells; a `TypeError` where cells
        cannot be labels, such as lists."""
        return coded(self.cells(name))

    def order_codes(self, name: str) -> Coded:
        """The same of a column by whose cells rows are put in order, numbers without marks."""
        if self.unmarked is not None:
            return coded(self.numbers(name))
        try:
            return self.codes(name)
        except TypeError:  # lists and the like
            return coded(list(map(str, self.cells(name))))

    def keys(self, name: str) -> Keys:
        """A key for each cell; equal cells of a table have equal ones."""
        codes, cells = self.codes(name)
        return text_keys(cells)[codes] if self.text else codes.astype(np.uint64)

    def marks(self, name: str, of: Callable[[Any], bool | None]) -> tuple[Marks, int | None]:
        """The rows with such a cell in a column, and the first row of which that is not clear."""
        try:
            codes, cells = self.codes(name)
        except TypeError:  # lists are no labels
            return np.zeros(len(self), dtype=np.bool_), 0
        flags = list(map(of, cells))
        unclear = np.array([flag is None for flag in flags], dtype=np.bool_)[codes]
        marks = np.array([bool(flag) for flag in flags], dtype=np.bool_)[codes]
        return marks, int(unclear.argmax()) if unclear.any() else None

    def may_be_text(self, name: str) -> bool:
        """Whether the cells of a column may be other than numbers."""
        return True

    def refuse_unwritable(self, name: str) -> None:
        """Raise where a file of text cannot hold the cells of a column."""
        refuse_odd_texts(name, self.cells(name))

    def take(self, rows: Integers) -> "Rows":
        """Other rows, or the same in another order."""
        raise NotImplementedError


@dataclass(frozen=True)
class ListRows(Rows):
    """Rows of text, a list of cells for each column.

    >>> rows = ListRows(("place", "n"), [["Kent", "Ely"], ["3", "0"]])
    >>> rows.counts("n", "`table`", ()), rows.codes("place")[1]
    (array([3, 0]), ['Kent', 'Ely'])
    """

    names: Sequence[str]
    columns: Sequence[list[str]]
    unmarked: Callable[[str], str] | None = None
    text = True

    def __len__(self) -> int:
        return len(self.columns[0])

    def cells(self, name: str, rows: Integers | None = None) -> list[Any]:
        """The cells of a column."""
        cells = self.columns[self.names.index(name)]
        return list(cells) if rows is None else [cells[row] for row in rows.tolist()]

    def take(self, rows: Integers) -> "ListRows":
        """Other rows, or the same in another order."""
        columns = [[cells[row] for row in rows.tolist()] for cells in self.columns]
        return replace(self, columns=columns)


@dataclass(frozen=True)
class LineRows(Rows):
    """Counts in one dimension, without columns."""

    size: int
    read: Callable[[str, Sequence[Any]], Integers]
    """The counts; the text is what an error calls them."""
    names = ()

    def __len__(self) -> int:
        return self.size

    def counts(self, name: str, where: str, missing: Sequence[Any]) -> Integers:
        """All the counts."""
        return self.read(where, missing)


AT_A_TIME = 1 << 16  # rows


@dataclass(frozen=True)
class Piece:
    """Some rows of a table, and where they stand."""

    rows: Rows
    row: int = 0
    """So many rows are before them, in their file."""
    file: str = ""
    """What an error calls that; nothing in memory."""
    done: float | None = None
    """The share of the table that has been read with them, where that is known."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Some rows of a table, in their order."""

    start: int
    """So many rows of the table come before them."""
    counts: dict[str, Integers] = field(repr=False)
    """True counts by column; -1 where one is not known."""
    structural_zero: Marks = field(repr=False)
    """Rows publicly known to be zero."""
    group: Integers = field(repr=False, default_factory=lambda: np.empty(0, dtype=np.int64))
    """The group of each row, by its number in the partition; -1 where no count is measured. Empty
    until groups are settled."""
    inside: Marks | None = field(repr=False, default=None)
    """Which of them are in the subset; None where all are wanted."""
    done: float | None = None
    """The share of the table that has been read with them; None where that is not known."""
    rows: Rows = field(repr=False)
    """The cells as they came, for writers: those of the columns that were asked for."""

    def __len__(self) -> int:
        return len(self.structural_zero)

    @cached_property
    def missing(self) -> dict[str, Marks]:
        """By column the rows whose count is not known."""
        return {name: counts == MISSING for name, counts in self.counts.items()}

    @cached_property
    def measured(self) -> dict[str, Marks]:
        """By column the rows whose count is measured: neither missing nor known to be zero."""
        return {name: ~(gaps | self.structural_zero) for name, gaps in self.missing.items()}

    def wanted(self) -> "Batch":
        """The rows of the subset alone."""
        if self.inside is None or self.inside.all():
            return self
        some = np.flatnonzero(self.inside)
        return replace(
            self,
            rows=self.rows.take(some),
            counts={name: counts[some] for name, counts in self.counts.items()},
            structural_zero=self.structural_zero[some],
            inside=None,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Kept:
    """What is kept of all rows of a table, in their order, from the time when they are checked."""

    counts: dict[str, Integers]
    structural_zero: Marks
    group: Integers

    def take(self, rows: Integers) -> "Kept":
        """The same in another order."""
        counts = {name: column[rows] for name, column in self.counts.items()}
        return Kept(
            counts=counts, structural_zero=self.structural_zero[rows], group=self.group[rows]
        )

    def batches(self) -> Iterator[Batch]:
        """The rows, some at a time, without their cells."""
        for start in range(0, len(self.group), AT_A_TIME):
            yield self.batch(slice(start, start + AT_A_TIME), Rows())

    def batch(self, some: slice, rows: Rows) -> Batch:
        """Some of the rows, with these cells."""
        return Batch(
            start=some.start,
            counts={name: column[some].astype(np.int64) for name, column in self.counts.items()},
            structural_zero=self.structural_zero[some],
            group=self.group[some].astype(np.int64),
            done=min(some.stop / len(self.group), 1.0),
            rows=rows,
        )

    def holds(self, batch: Batch, some: slice) -> bool:
        """Whether these rows are as they were."""
        return np.array_equal(batch.structural_zero, self.structural_zero[some]) and all(
            np.array_equal(column, self.counts[name][some]) for name, column in batch.counts.items()
        )


class Source:
    """A table wherever it is kept."""

    name = "`table`"
    """What an error calls it."""
    columns: Sequence[str] = ()
    """The names of its columns; none where it has but counts."""
    in_memory = False
    """Whether all rows come at once, and can be put in another order."""
    path: Path
    """Where it is kept, where it has files."""
    paths: Sequence[Path] = ()
    """All of its files."""

    @property
    def style(self) -> CsvStyle:
        """How it is written as CSV: as it came, where it was text."""
        return CsvStyle()

    @property
    def is_small(self) -> bool:
        """Whether it is small enough to be held in memory."""
        return self.in_memory

    @property
    def state(self) -> list[tuple[int, int]]:
        """Sizes of its files and when they were written to, by which a change is noticed."""
        stats = [path.stat() for path in self.paths]
        return [(stat.st_size, stat.st_mtime_ns) for stat in stats]

    def settle(self, published: Sequence[str], counts: Collection[str]) -> None:
        """Hear which columns are published, and which hold counts, before rows are read."""

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows, with these columns at the least."""
        raise NotImplementedError

    def digest(self) -> bytes | None:
        """The bytes and names of its files, condensed; None where it has none: rows may come in
        another order the next time."""
        condensed = hashlib.sha256()
        for path in self.paths:
            name = os.path.relpath(path, self.path)  # a folder's name may hold its keys
            condensed.update(name.encode(errors="surrogateescape") + b"\0")
            try:
                with path.open("rb") as file:
                    condensed.update(hashlib.file_digest(file, "sha256").digest())
            except OSError as error:
                raise unreadable(path, error.strerror) from None
        return condensed.digest() if self.paths else None

    def held(self) -> "Held":
        """The same table in memory, all of it."""
        raise NotImplementedError

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """These columns of all rows with other counts, as the kind it was."""
        return self.held().replace(names, counts)


@dataclass(eq=False, repr=False)
class Held(Source):
    """A table in memory: one batch."""

    body: Rows
    file = ""
    """What it was read from."""
    in_memory = True

    def __post_init__(self) -> None:
        self.columns, self.name = list(self.body.names), f"`{self.file or 'table'}`"

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows."""
        yield Piece(self.body, file=self.file)

    def held(self) -> "Held":
        """It is already."""
        return self

    def take(self, rows: Integers) -> "Held":
        """Other rows, or the same in another order."""
        return replace(self, body=self.body.take(rows))


def refuse_special(path: Path) -> None:
    """Raise for a pipe or a device, which could be waited for without end, or read but once."""
    try:
        special = path.exists() and not path.is_file() and not path.is_dir()
    except (OSError, ValueError):  # no such path: reading it says so
        return
    if special:
        raise unreadable(path, "it is a pipe or a device, not a file")


def unreadable(path: str | os.PathLike[str], reason: object) -> HoldfastError:
    """The error for a file that cannot be opened."""
    return HoldfastError(f"`{path}` cannot be read: {reason}. Hint: check the path.")
