"""What the first pass looks for in what is published beside the counts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.tables.columns import Roles, refuse_leaks
from holdfast.tables.count_values import MISSING
from holdfast.tables.leaks.watch import Watch, named_total, total_labels
from holdfast.tables.table import not_labels, repeated_notes

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
        self._watch = Watch(roles.watched, roles.ordering)
        self.labels = None if roles.wanted.category is None else Labels(roles.wanted.category)
        self._part: Watch | None = None
        """What looks at the rows of a subset alone, where one was named."""
        if roles.wanted.subset is not None:
            self._part = Watch(roles.watched, roles.ordering)
        names = (roles.count, *roles.wanted.other_counts)
        self._several = [
            Watch([*roles.watched, *(other for other in names if other != name)], roles.ordering)
            for name in ((*names, None) if roles.wanted.other_counts else ())
        ]
        """What looks at each of several columns of counts, beside the others, and at their sum."""

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
        if others:
            cells = _Remembered(cells)
            known = np.logical_and.reduce([one != MISSING for one in (counts, *others)])
            every = (counts, *others)
            whole = np.where(known, np.sum(every, axis=0), MISSING)
            for at, (watch, own) in enumerate(zip(self._several, (*every, whole), strict=True)):
                beside = [other for k, other in enumerate(every) if k != at]
                rows = np.flatnonzero(drawn_rows(own, marks))
                self._see(watch, rows, own, partial(_with_counts, cells, beside))
        else:
            self._see(self._watch, np.flatnonzero(drawn_rows(counts, marks)), counts, cells)
        if self._part is not None and inside is not None:
            mine = np.flatnonzero(drawn_rows(counts, marks) & inside)
            self._see(self._part, mine, counts, cells)

    @staticmethod
    def _see(
        watch: Watch,
        rows: Integers,
        counts: Integers,
        cells: Callable[[Integers], list[list[Any]]],
    ) -> None:
        if len(rows) == len(counts):
            watch.see(counts, cells)
        else:
            watch.see(counts[rows], lambda chosen: cells(rows[chosen]))

    def refuse(self) -> None:
        """Raise if something gave the counts away, when all rows were seen."""
        named = self.labels is not None and self.labels.has_total
        refuse_leaks([*self._watch.leaks(), *[named_total()][:named]], self._wanted)
        for watch in (*([] if self._part is None else [self._part]), *self._several[:-1]):
            refuse_leaks(watch.leaks(), self._wanted)
        for watch in self._several[-1:]:  # a sum follows from its parts
            refuse_leaks(watch.leaks(), replace(self._wanted, apart=False))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know; holds no counts. Raises if labels repeat and must not."""
        subset = self._wanted.subset
        told = () if subset is None else (subset.note,)
        if self.labels is None:
            return told
        return told + (repeated_notes(self._wanted) if self.labels.repeated else self.labels.notes)


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
        from holdfast.tables.stream.label_kernel import remember

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
        from holdfast.tables.stream.label_kernel import remember

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
    from holdfast.tables.stream.label_kernel import keys_between

    data = "".join(labels).encode()
    ends = np.cumsum([0, *map(len, labels)])
    keys = np.empty(len(labels), dtype=np.uint64)
    keys_between(np.frombuffer(data, dtype=np.uint8), ends, keys)
    return keys
