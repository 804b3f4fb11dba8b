"""All rows of a table seen once, in batches: a sample of them, their order, and their total. Their
order may tell of the counts: that of all rows, or of those with one label."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.tables.leaks.search import ROW_ORDER, Leak, find_leaks
from holdfast.tables.leaks.totals import TotalRows
from holdfast.tables.spans import Keys

Cells = Callable[[Integers], list[list[Any]]]
"""Gives the cells of some rows, a list for each column."""
SAMPLE = 5_000  # rows with a count of 0, and as many with others
MOST_COUNT = 10_000  # counts above are not told apart
LOOKED_AT = 1 << 17
"""Rows among which those with one label are looked at."""
_NEARLY_ALL = 0.9  # of the steps from one count to another go one way
_STRETCHES = 0.585
"""So many steps go one way where rows are in order four and more at a time, measured on Poisson and
gamma-Poisson counts of mean 0.8 to 6, some of them zero in 70 % of the rows: 0.6 and more; rows in
the order of a population within states have 0.57 where most counts are small."""
_CHANCE = 1.5  # five standard deviations of the share of rising steps, times the root of the steps
_FEW = 20  # steps among rows with one label, of which fewer may go one way by chance


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
        cells: Cells,
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
            for sample, rows in zip(self._samples, parts, strict=True):
                sample.see(rows, drawn[rows], counts, cells)

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

    def see(self, rows: Integers, drawn: Floats, counts: Integers, cells: Cells) -> None:
        """Take in some rows of a batch, with their random numbers, as far as they get in, and leave
        those with the largest numbers out."""
        inside = np.flatnonzero(drawn < self.bar)
        if len(inside) > SAMPLE:
            inside = np.sort(inside[np.argpartition(drawn[inside], SAMPLE)[:SAMPLE]])
        rows, drawn = rows[inside], drawn[inside]
        if not len(rows):
            return
        new = [np.fromiter(column, dtype=object, count=len(rows)) for column in cells(rows)]
        self.cells = [np.append(*pair) for pair in zip(self.cells, new, strict=True)]
        self._drawn = np.append(self._drawn, drawn)
        self.counts = np.append(self.counts, counts[rows])
        if len(self._drawn) >= (SAMPLE if self.bar == 1 else SAMPLE * 5 // 4):  # seldom enough
            self.shrink()
            self.bar = float(self._drawn.max())

    def shrink(self) -> None:
        """Keep the rows with the smallest numbers, in the order of these."""
        stay = np.argsort(self._drawn)[:SAMPLE]
        self._drawn, self.counts = self._drawn[stay], self.counts[stay]
        self.cells = [column[stay] for column in self.cells]


class Order:
    """How often counts of neighbouring rows differ, and rise.

    >>> order = Order()
    >>> order.see(np.arange(20))
    >>> order.leaks()
    [Leak(names=('row order',), how='follows the counts')]
    """

    def __init__(self) -> None:
        self._numbers = np.zeros(MOST_COUNT + 1, dtype=np.int64)
        self._unequal, self._rising = 0, 0
        self._last = np.empty(0, dtype=np.int64)

    def see(self, counts: Integers) -> None:
        """Take in the counts of the next rows."""
        steps = np.diff(np.append(self._last, counts))
        self._unequal += int(np.count_nonzero(steps))
        self._rising += int(np.count_nonzero(steps > 0))
        capped = np.minimum(counts, MOST_COUNT)
        self._numbers += np.bincount(capped, minlength=MOST_COUNT + 1)
        self._last = counts[-1:] if len(counts) else self._last

    def leaks(self) -> list[Leak]:
        """What it tells."""
        rows = max(int(self._numbers.sum()), 1)
        expected = (rows - 1) * (1 - float(((self._numbers / rows) ** 2).sum()))
        together = expected >= 12 and self._unequal <= expected / 10
        one_way = max(self._rising, self._unequal - self._rising)
        sorted_ = self._unequal >= 7 and one_way >= self._unequal * (
            _NEARLY_ALL if self._unequal >= 12 else 1
        )
        if together or sorted_:
            return [Leak((ROW_ORDER,), "follows the counts")]
        share = one_way / max(self._unequal, 1)
        chance = 0.5 + _CHANCE / max(self._unequal, 1) ** 0.5
        if share >= max(_STRETCHES, chance):
            return [Leak((ROW_ORDER,), "follows the counts, a few rows at a time")]
        return []


class LabelOrder:
    """How counts rise from one row to the next that has the same label, wherever that stands.

    >>> order = LabelOrder("state")
    >>> order.see(np.arange(40) % 2, np.arange(40))
    >>> order.leaks()
    [Leak(names=('row order',), how="follows the counts among rows with the same 'state'")]
    """

    def __init__(self, column: str | None) -> None:
        """Without a column rows are meant that are the same in all that is published."""
        self._column, self._rows = column, 0
        self._unequal, self._rising = 0, 0

    def see(self, labels: Keys | Integers, counts: Integers) -> None:
        """Take in the next rows."""
        left = LOOKED_AT - self._rows
        if left <= 0:
            return
        self._rows += len(counts)
        order = np.argsort(labels[:left], kind="stable")
        labels, counts = labels[order], counts[order]
        steps = np.diff(counts)[labels[1:] == labels[:-1]]
        self._unequal += int(np.count_nonzero(steps))
        self._rising += int(np.count_nonzero(steps > 0))

    def leaks(self) -> list[Leak]:
        """What it tells."""
        one_way = max(self._rising, self._unequal - self._rising)
        if self._unequal < _FEW or one_way < _NEARLY_ALL * self._unequal:
            return []
        whose = "in all that is published" if self._column is None else repr(self._column)
        same = "are the same" if self._column is None else "with the same"
        which = f"that {same}" if self._column is None else same
        return [Leak((ROW_ORDER,), f"follows the counts among rows {which} {whose}")]
