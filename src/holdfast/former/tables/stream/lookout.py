"""What the first pass looks for in what is published beside the counts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.former.tables.columns import Roles, Wanted, refuse_leaks
from holdfast.former.tables.count_values import MISSING
from holdfast.former.tables.leaks.search import Leak
from holdfast.former.tables.leaks.watch import Watch, named_total, total_labels
from holdfast.former.tables.table import not_labels, repeated_notes

LABELS = 10_000_000
"""So many different labels are remembered, in 128 MiB."""


def drawn_rows(counts: Integers, marks: Marks | None) -> Marks:
    """The rows that go through the mechanism: neither known to be zero nor missing."""
    known: Marks = counts != MISSING
    return known if marks is None else known & ~marks


class Lookout:
    """What gives the counts away, which is refused, and labels that repeat."""

    def __init__(self, roles: Roles) -> None:
        roles.refuse_header()
        self._wanted = roles.wanted
        self.columns = roles.watched
        self._whole = _Watches(roles)
        self._part = None if roles.wanted.subset is None else _Watches(roles)
        """What looks at the rows of a subset alone, where one was named."""
        self.labels = None if roles.wanted.category is None else Labels(roles.wanted.category)

    def see(
        self,
        counts: Integers,
        marks: Marks | None,
        cells: Callable[[Integers], list[list[Any]]],
        inside: Marks | None = None,
        others: Sequence[Integers] = (),
    ) -> None:
        """Take in the next rows; `cells` gives those of some rows, a list for each column, and
        `inside` says which are in the subset that was named. `others` are further counts."""
        every = (counts, *others)
        cells = _Remembered(cells) if others else cells
        self._whole.see(every, marks, cells)
        if self._part is not None and inside is not None:
            self._part.see(every, marks, cells, inside)

    def refuse(self) -> None:
        """Raise if something gave the counts away, when all rows were seen."""
        named = [named_total()] if self.labels is not None and self.labels.has_total else []
        for watches in (self._whole, self._part):
            for leaks, wanted in () if watches is None else watches.leaks():
                refuse_leaks([*leaks, *named], wanted)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know; holds no counts. Raises if labels repeat and must not."""
        subset = self._wanted.subset
        told = () if subset is None else (subset.note,)
        if self.labels is None:
            return told
        return told + (repeated_notes(self._wanted) if self.labels.repeated else self.labels.notes)


class _Watches:
    """What looks at each column of counts: of several beside the others, and at their sum."""

    def __init__(self, roles: Roles) -> None:
        self._wanted, others = roles.wanted, roles.wanted.other_counts
        names = (roles.count, *others)
        looked = (*names, None) if others else names
        self._watches = [
            Watch(
                [*roles.watched, *(other for other in names if other != name)],
                roles.ordering,
                () if self._wanted.apart and name is not None else names,
            )
            for name in looked
        ]

    def see(
        self,
        every: tuple[Integers, ...],
        marks: Marks | None,
        cells: Callable[[Integers], list[list[Any]]],
        inside: Marks | None = None,
    ) -> None:
        """Take in the next rows, or those of them that are inside."""
        columns = every
        if len(every) > 1:
            known = np.logical_and.reduce([one != MISSING for one in every])
            columns = (*every, np.where(known, np.sum(every, axis=0), MISSING))
        for at, (watch, own) in enumerate(zip(self._watches, columns, strict=True)):
            beside = [other for k, other in enumerate(every) if k != at]
            drawn = drawn_rows(own, marks)
            shown = drawn if inside is None else drawn & inside
            _show(watch, shown, own, partial(_with_counts, cells, beside) if beside else cells)

    def leaks(self) -> Iterator[tuple[list[Leak], Wanted]]:
        """What was found of each, and what was wanted of it: a sum follows from its parts."""
        for at, watch in enumerate(self._watches):
            whole = at > len(self._wanted.other_counts)
            yield watch.leaks(), replace(self._wanted, apart=False) if whole else self._wanted


def _show(
    watch: Watch,
    shown: Marks,
    counts: Integers,
    cells: Callable[[Integers], list[list[Any]]],
) -> None:
    if shown.all():
        watch.see(counts, cells)
    else:
        rows = np.flatnonzero(shown)
        watch.see(counts[rows], lambda chosen: cells(rows[chosen]))


def _with_counts(
    cells: Callable[[Integers], list[list[Any]]], counts: Sequence[Integers], rows: Integers
) -> list[list[Any]]:
    """Cells of some rows, and the counts of other columns in them."""
    return [*cells(rows), *(own[rows].tolist() for own in counts)]


class _Remembered:
    """Cells of some rows, of which none is read twice: columns are looked at in much the same
    rows."""

    def __init__(self, cells: Callable[[Integers], list[list[Any]]]) -> None:
        self._cells, self._known = cells, dict[int, tuple[Any, ...]]()

    def __call__(self, rows: Integers) -> list[list[Any]]:
        """Those of these rows, a list for each column."""
        fresh = [row for row in rows.tolist() if row not in self._known]
        if fresh:
            found = zip(*self._cells(np.array(fresh)), strict=True)
            self._known.update(zip(fresh, found, strict=True))
        columns = zip(*(self._known[row] for row in rows.tolist()), strict=True)
        return [list(column) for column in columns]


class Labels:
    """Whether a label of the category column came twice, as far as memory goes.

    What is remembered is a hash of 64 bits, so two labels in ten million are taken for one with
    a chance of three in a million.

    >>> labels = Labels("county")
    >>> labels.see(np.array([5, 7], dtype=np.uint64))
    >>> labels.see(np.array([7], dtype=np.uint64))
    >>> labels.repeated
    True
    """

    def __init__(self, category: str) -> None:
        self.category = category
        self.has_total = False
        """Whether one of them is named like a total."""
        self._table = np.zeros(1 << 12, dtype=np.uint64)
        self._held, self._full = 0, False
        self.repeated = False
        """Whether one came twice."""
        self._totals = _keys(total_labels())

    def see(self, keys: NDArray[np.uint64] | None) -> None:
        """Take in the hashes of the next labels; None where there are lists or the like."""
        from holdfast.former.tables.stream.label_kernel import remember

        if keys is None:
            raise not_labels(self.category)
        self.has_total = self.has_total or bool(np.isin(keys, self._totals).any())
        if self.repeated or self._full:
            return
        fresh = keys[: LABELS - self._held]
        self._grow(self._held + len(fresh))
        self.repeated = not remember(self._table, fresh)
        self._held += len(fresh)
        self._full = len(fresh) < len(keys)
        if self.repeated or self._full:
            self._table = self._table[:0].copy()

    def _grow(self, number: int) -> None:
        from holdfast.former.tables.stream.label_kernel import remember

        size = len(self._table)
        while 5 * size < 8 * number:  # up to 62 % full
            size *= 4  # what is held is put in anew each time
        if size > len(self._table):
            old, self._table = self._table, np.zeros(size, dtype=np.uint64)
            remember(self._table, old[old != 0])

    @property
    def notes(self) -> tuple[str, ...]:
        """How far it was looked."""
        if self._full:
            return (f"repeated values were looked for among the first {LABELS:,} categories only",)
        return ()


def _keys(labels: list[str]) -> NDArray[np.uint64]:
    from holdfast.former.tables.stream.label_kernel import keys_between

    data = "".join(labels).encode()
    ends = np.cumsum([0, *map(len, labels)])
    keys = np.empty(len(labels), dtype=np.uint64)
    keys_between(np.frombuffer(data, dtype=np.uint8), ends, keys)
    return keys
