"""Reads and checks a table of counts; swaps its count column and keeps the rest."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.columns import called, count_column
from holdfast.tables.count_values import array_counts, text_counts
from holdfast.tables.csv import CsvTable
from holdfast.tables.files import read_file, write_file
from holdfast.tables.frames import (
    Frame,
    Line,
    as_list,
    check_flat,
    index_as_columns,
    no_columns,
    not_flat,
    open_frame,
    open_series,
    series_labels,
)

__all__ = ["CountTable", "CsvTable", "labels_of", "read_file", "read_table", "write_file"]

_FLAGS = {True: True, False: False}
_TEXT_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, kw_only=True, eq=False)
class CountTable:
    """The counts of a table, checked, and the way back to a table of the same kind.

    >>> table = read_table([3, 0, 1])
    >>> table.counts, table.replace(np.array([2, 1, 1]))
    (array([3, 0, 1]), array([2, 1, 1]))
    """

    counts: Integers = field(repr=False)  #: true counts in row order, not top-coded
    structural_zero: Marks = field(repr=False)  #: rows publicly known to be zero
    column: str | None = None  #: name of the count column; None for a plain array or series
    others: tuple[str, ...] = ()  #: names of all other columns, which are kept as they are
    notes: tuple[str, ...] = ()  #: what the steward should know; holds no counts
    _back: Callable[[Integers], Any] = field(repr=False)
    _cells: Callable[[], Iterator[list[Any]]] = field(repr=False)

    def digest(self) -> bytes:
        """All other cells in row order, condensed: which row is whose."""
        found = hashlib.sha256(repr(self.others).encode())
        for cells in self._cells():
            for at in range(0, len(cells), 2**16):
                found.update(repr(cells[at : at + 2**16]).encode())
        return found.digest()

    def replace(self, counts: Integers) -> Any:
        """The same kind of table as came in, its count column replaced."""
        counts = np.array(counts, dtype=np.int64)
        if counts.shape != self.counts.shape:
            raise HoldfastError("`counts` must have one entry per row of the table.")
        return self._back(counts)


def read_table(
    source: Any,
    *,
    count: str | None = None,
    category: str | None = None,
    structural_zero: str | Sequence[Any] | None = None,
) -> CountTable:
    r"""A table of counts, from whatever holds it.

    `source` is one-dimensional (list, array, series), a data frame (pandas, polars, pyarrow,
    DuckDB), a `CsvTable`, or the path of a CSV or Parquet file. `structural_zero` is a column of
    flags, a mask with one boolean per row, or a list of labels found in the `category` column.
    A pandas index that is named or holds labels is a column like any other.

    >>> frame = CsvTable(("county", "deaths"), [["Kent", "3"], ["Ely", "0"]])
    >>> read_table(frame, count="deaths", category="county", structural_zero=["Ely"])
    CountTable(column='deaths', others=('county',), notes=())
    """
    if isinstance(source, str | os.PathLike):
        source = read_file(source)
    view = _open(source)
    column = _count_column(view, count, category=category, structural_zero=structural_zero)
    labels = None if category is None else view.labels(category, "category")
    counts = view.counts(column, called(count))
    if not len(counts):
        raise HoldfastError("`table` has no rows. Hint: give one row per category, zeros included.")
    known = _structural_zero(view, structural_zero, labels, len(counts))
    _check_structural_zero(known, counts)
    return CountTable(
        counts=counts,
        structural_zero=known,
        column=column or None,
        others=tuple(str(name) for name in view.columns if name != column),
        notes=_notes(category, labels),
        _back=lambda new: view.replace(column, new),
        _cells=lambda: _other_cells(source, view, column),
    )


def _other_cells(source: Any, view: "_View", column: str) -> Iterator[list[Any]]:
    if isinstance(view, Line):
        yield series_labels(source)
        return
    for name in view.columns:
        if name != column:
            yield list(view.labels(name, "column"))


def labels_of(table: Any, column: str) -> list[Any]:
    """The values of one column of a table, in row order."""
    return _open(table).labels(column, "column")


@dataclass(frozen=True)
class _Text:
    """A `CsvTable`, with the same methods as a frame."""

    table: CsvTable

    @property
    def columns(self) -> list[str]:
        return self.table.columns

    def labels(self, name: str, parameter: str) -> list[Any]:
        return list(self.table.column(name, parameter))

    def counts(self, name: str, where: str) -> Integers:
        return text_counts(self.table.column(name, "count"), where)

    def replace(self, name: str, counts: Integers) -> CsvTable:
        return self.table.with_column(name, counts.tolist())


_View = Frame | _Text | Line


def _open(source: Any) -> _View:
    if isinstance(source, CsvTable):
        return _Text(source)
    return open_frame(index_as_columns(source)) or open_series(source) or _open_array(source)


def _open_array(source: Any) -> Line:
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        check_flat(source)
        values = np.fromiter(source, dtype=object, count=len(source))
    elif isinstance(source, np.ma.MaskedArray):
        values = np.array(source.tolist(), dtype=object)
    else:
        values = np.asarray(source)
    if values.ndim == 0:
        raise HoldfastError(
            f"`table` must be an array of counts or a data frame, got {type(source).__name__}. "
            "Hint: a list, an array, a pandas, polars, pyarrow or DuckDB table, a path."
        )
    if values.ndim > 1:
        raise not_flat()
    return Line(lambda where: array_counts(values, where), lambda new: new)


def _count_column(view: _View, count: str | None, **others: Any) -> str:
    if not isinstance(view, Line):
        return count_column(view.columns, count, **others)
    if count is not None:
        raise no_columns("count")
    return ""


def _flags(view: _View, name: str) -> Marks:
    cells = view.labels(name, "structural_zero")
    if isinstance(view, _Text):
        cells = [_TEXT_FLAGS.get(cell.strip().lower()) for cell in cells]
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


def _structural_zero(view: _View, given: Any, labels: list[Any] | None, length: int) -> Marks:
    if given is None:
        return np.zeros(length, dtype=np.bool_)
    if isinstance(given, str):
        return _flags(view, given)
    items = as_list(given, "structural_zero")
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        return _mask(items, length)
    if labels is None:
        raise HoldfastError(
            "`structural_zero` lists labels, but no `category` column says whose. "
            "Hint: give `category=`, or a mask with one True or False per row."
        )
    return _labelled([str(i) for i in items] if isinstance(view, _Text) else items, labels)


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


def _check_structural_zero(known: Marks, counts: Integers) -> None:
    wrong = known & (counts != 0)
    if wrong.any():
        raise HoldfastError(
            f"`structural_zero`: data row {int(wrong.argmax()) + 1} is marked as publicly known "
            "to be zero, but its count is not. Hint: correct the count or the mark."
        )
    if known.all():
        raise HoldfastError(
            "`structural_zero` marks every row, so there is nothing to release. "
            "Hint: mark only rows that are publicly known to be zero."
        )


def _notes(category: str | None, labels: list[Any] | None) -> tuple[str, ...]:
    if category is None or labels is None:
        return ()
    try:
        repeated = len(set(labels)) < len(labels)
    except TypeError:
        raise not_labels(category) from None
    return (repeated_note(category),) if repeated else ()


def repeated_note(category: str) -> str:
    """What the steward is told of a category column in which a label comes twice."""
    return f"{category} has repeated values; every row is treated as a category of its own"


def not_labels(category: str) -> HoldfastError:
    """The error for a category column of lists and the like."""
    return HoldfastError(
        f"`category` column {category!r} must hold labels such as text. "
        "Hint: name another column, or leave `category` out."
    )
