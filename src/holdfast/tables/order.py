"""Rows in the order of public columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.count_values import is_missing


def rows_by(columns: Sequence[Sequence[Any]]) -> Integers:
    """The numbers of the rows in the order of the first column, where it ties of the next.

    >>> rows_by([["b", "a", "b"], ["10", "3", "9"]])
    array([1, 2, 0])
    """
    return np.lexsort([_ranks(cells) for cells in reversed(columns)]).astype(np.int64)


def _ranks(cells: Sequence[Any]) -> Integers:
    """The rank of each cell: as numbers where all are, as text otherwise, the missing last."""
    numbers = [None if is_missing(cell) or cell == "" else _sortable(cell) for cell in cells]
    text = any(isinstance(number, str) for number in numbers)
    keys: list[tuple[bool, Any]] = [
        (number is None, "" if number is None else str(cell) if text else number)
        for number, cell in zip(numbers, cells, strict=True)
    ]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([ranks[key] for key in keys], dtype=np.int64)


def _sortable(cell: Any) -> float | str:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return str(cell)
