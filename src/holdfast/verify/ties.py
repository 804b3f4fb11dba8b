"""The public order of rows with equal noisy counts, as docs/match.md has it."""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers

Words = NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_FEW, _ROUNDS = 32, 8
AT_A_TIME = 1 << 18  # rows of ties whose places are held


def _hash(word: Words) -> Words:
    """The last step of SplitMix64."""
    word = (word ^ word >> np.uint64(30)) * _FIRST
    word = (word ^ word >> np.uint64(27)) * _SECOND
    return word ^ word >> np.uint64(31)


def places(seed: int, group: Integers, noisy: Integers, rows: Integers) -> Integers:
    """The place of each row among its ties, tie after tie: the arrays say of which group, noisy
    count and number of rows each tie is, and its rows stand in table order.

    >>> places(7, np.zeros(2, int), np.zeros(2, int), np.array([5, 1])).tolist()
    [2, 0, 1, 4, 3, 0]
    >>> sorted(places(7, np.zeros(1, int), np.array([3]), np.array([40]))) == list(range(40))
    True
    """
    key = np.zeros(len(rows), dtype=np.uint64)
    for part in (np.full(len(rows), seed, dtype=np.uint64), group, noisy, rows):
        key = _hash((key + _GOLDEN) ^ part.astype(np.uint64))
    ends = np.cumsum(rows)
    cuts = np.searchsorted(ends, np.arange(0, ends[-1], AT_A_TIME), side="right")
    cuts = np.unique(np.append(cuts, len(rows))).tolist()
    some = [_places(key[first:end], rows[first:end]) for first, end in pairwise(cuts)]
    return np.concatenate(some)


def _places(key: Words, rows: Integers) -> Integers:
    tie = np.repeat(np.arange(len(rows)), rows)
    number = np.arange(len(tie)) - np.repeat(np.cumsum(rows) - rows, rows)
    few = np.flatnonzero(rows[tie] <= _FEW)
    hashes = _hash(key[tie[few]] + number[few].astype(np.uint64))
    place = number.astype(np.uint64)
    place[few[np.lexsort((hashes, tie[few]))]] = number[few]
    outside = np.flatnonzero(rows[tie] > _FEW)
    high = np.array([math.isqrt(size - 1) + 1 for size in rows.tolist()])
    while len(outside):
        ties = tie[outside]
        place[outside] = _turned(key[ties], rows[ties], high[ties], place[outside])
        outside = outside[place[outside] >= rows[ties]]
    return place.astype(np.int64)


def _turned(key: Words, rows: Integers, high: Integers, place: Words) -> Words:
    """Eight turns of the columns and rows of the rectangles in which the places stand."""
    wide, tall = (-(-rows // high)).astype(np.uint64), high.astype(np.uint64)
    down, across = np.divmod(place, wide)
    for turn in range(1, _ROUNDS + 1):
        key = key + _GOLDEN
        if turn % 2:
            down = (down + _amount(across + key, tall)) % tall
        else:
            across = (across + _amount(down + key, wide)) % wide
    return np.asarray(down * wide + across)


def _amount(word: Words, size: Words) -> Words:
    """Pseudorandom amounts below size."""
    word = word * _FIRST
    word = (word ^ word >> _HALF) * _SECOND
    return (word >> _HALF) * size >> _HALF
