"""Rows of a table in memory as Python has them: what every kind of rows can do, lists and lines."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.columns import refuse_odd_texts
from holdfast.tables.counts import text_counts
from holdfast.tables.keys import text_keys
from holdfast.tables.partition import Coded, coded
from holdfast.tables.spans import Keys


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

    def cells_at(self, at: int) -> list[str]:
        """The cells of the column at a place."""
        return self.cells(self.names[at])

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

    def keys(self, name: str) -> Keys:
        """A key for each cell; equal cells of a table have equal ones."""
        codes, cells = self.codes(name)
        return text_keys(cells)[codes] if self.text else codes.astype(np.uint64)

    def labels_with(self, name: str, words: Sequence[str]) -> list[Any]:
        """The cells of a column that have one of some words in them, and maybe others; a glance
        tells mostly that there are none."""
        text = "".join(self.cells(name)).casefold()
        return self.cells(name) if any(word in text for word in words) else []

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

    def cells_at(self, at: int) -> list[str]:
        """The cells of the column at a place."""
        return self.columns[at]

    def cells(self, name: str, rows: Integers | None = None) -> list[Any]:
        """The cells of a column."""
        cells = self.columns[self.names.index(name)]
        return list(cells) if rows is None else [cells[row] for row in rows.tolist()]

    def with_numbers(self, names: Collection[str]) -> "ListRows":
        """The same with these columns read as numbers: their cells have no marks any more."""
        pairs = zip(self.names, self.columns, strict=True)
        columns = [self.numbers(name) if name in names else cells for name, cells in pairs]
        return replace(self, columns=columns)

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
