"""Labels of a CSV block as hashes of their cells."""

import numpy as np
from numpy.typing import NDArray


def label_keys(block: NDArray[np.uint8], delimiter: int, at: int, rows: int) -> NDArray[np.uint64]:
    """The hashes of the cells of column `at`."""
    from holdfast.former.tables.stream.label_kernel import keys_of_cells

    keys = np.empty(rows, dtype=np.uint64)
    keys_of_cells(block, delimiter, at, keys)
    return keys
