"""Which rows an analyst means: by a condition, a mask, a series, labels, groups."""

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from holdfast.answers.conditions import cell_texts, fulfilled
from holdfast.answers.labels import Labels, meant_by, published
from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.release.release import Column, Release
from holdfast.tables.partition import label_order, name_of

FEWEST_PICKED, FEWEST_ROWS = 2, 20  # rows of which it is told that they may be picked
MOST_ANSWERED = 2000  # that are read one by one; declared ones were read together


def chosen_rows(release: Release, where: Any, label: str | None = None) -> Marks:
    """Which rows of the table `where` chooses; all of them where it is None.

    A condition in words; a mask, one True or False per row, as a list, an array or a series (a
    pandas series is put in order by its index); a function of the table; or labels or row numbers.
    """
    if where is None:
        return np.ones(release.rows, dtype=bool)
    marks = _chosen(release, where, label)
    if not marks.any():
        exactly = "; texts are compared exactly"
        if isinstance(where, str) and not re.search(r"=|\bin\b", re.sub("[<>]=", "", where)):
            exactly = " for how high its numbers are"
        meant = meant_by(release, where) if isinstance(where, str) else None
        hint = f"did you mean {meant!r:.80}?" if meant else f"look at release.table{exactly}."
        raise HoldfastError(f"`where` chooses no row. Hint: {hint}")
    return marks


def where_words(release: Release, where: Any, marks: Marks) -> str:
    """What to add to a question about these rows."""
    if where is None:
        return ""
    if isinstance(where, str):
        return f", where {one_line(where)} ({numbered(int(marks.sum()), 'row')})"
    return f", of {numbered(int(marks.sum()), 'row')} chosen"


def picked_notes(column: Column, marks: Marks) -> tuple[str, ...]:
    """What to say where the rows are those with the highest or lowest counts, as noise made them.

    Rows with equal counts may be in or out; all but one of the rows in must be beyond all others.
    """
    rows = np.flatnonzero(marks & column.measured)
    every = int(np.count_nonzero(column.measured))
    if len(rows) < FEWEST_PICKED or every - len(rows) < FEWEST_PICKED or every < FEWEST_ROWS:
        return ()
    for kind, word in product(("counts", "noisy"), ("highest", "lowest")):
        sign, (ranked, sums) = 1 if word == "highest" else -1, _ranked(column, kind, word)
        some = sign * getattr(column, kind)[rows]
        beyond = int(np.count_nonzero(some > ranked[len(rows)]))
        if some.sum() == sums[len(rows) - 1] and beyond >= FEWEST_PICKED:
            return (
                f"these {len(rows):,} rows are just those with the {word} counts of the release: "
                "if they were chosen for that, this is what noise made of them and may be far from "
                "true. Ask 'top', or choose rows by what is public",
            )
    return ()


def _ranked(column: Column, kind: str, word: str) -> tuple[Integers, Integers]:
    """Measured counts from the highest or lowest on, and their running sums; kept beside the
    column."""
    held: dict[Any, tuple[Integers, Integers]] = column.__dict__.setdefault("_ranked", {})
    if (kind, word) not in held:
        ranked = np.sort(getattr(column, kind)[column.measured].astype(np.int64))
        ranked = ranked[::-1] if word == "highest" else -ranked
        held[kind, word] = ranked, np.cumsum(ranked)
    return held[kind, word]


def _chosen(release: Release, where: Any, label: str | None) -> Marks:
    import narwhals.stable.v2 as nw

    if isinstance(where, str):
        return fulfilled(where, lambda name: published(release, name))
    if callable(where):
        return _chosen(release, where(release.table), label)
    if nw.dependencies.is_pandas_like_series(where):
        where = _in_order(release, where)
    if nw.dependencies.is_into_series(where):
        where = nw.from_native(where, series_only=True).to_list()
    return _marked(release, where, label)


def _marked(release: Release, where: Any, label: str | None) -> Marks:
    items = list(where) if isinstance(where, Sequence | np.ndarray | set | range) else [where]
    if any(item is None for item in items):
        raise HoldfastError("`where` has empty entries. Hint: fill_null(False), or fillna(False).")
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != release.rows:
            raise HoldfastError(
                f"`where` has {len(items):,} entries, and the release {release.rows:,} rows. Hint: "
                "a mask has one True or False per row of release.table."
            )
        return np.array(items, dtype=bool)
    marks = np.zeros(release.rows, dtype=bool)
    marks[Labels(release, label).find_all(items)] = True
    return marks


def _in_order(release: Release, series: Any) -> Any:
    """A pandas series by its index, where that is the table's; refused where it is not."""
    import narwhals.stable.v2 as nw

    table = release.table
    plain = not nw.dependencies.is_pandas_like_dataframe(table)
    index = list(range(release.rows)) if plain else list(table.index.tolist())
    labels = series.index.tolist()
    if labels == index:
        return series
    if len(set(labels)) != len(labels) or set(labels) != set(index):
        raise HoldfastError(
            "the index of `where` is not that of the released table, so its rows cannot be "
            "matched. Hint: make it from release.table, or give .to_numpy() if the order is right."
        )
    return series.loc[index]


class RowGroups:
    """Groups of rows that questions are asked `by`: a name for each, and the group of each row,
    -1 where it is in none."""

    def __init__(
        self, names: list[Any], codes: Integers, column: str, *, declared: bool = False
    ) -> None:
        self.names, self.codes, self.column, self.declared = names, codes, column, declared

    @staticmethod
    def of(release: Release, by: Any) -> "RowGroups":
        """By a public column or several crossed, by declared groups, or by classes per row."""
        columns = [by] if isinstance(by, str) else by
        named = isinstance(columns, list | tuple) and all(isinstance(c, str) for c in columns)
        if isinstance(by, str) or (named and len(columns) != release.rows):
            return _by_columns(release, list(columns))
        values = by(release.table) if callable(by) else by
        if hasattr(values, "to_list"):
            values = values.to_list()
        values = list(values)
        if len(values) != release.rows:
            raise HoldfastError(
                "`by` must name columns, or give one value per row of the table, "
                f"got {numbered(len(values), 'value')} for {numbered(release.rows, 'row')}."
            )
        return _coded(values, "group", _own_order)

    def within(self, inside: Marks) -> list[tuple[Any, Marks]]:
        """Each group that has rows inside, with these rows."""
        some = self.codes[inside]
        sizes = np.bincount(some[some >= 0], minlength=len(self.names))
        if (sizes > 0).sum() > MOST_ANSWERED and not self.declared:
            raise HoldfastError(
                f"`by` makes {int((sizes > 0).sum()):,} groups, and up to {MOST_ANSWERED:,} are "
                "answered about. Hint: classes of the column, or fewer rows by `where`."
            )
        return [
            (name, (self.codes == place) & inside)
            for place, name in enumerate(self.names)
            if sizes[place]
        ]


def _by_columns(release: Release, columns: list[str]) -> RowGroups:
    if columns == list(release.partition.within.columns):
        codes = np.max([column.group for column in release.columns], axis=0).astype(np.int64)
        return RowGroups(list(release.group_names), codes, ", ".join(columns), declared=True)
    cells = [published(release, name, "by") for name in columns]
    if len(columns) == 1:
        return _coded(list(cells[0]), columns[0], _label_order)
    texts = list(zip(*map(cell_texts, cells), strict=True))
    return _coded([name_of(text) for text in texts], ", ".join(columns), _label_order)


def _coded(values: list[Any], column: str, order: Callable[[list[Any]], list[Any]]) -> RowGroups:
    first: dict[Any, int] = {}
    places = np.array([first.setdefault(value, len(first)) for value in values], dtype=np.int64)
    names = order(list(first))
    rank = np.empty(len(names), dtype=np.int64)
    rank[[first[name] for name in names]] = np.arange(len(names))
    return RowGroups(names, rank[places], column)


def _label_order(names: list[Any]) -> list[Any]:
    """Numbers by size, before names by the alphabet, as groups are listed everywhere."""
    texts = dict(zip(names, cell_texts(names), strict=True))
    return sorted(names, key=lambda name: label_order(texts[name]))


def _own_order(names: list[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:  # values of several kinds have none
        return names
