"""The loops of `holdfast.tables.spans`, compiled: the same results in less time."""

import numpy as np
from numba import njit

MOST_DIGITS = 15
MIX, HALF = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)


def compiled(function):
    """The function, compiled; kept for the next process where there is a place for that."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


@compiled
def separators(data, delimiter, width):
    """Where delimiters and line ends are; nothing where records have not so many cells each."""
    number = 0
    for byte in data:
        number += (byte == delimiter) | (byte == 10)
    found, k, cell = np.empty(number, np.int64), 0, 0
    for at in range(len(data)):
        if data[at] == delimiter or data[at] == 10:
            cell += 1
            if (data[at] == 10) != (cell == width):
                return found[:0]
            if cell == width:
                cell = 0
            found[k] = at
            k += 1
    return found if cell == 0 else found[:0]


@compiled
def digits(data, starts, stops):
    """The numbers in spans of digits, and which spans are something else."""
    values = np.zeros(len(starts), np.int64)
    odd = np.zeros(len(starts), np.bool_)
    for row in range(len(starts)):
        left = stops[row] - starts[row]
        value, good = 0, 0 < left <= MOST_DIGITS
        if good:
            for at in range(starts[row], stops[row]):
                digit = data[at] - 48
                good = good and 0 <= digit <= 9
                value = 10 * value + digit
        values[row] = value if good else 0
        odd[row] = not good
    return values, odd


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


@compiled
def mixed(key):
    """Other bits, all of which depend on all."""
    key = (key ^ (key >> HALF)) * MIX
    key = (key ^ (key >> HALF)) * MIX
    return key ^ (key >> HALF)


@compiled
def hashed(data, starts, stops, secret):
    """A key for each span."""
    keys = np.empty(len(starts), np.uint64)
    for row in range(len(starts)):
        key = mixed(np.uint64(stops[row] - starts[row]) ^ secret)
        for first in range(starts[row], stops[row], 8):
            word = np.uint64(0)
            for at in range(min(first + 8, stops[row]) - 1, first - 1, -1):
                word = (word << np.uint64(8)) | np.uint64(data[at])
            key = mixed(key ^ word)
        keys[row] = key
    return keys
