"""Spans of bytes: where cells end, numbers in them, and some of them put together; and labels as
keys of 64 bits, which equal cells have in common: whether one came twice.

Each is one NumPy passage over all spans at once. Loops compiled by numba were tried: they saved
less of a release of a million rows than numba takes to load.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks

Keys = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

MOST_DIGITS = 15  # any such number is below 2^53
_LF, _ZERO = 10, 48
_MIX, _HALF = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
LABELS = 10_000_000
"""So many different labels are remembered, in 80 MiB and as much again while they are sorted."""
_SLOTS, _FIRST_BITS = 1 << 16, np.uint64(64 - 16)  # in a processor's cache
_SECRET = np.frombuffer(os.urandom(8), dtype=np.uint64)[0]  # nobody can choose labels that collide


def by_record(data: Bytes, seps: Integers, width: int) -> Integers | None:
    """Where delimiters and line ends are, a line for each record; None where the records have not
    so many cells each.

    >>> by_record(np.frombuffer(b"a,b\\nc,d\\n", np.uint8), np.array([1, 3, 5, 7]), 2).tolist()
    [[1, 3], [5, 7]]
    """
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


def keys_between(data: Bytes, starts: Integers, ends: Integers) -> Keys:
    """The keys of the bytes from each start to its end.

    Cells are taken in eight bytes at a time, and mixed with their lengths and with a secret of this
    process: two in ten million have the same key with a chance of three in a million.

    >>> data = np.frombuffer(b"Kent,Ely,Kent,", np.uint8)
    >>> keys = keys_between(data, np.array([0, 5, 9]), np.array([4, 8, 13]))
    >>> (keys[0] == keys[2], keys[0] == keys[1])
    (np.True_, np.False_)
    """
    words = words_of(data, beyond=8)
    left = ends - starts
    keys = mixed(left.astype(np.uint64) ^ _SECRET)
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


def text_keys(texts: Sequence[str]) -> Keys:
    """The keys of texts, which are those of their bytes in UTF-8."""
    cells = [text.encode(errors="surrogatepass") for text in texts]
    ends = np.cumsum(np.fromiter(map(len, cells), dtype=np.int64, count=len(cells)))
    starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])[: len(cells)]
    return keys_between(np.frombuffer(b"".join(cells), np.uint8), starts, ends)


def joined_keys(columns: Sequence[Keys]) -> Keys:
    """The keys of rows, from those of their cells."""
    keys = np.full(len(columns[0]), _SECRET)
    for column in columns:
        keys = mixed(keys ^ column)
    return keys


def numbered(keys: Keys) -> tuple[Integers, Integers]:
    """For each row the number of its key among the different ones, and a row that has each.

    Keys are put in slots by their first bits: the row that comes last stands for its slot, and only
    rows with another key than that are sorted.

    >>> numbers, rows = numbered(text_keys(["Kent", "Ely", "Kent"]))
    >>> numbers[0] == numbers[2] != numbers[1], sorted(rows.tolist())
    (np.True_, [1, 2])
    """
    slot = keys >> _FIRST_BITS
    last = np.full(_SLOTS, -1, dtype=np.int32)
    last[slot] = np.arange(len(keys), dtype=np.int32)
    other = np.flatnonzero(keys[last[slot]] != keys)
    rows = last[last >= 0].astype(np.int64)
    last[last >= 0] = np.arange(len(rows), dtype=np.int32)
    numbers = last[slot].astype(np.int64)
    if len(other):
        _, first, inverse = np.unique(keys[other], return_index=True, return_inverse=True)
        numbers[other] = inverse + len(rows)
        rows = np.append(rows, other[first])
    return numbers, rows


def any_among(keys: Keys, few: Keys) -> bool:
    """Whether a key is one of a few."""
    marked = np.zeros(_SLOTS, dtype=np.bool_)
    marked[few >> _FIRST_BITS] = True
    return bool(np.isin(keys[marked[keys >> _FIRST_BITS]], few).any())


class Repeats:
    """Whether a label came twice, as far as memory goes.

    >>> labels = Repeats()
    >>> labels.see(np.array([5, 7], dtype=np.uint64))
    >>> labels.see(np.array([7], dtype=np.uint64))
    >>> labels.repeated
    True
    """

    def __init__(self) -> None:
        self._keys: Keys = np.empty(LABELS, dtype=np.uint64)  # memory as far as it is filled
        self._number = 0
        self.full = False
        """Whether labels came that were not looked at."""

    def see(self, keys: Keys) -> None:
        """Take in the keys of the next labels."""
        fresh = keys[: LABELS - self._number]
        self.full = self.full or len(fresh) < len(keys)
        self._keys[self._number : self._number + len(fresh)] = fresh
        self._number += len(fresh)

    @property
    def repeated(self) -> bool:
        """Whether one came twice."""
        keys = self._keys[: self._number]
        keys.sort()
        return bool((keys[1:] == keys[:-1]).any())
