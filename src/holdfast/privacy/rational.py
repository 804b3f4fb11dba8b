"""Exact bounds on e^x and ln x, in integers: the arithmetic behind every certificate.

Each function names the direction in which it rounds.
"""

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

from holdfast.errors import HoldfastError

BITS = 256


@lru_cache(maxsize=256)
def exp_below(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A rational not above e^x, for x >= 0, and by default relatively closer than 2^-200 to it.

    The Taylor series of e^x has positive terms; each is rounded down to a multiple of
    2^-bits and the rest of the series is left out, so the sum cannot exceed e^x.

    >>> exp_below(Fraction(0))
    Fraction(1, 1)
    >>> exp_below(Fraction(1)) > Fraction("2.71828182845904523536028747")
    True
    """
    if x < 0:
        raise ValueError("exp_below takes x >= 0")
    term = total = 1 << bits
    k = 0
    while term:
        k += 1
        term = term * x.numerator // (x.denominator * k)
        total += term
    return Fraction(total, 1 << bits)


def exp_above(x: Fraction, *, bits: int = BITS) -> Fraction:
    """A rational not below e^x, for x >= 0, and by default relatively closer than 2^-200 to it.

    Every term of the Taylor series is rounded up to a multiple of 2^-bits. From the last term
    on, each is at most half of the one before, so that term once more covers the rest.

    >>> exp_above(Fraction(0))
    Fraction(1, 1)
    >>> exp_above(Fraction(1)) < Fraction("2.71828182845904523536028748")
    True
    """
    if x < 0:
        raise ValueError("exp_above takes x >= 0")
    if x == 0:
        return Fraction(1)
    term = total = 1 << bits
    k = 0
    while term > 1 or k + 1 < 2 * x:
        k += 1
        term = -(-term * x.numerator // (x.denominator * k))
        total += term
    return Fraction(total + term, 1 << bits)


def exact_fraction(number: Any, name: str) -> Fraction:
    """A number as a Fraction; a float means the decimal number that it prints as."""
    if isinstance(number, bool):
        raise HoldfastError(f"`{name}` must be a number, got {number}.")
    try:
        if isinstance(number, Decimal):
            return _from_decimal(number)
        if isinstance(number, Rational):
            return Fraction(number)
        if isinstance(number, str):
            text = number.strip()
            return Fraction(text) if "/" in text else _from_decimal(Decimal(text))
        return Fraction(Decimal(repr(float(number))))
    except (ValueError, TypeError, OverflowError, ZeroDivisionError, InvalidOperation):
        raise HoldfastError(
            f"`{name}` must be a finite number, got {number!r:.40}. "
            "Hint: write it as 0.5 or 1/2, with a decimal point."
        ) from None


def _from_decimal(number: Decimal) -> Fraction:
    if number.is_finite() and abs(number.adjusted()) > 400:  # 1e999999999 has as many digits
        raise ValueError
    return Fraction(number)
