"""Columns that are published as they are, and yet tell the counts."""

from typing import Any

from holdfast.errors import HoldfastError
from holdfast.table import CountTable, labels_of


def refuse_copies(rows: CountTable) -> None:
    """Raise if another column is the count column once more: it would be published unchanged.

    Counts that are all the same are let pass: any constant column might equal them by chance.

    >>> from holdfast.table import CsvTable, read_table
    >>> table = CsvTable(("n", "also"), [["3", "3.0"], ["0", "0"]])
    >>> refuse_copies(read_table(table, count="n"))
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: the column 'also' holds the counts of 'n' once more, and would \
be published unchanged. Hint: drop it from the table.
    """
    counts = rows.counts.tolist()
    if not rows.others or len(set(counts)) == 1:
        return
    table = rows.replace(rows.counts)
    for name in rows.others:
        if all(map(_same, labels_of(table, name), counts)):
            raise HoldfastError(
                f"the column {name!r} holds the counts of {rows.column!r} once more, and would be "
                "published unchanged. Hint: drop it from the table."
            )


def _same(cell: Any, count: int) -> bool:
    try:
        return bool(float(cell) == count)
    except (TypeError, ValueError, OverflowError):
        return False
