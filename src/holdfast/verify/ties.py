"""The public order of rows with equal noisy counts, as docs/match.md has it, set by set."""

import math

import numpy as np

from holdfast.arrays import Integers

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_FEW, _ROUNDS = 32, 8


def _hash(word: int) -> int:
    """The last step of SplitMix64."""
    word = (word ^ word >> 30) * _FIRST & _WORD
    word = (word ^ word >> 27) * _SECOND & _WORD
    return word ^ word >> 31


def key_of(seed: int, group: int, noisy: int, rows: int) -> int:
    """The key of the set of rows of a group that have a noisy count."""
    key = 0
    for part in (seed, group, noisy, rows):
        key = _hash((key + _GOLDEN & _WORD) ^ (part & _WORD))
    return key


def places(key: int, rows: int) -> Integers:
    """The place among its ties of each of so many rows, in table order.

    >>> places(key_of(7, 0, 0, 5), 5).tolist()
    [2, 0, 1, 4, 3]
    >>> sorted(places(key_of(7, 0, 3, 40), 40).tolist()) == list(range(40))
    True
    """
    if rows <= _FEW:
        hashes = [_hash(key + number & _WORD) for number in range(rows)]
        order = sorted(range(rows), key=hashes.__getitem__)
        rank = np.empty(rows, dtype=np.int64)
        rank[order] = np.arange(rows)
        return rank
    place = np.arange(rows, dtype=np.uint64)
    outside = np.arange(rows)
    while len(outside):
        place[outside] = _turned(key, rows, place[outside])
        outside = outside[place[outside] >= rows]
    return place.astype(np.int64)


def _turned(key: int, rows: int, place: "np.typing.NDArray[np.uint64]") -> Integers:
    """Eight turns of the columns and rows of the rectangle in which the places stand."""
    high = math.isqrt(rows - 1) + 1
    wide = -(-rows // high)
    down, across = np.divmod(place, np.uint64(wide))
    for turn in range(1, _ROUNDS + 1):
        word = np.uint64(key + turn * _GOLDEN & _WORD)
        if turn % 2:
            down = (down + _amount(across + word, high)) % np.uint64(high)
        else:
            across = (across + _amount(down + word, wide)) % np.uint64(wide)
    return np.asarray(down * np.uint64(wide) + across)


def _amount(word: "np.typing.NDArray[np.uint64]", size: int) -> "np.typing.NDArray[np.uint64]":
    """A pseudorandom amount below size."""
    half = np.uint64(32)
    word = word * np.uint64(_FIRST)
    word = (word ^ word >> half) * np.uint64(_SECOND)
    return (word >> half) * np.uint64(size) >> half
