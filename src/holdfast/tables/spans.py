"""Spans of bytes: where cells end, numbers in them, keys of them, and some of them put together.

Each is one NumPy passage over all spans at once. Loops compiled by numba were tried: they saved
less of a release of a million rows than numba takes to load.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks

Keys = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

MOST_DIGITS = 15  # any such number is below 2^53
_LF, _ZERO = 10, 48
_MIX, _HALF = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)


def separators(data: Bytes, delimiter: int, width: int) -> Integers | None:
    """Where delimiters and line ends are, a line for each record; None where the records have not
    so many cells each.

    >>> separators(np.frombuffer(b"a,b\\nc,d\\n", np.uint8), ord(","), 2).tolist()
    [[1, 3], [5, 7]]
    """
    return by_record(data, np.flatnonzero((data == delimiter) | (data == _LF)), width)


def by_record(data: Bytes, seps: Integers, width: int) -> Integers | None:
    """Delimiters and line ends, a line for each record, if each of these has so many."""
    if len(seps) % width:
        return None
    lines = seps.reshape(-1, width)
    ends = data[lines] == _LF
    return lines if ends[:, -1].all() and not ends[:, :-1].any() else None


def digits(data: Bytes, starts: Integers, stops: Integers) -> tuple[Integers, Marks]:
    """The numbers in spans that hold nothing but some digits, and which spans hold something else.

    >>> digits(np.frombuffer(b"12,x", np.uint8), np.array([0, 3]), np.array([2, 4]))
    (array([12,  0]), array([False,  True]))
    """
    left = stops - starts
    odd = (left == 0) | (left > MOST_DIGITS)
    values, power = np.zeros(len(starts), dtype=np.int64), 1
    for k in range(min(int(left.max(initial=0)), MOST_DIGITS)):
        there = left > k
        digit = data[np.maximum(stops - 1 - k, 0)] - np.uint8(_ZERO)
        odd |= there & (digit > 9)
        values += np.where(there, digit, 0) * np.int64(power)
        power *= 10
    values[odd] = 0
    return values, odd


def joined(data: Bytes, starts: NDArray[Any], stops: NDArray[Any]) -> Bytes:
    """The bytes of spans, one after the other."""
    sizes = stops - starts
    ends = np.cumsum(sizes)
    if not len(ends):
        return data[:0]
    places = np.repeat((starts - (ends - sizes)).astype(np.int32), sizes)
    places += np.arange(int(ends[-1]), dtype=np.int32)
    return data.take(places)


def words_of(data: Bytes, beyond: int) -> Keys:
    """The eight bytes from each place on, and from so many places beyond the last byte less 8."""
    padded = np.zeros(len(data) + beyond, dtype=np.uint8)
    padded[: len(data)] = data
    return np.ndarray((len(data) + beyond - 7,), "<u8", padded, strides=(1,))


def hashed(data: Bytes, starts: Integers, stops: Integers, secret: np.uint64) -> Keys:
    """A key for each span, from its bytes and its length: eight bytes at a time are mixed in."""
    words = words_of(data, beyond=8)
    left = stops - starts
    keys = mixed(left.astype(np.uint64) ^ secret)
    rows, at = None, starts  # all of them, while all have bytes left
    while len(at):
        if left.min() <= 0:
            more = left > 0
            rows = np.flatnonzero(more) if rows is None else rows[more]
            at, left = at[more], left[more]
            continue
        word = words[at]
        short = left < 8
        if short.any():
            gap = ((8 - left[short]) * 8).astype(np.uint64)
            word[short] = (word[short] << gap) >> gap
        if rows is None:
            keys = mixed(keys ^ word)
        else:
            keys[rows] = mixed(keys[rows] ^ word)
        at, left = at + 8, left - 8
    return keys


def mixed(keys: Keys) -> Keys:
    """Other bits for each key, all of which depend on all (a permutation of 64 bits)."""
    keys = (keys ^ (keys >> _HALF)) * _MIX
    keys = (keys ^ (keys >> _HALF)) * _MIX
    return keys ^ (keys >> _HALF)
