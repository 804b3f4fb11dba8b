"""The loop of `holdfast.tables.spans.joined`, compiled."""

import numpy as np
from numba import njit


def compiled(function):
    """The function, compiled; kept for the next process where there is a place for that."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


@compiled
def joined(data, starts, stops):
    """The bytes of spans, one after the other."""
    size = 0
    for k in range(len(starts)):
        size += stops[k] - starts[k]
    out, written = np.empty(size, np.uint8), 0
    for k in range(len(starts)):
        for at in range(starts[k], stops[k]):
            out[written] = data[at]
            written += 1
    return out
