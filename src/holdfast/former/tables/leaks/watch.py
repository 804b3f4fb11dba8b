"""All rows of a table seen once, in batches: a sample of them, their order, and their total."""

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers, exact_sum
from holdfast.former.tables.leaks.search import Leak, find_leaks
from holdfast.former.tables.order import rows_by

MOST_COUNT = 10_000  # counts above are not told apart
SAMPLE = 5_000  # rows with a count of 0, and as many with others
ROW_ORDER, TOTALS, SAME_COUNTS = "row order", "totals", "same counts"
"""What `publish_anyway` calls the order of the rows, rows that add up others, and counts that were
released as those of another period."""
_NAMES_OF_TOTALS = (
    *("total", "totals", "grand total", "sum", "all", "overall", "ensemble", "somme"),
    *("gesamt", "insgesamt", "summe", "zusammen", "totale", "totaal", "suma", "total general"),
)
NEARLY_THE_SUM = 0.02  # a total may count rows that are not known, or be rounded


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
        ordering: Sequence[str] = (),
        helping: Collection[str] = (),
        withheld: Collection[str] = (),
    ) -> None:
        """Rows that are published in the order of columns, `ordering`, are looked at in that. Of
        the columns, those that are `helping` are looked at beside the others alone, and those that
        are `withheld` as what the counts may be divided by."""
        self._columns, self._helping = list(columns), frozenset(helping)
        self._withheld = frozenset(withheld)
        self._ordering = [self._columns.index(name) for name in ordering if name in columns]
        self._own_order = not ordering
        self._samples = (_Sample(), _Sample())
        self._rng = np.random.default_rng(0)  # chooses rows to look at: no release depends on it
        self._order, self._total = Order(), _Total()

    def see(self, counts: Integers, cells: Callable[[Integers], list[list[Any]]]) -> None:
        """Take in the next rows; `cells` gives those of some rows, a list for each column."""
        if self._own_order:
            self._order.see(counts)
        self._total.see(counts)
        if self._columns:
            drawn = self._rng.random(len(counts))
            low = np.flatnonzero(drawn < max(sample.bar for sample in self._samples))
            parts = low[counts[low] == 0], low[counts[low] != 0]
            pairs = zip(self._samples, parts, strict=True)
            zeros, others = (sample.fresh(part, drawn[part]) for sample, part in pairs)
            if not len(zeros) + len(others):
                return
            found = cells(np.concatenate([zeros, others]))
            first = [column[: len(zeros)] for column in found]
            self._samples[0].see(drawn[zeros], counts[zeros], first)
            second = [column[len(zeros) :] for column in found]
            self._samples[1].see(drawn[others], counts[others], second)

    def leaks(self) -> list[Leak]:
        """What was found, when all rows were seen."""
        if not self._columns:
            return [*self._order.leaks(), *self._total.leaks()]
        parts = [sample.rows for sample in self._samples]
        counts = np.concatenate([counts for counts, _ in parts])
        filled = [columns for _, columns in parts if columns]
        cells = [list(chain.from_iterable(column)) for column in zip(*filled, strict=True)]
        if self._ordering and cells:
            self._order.see(counts[rows_by([cells[at] for at in self._ordering])])
        columns = dict(zip(self._columns, cells, strict=bool(cells)))
        found = find_leaks(counts, columns, self._helping, self._withheld)
        return [*found, *self._order.leaks(), *self._total.leaks()]


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


class Order:
    """Whether the order of the rows tells of the counts: how often neighbours differ, and rise."""

    def __init__(self) -> None:
        self._numbers = np.zeros(MOST_COUNT + 1, dtype=np.int64)
        self._unequal, self._rising = 0, 0
        self._first, self._last = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    def see(self, counts: Integers) -> None:
        """Take in the counts of the next rows."""
        self._step(np.append(self._last, counts))
        capped = np.minimum(counts, MOST_COUNT)
        self._numbers += np.bincount(capped, minlength=MOST_COUNT + 1)
        self._first = self._first if len(self._first) else counts[:1]
        self._last = counts[-1:] if len(counts) else self._last

    def join(self, after: "Order") -> None:
        """Take in rows that were seen apart and come next."""
        self._step(np.append(self._last, after._first))
        self._numbers += after._numbers
        self._unequal += after._unequal
        self._rising += after._rising
        self._first = self._first if len(self._first) else after._first
        self._last = after._last if len(after._last) else self._last

    def _step(self, counts: Integers) -> None:
        before, after = counts[:-1], counts[1:]
        self._unequal += int(np.count_nonzero(before != after))
        self._rising += int(np.count_nonzero(before < after))

    def leaks(self) -> list[Leak]:
        """What it tells."""
        rows = max(int(self._numbers.sum()), 1)
        expected = (rows - 1) * (1 - float(((self._numbers / rows) ** 2).sum()))
        together = expected >= 12 and self._unequal <= expected / 10
        one_way = max(self._rising, self._unequal - self._rising)
        sorted_ = self._unequal >= 7 and one_way >= self._unequal * (
            0.9 if self._unequal >= 12 else 1
        )
        return [Leak((ROW_ORDER,), "follows the counts")] if together or sorted_ else []


class _Total:
    """Whether one row is the sum of all others."""

    def __init__(self) -> None:
        self._sum, self._most, self._rows = 0, 0, 0

    def see(self, counts: Integers) -> None:
        self._sum += exact_sum(counts)
        self._most = max(self._most, int(counts.max(initial=0)))
        self._rows += int(np.count_nonzero(counts))

    def leaks(self) -> list[Leak]:
        away = abs(2 * self._most - self._sum)
        if self._rows < 6 or away > NEARLY_THE_SUM * self._most * (self._rows > 20):
            return []
        nearly = "nearly " * bool(away)
        return [Leak((TOTALS,), f"a row is {nearly}the sum of all others", told=True)]


def is_total(label: Any) -> bool:
    """Whether a category is named like a total of others.

    >>> is_total(" TOTAL"), is_total("Allentown")
    (True, False)
    """
    return str(label).strip().casefold() in _NAMES_OF_TOTALS


def total_labels() -> list[str]:
    """The ways in which totals are mostly written."""
    return [
        way(name)
        for name in _NAMES_OF_TOTALS
        for way in (str, str.title, str.upper, str.capitalize)
    ]


def named_total() -> Leak:
    """What is said of a category with such a name."""
    return Leak((TOTALS,), "a row is named like a total of others", told=True)
