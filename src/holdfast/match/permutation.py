"""Public permutations of ties, by a seed: no memory, no sorting, the same on every machine."""

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers

ROUNDS = 6
GOLDEN = 0x9E3779B97F4A7C15
Words = NDArray[np.uint64]


def mixed(words: Words) -> Words:
    """SplitMix64's finalizer: a bijection of 64 bits that mixes them well [Steele et al. 2014]."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def tie_keys(seed: int, group: Integers, value: Integers, rows: Integers) -> Words:
    """A key of 64 bits for each set of ties: `rows` rows of a group with this noisy count."""
    key = mixed(np.full(len(group), seed % (1 << 64), dtype=np.uint64) + np.uint64(GOLDEN))
    for part in (group, value, rows):
        key = mixed((key ^ part.astype(np.uint64)) + np.uint64(GOLDEN))
    return key


def permuted(number: Integers, size: Integers, key: Words) -> Integers:
    """The place of `number` in the permutation of 0 … size - 1 that belongs to a key.

    Numbers stand in a rectangle of a·b >= size places, a = ⌈√size⌉, b = ⌈size/a⌉. Six rounds turn
    each row of it, then each column, by pseudorandom amounts; each round can be undone, so all are
    a bijection of the rectangle. A place beyond `size` is moved again, until it lies below: since
    a bijection consists of cycles, that is a bijection of the numbers below `size`.

    >>> sorted(permuted(np.arange(5), np.full(5, 5), np.full(5, 7, np.uint64)).tolist())
    [0, 1, 2, 3, 4]
    """
    high = _root(size)
    wide = -(-size // high)
    place = number.astype(np.int64, copy=True)
    walking = np.arange(len(place))
    while len(walking):
        moved = _round_trip(place[walking], high[walking], wide[walking], key[walking])
        place[walking] = moved
        walking = walking[moved >= size[walking]]
    return place


def _round_trip(place: Integers, high: Integers, wide: Integers, key: Words) -> Integers:
    down, across = np.divmod(place, wide)
    for turn in range(0, ROUNDS, 2):
        down = _turned(down, across, high, key, turn)
        across = _turned(across, down, wide, key, turn + 1)
    return down * wide + across


def _turned(moved: Integers, by: Integers, size: Integers, key: Words, turn: int) -> Integers:
    """(moved + amount) mod size, with an amount that key, `by` and turn determine."""
    word = mixed(key + by.astype(np.uint64) + np.uint64((turn + 1) * GOLDEN % (1 << 64)))
    amount = (word >> np.uint64(32)) * size.astype(np.uint64) >> np.uint64(32)
    moved = moved + amount.astype(np.int64)
    return np.where(moved >= size, moved - size, moved)


def _root(size: Integers) -> Integers:
    """⌈√size⌉, exactly."""
    root = np.sqrt(size.astype(np.float64)).astype(np.int64)
    root += root * root < size
    root -= (root - 1) * (root - 1) >= size
    return root
