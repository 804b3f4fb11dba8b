"""The rows of a text table, kept by column: a cell takes its text and one place in a list."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

CHUNK = 1 << 12


class TextRows(Sequence[list[str]]):
    """Rows as lists of cells, made when they are asked for.

    >>> rows = TextRows([["Kent", "Ely"], ["3", "0"]])
    >>> rows[1], rows == [["Kent", "3"], ["Ely", "0"]]
    (['Ely', '0'], True)
    """

    def __init__(self, columns: Sequence[list[str]]) -> None:
        self.columns = tuple(columns)

    @staticmethod
    def of(rows: Sequence[list[str]], width: int) -> "TextRows":
        """The same rows, of so many cells, kept by column."""
        if isinstance(rows, TextRows):
            return rows
        columns = zip(*rows, strict=True) if rows else [()] * width
        return TextRows([list(cells) for cells in columns])

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, at: int) -> list[str]: ...
    @overload
    def __getitem__(self, at: slice) -> list[list[str]]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [list(row) for row in zip(*(cells[at] for cells in self.columns), strict=True)]
        return [cells[at] for cells in self.columns]

    def __iter__(self) -> Iterator[list[str]]:
        return map(list, zip(*self.columns, strict=True))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TextRows):
            return self.columns == other.columns
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
