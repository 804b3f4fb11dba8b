"""Columns that are published as they are, and yet tell the counts."""

from collections.abc import Callable, Sequence
from typing import Any

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.table import CountTable, labels_of


def refuse_copies(rows: CountTable) -> None:
    """Raise if another column is the count column once more: it would be published unchanged.

    >>> from holdfast.tables.table import CsvTable, read_table
    >>> table = CsvTable(("n", "also"), [["3", "3.0"], ["0", "0"]])
    >>> refuse_copies(read_table(table, count="n"))
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: the column 'also' holds the counts of 'n' once more, and would \
be published unchanged. Hint: drop it from the table.
    """
    if not rows.others or rows.counts.min() == rows.counts.max():
        return
    table, counts = rows.replace(rows.counts), rows.counts.tolist()
    suspects = Suspects(str(rows.column), rows.others)
    suspects.see(
        rows.counts, lambda at: all(map(is_count, labels_of(table, rows.others[at]), counts))
    )
    suspects.refuse()


class Suspects:
    """Columns that have held the counts in every row so far, however the rows come in batches.

    Counts that are all the same are let pass: any constant column might equal them by chance.

    >>> suspects = Suspects("n", ["also", "price"])
    >>> suspects.see(np.array([3, 0]), lambda at: at == 0)
    >>> suspects.left
    [0]
    """

    def __init__(self, column: str, others: Sequence[str]) -> None:
        self._column, self._others = column, others
        self._ends: set[int] = set()
        self.left = list(range(len(others)))
        """Their places among the other columns."""

    def see(self, counts: Integers, holds: Callable[[int], bool]) -> None:
        """Take in the next rows; `holds` says of a column whether it has their counts."""
        if len(counts) and len(self._ends) < 2:
            self._ends |= {int(counts.min()), int(counts.max())}
        self.left = [at for at in self.left if holds(at)]

    def refuse(self) -> None:
        """Raise if all rows were seen and a column held the counts in every one."""
        if self.left and len(self._ends) > 1:
            raise copied(self._column, self._others[self.left[0]])


def copied(column: str, other: str) -> HoldfastError:
    """The error that names a copy."""
    return HoldfastError(
        f"the column {other!r} holds the counts of {column!r} once more, and would be "
        "published unchanged. Hint: drop it from the table."
    )


def is_count(cell: Any, count: int) -> bool:
    """Whether a cell says this count, as a number or in digits."""
    try:
        return bool(float(cell) == count)
    except (TypeError, ValueError, OverflowError):
        return False
