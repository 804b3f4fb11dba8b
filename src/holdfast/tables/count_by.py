"""From rows of persons to a table of counts."""

import os
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.counts import is_missing
from holdfast.tables.csv import CsvTable
from holdfast.tables.files import is_table_file, read_file
from holdfast.tables.frames import Frame, as_list, open_frame

_Key = tuple[Any, ...]


def count_by(
    frame: Any, *, by: str | Sequence[str], categories: Any, per: str | None = None
) -> Any:
    """The number of rows in each listed category, as a frame of the same kind.

    One row per category, in the order of `categories`: the columns `by`, and `count`. With
    several columns, categories are tuples. The categories must be listed, not found in the data:
    that nobody is in a category is information too, and a category that appears only because
    one person is in it gives that person away. What is listed is published.

    Parameters:
        frame: A data frame with a row per person, or the path of a CSV, Parquet or Excel file.
        by: The columns that make a category.
        categories: A list of them, or the path of a file that has the columns `by`.
        per: A column that says whose row it is: a person counts once, where the first of their
            rows is, so that `contributions=1` holds. Without it every row is a person.

    >>> people = CsvTable(("name", "county"), [["Ann", "Kent"], ["Bob", "Ely"], ["Cy", "Kent"]])
    >>> count_by(people, by="county", categories=["Ely", "Kent", "Rye"]).rows
    [['Ely', '1'], ['Kent', '2'], ['Rye', '0']]
    """
    names = _names(by)
    frame = read_file(frame) if isinstance(frame, str | os.PathLike) else frame
    if isinstance(categories, str | os.PathLike):
        categories = _listed(categories, names, frame)
    if per is not None:
        frame = _once(frame, per)
    if isinstance(frame, CsvTable):
        return _count_text(frame, names, categories)
    opened = open_frame(frame)
    if opened is None:
        raise HoldfastError(
            f"`frame` must be a data frame with a row per person, got {type(frame).__name__}. "
            "Hint: a pandas, polars, pyarrow or DuckDB table, or the path of a file."
        )
    return _count_frame(opened, names, categories)


def _listed(path: Any, names: list[str], frame: Any) -> list[_Key]:
    """The categories in a file, numbers where the people's are."""
    if not is_table_file(path):
        raise HoldfastError(
            "`categories` must be a list or the path of a CSV, Parquet or Excel file."
        )
    table = read_file(path)
    if isinstance(table, CsvTable):
        columns: list[Any] = [table.column(name, "categories") for name in names]
        opened = None if isinstance(frame, CsvTable) else open_frame(frame)
        if opened is not None:
            kinds = [opened.series(name, "by").dtype for name in names]
            columns = [_as_kind(c, kind) for c, kind in zip(columns, kinds, strict=True)]
    else:
        listed = open_frame(table)
        columns = [] if listed is None else [listed.labels(name, "categories") for name in names]
    return list(zip(*columns, strict=True))


def _as_kind(cells: list[str], kind: Any) -> list[Any]:
    if not kind.is_integer() or not all(cell.strip().lstrip("-").isdigit() for cell in cells):
        return cells
    return [int(cell) for cell in cells]


def _once(frame: Any, per: str) -> Any:
    """The first row of each person."""
    if isinstance(frame, CsvTable):
        people: list[Any] = frame.column(per, "per")
        _check_missing(per, [not person.strip() for person in people], "per")
        return replace(frame, rows=[frame.rows[at] for at in _first(people)])
    opened = open_frame(frame)
    if opened is None:
        return frame
    series = opened.series(per, "per")
    _check_missing(per, series.is_null().to_list(), "per")
    taken = opened.take(np.array(_first(series.to_list()), dtype=np.int64))
    return taken.back(taken.data, per)


def _first(people: list[Any]) -> list[int]:
    seen: dict[Any, int] = {}
    for row, person in enumerate(people):
        seen.setdefault(person, row)
    return list(seen.values())


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


def _count_text(table: CsvTable, names: list[str], categories: Any) -> CsvTable:
    columns = [table.column(name, "by") for name in names]
    for name, cells in zip(names, columns, strict=True):
        _check_missing(name, [not cell.strip() for cell in cells])
    keys = [tuple(map(str, key)) for key in _keys(categories, len(names))]
    counts = _tally(_index(keys), columns).tolist()
    rows = [[*key, str(count)] for key, count in zip(keys, counts, strict=True)]
    return CsvTable(
        (*names, "count"), rows, table.delimiter, table.newline, table.encoding, table.bom
    )


def _count_frame(frame: Frame, names: list[str], categories: Any) -> Any:
    for name in names:
        series = frame.series(name, "by")
        _check_missing(name, series.is_null().to_list())
    keys = _keys(categories, len(names))
    counts = _tally(_index(keys), [frame.labels(name, "by") for name in names])
    return frame.back(_table(frame, names, keys, counts), "count")


def _keys(categories: Any, width: int) -> list[_Key]:
    if isinstance(categories, set | frozenset):
        raise HoldfastError("`categories` must have an order, got a set. Hint: use sorted().")
    keys = [
        tuple(c) if isinstance(c, tuple | list) else (c,) for c in as_list(categories, "categories")
    ]
    if not keys:
        raise HoldfastError("`categories` must not be empty. Hint: list every category there is.")
    for i, key in enumerate(keys):
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
    return keys


def _index(keys: list[_Key]) -> dict[_Key, int]:
    index: dict[_Key, int] = {}
    for i, key in enumerate(keys):
        if index.setdefault(key, i) != i:
            raise HoldfastError(
                f"`categories` must not repeat, number {i + 1} came before. Hint: list each once."
            )
    return index


def _check_missing(name: str, missing: list[bool], parameter: str = "by") -> None:
    if True in missing:
        raise HoldfastError(
            f"`{parameter}` column {name!r} is missing in data row {missing.index(True) + 1}. "
            "Hint: fill it in, give the missing a label of their own, or filter them out first."
        )


def _tally(index: dict[_Key, int], columns: list[list[Any]]) -> Integers:
    found = list(map(index.get, zip(*columns, strict=True)))
    if None in found:
        raise HoldfastError(
            f"`categories` does not list the category of data row {found.index(None) + 1}. "
            "Hint: list it, with the type it has in the table, or filter such rows out first."
        )
    return np.bincount(np.array(found, dtype=np.int64), minlength=len(index)).astype(np.int64)


def _table(frame: Frame, names: list[str], keys: list[_Key], counts: Integers) -> Any:
    import narwhals.stable.v2 as nw

    backend = frame.data.implementation
    made = {name: _series(name, [key[at] for key in keys], frame) for at, name in enumerate(names)}
    made["count"] = nw.new_series("count", counts, nw.Int64, backend=backend)
    return nw.from_dict(made, backend=backend)


def _series(name: str, values: list[Any], frame: Frame) -> Any:
    import narwhals.stable.v2 as nw

    kind = frame.data.schema[name]
    try:
        return nw.new_series(name, values, kind, backend=frame.data.implementation)
    except Exception:
        raise HoldfastError(
            f"`categories` do not fit column {name!r}, which holds {kind}. Hint: convert them."
        ) from None
