"""Measures every column of counts of a table, batch by batch, and keeps what is public of rows."""

from collections.abc import Callable

import numpy as np

from holdfast.arrays import Integers, Marks, narrowed
from holdfast.fit.cells import choose_blocks
from holdfast.measure.room import Room
from holdfast.privacy.budget import Budget
from holdfast.privacy.promise import Promise
from holdfast.privacy.randomness import Randomness
from holdfast.release.release import Column
from holdfast.tables.table import Table

Progress = Callable[[str, float | None], None]
"""Is told what is being done, and which share of it is done; None where that is not known."""
MEASURING = "Measuring"


def silent(_what: str, _done: float | None) -> None:
    """Progress that nobody watches."""


def measure(
    table: Table, promise: Promise, source: Randomness, progress: Progress
) -> tuple[Column, ...]:
    """Noisy counts of all rows, then noisy sums and totals, of every column of counts."""
    budgets = zip(table.counts, promise.budgets, strict=True)
    rooms = [_Column(name, budget, table, source) for name, budget in budgets]
    for batch in table.batches():
        some = slice(batch.start, batch.start + len(batch))
        for room in rooms:
            room.see(batch.start, batch.counts[room.name], batch.measured[room.name], batch.group)
            room.missing[some] = batch.missing[room.name]
        progress(MEASURING, batch.done)
    ties = source.words(len(rooms), stream="ties")
    pairs = zip(rooms, ties.tolist(), strict=True)
    return tuple(room.finish(table.kept.group, seed) for room, seed in pairs)


class _Column:
    """One column of counts while it is measured."""

    def __init__(self, name: str, budget: Budget, table: Table, source: Randomness) -> None:
        self.name, self.budget = name, budget
        self.missing, self.measured = np.zeros((2, table.rows), dtype=np.bool_)
        self._noisy: Integers = np.zeros(table.rows, dtype=np.int32)
        self._seen = 0
        self._room = Room(
            budget.noise_of_counts, source=source, groups=len(table.partition), column=name
        )

    def see(self, start: int, counts: Integers, measured: Marks, group: Integers) -> None:
        """Measure the counts of the next rows."""
        values = np.zeros(len(counts), dtype=np.int64)
        values[measured] = self._room.noisy(counts[measured], group[measured], at=self._seen)
        self._seen += int(measured.sum())
        if narrowed(values).dtype == np.int64:
            self._noisy = self._noisy.astype(np.int64, copy=False)
        self._noisy[start : start + len(counts)] = values
        self.measured[start : start + len(counts)] = measured

    def finish(self, group: Integers, ties: int) -> Column:
        """The column, with noisy sums and totals."""
        return Column(
            name=self.name,
            budget=self.budget,
            measurement=self._room.finish(choose_blocks, **self.budget.noises),
            measured=self.measured,
            missing=self.missing,
            noisy=self._noisy,
            group=group,
            ties=ties,
        )
