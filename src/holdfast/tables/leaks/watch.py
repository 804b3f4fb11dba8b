"""All rows of a table seen once, in batches: a sample of them, their order, and their total."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.tables.leaks.order import LabelOrder, Order
from holdfast.tables.leaks.search import Leak, find_leaks
from holdfast.tables.leaks.totals import TotalRows
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
        self._samples = (_Sample(len(columns)), _Sample(len(columns)))
        self._rng = np.random.default_rng(0)  # chooses rows to look at: no release depends on it
        self._order, self._total, self._in_order = Order(), TotalRows(), in_order
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
                columns = cells(rows)
                first = [column[: len(zeros)] for column in columns]
                self._samples[0].see(drawn[zeros], counts[zeros], first)
                second = [column[len(zeros) :] for column in columns]
                self._samples[1].see(drawn[others], counts[others], second)

    def leaks(self) -> list[Leak]:
        """What was found, when all rows were seen."""
        for sample in self._samples:
            sample.shrink()
        counts = np.concatenate([sample.counts for sample in self._samples])
        pairs = zip(*(sample.cells for sample in self._samples), strict=True)
        cells = [np.concatenate(pair).tolist() for pair in pairs]
        columns = dict(zip(self._columns, cells, strict=True))
        leaks = find_leaks(counts, columns, self._helping, self._withheld) if columns else []
        orders = [leak for order in self._labels.values() for leak in order.leaks()]
        return [*leaks, *(self._order.leaks() or orders[:1]), *self._total.leaks()]


class _Sample:
    """Rows drawn at random, all alike: those with the smallest of as many random numbers."""

    def __init__(self, columns: int) -> None:
        self._drawn: Floats = np.empty(0)
        self.counts = np.empty(0, dtype=np.int64)
        self.cells = [np.empty(0, dtype=object) for _ in range(columns)]
        self.bar = 1.0
        """Rows with a number from here on do not get in."""

    def fresh(self, rows: Integers, drawn: Floats) -> Integers:
        """Those of some rows, with their random numbers, that get in."""
        inside = np.flatnonzero(drawn < self.bar)
        if len(inside) > SAMPLE:
            inside = np.sort(inside[np.argpartition(drawn[inside], SAMPLE)[:SAMPLE]])
        return rows[inside]

    def see(self, drawn: Floats, counts: Integers, cells: Sequence[list[Any]]) -> None:
        """Take in such rows, and leave those with the largest numbers out."""
        if not len(drawn):
            return
        new = [np.fromiter(column, dtype=object, count=len(drawn)) for column in cells]
        self.cells = [np.append(*pair) for pair in zip(self.cells, new, strict=True)]
        self._drawn = np.append(self._drawn, drawn)
        self.counts = np.append(self.counts, counts)
        if len(self._drawn) >= (SAMPLE if self.bar == 1 else SAMPLE * 5 // 4):  # seldom enough
            self.shrink()
            self.bar = float(self._drawn.max())

    def shrink(self) -> None:
        """Keep the rows with the smallest numbers, in the order of these."""
        stay = np.argsort(self._drawn)[:SAMPLE]
        self._drawn, self.counts = self._drawn[stay], self.counts[stay]
        self.cells = [column[stay] for column in self.cells]
