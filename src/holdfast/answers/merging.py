"""Public columns of one's own beside a release: for conditions, groups and regressions."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast.answers.conditions import cell_texts
from holdfast.answers.labels import published
from holdfast.answers.result import joined
from holdfast.errors import HoldfastError, listed_names, numbered, one_line
from holdfast.release.frames import as_table, typed
from holdfast.release.release import Release
from holdfast.tables.formats import open_source
from holdfast.tables.options import TableOptions


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MergedRelease(Release):
    """A release with columns of an analyst beside it, of which it promises nothing.

    >>> import holdfast
    >>> import pandas
    >>> table = pandas.DataFrame({"place": list("abcdef"), "n": [0, 5, 1, 0, 30, 2]})
    >>> release = holdfast.privatize(table, count="n", category="place", epsilon=8, seed=1)
    >>> coast = pandas.DataFrame({"place": list("abcdef"), "coast": ["yes", "no"] * 3})
    >>> round(release.merge(coast, on="place").ask("total", where="coast == 'yes'").estimate)
    31
    """

    unmatched: tuple[str, ...] = ()
    """What answers say of rows to which nothing was merged."""
    added: dict[str, list[Any]] = field(default_factory=dict)
    """The merged columns, None where nothing was."""

    @cached_property
    def table(self) -> Any:
        """The released table with the merged columns beside it."""
        import narwhals.stable.v2 as nw

        frame = nw.from_native(super().table, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            counts = {column.name: self.shown(column.counts) for column in self.columns}
            return as_table(self.cells | self.added, counts)
        more = (
            nw.new_series(name, values, backend=frame.implementation)
            for name, values in self.added.items()
        )
        return frame.with_columns(*more).to_native()

    def save(self, folder: str | os.PathLike[str], *, table_format: str | None = None) -> Path:
        """Refused: what is published is the release as it was made."""
        raise HoldfastError(
            "a release with merged columns is not what was published, and cannot be saved as such. "
            "Hint: keep the release and your own table, and merge them again."
        )


def merge(release: Release, table: Any, on: str | Sequence[str]) -> MergedRelease:
    """The release with the other columns of a table, row by row where `on` has the same labels."""
    source = open_source(table, TableOptions())
    names = [on] if isinstance(on, str) else list(on)
    if not names:
        raise HoldfastError("`on` is empty. Hint: name the columns that both tables have.")
    theirs = list(source.columns)
    for name in names:
        published(release, name, "on")
        if name not in theirs:
            raise HoldfastError(
                f"`on` names {name!r:.60}, which the table does not have. "
                f"Hint: {listed_names(theirs)}."
            )
    added = [name for name in theirs if name not in names]
    _check_new(release, added)
    other = joined(
        {name: list(piece.rows.cells(name)) for name in theirs} for piece in source.read(theirs)
    )
    places = _places(release, {name: cell_texts(other[name]) for name in names}, names)
    cells, values = dict(release.cells), dict[str, list[Any]]()
    for name in added:
        texts = cell_texts(other[name])
        cells[name] = ["" if place is None else texts[place] for place in places]
        column = typed(other[name])
        values[name] = [None if place is None else column[place] for place in places]
    inherited = {field.name: getattr(release, field.name) for field in fields(Release)}
    inherited["published"] = (*release.published, *added)
    inherited["_cells"] = lambda: iter([cells])
    unmatched = _empty(places, added)
    inherited["notes"] = (*release.notes, *unmatched)
    return MergedRelease(**inherited, unmatched=unmatched, added=values)


def _empty(places: list[int | None], added: list[str]) -> tuple[str, ...]:
    """What to say of rows to which nothing was merged."""
    empty = sum(place is None for place in places)
    if not empty:
        return ()
    verb = "is" if empty == 1 else "are"
    return (
        f"merged: {numbered(empty, 'row')} of {len(places):,} {verb} not in the table, and empty "
        f"in {listed_names(added)}",
    )


def _check_new(release: Release, added: Sequence[str]) -> None:
    if not added:
        raise HoldfastError("the table has only the columns of `on`. Hint: add what to merge.")
    counts = [column.name for column in release.columns]
    taken = [name for name in added if name in (*release.published, *counts)]
    if taken:
        raise HoldfastError(
            f"both tables have {listed_names(taken)}. Hint: leave it out or give it another name "
            "in your table; columns that tell rows apart are named with `on`."
        )


def _places(
    release: Release, other: dict[str, list[str]], names: Sequence[str]
) -> list[int | None]:
    """For each row of the release the row of the table with its labels, where there is one."""
    place_of: dict[tuple[str, ...], int] = {}
    for place, key in enumerate(zip(*(other[name] for name in names), strict=True)):
        if key in place_of:
            raise HoldfastError(
                f"the table has {one_line(' / '.join(key))!r:.80} in several rows. Hint: name in "
                "`on` as many columns as tell its rows apart."
            )
        place_of[key] = place
    mine = zip(*(cell_texts(published(release, name, "on")) for name in names), strict=True)
    places = [place_of.get(key) for key in mine]
    if all(place is None for place in places):
        raise HoldfastError(
            f"no row of the release has the labels of the table in {listed_names(names)}. Hint: "
            "texts are compared exactly; keep codes such as 01001 as text in both."
        )
    return places
