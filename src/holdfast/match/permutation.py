"""Public permutations of ties, by a seed: no memory, no sorting, the same on every machine."""

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers

Words = NDArray[np.uint64]

FEW = 32  # rows: up to there hashes are ranked, as rounds on so few places show in their pairs
ROUNDS = 8
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
HALF = np.uint64(32)


class Ties:
    """Sets of rows of a group that have the same noisy count, each with its own permutation.

    Its key depends on seed, group, noisy count and number of rows. Up to 32 rows are ranked by a
    hash of their number. More of them stand in a rectangle of a·b places, a = ⌈√n⌉, b = ⌈n/a⌉,
    whose columns and rows are turned in eight rounds by pseudorandom amounts. Each round can be
    undone, so all are a bijection of the rectangle. A place of n or above is moved again until it
    lies below n: as a bijection consists of cycles, that is a bijection of the places below n.

    >>> ties = Ties(7, np.zeros(2, int), np.array([0, 3]), np.array([5, 40]))
    >>> ties.place(np.zeros(5, int), np.arange(5))
    array([2, 0, 1, 4, 3])
    >>> bool((np.sort(ties.place(np.ones(40, int), np.arange(40))) == np.arange(40)).all())
    True
    """

    def __init__(self, seed: int, group: Integers, value: Integers, rows: Integers) -> None:
        """`seed` has up to 64 bits; the arrays say of which rows each set consists."""
        self._keys: Words = np.zeros(len(rows), dtype=np.uint64)
        for part in (np.full(len(rows), seed, dtype=np.uint64), group, value, rows):
            self._keys = _mixed((self._keys + GOLDEN) ^ part.astype(np.uint64))
        self._rows = rows.astype(np.uint64)
        self._high = _root(rows).astype(np.uint64)
        self._wide = (self._rows + self._high - np.uint64(1)) // self._high

    def place(self, tie: Integers, number: Integers) -> Integers:
        """The place of the row of each number, from 0, in the permutation of its set."""
        place = number.astype(np.uint64)
        few = self._rows[tie] <= FEW
        place[few] = self._ranked(tie[few], place[few])
        walking = np.flatnonzero(~few)
        while len(walking):
            moved = self._moved(tie[walking], place[walking])
            place[walking] = moved
            walking = walking[moved >= self._rows[tie[walking]]]
        return place.astype(np.int64)

    def _ranked(self, tie: Integers, number: Words) -> Words:
        rows, keys = self._rows[tie], self._keys[tie]
        hashed = _mixed(keys + number)
        rank: Words = np.zeros(len(tie), dtype=np.uint64)
        for other in range(int(rows.max(initial=0))):
            rank += (_mixed(keys + np.uint64(other)) < hashed) & (other < rows)
        return rank

    def _moved(self, tie: Integers, place: Words) -> Words:
        high, wide, key = self._high[tie], self._wide[tie], self._keys[tie]
        down: Words = place // wide
        across: Words = place - down * wide
        for _ in range(ROUNDS // 2):
            down = _turned(down, high, across + (key := key + GOLDEN))
            across = _turned(across, wide, down + (key := key + GOLDEN))
        return np.asarray(down * wide + across)


def _turned(place: Words, size: Words, word: Words) -> Words:
    """(place + amount) mod size, with an amount below size that the word determines."""
    word *= FIRST
    word ^= word >> HALF
    word *= SECOND
    word >>= HALF
    word *= size
    word >>= HALF
    word += place
    turned: Words = np.minimum(word, word - size)  # a difference below 0 is a large word
    return turned


def _mixed(words: Words) -> Words:
    """SplitMix64's last step, a bijection: one bit changes each with probability a half."""
    words = (words ^ words >> np.uint64(30)) * FIRST
    words = (words ^ words >> np.uint64(27)) * SECOND
    return words ^ words >> np.uint64(31)


def _root(size: Integers) -> Integers:
    """⌈√size⌉, exactly."""
    root = np.sqrt(size.astype(np.float64)).astype(np.int64)
    root += root * root < size
    root -= (root - 1) * (root - 1) >= size
    return root
