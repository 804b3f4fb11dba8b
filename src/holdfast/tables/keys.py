"""Labels as keys of 64 bits, which equal cells have in common; whether one came twice."""

import os
from collections.abc import Sequence

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.spans import Bytes, Keys, hashed, mixed

LABELS = 10_000_000
"""So many different labels are remembered, in 80 MiB and as much again while they are sorted."""
_SLOTS, _FIRST_BITS = 1 << 16, np.uint64(64 - 16)  # in a processor's cache
_SECRET = np.frombuffer(os.urandom(8), dtype=np.uint64)[0]  # nobody can choose labels that collide


def keys_between(data: Bytes, starts: Integers, ends: Integers) -> Keys:
    """The keys of the bytes from each start to its end.

    Cells are taken in eight bytes at a time, and mixed with a secret of this process: two in ten
    million have the same key with a chance of three in a million.

    >>> data = np.frombuffer(b"Kent,Ely,Kent,", np.uint8)
    >>> keys = keys_between(data, np.array([0, 5, 9]), np.array([4, 8, 13]))
    >>> (keys[0] == keys[2], keys[0] == keys[1])
    (np.True_, np.False_)
    """
    return hashed(data, starts, ends, _SECRET)


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
