"""From rows of persons to a table of counts."""

import os
import shlex
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError, numbered
from holdfast.tables.cell_text import (
    find_column,
    is_missing,
    label_text,
    number_or_text,
    suggest,
)
from holdfast.tables.csv import CsvTable
from holdfast.tables.formats import UNKNOWN, format_of, open_source
from holdfast.tables.frames import Frame, FrameRows, as_list
from holdfast.tables.look_columns import names_persons
from holdfast.tables.options import TableOptions
from holdfast.tables.partition import combinations
from holdfast.tables.source import ListRows, Rows, Source
from holdfast.tables.spans import Keys, text_keys
from holdfast.tables.subset import label_key

_Key = tuple[Any, ...]
FEW_VALUES = 3  # of a column that says yes or no of persons, and does not number them


def count_by(
    table: Any, *, by: str | Sequence[str], categories: Any, per: str | None = None
) -> Any:
    """The number of rows in each listed category, as a frame of the same kind.

    One row per category, in the order of `categories`: the columns `by`, and `count`. With
    several columns, categories are tuples. The categories must be listed, not found in the data:
    that nobody is in a category is information too, and a category that appears only because
    one person is in it gives that person away. What is listed is published.

    Parameters:
        table: A data frame with a row per person, or the path of a CSV, Parquet or Excel file.
        by: The columns that make a category.
        categories: A list of them, or the path of a file that has the columns `by`.
        per: A column that says whose row it is: a person counts once, where the first of their
            rows is, so that `contributions=1` holds. Spellings of one label, such as 7, 07 and 7.0,
            are one person. Without it every row is a person.

    Returns:
        A table of the kind that came in, which `holdfast.privatize` takes.

    Raises:
        HoldfastError: If a person is in a category that is not listed, or a column is not there.

    >>> import pandas
    >>> people = pandas.DataFrame({"name": ["Ann", "Bob", "Cy"], "county": ["Kent", "Ely", "Kent"]})
    >>> count_by(people, by="county", categories=["Ely", "Kent", "Rye"])["count"].tolist()
    [1, 2, 0]
    """
    return counted_by(table, TableOptions(), by=by, categories=categories, per=per)


def counted_by(
    table: Any,
    part: TableOptions,
    *,
    by: str | Sequence[str],
    categories: Any,
    per: str | None,
    alone: bool = False,
) -> Any:
    """The same for some part of a file; `alone` says that every row must be another person's, where
    a column is named like one that numbers persons."""
    names = _names(by)
    source = open_source(table, part)
    if not source.columns:
        raise HoldfastError(
            f"`table` must be a data frame with a row per person, got {type(table).__name__}. "
            "Hint: a pandas, polars, pyarrow or DuckDB table, or the path of a file."
        )
    for name in names:
        find_column(source.columns, name, "by")
    if per is not None:
        find_column(source.columns, per, "per")
    alone, others = alone and per is None, (c for c in source.columns if c not in names)
    whose = next(filter(names_persons, others), None) if alone else per
    return _Counting(source, names, categories, whose, alone).table()


class _Counting:
    """The rows of persons, counted a batch at a time."""

    def __init__(
        self, source: Source, names: list[str], categories: Any, per: str | None, alone: bool
    ) -> None:
        self._source, self._names, self._per, self._alone = source, names, per, alone
        self._categories = categories
        self._unlisted, self._row = set[_Key](), 0
        self._people: Keys = np.empty(0, dtype=np.uint64)

    def table(self) -> Any:
        """The counts, in the kind of table that the rows are in."""
        wanted = [*self._names, *([] if self._per is None else [self._per])]
        first: Rows | None = None
        for piece in self._source.read(wanted):
            if first is None:
                first = piece.rows
                index = self._listed(first)
                counts = np.zeros(len(index), dtype=np.int64)
            counts += self._counted(piece.rows, piece.row, index)
        if first is None:
            raise HoldfastError("`table` has no rows. Hint: give one row per person.")
        if self._unlisted:
            lacking = numbered(len(self._unlisted), "category", "categories")
            raise HoldfastError(
                f"`categories` does not list the category of data row {self._row}: it lacks "
                f"{lacking} of the table. Hint: list it, with the type it has in the table, or "
                "filter such rows out first."
            )
        if self._alone and FEW_VALUES < len(self._people) < counts.sum():
            raise HoldfastError(
                f"{self._per!r:.60} repeats, and every row would be taken for another person. "
                "Nothing was spent. Hint: if it says whose row it is, name it with `per`, --per "
                f"{shlex.quote(str(self._per))}, and each counts once; else say how much one "
                "person adds to a row, and in how many they are: --contributions 5, --rows 3."
            )
        columns = [list(cells) for cells in zip(*index, strict=True)]
        if isinstance(first, FrameRows):
            return self._frame(first, columns, counts)
        columns.append(list(map(str, counts)))
        return CsvTable(ListRows((*self._names, "count"), columns), self._source.style)

    def _counted(self, rows: Rows, before: int, index: dict[_Key, int]) -> Integers:
        """How many people of some rows are in each category."""
        columns = [self._codes(rows, name, "by", before) for name in self._names]
        lines, inside = combinations(columns, np.arange(len(rows)))
        cells = [cells for _, cells in columns]
        keys = [
            tuple(own[k] for own, k in zip(cells, line, strict=True)) for line in lines.tolist()
        ]
        places = np.array([index.get(key, -1) for key in keys], dtype=np.int64)[inside]
        unknown = places < 0
        if unknown.any():
            self._unlisted |= {key for key in keys if key not in index}
            self._row = self._row or before + int(unknown.argmax()) + 1
        if self._per is not None:
            first = self._first(rows, self._per, before)
            places = places if self._alone else places[first]
        return np.bincount(places[places >= 0], minlength=len(index)).astype(np.int64)

    def _codes(self, rows: Rows, name: str, parameter: str, before: int) -> Any:
        codes, cells = rows.codes(name)
        missing = np.array(
            [is_missing(cell) or (rows.text and not cell.strip()) for cell in cells], dtype=np.bool_
        )
        if len(cells) and missing.any():
            row = before + int(missing[codes].argmax())
            raise HoldfastError(
                f"`{parameter}` column {name!r} is missing in data row {row + 1}. Hint: fill "
                "it in, give the missing a label of their own, or filter them out first."
            )
        return codes, cells

    def _first(self, rows: Rows, per: str, before: int) -> Marks:
        """The rows in which a person is met for the first time."""
        codes, cells = rows.codes(per) if self._alone else self._codes(rows, per, "per", before)
        keys = text_keys([label_key(label_text(cell) or str(cell)) for cell in cells])
        people, first = np.unique(keys[codes], return_index=True)
        fresh = ~np.isin(people, self._people)
        self._people = np.concatenate([self._people, people[fresh]])
        firsts = np.zeros(len(rows), dtype=np.bool_)
        firsts[first[fresh]] = True
        return firsts

    def _listed(self, rows: Rows) -> dict[_Key, int]:
        """The place of each category, as the cells of the rows are: text, or numbers where those
        are."""
        listed, names = self._categories, self._names
        if not isinstance(listed, str | os.PathLike):
            return _places(listed, len(names), text=rows.text)
        if format_of(listed) is UNKNOWN:
            raise HoldfastError(
                "`categories` must be a list or the path of a CSV, Parquet or Excel file."
            )
        table = open_source(listed, TableOptions()).held()
        for name in names:
            if name not in table.columns:
                raise HoldfastError(
                    f"`categories`: `{listed}` has no column {name!r}. "
                    f"Hint: {suggest(table.columns, name)}"
                )
        columns = [table.body.cells(name) for name in names]
        if isinstance(table, CsvTable) and isinstance(rows, FrameRows):
            whole = [rows.data.schema[name].is_integer() for name in names]
            pairs = zip(columns, whole, strict=True)
            columns = [number_or_text(cells) if number else cells for cells, number in pairs]
        return _places(list(zip(*columns, strict=True)), len(names), text=rows.text)

    def _frame(self, rows: FrameRows, columns: list[list[Any]], counts: Integers) -> Any:
        import narwhals.stable.v2 as nw

        backend = rows.data.implementation
        pairs = zip(self._names, columns, strict=True)
        made = {name: _series(name, cells, rows) for name, cells in pairs}
        made["count"] = nw.new_series("count", counts, nw.Int64, backend=backend)
        frame = nw.from_dict(made, backend=backend)
        if isinstance(self._source, Frame):
            return self._source.back(frame)
        return frame.to_native()


def _names(by: Any) -> list[str]:
    names = [by] if isinstance(by, str) else as_list(by, "by")
    if not names or len(set(map(str, names))) < len(names):
        raise HoldfastError("`by` must name one or more columns, each once.")
    if "count" in names:
        raise HoldfastError(
            "`by` must not name a column called 'count': the counts take that name. "
            "Hint: rename the column first."
        )
    return names


def _places(categories: Any, width: int, *, text: bool) -> dict[_Key, int]:
    """The categories, each with its place in the list; as text where cells are that."""
    if isinstance(categories, set | frozenset):
        raise HoldfastError("`categories` must have an order, got a set. Hint: use sorted().")
    places: dict[_Key, int] = {}
    for i, category in enumerate(as_list(categories, "categories")):
        key = tuple(category) if isinstance(category, tuple | list) else (category,)
        if len(key) != width:
            raise HoldfastError(
                f"`categories` must have {width} values each; number {i + 1} does not."
            )
        if not all(isinstance(value, Hashable) for value in key):
            raise HoldfastError(f"`categories` must be labels such as text; number {i + 1} is not.")
        if any(map(is_missing, key)):
            raise HoldfastError(
                f"`categories` must have no missing values; number {i + 1} is missing."
            )
        if places.setdefault(tuple(map(str, key)) if text else key, i) != i:
            raise HoldfastError(
                f"`categories` must not repeat, number {i + 1} came before. Hint: list each once."
            )
    if not places:
        raise HoldfastError("`categories` must not be empty. Hint: list every category there is.")
    return places


def _series(name: str, values: list[Any], rows: FrameRows) -> Any:
    import narwhals.stable.v2 as nw

    kind = rows.data.schema[name]
    try:
        return nw.new_series(name, values, kind, backend=rows.data.implementation)
    except Exception:
        raise HoldfastError(
            f"`categories` do not fit column {name!r}, which holds {kind}. Hint: convert them."
        ) from None
