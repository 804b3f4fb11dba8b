"""Whether the order of the rows tells of the counts: of all rows, or of those with one label."""

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.leaks.search import ROW_ORDER, Leak
from holdfast.tables.spans import Keys

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
