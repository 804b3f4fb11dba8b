"""What holds a table: something that gives its rows, some at a time, as often as asked."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.arrays import Integers
from holdfast.tables.csv_text import Style
from holdfast.tables.rows import Rows


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


class Source:
    """A table wherever it is kept."""

    in_memory = False
    """Whether all rows come at once, and can be put in another order."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how it was read."""

    @property
    def name(self) -> str:
        """What an error calls it."""
        return "`table`"

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns; none where it has but counts."""
        raise NotImplementedError

    @property
    def style(self) -> Style:
        """How it is written as CSV: as it came, where it was text."""
        return Style()

    @property
    def is_small(self) -> bool:
        """Whether it is small enough to be held in memory."""
        return self.in_memory

    def settle(self, published: Sequence[str], numbers: Collection[str]) -> None:
        """Hear which columns are published, and which are read as numbers, before rows are read."""

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows, with these columns at the least."""
        raise NotImplementedError

    def digest(self) -> bytes | None:
        """What it is kept in, condensed; None where that has no bytes, or where rows may come in
        another order the next time."""
        return None

    def held(self) -> "Held":
        """The same table in memory, all of it."""
        raise NotImplementedError

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """These columns of all rows with other counts, as the kind it was."""
        return self.held().replace(names, counts)


class Held(Source):
    """A table in memory: one batch."""

    in_memory = True

    def held(self) -> "Held":
        """It is already."""
        return self

    def take(self, rows: Integers) -> "Held":
        """Other rows, or the same in another order."""
        raise NotImplementedError
