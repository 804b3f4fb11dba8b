"""Labels as keys of 64 bits, which equal cells have in common; whether one came twice."""

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers

Keys = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

LABELS = 10_000_000
"""So many different labels are remembered, in 80 MiB and as much again while they are sorted."""
_MERGED_AT = 1 << 18
_SECRET = np.frombuffer(os.urandom(8), dtype=np.uint64)[0]  # nobody can choose labels that collide
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


def keys_between(data: Bytes, starts: Integers, ends: Integers) -> Keys:
    """The keys of the bytes from each start to its end.

    Cells are taken in eight bytes at a time, and mixed with a secret of this process: two in ten
    million have the same key with a chance of three in a million.

    >>> data = np.frombuffer(b"Kent,Ely,Kent,", np.uint8)
    >>> keys = keys_between(data, np.array([0, 5, 9]), np.array([4, 8, 13]))
    >>> (keys[0] == keys[2], keys[0] == keys[1])
    (np.True_, np.False_)
    """
    padded = np.zeros(len(data) + 8, dtype=np.uint8)
    padded[: len(data)] = data
    words: Keys = np.ndarray((len(data) + 1,), "<u8", padded, strides=(1,))
    left = ends - starts
    keys = _mixed(left.astype(np.uint64) ^ _SECRET)
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
            keys = _mixed(keys ^ word)
        else:
            keys[rows] = _mixed(keys[rows] ^ word)
        at, left = at + 8, left - 8
    return keys


def _mixed(keys: Keys) -> Keys:
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
    for own in columns:
        keys = _mixed(keys ^ own)
    return keys


class Repeats:
    """Whether a label came twice, as far as memory goes.

    >>> labels = Repeats()
    >>> labels.see(np.array([5, 7], dtype=np.uint64))
    >>> labels.see(np.array([7], dtype=np.uint64))
    >>> labels.found
    True
    """

    def __init__(self) -> None:
        self._held: Keys = np.empty(0, dtype=np.uint64)
        self._new: list[Keys] = []
        self._number, self._repeated = 0, False
        self.full = False
        """Whether labels came that were not looked at."""

    def see(self, keys: Keys) -> None:
        """Take in the keys of the next labels."""
        if self._repeated or self.full:
            return
        fresh = keys[: LABELS - self._number]
        self.full = len(fresh) < len(keys)
        self._new.append(fresh)
        self._number += len(fresh)
        if self._number - len(self._held) > max(len(self._held), _MERGED_AT):
            self._merge()

    @property
    def found(self) -> bool:
        """Whether one came twice."""
        self._merge()
        return self._repeated

    def _merge(self) -> None:
        if not self._new or self._repeated:
            return
        held = np.sort(np.concatenate([self._held, *self._new]))
        self._held, self._new = held, []
        self._repeated = bool((held[1:] == held[:-1]).any())
