"""Whole numbers that people give."""

import operator
from typing import Any

from holdfast.errors import HoldfastError


def whole_number(value: Any, name: str, *, least: int, most: int, hint: str) -> int:
    """A whole number of a range as an int, also from numpy; True is none.

    >>> whole_number(3, "contributions", least=1, most=9, hint="as many as one person adds")
    3
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise HoldfastError(
            f"`{name}` must be a whole number from {least} to {most}, got {value!r:.40}. "
            f"Hint: {hint}."
        )
    return number
