"""Values of a request as a command line, Python and a record write them."""

import os
from fractions import Fraction
from typing import Any


def in_words(value: Any) -> list[str]:
    """The words on a command line for a value in Python.

    >>> in_words({"state": "NE"}), in_words(True), in_words([-999, ""])
    (['state=NE'], ['yes'], ['-999', ''])
    """
    if value is True:
        return ["yes"]
    if isinstance(value, dict):
        return [f"{name}={number}" for name, number in value.items()]
    if isinstance(value, list | tuple):
        return [word for each in value for word in in_words(each)]
    return [str(value)]


def exact_text(number: Fraction) -> str:
    """An exact number as people write it: with a decimal point where that is exact.

    >>> exact_text(Fraction(1, 10)), exact_text(Fraction(1, 3)), exact_text(Fraction(2))
    ('0.1', '1/3', '2')
    """
    for digits in range(13):
        if (scaled := number * 10**digits).denominator == 1:
            return f"{scaled.numerator / 10**digits:.{digits}f}" if digits else str(number)
    return str(number)


def plain(value: Any) -> Any:
    """A checked value as Python takes it: text for exact numbers, paths and periods, lists.

    >>> plain((Fraction(1, 2), 3, None))
    ['0.5', 3, None]
    """
    if value is None or isinstance(value, bool | int | float | str | dict):
        return value
    if isinstance(value, Fraction | os.PathLike):
        return exact_text(value) if isinstance(value, Fraction) else os.fspath(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value)
