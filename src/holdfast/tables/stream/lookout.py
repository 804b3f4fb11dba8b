"""What the first pass looks for in columns that are published as they are."""

import numpy as np
from numpy.typing import NDArray

from holdfast.tables.copies import Suspects
from holdfast.tables.table import not_labels, repeated_note

LABELS = 10_000_000
"""So many different labels are remembered, in 128 MiB."""


class Lookout:
    """Copies of the counts, which are refused, and labels that repeat, which are told of."""

    def __init__(self, columns: list[str], column: str, category: str | None) -> None:
        self.others = [name for name in columns if name != column]
        self.suspects = Suspects(column, self.others)
        self.labels = None if category is None else Labels(category)

    def refuse(self) -> None:
        """Raise if a column held the counts in every row."""
        self.suspects.refuse()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the steward should know; holds no counts."""
        return () if self.labels is None else self.labels.notes


class Labels:
    """Whether a label of the category column came twice, as far as memory goes.

    What is remembered is a hash of 64 bits, so two labels in ten million are taken for one with
    a chance of three in a million.

    >>> labels = Labels("county")
    >>> labels.see(np.array([5, 7], dtype=np.uint64))
    >>> labels.notes
    ()
    >>> labels.see(np.array([7], dtype=np.uint64))
    >>> labels.notes
    ('county has repeated values; every row is treated as a category of its own',)
    """

    def __init__(self, category: str) -> None:
        self.category = category
        self._table = np.zeros(1 << 12, dtype=np.uint64)
        self._held, self._repeated, self._full = 0, False, False

    @property
    def open(self) -> bool:
        """Whether more labels would change what is known."""
        return not (self._repeated or self._full)

    def see(self, keys: NDArray[np.uint64] | None) -> None:
        """Take in the hashes of the next labels; None where there are lists or the like."""
        from holdfast.tables.stream.label_kernel import remember

        if keys is None:
            raise not_labels(self.category)
        fresh = keys[: LABELS - self._held]
        self._grow(self._held + len(fresh))
        self._repeated = not remember(self._table, fresh)
        self._held += len(fresh)
        self._full = len(fresh) < len(keys)
        if not self.open:
            self._table = self._table[:0].copy()

    def _grow(self, number: int) -> None:
        from holdfast.tables.stream.label_kernel import remember

        size = len(self._table)
        while 5 * size < 8 * number:  # up to 62 % full
            size *= 2
        if size > len(self._table):
            old, self._table = self._table, np.zeros(size, dtype=np.uint64)
            remember(self._table, old[old != 0])

    @property
    def notes(self) -> tuple[str, ...]:
        """The warning in words."""
        if self._repeated:
            return (repeated_note(self.category),)
        if self._full:
            return (f"repeated values were looked for among the first {LABELS:,} categories only",)
        return ()
