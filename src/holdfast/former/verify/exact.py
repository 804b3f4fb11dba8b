"""Integers that cannot wrap around, for arrays: products of 128 bits, and e^x from below."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]
_BITS = 320
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_LOW_31, _HALF_31 = np.uint64(0x7FFFFFFF), np.uint64(31)
PLACES = 112  # binary places that a factor keeps when arrays are compared with it
NEARLY = 1e-14  # relative, and far more than three roundings to a double come to


def exp_from_below(x: Fraction) -> Fraction:
    """At most e^x, and closer to it than a part in 2^250, for 0 <= x <= 10.

    >>> float(exp_from_below(Fraction(1)))
    2.718281828459045
    """
    if not 0 <= x <= 10:
        raise ValueError("exp_from_below takes 0 <= x <= 10")
    one = 1 << _BITS
    term, total, k = one, one, 1
    while term:
        term = term * x.numerator // (x.denominator * k)  # cut off, so never above
        total += term
        k += 1
    return Fraction(total, one)


def product(a: Words, b: Words | int) -> tuple[Words, Words]:
    """The product of 64-bit integers as (high, low) words of 64 bits."""
    factor = np.asarray(b, dtype=np.uint64)
    a0, a1, b0, b1 = a & _LOW, a >> _HALF, factor & _LOW, factor >> _HALF
    low, middle_1, middle_2 = a0 * b0, a1 * b0, a0 * b1
    carry = (low >> _HALF) + (middle_1 & _LOW) + (middle_2 & _LOW)
    high = a1 * b1 + (middle_1 >> _HALF) + (middle_2 >> _HALF) + (carry >> _HALF)
    return high, (carry << _HALF) | (low & _LOW)


def part(a: Words, b: Words) -> Words:
    """⌊a b / 2^62⌋ for a up to 2^62 and b up to 2^63: in halves of 31 bits no sum reaches 2^64.

    >>> part(np.array([3], np.uint64), np.array([1 << 61], np.uint64)).tolist()
    [1]
    """
    a0, a1, b0, b1 = a & _LOW_31, a >> _HALF_31, b & _LOW_31, b >> _HALF_31
    middle = a1 * b0
    middle += a0 * b1
    a0 *= b0
    a0 >>= _HALF_31
    middle += a0
    middle >>= _HALF_31
    a1 *= b1
    a1 += middle
    return np.asarray(a1)


def exceeds(top: Words, bottom: Words, p: int, q: int) -> Mask:
    """Whether top / bottom > p / q, entry by entry; everything is at most 2^62."""
    high_1, low_1 = product(top, q)
    high_2, low_2 = product(bottom, p)
    return np.asarray((high_1 > high_2) | ((high_1 == high_2) & (low_1 > low_2)))


def ratios(top: Words, bottom: Words) -> NDArray[np.float64]:
    """top / bottom in doubles, relatively within 2^-51; 0 where the bottom is 0."""
    found = np.zeros(top.shape)
    np.divide(top, bottom, out=found, where=bottom > 0)
    return found


def above(a: Words, b: Words, factor: int) -> Mask:
    """Whether a > b factor / 2^112, entry by entry, exactly; `factor` lies below 2^127.

    Doubles settle all but what is nearly equal.

    >>> above(np.array([3, 2], np.uint64), np.array([1, 1], np.uint64), 2 << PLACES).tolist()
    [True, False]
    """
    found, limit = ratios(a, b), factor / (1 << PLACES)
    sure = np.asarray((found > limit * (1 + NEARLY)) | ((b == 0) & (a > 0)))
    close = ~sure & (found >= limit * (1 - NEARLY)) & (b > 0)
    if close.any():
        sure[close] = _exactly_above(a[close], b[close], factor)
    return sure


def _exactly_above(a: Words, b: Words, factor: int) -> Mask:
    """The same in words of 64 bits: a 2^112 against b times a factor of two words."""
    middle, _ = product(b, factor & ((1 << 64) - 1))
    high, more = product(b, factor >> 64)
    middle = middle + more
    high = high + (middle < more)
    top, next_to_top = a >> np.uint64(16), a << np.uint64(48)
    return np.asarray((high < top) | ((high == top) & (middle < next_to_top)))


def sums_by_row(rows: NDArray[np.int64], values: Words, n: int) -> NDArray[np.float64]:
    """The sums of values below 2^63 that share a row, as three limbs of 21 bits, each exact.

    A limb's sum stays below 2^53, where doubles are exact, for up to 2^32 values a row.
    """
    mask = np.uint64((1 << 21) - 1)
    limbs = [(values >> np.uint64(shift)) & mask for shift in (0, 21, 42)]
    return np.array([np.bincount(rows, weights=limb, minlength=n) for limb in limbs])


def from_limbs(limbs: NDArray[np.float64]) -> list[int]:
    """The whole numbers that `sums_by_row` holds in limbs."""
    low, middle, high = (part.astype(np.int64).tolist() for part in limbs)
    return [a + (b << 21) + (c << 42) for a, b, c in zip(low, middle, high, strict=True)]
