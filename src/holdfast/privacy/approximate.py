"""Approximate privacy: delta as an exact number."""

from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.privacy.rational import exact_fraction

SMALLEST_DELTA = Fraction(1, 10**12)


def exact_delta(delta: Any, *, least: Fraction | int = SMALLEST_DELTA) -> Fraction:
    """Delta as a Fraction, 0 for pure privacy; a float means the decimal that it prints as.

    `least` is the smallest that the arithmetic of a caller can tell from 0, here that of integer
    weights; with 0 every delta will do.

    >>> exact_delta("1e-6"), exact_delta(0)
    (Fraction(1, 1000000), Fraction(0, 1))
    """
    value = exact_fraction(delta, "delta")
    if value != 0 and not least <= value < 1:
        allowed = f"0, or from {float(least):g} to below 1" if least else "0 or more and below 1"
        raise HoldfastError(
            f"`delta` must be {allowed}, got {delta!s:.40}. "
            "Hint: well below one over the number of people; 1e-6 is usual."
        )
    return value
