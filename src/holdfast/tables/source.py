"""What holds a table: something that gives its rows, some at a time, as often as asked."""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.csv_text import CsvStyle
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

    name = "`table`"
    """What an error calls it."""
    columns: Sequence[str] = ()
    """The names of its columns; none where it has but counts."""
    in_memory = False
    """Whether all rows come at once, and can be put in another order."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how it was read."""
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

    def settle(self, published: Sequence[str], numbers: Collection[str]) -> None:
        """Hear which columns are published, and which are read as numbers, before rows are read."""

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
                raise HoldfastError(f"`{path}` cannot be read: {error.strerror}.") from None
        return condensed.digest() if self.paths else None

    def held(self) -> "Held":
        """The same table in memory, all of it."""
        raise NotImplementedError

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """These columns of all rows with other counts, as the kind it was."""
        return self.held().replace(names, counts)


class Held(Source):
    """A table in memory: one batch."""

    body: Rows
    file = ""
    """What it was read from."""
    in_memory = True

    def read(self, names: Collection[str]) -> Iterator[Piece]:
        """All rows."""
        yield Piece(self.body, file=self.file)

    def held(self) -> "Held":
        """It is already."""
        return self

    def take(self, rows: Integers) -> "Held":
        """Other rows, or the same in another order."""
        raise HoldfastError("`table` has no columns by which rows could be chosen.")
