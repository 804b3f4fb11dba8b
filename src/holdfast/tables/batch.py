"""Some rows of a table, checked: their counts, what is known of them, their cells."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.tables.counts import MISSING
from holdfast.tables.rows import Rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Some rows of a table, in their order."""

    start: int
    """So many rows of the table come before them."""
    counts: dict[str, Integers] = field(repr=False)
    """True counts by column; -1 where one is not known."""
    structural_zero: Marks = field(repr=False)
    """Rows publicly known to be zero."""
    group: Integers = field(repr=False, default_factory=lambda: np.empty(0, dtype=np.int64))
    """The group of each row, by its number in the partition; -1 where no count is measured. Empty
    until groups are settled."""
    inside: Marks | None = field(repr=False, default=None)
    """Which of them are in the subset; None where all are wanted."""
    done: float | None = None
    """The share of the table that has been read with them; None where that is not known."""
    rows: Rows = field(repr=False)
    """The cells as they came, for writers."""

    def __len__(self) -> int:
        return len(self.structural_zero)

    @cached_property
    def missing(self) -> dict[str, Marks]:
        """By column the rows whose count is not known."""
        return {name: counts == MISSING for name, counts in self.counts.items()}

    @cached_property
    def measured(self) -> dict[str, Marks]:
        """By column the rows whose count is measured: neither missing nor known to be zero."""
        return {name: ~(gaps | self.structural_zero) for name, gaps in self.missing.items()}

    def wanted(self) -> "Batch":
        """The rows of the subset alone."""
        if self.inside is None or self.inside.all():
            return self
        some = np.flatnonzero(self.inside)
        return replace(
            self,
            rows=self.rows.take(some),
            counts={name: counts[some] for name, counts in self.counts.items()},
            structural_zero=self.structural_zero[some],
            inside=None,
        )

    def column(self, name: str) -> Any:
        """A column that is published in the form in which it came."""
        return self.rows.column(name)

    def cells(self, name: str) -> list[Any]:
        """The cells of a column that is published, of batches that were asked for with them."""
        return self.rows.cells(name)
