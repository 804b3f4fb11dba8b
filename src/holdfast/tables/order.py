"""Rows in the order of public columns."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.cell_text import is_missing
from holdfast.tables.partition import Coded, coded
from holdfast.tables.source import Rows

Key = tuple[bool, Any]


def rows_by(columns: Iterable[Coded]) -> Integers:
    """The numbers of the rows in the order of the first column, where it ties of the next, and
    where all tie of the rows: numbers by their size where all cells are, else as text, the missing
    last.

    >>> rows_by([coded(["b", "a", "b"]), coded(["10", "3", "9"])])
    array([1, 2, 0])
    """
    ranks = [_ranks(cells)[codes] for codes, cells in columns]
    return np.lexsort(ranks[::-1]).astype(np.int64)


def order_codes(rows: Rows, name: str) -> Coded:
    """A column by whose cells rows are put in order, numbers without marks."""
    if rows.unmarked is not None:
        return coded(rows.numbers(name))
    try:
        return rows.codes(name)
    except TypeError:  # lists and the like
        return coded(list(map(str, rows.cells(name))))


def _ranks(cells: Sequence[Any]) -> Integers:
    """The place of each cell among all, equal ones on the same."""
    text = any(isinstance(sortable(cell), str) for cell in cells)
    keys = [sort_key(cell, text) for cell in cells]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], dtype=np.int64)


def sort_key(cell: Any, text: bool) -> Key:
    """By what a cell is put in order, as text or as a number."""
    value = sortable(cell)
    return (True, "" if text else 0.0) if value is None else (False, str(cell) if text else value)


def sortable(cell: Any) -> float | str | None:
    """A cell as a number, or as text where it is none; None where it is missing."""
    if is_missing(cell) or cell == "":
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return str(cell)
    return number if number == number else str(cell)
