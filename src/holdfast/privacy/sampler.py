"""Exact draws of integer noise: inverse transform of random words against integer thresholds.

A law on the integers is given by its exact cumulative probabilities t_j, irrational numbers. A
word of 64 random bits is the beginning of a uniform number U. It is compared with the whole parts
of 2^64 t_j, which are proved by rational arithmetic. Where the word equals one of them, its bits
do not decide: further ones are drawn and compared with the whole parts of 2^128 t_j, and so on.
So what comes out has the law itself, to its last tail. docs/noise.md has the proof.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers
from holdfast.privacy.randomness import Randomness
from holdfast.privacy.rational import exp_above, exp_below

WORD = 64  # random bits that decide nearly always
GUIDE = 16  # the first of them, by which most words are looked up
HALF = np.uint64(WORD // 2)  # two digits share a word
AT_A_TIME = 1 << 15  # draws side by side, which a processor's cache holds
BASE = 256  # of the digits of a level
LEAST_DECAY = Fraction(1, 32)  # of a table of levels, which then has about 2,800 entries at most
LARGEST_NOISE = 1 << 62  # noise stops there; `add_noise` caps its results well below

Words = NDArray[np.uint64]
MoreWords = Callable[[int], Iterator[int]]


@dataclass(frozen=True)
class Levels:
    r"""Signed level S of a staircase, `step` levels taken together.

    $P(S = 0) \propto 2r - 1$ and $P(S = \pm(q + 1)) \propto
    k \sum_{l = qW + 1}^{(q+1)W} e^{-\epsilon l}$, with $W$ the step.
    """

    epsilon: Fraction
    shift: int
    width: int
    step: int

    def floors(self, bits: int) -> tuple[list[int], int]:
        """Whole parts of 2^bits P(S <= s) in ascending order, and the s below the first. Infinitely
        many are 0, and 2^bits - 1: one of these is enough."""
        side = _settled(lambda work: self._side(bits, work), bits)
        mirrored = [(1 << bits) - 1 - below for below in side]  # floor(2^bits - x), x irrational
        return [*reversed(side), *mirrored], -len(side)

    def _side(self, bits: int, work: int) -> list[int] | None:
        """Whole parts of 2^bits P(S < -q) = 2^bits A e^(-epsilon step q), for q = 0, 1, …, to 0.

        With Z = 2r - 1 + 2k/(e^epsilon - 1), A is k/(e^epsilon - 1)/Z.
        """
        one, centre, k = 1 << work, 2 * self.width - 1, self.shift
        growth_low = floor(exp_below(self.epsilon, bits=work) * one) - one
        growth_high = ceil(exp_above(self.epsilon, bits=work) * one) - one
        low = k * one * one // (centre * growth_high + 2 * k * one)
        high = -(-k * one * one // (centre * growth_low + 2 * k * one))
        decay_low, decay_high = _decay(self.epsilon * self.step, work)
        floors: list[int] = []
        while (whole := low >> work - bits) == high >> work - bits:
            floors.append(whole)
            if whole == 0:
                return floors
            low, high = low * decay_low >> work, -(-high * decay_high >> work)
        return None


@dataclass(frozen=True)
class Digit:
    r"""A digit: $P(D = d) \propto e^{-\epsilon d}$ for $0 \le d <$ `base`."""

    epsilon: Fraction
    base: int

    def floors(self, bits: int) -> tuple[list[int], int]:
        """Whole parts of 2^bits P(D <= d) for all d but the last, and 0."""
        return _settled(lambda work: self._floors(bits, work), bits), 0

    def _floors(self, bits: int, work: int) -> list[int] | None:
        one = 1 << work
        decay_low, decay_high = _decay(self.epsilon, work)
        powers = [(decay_low, decay_high)]
        while len(powers) < self.base:
            low, high = powers[-1]
            powers.append((low * decay_low >> work, -(-high * decay_high >> work)))
        all_high, all_low = (one - power for power in powers[-1])
        floors = []
        for low, high in powers[:-1]:
            least = (one - high << bits) // all_high
            if all_low <= 0 or least != (one - low << bits) // all_low:
                return None
            floors.append(least)
        return floors


Law = Levels | Digit
"""A law on consecutive integers with irrational cumulative probabilities."""


def _settled(attempt: Callable[[int], list[int] | None], bits: int) -> list[int]:
    """The first result that so many bits of work settle, from twice as many to twice as many."""
    work = 2 * bits + WORD
    while (floors := attempt(work)) is None:
        work *= 2
    return floors


def _decay(x: Fraction, work: int) -> tuple[int, int]:
    """Integers not above and not below 2^work e^-x."""
    square = 1 << 2 * work
    one = 1 << work
    low = square // ceil(exp_above(x, bits=work) * one)
    return low, -(-square // floor(exp_below(x, bits=work) * one))


@lru_cache(maxsize=64)
def _floors(law: Law, bits: int) -> tuple[list[int], int]:
    return law.floors(bits)


class Inverse:
    """Draws of a law by inverse transform, `bits` of each word first."""

    def __init__(self, law: Law, bits: int = WORD) -> None:
        self.law, self.bits = law, bits
        floors, self.first = _floors(law, bits)
        self.floors: Words = np.array(floors, dtype=np.uint64)
        cells = min(GUIDE, bits)
        self._to_cell = np.uint64(WORD - cells)
        # A cell holds all words that begin alike. Without a threshold in it, it decides.
        cell_of = self.floors >> np.uint64(bits - cells)
        self.guide: Integers = np.searchsorted(cell_of, np.arange(1 << cells)).astype(np.int64)
        self.guide += self.first
        self.open = np.iinfo(np.int64).min
        self.guide[cell_of.astype(np.int64)] = self.open

    def draw(self, words: Words, more: MoreWords) -> Integers:
        """A draw for each word; `more(i)` goes on with further words for the i-th."""
        values: Integers = self.guide[words >> self._to_cell]
        at = np.flatnonzero(values == self.open)
        begun = words[at] >> np.uint64(WORD - self.bits)
        below = np.searchsorted(self.floors, begun, side="left")
        values[at] = below + self.first
        undecided = np.flatnonzero(below != np.searchsorted(self.floors, begun, side="right"))
        for i in undecided.tolist():
            values[at[i]] = self._resolve(int(begun[i]), more(int(at[i])))
        return values

    def _resolve(self, begun: int, words: Iterator[int]) -> int:
        """The draw of a number that begins with these bits, which do not decide."""
        bits = self.bits
        while True:
            begun, bits = begun << WORD | next(words), bits + WORD
            floors, first = _floors(self.law, bits)
            below = bisect_left(floors, begun)
            if below == bisect_right(floors, begun):
                return max(-LARGEST_NOISE, min(first + below, LARGEST_NOISE))


def uniform(size: int, words: Words, more: MoreWords, bits: int = WORD) -> Integers:
    """Uniform integers from 0 to size - 1, one for each word, by rejection."""
    if size == 1:
        return np.zeros(len(words), dtype=np.int64)
    bits = max(bits, (size - 1).bit_length())
    most = (1 << bits) // size * size  # a word of this size or above is drawn again
    numbers = words >> np.uint64(WORD - bits)
    if most < 1 << bits:
        for i in np.flatnonzero(numbers >= np.uint64(most)).tolist():
            begun = (word >> WORD - bits for word in more(i))
            numbers[i] = next(number for number in begun if number < most)
    return (numbers % np.uint64(size)).astype(np.int64)


class Sampler:
    """Exact draws of the discrete staircase.

    The absolute value of X is r + k (l - 1) + p with level l >= 1 and a uniform place p < k, or X
    is uniform on |X| < r, at level 0. Where levels fall off slowly, l - 1 = W q + R: the factors
    e^(-epsilon W q) and e^(-epsilon R) make q and R independent, and likewise the digits of R.
    """

    def __init__(
        self, epsilon: Fraction, shift: int, width: int, *, bits: int = WORD, base: int = BASE
    ) -> None:
        self.shift, self.width, self.bits, self.base = shift, width, bits, base
        self.step, self.digits = 1, list[Inverse]()
        while epsilon * self.step < LEAST_DECAY:
            self.digits.append(Inverse(Digit(epsilon * self.step, base), min(bits, WORD // 2)))
            self.step *= base
        self.levels = Inverse(Levels(epsilon, shift, width, self.step), bits)

    def draw(self, size: int, source: Randomness, stream: str, at: int) -> Integers:
        """Independent draws for the rows from `at` on."""
        noise = np.empty(size, dtype=np.int64)
        for start in range(0, size, AT_A_TIME):
            stop = min(start + AT_A_TIME, size)
            noise[start:stop] = self._draw(stop - start, source, stream, at + start)
        return noise

    def _draw(self, size: int, source: Randomness, stream: str, at: int) -> Integers:
        level = self.levels.draw(*_words(size, source, f"{stream} level", at))
        if self.shift == self.width == self.step == 1:
            return level
        most = LARGEST_NOISE // (self.step * self.shift) + 1
        beyond = (np.minimum(np.abs(level), most) - 1) * self.step
        for number, digit in enumerate(self.digits):
            if number % 2 == 0:
                words, more = _words(size, source, f"{stream} digit {number}", at)
            else:
                words, more = words << HALF, _more(source, f"{stream} digit {number}", at)
            beyond += digit.draw(words, more) * self.base**number
        if self.shift == self.width == 1:
            return np.asarray(np.sign(level) * np.minimum(beyond + 1, LARGEST_NOISE))
        return self._placed(level, beyond, *_words(size, source, f"{stream} place", at))

    def _placed(self, level: Integers, beyond: Integers, words: Words, more: MoreWords) -> Integers:
        """Noise from its level and a uniform place on that level."""
        place = uniform(self.shift, words, more, self.bits)
        absolute = np.minimum(self.width + beyond * self.shift + place, LARGEST_NOISE)
        noise: Integers = np.sign(level) * absolute
        centre = np.flatnonzero(level == 0)
        size = 2 * self.width - 1
        inside = uniform(size, words[centre], lambda i: more(int(centre[i])), self.bits)
        noise[centre] = inside - (self.width - 1)
        return noise


def _words(size: int, source: Randomness, stream: str, at: int) -> tuple[Words, MoreWords]:
    """A word for each row, and the further words of a row: the same however rows are cut."""
    return source.words(size, stream=stream, at=at), _more(source, stream, at)


def _more(source: Randomness, stream: str, at: int) -> MoreWords:
    def more(i: int) -> Iterator[int]:
        place = 0
        while True:
            yield int(source.words(1, stream=f"{stream}, row {at + i}", at=place)[0])
            place += 1

    return more
