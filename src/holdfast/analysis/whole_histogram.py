"""A distribution as a table of whole rows."""

import numpy as np

from holdfast.arrays import Floats, Integers


def whole_histogram(shares: Floats, rows: int) -> Integers:
    """The histogram of `rows` rows that is nearest to these shares in its cumulative sums.

    >>> whole_histogram(np.array([0.5, 0.3, 0.2]), 4).tolist()
    [2, 1, 1]
    """
    cumulative = np.rint(np.cumsum(shares) * rows).astype(np.int64)
    cumulative[-1] = rows
    return np.diff(cumulative, prepend=0)
