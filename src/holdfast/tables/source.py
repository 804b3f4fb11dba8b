"""What holds a table: something that gives its rows, some at a time, as often as asked."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from holdfast.arrays import Integers
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


class Source(Protocol):
    """A table wherever it is kept."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns; none where it has but counts."""

    @property
    def name(self) -> str:
        """What an error calls it."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how it was read."""

    @property
    def in_memory(self) -> bool:
        """Whether all rows come at once, and can be put in another order."""

    def settle(self, published: Sequence[str], numbers: Collection[str]) -> None:
        """Hear which columns are published, and which are read as numbers, before rows are read;
        raise where they cannot be written."""

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows, with these columns at the least."""

    def digest(self) -> bytes | None:
        """What it is kept in, condensed; None where that has no bytes, or where they may come in
        another order the next time."""


@runtime_checkable
class Held(Source, Protocol):
    """A table in memory."""

    def take(self, rows: Integers) -> "Held":
        """Other rows, or the same in another order."""

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """These columns with other counts, as the kind it was."""
