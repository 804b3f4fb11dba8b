"""Rows in the order of public columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.former.tables.count_values import is_missing

Key = tuple[tuple[bool, Any], ...]


class Ranking:
    """How cells are put in order: as numbers where all are, as text otherwise, the missing last.

    >>> ranking = Ranking(1)
    >>> ranking.see([["10", "9", ""]])
    >>> sorted([("10",), ("9",), ("",)], key=lambda row: ranking.keys([row])[0])
    [('9',), ('10',), ('',)]
    """

    def __init__(self, columns: int) -> None:
        self._text = [False] * columns

    def see(self, columns: Sequence[Sequence[Any]]) -> None:
        """Take in cells of each column; all of them come here before any key is asked for."""
        for at, cells in enumerate(columns):
            self._text[at] = self._text[at] or any(isinstance(_sortable(c), str) for c in cells)

    def keys(self, columns: Sequence[Sequence[Any]]) -> list[Key]:
        """The keys of rows, which are in order where the rows are."""
        parts = [
            [_key(cell, text) for cell in cells]
            for cells, text in zip(columns, self._text, strict=True)
        ]
        return list(zip(*parts, strict=True))


def rows_by(columns: Sequence[Sequence[Any]]) -> Integers:
    """The numbers of the rows in the order of the first column, where it ties of the next.

    >>> rows_by([["b", "a", "b"], ["10", "3", "9"]])
    array([1, 2, 0])
    """
    ranking = Ranking(len(columns))
    ranking.see(columns)
    keys = ranking.keys(columns)
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _key(cell: Any, text: bool) -> tuple[bool, Any]:
    found = _sortable(cell)
    return (True, "") if found is None else (False, str(cell) if text else found)


def _sortable(cell: Any) -> float | str | None:
    if is_missing(cell) or cell == "":
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return str(cell)
    return number if number == number else str(cell)
