"""Budgets and numbers: exact where e^ε is rational, float64 otherwise."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.privacy.budget import exact_epsilon

Array = NDArray[Any]
"""Fractions (dtype object) under an exact budget, float64 otherwise."""
Number = Fraction | float


@dataclass(frozen=True)
class Log:
    """The budget ε = ln(ratio) with a rational ratio; made by `log`.

    Everything in `holdfast.paper.theory` is exact under such a budget. Where a float is wanted, as
    in a constructor, it turns into one.
    """

    ratio: Fraction
    """e^ε."""

    def __float__(self) -> float:
        return math.log(self.ratio)

    def __str__(self) -> str:
        return f"ln {self.ratio}"


def log(ratio: Any) -> Log:
    """The exact budget ε = ln(ratio), for a rational ratio above 1.

    >>> log(2), float(log(2)), str(log("3/2"))
    (Log(ratio=Fraction(2, 1)), 0.6931471805599453, 'ln 3/2')
    """
    value = _rational(ratio, "ratio")
    if value <= 1:
        raise HoldfastError(f"`ratio` must be above 1, got {ratio}: it is e^ε, and ε > 0.")
    return Log(value)


def growth(epsilon: Any) -> Number:
    """e^ε: a Fraction for `log(...)`, else a float.

    >>> growth(log(2)), growth("0.5")
    (Fraction(2, 1), 1.6487212707001282)
    """
    if isinstance(epsilon, Log):
        return epsilon.ratio
    return _exp(epsilon) if isinstance(epsilon, float) else math.exp(exact_epsilon(epsilon))


@lru_cache(maxsize=64)
def _exp(epsilon: float) -> float:
    """Asked for again and again on the way to an extreme point."""
    return math.exp(exact_epsilon(epsilon))


def is_exact(epsilon: Any) -> bool:
    """Whether this budget makes the theory exact."""
    return isinstance(epsilon, Log)


def numbers(values: Any, epsilon: Any, name: str) -> Array:
    """`values` as an array of Fractions (exact budget) or of float64.

    >>> numbers(["1/3", 0], log(2), "z")
    array([Fraction(1, 3), Fraction(0, 1)], dtype=object)
    """
    array = np.array(values, dtype=object)
    if not is_exact(epsilon):
        return _floats(array, name)
    exact = np.empty(array.size, dtype=object)
    exact[:] = [_rational(value, name) for value in array.flat]
    return exact.reshape(array.shape)


def zeros(shape: int | tuple[int, ...], exact: bool) -> Array:
    """An array of zeros: Fractions, or float64."""
    return np.full(shape, Fraction(0), dtype=object) if exact else np.zeros(shape)


def identity(n: int) -> Array:
    """The exact identity matrix."""
    return np.array([[Fraction(i == k) for k in range(n)] for i in range(n)], dtype=object)


def _floats(array: Array, name: str) -> Array:
    try:
        plain = [float(Fraction(v) if isinstance(v, str) else v) for v in array.flat]
    except (TypeError, ValueError, ZeroDivisionError):
        raise HoldfastError(f"`{name}` must be an array of numbers.") from None
    if not all(map(math.isfinite, plain)):
        raise HoldfastError(f"`{name}` must hold finite numbers.")
    return np.array(plain, dtype=np.float64).reshape(array.shape)


def _rational(value: Any, name: str) -> Fraction:
    if isinstance(value, float | np.floating):
        raise HoldfastError(
            f"`{name}` holds a float, {value!r:.40}, where exact numbers are needed. "
            "Hint: give fractions or strings such as '1/3'; or a plain number as `epsilon`."
        )
    try:
        if isinstance(value, np.integer):
            return Fraction(int(value))
        if isinstance(value, Rational | Decimal | str) and not isinstance(value, bool):
            return Fraction(value)
    except (ValueError, ZeroDivisionError):
        pass
    raise HoldfastError(f"`{name}` must hold numbers, got {value!r:.40}.")


def show(matrix: Any) -> str:
    """A matrix or a vector as aligned text, fractions as the paper writes them.

    >>> from fractions import Fraction
    >>> print(show([[Fraction(1, 2), Fraction(0)], [Fraction(1), Fraction(10, 3)]]))
    1/2    0
      1 10/3
    """
    array = np.atleast_2d(np.asarray(matrix))
    cells = [[_cell(value) for value in row] for row in array]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
