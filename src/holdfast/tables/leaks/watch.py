"""All rows of a table seen once, in batches: a sample of them, their order, and their total."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.tables.leaks.order import LabelOrder, Order
from holdfast.tables.leaks.search import Leak, find_leaks
from holdfast.tables.leaks.totals import Totals
from holdfast.tables.spans import Keys

SAMPLE = 5_000  # rows with a count of 0, and as many with others


class Watch:
    """What gives the counts away, however the rows come in batches.

    >>> watch = Watch(["also"])
    >>> watch.see(np.array([3, 0, 1]), lambda rows: [[["3", "0", "1"][row] for row in rows]])
    >>> watch.leaks()
    [Leak(names=('also',), how='holds the counts')]
    """

    def __init__(
        self,
        columns: Sequence[str],
        helping: Collection[str] = (),
        withheld: Collection[str] = (),
        *,
        in_order: bool = False,
    ) -> None:
        """Of the columns, those that are `helping` are looked at beside the others alone, and those
        that are `withheld` as what the counts may be divided by. Rows that are put `in_order`, by
        columns that are published, tell nothing by it that these do not tell."""
        self._columns, self._helping = list(columns), frozenset(helping)
        self._withheld = frozenset(withheld)
        self._samples = (_Sample(), _Sample())
        self._rng = np.random.default_rng(0)  # chooses rows to look at: no release depends on it
        self._order, self._total, self._in_order = Order(), Totals(), in_order
        self._labels: dict[str | None, LabelOrder] = {}

    def see(
        self,
        counts: Integers,
        cells: Callable[[Integers], list[list[Any]]],
        labels: Mapping[str | None, Keys] | None = None,
    ) -> None:
        """Take in the next rows; `cells` gives those of some rows, a list for each column, and
        `labels` are keys of columns, of which None stands for all that is published."""
        if not self._in_order:
            self._order.see(counts)
        labels = {} if labels is None else labels
        for name, keys in labels.items():
            self._labels.setdefault(name, LabelOrder(name)).see(keys, counts)
        self._total.see(counts, {name: keys for name, keys in labels.items() if name is not None})
        if self._columns:
            drawn = self._rng.random(len(counts))
            low = np.flatnonzero(drawn < max(sample.bar for sample in self._samples))
            parts = low[counts[low] == 0], low[counts[low] != 0]
            pairs = zip(self._samples, parts, strict=True)
            zeros, others = (sample.fresh(part, drawn[part]) for sample, part in pairs)
            if len(zeros) + len(others):
                rows = np.concatenate([zeros, others])
                found = cells(rows)
                first = [column[: len(zeros)] for column in found]
                self._samples[0].see(drawn[zeros], counts[zeros], first)
                second = [column[len(zeros) :] for column in found]
                self._samples[1].see(drawn[others], counts[others], second)

    def leaks(self) -> list[Leak]:
        """What was found, when all rows were seen."""
        parts = [sample.rows for sample in self._samples]
        counts = np.concatenate([counts for counts, _ in parts])
        filled = [columns for _, columns in parts if columns]
        cells = [list(chain.from_iterable(column)) for column in zip(*filled, strict=True)]
        columns = dict(zip(self._columns, cells, strict=False))
        found = find_leaks(counts, columns, self._helping, self._withheld) if columns else []
        orders = [leak for order in self._labels.values() for leak in order.leaks()]
        return [*found, *(self._order.leaks() or orders[:1]), *self._total.leaks()]


class _Sample:
    """Rows drawn at random, all alike: those with the smallest of as many random numbers."""

    def __init__(self) -> None:
        self._drawn: Floats = np.empty(0)
        self._counts = self._places = np.empty(0, dtype=np.int64)
        self._parts: list[list[list[Any]]] = []
        self._taken = 0
        """How many rows `_parts` have; most of them were in it once."""
        self.bar = 1.0
        """Rows with a number from here on do not get in."""

    @property
    def rows(self) -> tuple[Integers, list[list[Any]]]:
        """The count of each, and the cells of each column; no column where there are no rows."""
        order = np.argsort(self._drawn)[:SAMPLE]
        return self._counts[order], self._cells(order)

    def fresh(self, rows: Integers, drawn: Floats) -> Integers:
        """Those of some rows, with their random numbers, that get in."""
        inside = np.flatnonzero(drawn < self.bar)
        if len(inside) > SAMPLE:
            inside = np.sort(inside[np.argpartition(drawn[inside], SAMPLE)[:SAMPLE]])
        return rows[inside]

    def see(self, drawn: Floats, counts: Integers, cells: list[list[Any]]) -> None:
        """Take in such rows."""
        if not len(drawn):
            return
        self._parts.append(cells)
        self._drawn = np.append(self._drawn, drawn)
        self._counts = np.append(self._counts, counts)
        self._places = np.append(self._places, self._taken + np.arange(len(drawn)))
        self._taken += len(drawn)
        if len(self._drawn) >= (SAMPLE if self.bar == 1 else SAMPLE * 5 // 4):  # seldom enough
            self._shrink()

    def _shrink(self) -> None:
        """Take out the rows with the largest numbers."""
        stay = np.argpartition(self._drawn, SAMPLE - 1)[:SAMPLE]
        self._drawn, self._counts = self._drawn[stay], self._counts[stay]
        self._places, self.bar = self._places[stay], float(self._drawn[-1])
        if self._taken > 4 * SAMPLE:  # cells may be long
            self._parts = [self._cells(np.arange(len(self._drawn)))]
            self._places, self._taken = np.arange(len(self._drawn)), len(self._drawn)

    def _cells(self, chosen: Integers) -> list[list[Any]]:
        places = self._places[chosen].tolist()
        columns = (
            [cell for part in parts for cell in part] for parts in zip(*self._parts, strict=True)
        )
        return [[column[place] for place in places] for column in columns]
