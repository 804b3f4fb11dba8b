"""Rows that are publicly known to be zero: a column of flags, a mask, or a list of labels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.tables.frames import as_list

_FLAGS = {True: True, False: False}
_TEXT_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _flags(cells: list[Any], name: str, text: bool) -> Marks:
    if text:
        cells = [_TEXT_FLAGS.get(cell.strip(" \t").lower()) for cell in cells]
    try:
        flags = list(map(_FLAGS.get, cells))
    except TypeError:
        flags = [None]
    if None in flags:
        raise HoldfastError(
            f"`structural_zero` column {name!r} must hold true or false, data row "
            f"{flags.index(None) + 1} does not. Hint: write true and false, yes and no, or 1 and 0."
        )
    return np.array(flags, dtype=np.bool_)


def structural_zeros(
    given: Any, column: Callable[[str], list[Any]], labels: list[Any] | None, rows: int, text: bool
) -> Marks:
    """The rows publicly known to be zero: `given` is a column's name, a mask, or labels.

    `column` gives the cells of a column, which are all `text` or not; `labels` are those of the
    category column.
    """
    if given is None:
        return np.zeros(rows, dtype=np.bool_)
    if isinstance(given, str):
        return _flags(column(given), given, text)
    items = as_list(given, "structural_zero")
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        return _mask(items, rows)
    if labels is None:
        raise HoldfastError(
            "`structural_zero` lists labels, but no `category` column says whose. "
            "Hint: give `category=`, or a mask with one True or False per row."
        )
    return _labelled([str(i) for i in items] if text else items, labels)


def _mask(items: list[bool], length: int) -> Marks:
    if len(items) != length:
        raise HoldfastError(
            "`structural_zero` must have one True or False per row of the table. "
            "Hint: or list the labels of the `category` column that are structurally zero."
        )
    return np.array(items, dtype=np.bool_)


def _labelled(wanted: list[Any], labels: list[Any]) -> Marks:
    try:
        known, chosen = set(labels), set(wanted)
        unknown = next((label for label in wanted if label not in known), None)
    except TypeError:
        raise HoldfastError("`structural_zero` must list labels such as text.") from None
    if chosen - known:
        raise HoldfastError(
            f"`structural_zero`: no row has the label {unknown!r}. "
            "Hint: labels must match the `category` column exactly, type included."
        )
    return np.array([label in chosen for label in labels], dtype=np.bool_)


def check_marks(marks: Marks | None, counts: Integers, before: int = 0, file: Any = None) -> None:
    """Refuse a count other than zero where zero is publicly known; so many rows came before."""
    if marks is not None and (wrong := marks & (counts != 0)).any():
        where = "" if file is None else f"`{file}`: "
        raise HoldfastError(
            f"{where}`structural_zero`: data row {before + int(wrong.argmax()) + 1} is marked as "
            "publicly known to be zero, but its count is not. Hint: correct the count or the mark."
        )
