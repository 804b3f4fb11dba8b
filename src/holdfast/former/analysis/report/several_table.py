"""A released table of several counts, with what each row says about the true ones."""

from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.former.tables.table import labels_of

if TYPE_CHECKING:
    from holdfast.former.release.release import Release
    from holdfast.former.release.several import TableRelease

Columns = dict[str, list[Any]]


def several_with_intervals(
    release: "TableRelease", level: float
) -> tuple[Columns, tuple[str, ...]]:
    """Every row of the table: its public columns and, for each count, the released one, its
    interval and what is expected, under its name; nothing where a count is missing. And what a
    reader should know."""
    first = next(iter(release.columns.values()))
    table = {name: labels_of(release.cells, name) for name in first.unchanged_columns}
    notes = list[str]()
    for name, one in release.columns.items():
        columns, told = _of_one(one, level)
        for what, cells in columns.items():
            table[_free(table, f"{name}_{what}" if what else name)] = cells
        notes += [f"{name}: {note}" for note in told]
    return table, tuple(dict.fromkeys(notes))


def _of_one(release: "Release", level: float) -> tuple[Columns, tuple[str, ...]]:
    known = release.counts >= 0
    try:
        found = release.intervals(level)
        columns, notes = found.columns(), found.notes
    except HoldfastError as error:  # a distribution that cannot be told from what was released
        columns, notes = {}, (f"no intervals: {error}",)
    numbers = {"": release.counts[known].tolist()} | columns
    return {what: _spread(cells, known) for what, cells in numbers.items()}, notes


def _spread(cells: list[Any], known: Any) -> list[Any]:
    full = np.full(len(known), None, dtype=object)
    full[known] = cells
    return list(full.tolist())


def _free(table: Columns, name: str) -> str:
    """A name that no column has: a column of the table keeps its own."""
    while name in table:
        name += "_of_count"
    return name
