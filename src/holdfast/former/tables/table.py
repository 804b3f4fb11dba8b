"""Reads and checks a table of counts; swaps its count column and keeps the rest."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.tables.columns import Roles, Wanted, called, refuse_leaks
from holdfast.former.tables.count_values import MISSING, array_counts, text_counts
from holdfast.former.tables.csv import CsvTable
from holdfast.former.tables.files import read_file, write_file
from holdfast.former.tables.frames import (
    Frame,
    Line,
    check_flat,
    index_as_columns,
    no_columns,
    not_flat,
    open_frame,
    open_series,
    series_labels,
)
from holdfast.former.tables.group_rows import partition
from holdfast.former.tables.groups import Partition, Within
from holdfast.former.tables.leaks.search import Leak
from holdfast.former.tables.leaks.watch import Watch, is_total, named_total
from holdfast.former.tables.order import rows_by
from holdfast.former.tables.structural_zeros import check_marks, structural_zeros

AT_A_TIME = 1 << 17  # rows that are looked through

__all__ = ["CountTable", "CsvTable", "labels_of", "read_file", "read_table", "write_file"]


MOST_BESIDE = 40  # withheld columns that kept ones are compared with


@dataclass(frozen=True, kw_only=True, eq=False)
class CountTable:
    """The counts of a table, checked, and the way back to a table of the same kind.

    >>> table = read_table([3, 0, 1])
    >>> table.counts, table.replace(np.array([2, 1, 1]))
    (array([3, 0, 1]), array([2, 1, 1]))
    """

    counts: Integers = field(repr=False)  #: true counts in row order, not top-coded
    structural_zero: Marks = field(repr=False)  #: rows publicly known to be zero
    missing: Marks = field(repr=False)  #: rows whose count is not known; -1 stands for it
    column: str | None = None  #: name of the count column; None for a plain array or series
    others: tuple[str, ...] = ()  #: columns that are published beside it, as they are
    withheld: tuple[str, ...] = ()  #: columns that are not published
    notes: tuple[str, ...] = ()  #: what a reader should know; holds no counts
    _wanted: Wanted = field(repr=False)
    _roles: Roles | None = field(repr=False)
    _index: dict[str, list[Any]] = field(repr=False)  #: of a series, which goes with it
    _view: "_View" = field(repr=False)
    _cells: Callable[[], Iterator[list[Any]]] = field(repr=False)

    @property
    def drawn(self) -> Marks:
        """Rows that go through the mechanism: N of them."""
        return ~(self.structural_zero | self.missing)

    def digests(self) -> tuple[bytes, list[bytes]]:
        """All other cells in row order, condensed: which row is whose; and each of the columns."""
        found, columns = hashlib.sha256(repr(self._names).encode()), []
        for place, cells in enumerate(self._cells()):
            column = hashlib.sha256(repr(self._names[place : place + 1]).encode())
            for at in range(0, len(cells), 2**16):
                text = repr(cells[at : at + 2**16]).encode()
                found.update(text)
                column.update(text)
            columns.append(column.digest())
        return found.digest(), columns

    def label_digest(self, column: int) -> bytes:
        """The cells of one of the columns but the counts, whatever their order, condensed."""
        cells = sorted(map(repr, list(self._cells())[column]))
        return hashlib.sha256("\n".join(cells).encode()).digest()

    def labels(self) -> list[Any] | None:
        """The labels of the category in row order, where every row has one of its own, for sure."""
        wanted = self._wanted
        if wanted.category is None or self.row_names is None:
            return None
        return self._view.labels(wanted.category, "category")

    @property
    def row_names(self) -> int | None:
        """Which of the columns but the counts has a label of its own for every row, for sure."""
        wanted = self._wanted
        if wanted.category is None or wanted.repeated_categories or self._roles is None:
            return None
        return self._names.index(wanted.category)

    @property
    def for_ledger(self) -> dict[str, Any]:
        """What a ledger is told of it."""
        return self._wanted.for_ledger

    @property
    def of_what(self) -> str | None:
        """What the counts are called: their column, or the name of a series."""
        return self._view.name if isinstance(self._view, Line) else self.column

    @property
    def category(self) -> str | None:
        """The column that says whose each row is, where one was named."""
        return self._wanted.category

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self._view.columns if name != self.column)

    def groups(self, within: Within) -> tuple[Partition, Integers]:
        """The groups of the rows that go through the mechanism, and the group of each row."""
        columns = [self._view.labels(name, "within") for name in within.columns]
        return partition(within, columns, self.drawn)

    def checked(self) -> "CountTable":
        """The table once nothing that is published gives the counts away; its subset, where one
        was named, which must not follow from the counts of the whole table either."""
        self.check_publication()
        subset = self._wanted.subset
        if subset is None:
            return self
        part = self._only(subset.marks(self._view.labels(subset.column, "subset")))
        check_known(part.drawn)
        part.check_publication()
        return replace(part, notes=(subset.note, *part.notes))

    def _only(self, marks: Marks) -> "CountTable":
        if isinstance(self._view, Line):
            raise no_columns("subset")
        view, column = self._view.take(np.flatnonzero(marks)), self.column or ""
        return replace(
            self,
            counts=self.counts[marks],
            missing=self.missing[marks],
            structural_zero=self.structural_zero[marks],
            _view=view,
            _cells=lambda: _other_cells(None, view, column),
        )

    def with_counts(self, counts: Integers, missing: Marks) -> "CountTable":
        """The same rows with what several columns of counts add up to."""
        wanted = replace(self._wanted, apart=False)
        return replace(self, counts=counts, missing=missing, _wanted=wanted)

    def replace(self, counts: Integers, only: Collection[str] | None = None) -> Any:
        """The same kind of table as came in: its published columns, or only these of them, with
        these counts."""
        counts = np.array(counts, dtype=np.int64)
        if counts.shape != self.counts.shape:
            raise HoldfastError("`counts` must have one entry per row of the table.")
        if self._roles is None or isinstance(self._view, Line):
            return self._view.replace("", counts)
        names = [
            name
            for name in self._roles.published
            if only is None or name in {*only, self._roles.count}
        ]
        return self._view.select(names).replace(self._roles.count, counts)

    def replace_all(self, counts: Mapping[str, Integers], only: Collection[str]) -> Any:
        """The same kind of table as came in: `only` these columns, and several columns of counts,
        with these."""
        if isinstance(self._view, Line):
            raise no_columns("count")
        view = self._view.select({*only, *counts})
        for name, new in counts.items():
            table = view.replace(name, new)
            view = _with_columns(table)
        return table

    def cells(self, name: str) -> list[Any]:
        """The cells of one column."""
        return self._view.labels(name, "within")

    def check_publication(self) -> None:
        """Raise if what is published beside the counts gives them away.

        What it says is computed from the true counts: it is for the steward alone.
        """
        roles, open_rows = self._roles, np.flatnonzero(self.drawn)
        if roles is None:
            if self._index:
                refuse_leaks(self._leaks(_told(self._index), open_rows), self._wanted)
            return
        roles.refuse_header()
        watched = (*roles.watched, *roles.wanted.other_counts)
        beside = _once(roles.withheld) if set(watched) - {roles.wanted.category} else []
        columns = {name: self._view.labels(name, "keep") for name in (*watched, *beside)}
        leaks = self._leaks(columns, open_rows, beside)
        if isinstance(self._view, _Text) and self._view.table.unmarked:
            read = {name: self._view.numbers(name) for name in columns}  # readers know marks too
            leaks += self._leaks(read, open_rows, beside)
        labels = roles.wanted.category and self._view.labels(roles.wanted.category, "category")
        named = [named_total()] if labels and any(map(is_total, labels)) else []
        refuse_leaks([*leaks, *named], self._wanted)

    def _leaks(
        self, columns: dict[str, list[Any]], open_rows: Integers, withheld: Collection[str] = ()
    ) -> list[Leak]:
        helping = () if self._wanted.apart else self._wanted.other_counts
        watch = Watch(tuple(columns), helping=helping, withheld=withheld)
        for at in range(0, len(open_rows), AT_A_TIME):
            part = open_rows[at : at + AT_A_TIME]
            watch.see(self.counts[part], partial(_cells_of, list(columns.values()), part))
        return watch.leaks()


def read_table(source: Any, **options: Any) -> CountTable:
    r"""A table of counts, from whatever holds it; the options are those of `Wanted`.

    `source` is one-dimensional (list, array, series), a data frame (pandas, polars, pyarrow,
    DuckDB), a `CsvTable`, or the path of a CSV, Parquet or Excel file. `structural_zero` is a
    column of flags, a mask with one boolean per row, or a list of labels found in the `category`
    column. A pandas index that is named or holds labels is a column like any other.

    >>> frame = CsvTable(("county", "deaths"), [["Kent", "3"], ["Ely", "0"]])
    >>> read_table(frame, count="deaths", category="county", structural_zero=["Ely"])
    CountTable(column='deaths', others=('county',), withheld=(), notes=())
    """
    if isinstance(source, str | os.PathLike):
        source = read_file(source)
    return _read(source, _open(source), Wanted(**options))


def read_tables(source: Any, counts: Sequence[str], **options: Any) -> list[CountTable]:
    """The same table once for each of several columns of counts; it is read once."""
    if isinstance(source, str | os.PathLike):
        source = read_file(source)
    view = _with_columns(source)
    others = {name: tuple(other for other in counts if other != name) for name in counts}
    return [
        _read(source, view, Wanted(count=name, other_counts=others[name], **options))
        for name in counts
    ]


def _read(source: Any, view: "_View", wanted: Wanted) -> CountTable:
    roles, changed = _roles(view, wanted), list[str]()
    if isinstance(view, _Text) and roles is not None:
        classes = () if wanted.within is None else wanted.within.numbers
        changed = [name for name in classes if view.numbers(name) != view.labels(name, "within")]
        view = view.with_numbers({roles.count, *wanted.other_counts, *changed})
    if wanted.order_by is not None and not isinstance(view, Line):
        names = roles.ordering if roles is not None else ()
        view = view.take(rows_by([_numbers(view, name, "order_by") for name in names]))
    column = "" if roles is None else roles.count
    labels = None if wanted.category is None else view.labels(wanted.category, "category")
    counts = view.counts(column, called(wanted.count), wanted.missing)
    if not len(counts):
        raise no_rows()
    known = structural_zeros(
        wanted.structural_zero,
        lambda name: _numbers(view, name, "structural_zero"),
        labels,
        len(counts),
        isinstance(view, _Text),
    )
    check_marks(known, counts)
    check_known(~(known | (counts == MISSING)), all_zero=bool(known.all()))
    return CountTable(
        counts=counts,
        missing=counts == MISSING,
        structural_zero=known,
        column=column or None,
        others=() if roles is None else roles.others,
        withheld=() if roles is None else roles.withheld,
        notes=(*_notes(wanted, labels), *map(_without_marks, changed)),
        _wanted=wanted,
        _roles=roles,
        _index=series_labels(source),
        _view=view,
        _cells=lambda: _other_cells(source, view, column),
    )


def _once(names: Sequence[str]) -> list[str]:
    """Names of columns that no other column has; not more than can be looked at."""
    return [name for name in names if names.count(name) == 1][:MOST_BESIDE]


def no_rows() -> HoldfastError:
    """The error for an empty table."""
    return HoldfastError("`table` has no rows. Hint: give one row per category, zeros included.")


def check_known(drawn: Marks, *, all_zero: bool = False) -> None:
    """Raise if no row of a table goes through the mechanism."""
    if all_zero:
        raise HoldfastError(
            "`structural_zero` marks every row, so there is nothing to release. "
            "Hint: mark only rows that are publicly known to be zero."
        )
    if not drawn.any():
        raise HoldfastError("`table` has no count that is known, so there is nothing to release.")


def _cells_of(columns: list[list[Any]], part: Integers, rows: Integers) -> list[list[Any]]:
    """The cells of some rows of a part of them, a list for each column."""
    return [[cells[at] for at in part[rows].tolist()] for cells in columns]


def _told(index: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The levels of an index that say more than the numbers of the rows."""
    return {name: cells for name, cells in index.items() if cells != list(range(len(cells)))}


def _roles(view: "_View", wanted: Wanted) -> Roles | None:
    if not isinstance(view, Line):
        return wanted.roles(view.columns)
    named = {"count": wanted.count, "keep": wanted.keep, "order_by": wanted.order_by}
    named |= {"within": wanted.within, "subset": wanted.subset}
    for parameter, name in named.items():
        if name:
            raise no_columns(parameter)
    return None


def _numbers(view: "_View", name: str, parameter: str) -> list[Any]:
    """The cells of a column, numbers without marks where the file is said to have some."""
    if isinstance(view, _Text):
        return view.numbers(name, parameter)
    return view.labels(name, parameter)


def _without_marks(name: str) -> str:
    return f"{name} makes classes: its numbers are published without the marks in the file"


def _other_cells(source: Any, view: "_View", column: str) -> Iterator[list[Any]]:
    if isinstance(view, Line):
        yield from series_labels(source).values()
        return
    for name in view.columns:
        if name != column:
            yield list(view.labels(name, "column"))


def without_columns(table: Any, names: Collection[str]) -> Any:
    """The same kind of table without these columns."""
    if not names:
        return table
    view = _with_columns(table)
    kept = view.select([name for name in view.columns if name not in set(names)])
    return kept.table if isinstance(kept, _Text) else kept.back(kept.data, kept.columns[-1])


def _with_columns(table: Any) -> "Frame | _Text":
    view = _open(table)
    if isinstance(view, Line):
        raise no_columns("count")
    return view


def columns_of(table: Any) -> list[str]:
    """The names of the columns of a table; none for a plain array."""
    return list(_open(table).columns)


def rows_of(table: Any, marks: Marks) -> Any:
    """The marked rows of a table, as the kind it is; of an array, its marked entries."""
    view = _open(table)
    if isinstance(view, Line):
        return np.asarray(table)[marks]
    taken = view.take(np.flatnonzero(marks))
    return taken.table if isinstance(taken, _Text) else taken.back(taken.data, taken.columns[-1])


def labels_of(table: Any, column: str) -> list[Any]:
    """The values of one column of a table, in row order."""
    return _open(table).labels(column, "column")


def numbers_of(table: Any, column: str) -> list[Any]:
    """The same, numbers without the marks that a file is said to have in them."""
    return _numbers(_open(table), column, "column")


def with_counts(table: Any, column: str | None, counts: Integers) -> Any:
    """A table of the same kind with other counts; -1 stands for a missing one."""
    return _open(table).replace(column or "", counts)


@dataclass(frozen=True)
class _Text:
    """A `CsvTable`, with the same methods as a frame."""

    table: CsvTable
    read: frozenset[str] = frozenset()
    """Columns of numbers whose marks were taken out."""

    @property
    def columns(self) -> list[str]:
        return self.table.columns

    def labels(self, name: str, parameter: str) -> list[Any]:
        return self.table.column(name, parameter)

    def numbers(self, name: str, parameter: str = "column") -> list[Any]:
        if name in self.read:
            return self.table.column(name, parameter)
        return self.table.numbers(name, parameter)

    def with_numbers(self, names: Collection[str]) -> "_Text":
        """The same with these columns read as numbers: their cells have no marks any more."""
        table = self.table
        if table.unmarked is None:
            return self
        for name in names:
            table = table.with_column(name, table.numbers(name))
        return _Text(table, frozenset(names))

    def counts(self, name: str, where: str, missing: Sequence[Any] = ()) -> Integers:
        return text_counts(self.table.column(name, "count"), where, missing)

    def replace(self, name: str, counts: Integers) -> CsvTable:
        cells = ("" if count == MISSING else count for count in counts.tolist())
        return replace(self.table.with_column(name, cells), unmarked=None)

    def select(self, names: Collection[str]) -> "_Text":
        return replace(self, table=self.table.select(names))

    def take(self, rows: Integers) -> "_Text":
        taken = [self.table.rows[at] for at in rows.tolist()]
        return replace(self, table=replace(self.table, rows=taken))


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
    return Line(lambda where, missing: array_counts(values, where, missing), lambda new: new)


def _notes(wanted: Wanted, labels: list[Any] | None) -> tuple[str, ...]:
    if wanted.category is None or labels is None:
        return ()
    try:
        hashes = np.fromiter(map(hash, labels), dtype=np.int64, count=len(labels))
    except TypeError:
        raise not_labels(wanted.category) from None
    hashes.sort()  # a set of all labels would take as much as they do
    if not (hashes[1:] == hashes[:-1]).any():
        return ()
    return repeated_notes(wanted) if len(set(labels)) < len(labels) else ()


def repeated_notes(wanted: Wanted) -> tuple[str, ...]:
    """What is said of a category column in which a label comes twice; an error unless meant."""
    if not wanted.repeated_categories:
        raise HoldfastError(
            f"`category` column {wanted.category!r} has repeated values. Hint: name a column that "
            "tells all rows apart, or make one, such as county and state together: readers join "
            "years by it. If every row is a person, count people first, with `holdfast count` or "
            "`holdfast.count_by`; if several rows of a category are meant, say so: "
            "repeated_categories=True, --repeated-categories."
        )
    return (
        f"{wanted.category} has repeated values; every row is treated as a category of its own",
    )


def not_labels(category: str) -> HoldfastError:
    """The error for a category column of lists and the like."""
    return HoldfastError(
        f"`category` column {category!r} must hold labels such as text. "
        "Hint: name another column, or leave `category` out."
    )
