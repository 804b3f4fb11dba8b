"""Public columns of one's own beside a release: for conditions, groups and regressions."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError, listed_names, one_line
from holdfast.former.release.release import Release
from holdfast.former.tables.columns import find_column
from holdfast.former.tables.count_values import label_text
from holdfast.former.tables.csv import CsvTable
from holdfast.former.tables.files import read_file
from holdfast.former.tables.table import columns_of, labels_of


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MergedRelease(Release):
    """A release with columns of an analyst beside it, of which it promises nothing."""

    def save(self, directory: str | os.PathLike[str], *, table_format: str = "csv") -> Path:
        """Refused: what is published is the release as it was made."""
        raise HoldfastError(
            "a release with merged columns is not what was published, and cannot be saved as such. "
            "Hint: keep the release and your own table, and merge them again."
        )


def merge(release: Release, table: Any, on: str | Sequence[str]) -> MergedRelease:
    """The release with the other columns of a table, row by row where `on` has the same labels."""
    other = read_file(table) if isinstance(table, str | os.PathLike) else table
    names = [on] if isinstance(on, str) else list(on)
    if not names:
        raise HoldfastError("`on` is empty. Hint: name the columns that both tables have.")
    for name in names:
        find_column(list(release.unchanged_columns), name, "on")
        find_column(columns_of(other), name, "on")
    added = [name for name in columns_of(other) if name not in names]
    _check_new(release, added)
    places = _places(release, other, names)
    cells = _columns(release) | {name: _at(labels_of(other, name), places) for name in added}
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    known = {field.name: vars(release)[field.name] for field in fields(Release)}
    known["cells"] = CsvTable(tuple(cells), rows)
    known["unchanged_columns"] = (*release.unchanged_columns, *added)
    return MergedRelease(**known)


def _check_new(release: Release, added: Sequence[str]) -> None:
    if not added:
        raise HoldfastError("the table has only the columns of `on`. Hint: add what to merge.")
    taken = [name for name in added if name in (*release.unchanged_columns, _count(release))]
    if taken:
        raise HoldfastError(
            f"both tables have {listed_names(taken)}. Hint: leave it out or give it another name "
            "in your table; columns that tell rows apart are named with `on`."
        )


def _places(release: Release, other: Any, names: Sequence[str]) -> list[int | None]:
    """For each row of the release the row of the table with its labels, where there is one."""
    found: dict[tuple[str, ...], int] = {}
    for place, key in enumerate(_keys(other, names)):
        if key in found:
            raise HoldfastError(
                f"the table has {one_line(' / '.join(key))!r:.80} in several rows. Hint: name in "
                "`on` as many columns as tell its rows apart."
            )
        found[key] = place
    places = [found.get(key) for key in _keys(release.cells, names)]
    if all(place is None for place in places):
        raise HoldfastError(
            f"no row of the release has the labels of the table in {listed_names(names)}. Hint: "
            "texts are compared exactly; keep codes such as 01001 as text in both."
        )
    return places


def _keys(table: Any, names: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*([_text(x) for x in labels_of(table, name)] for name in names), strict=True))


def _at(cells: Sequence[Any], places: Sequence[int | None]) -> list[str]:
    return ["" if place is None else _text(cells[place]) for place in places]


def _columns(release: Release) -> dict[str, list[str]]:
    columns = {
        name: [_text(x) for x in labels_of(release.cells, name)]
        for name in release.unchanged_columns
    }
    counts = np.where(release.counts >= 0, release.counts.astype(str), "")
    return columns | {_count(release): counts.tolist()}


def _count(release: Release) -> str:
    return release.count_column or "count"


def _text(cell: Any) -> str:
    """A cell as text; nothing for one that is empty."""
    found = label_text(cell)
    return str(cell) if found is None else found
