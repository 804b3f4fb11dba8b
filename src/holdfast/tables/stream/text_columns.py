"""Other columns of a CSV block: whether they hold the counts, and the hashes of their cells."""

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers
from holdfast.tables.copies import is_count


def holds_counts(block: NDArray[np.uint8], delimiter: int, at: int, counts: Integers) -> bool:
    r"""Whether the cells of column `at` say these counts, row by row.

    >>> block = np.frombuffer(b"a,3,3e0\nb,0, 0.0\n", np.uint8)
    >>> holds_counts(block, ord(","), 2, np.array([3, 0]))
    True
    >>> holds_counts(block, ord(","), 2, np.array([3, 1]))
    False
    """
    from holdfast.tables.stream.text_kernel import unlike

    row, position = 0, 0
    while True:
        row, position, start, end = unlike(block, delimiter, at, counts, row, position)
        if row == len(counts):
            return True
        if not is_count(_text(bytes(block[start:end])), int(counts[row])):
            return False
        row += 1


def _text(cell: bytes) -> str:
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        return cell.decode("cp1252", errors="replace")


def label_keys(block: NDArray[np.uint8], delimiter: int, at: int, rows: int) -> NDArray[np.uint64]:
    """The hashes of the cells of column `at`."""
    from holdfast.tables.stream.label_kernel import keys_of_cells

    keys = np.empty(rows, dtype=np.uint64)
    keys_of_cells(block, delimiter, at, keys)
    return keys
