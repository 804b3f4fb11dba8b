"""Linear dependence: in exact arithmetic, or in floats up to a tolerance.

python-flint's rationals are used where they are installed; they are faster, and change
nothing else.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any

import numpy as np

from holdfast.paper.theory.epsilon import Array

Sparse = dict[int, Any]
SINGULAR = 1e-10  # relative; float vectors below this are dependent


def dependency(vectors: Sequence[Array] | Array) -> Array | None:
    """Coefficients, not all zero, with which the vectors add up to zero; None if there are none.

    >>> dependency([np.array([Fraction(1), Fraction(2)]), np.array([Fraction(2), Fraction(4)])])
    array([Fraction(-2, 1), Fraction(1, 1)], dtype=object)
    >>> dependency([np.array([1.0, 0.0]), np.array([1.0, 1.0])]) is None
    True
    """
    if not len(vectors):
        return None
    if vectors[0].dtype == object:
        return next(dependencies(vectors), None)
    return _float_dependency(vectors)


def dependencies(vectors: Sequence[Array] | Array) -> Iterator[Array]:
    """A basis of all dependencies of exact vectors: the kernel of the matrix with these columns."""
    number, back = _arithmetic()
    length = len(vectors[0])
    echelon: dict[int, Sparse] = {}
    for index, vector in enumerate(vectors):
        row = _sparse(vector, number)
        row[length + index] = number(1)  # which vectors were used, and how often
        rest = _reduce(row, echelon, length)
        if rest is not None:
            coefficients = np.full(len(vectors), Fraction(0), dtype=object)
            for key, value in rest.items():
                coefficients[key - length] = back(value)
            yield coefficients


def solve(vectors: Sequence[Array], total: Array) -> Array | None:
    """The exact coefficients with which independent vectors add up to `total`, if any.

    >>> solve([np.array([Fraction(2), Fraction(4)])], np.array([Fraction(1), Fraction(2)]))
    array([Fraction(1, 2)], dtype=object)
    """
    coefficients = dependency([*vectors, total])
    return None if coefficients is None else np.asarray(-coefficients[:-1] / coefficients[-1])


def independent(vectors: Sequence[Array] | Array) -> list[int]:
    """The places of the exact vectors that do not depend on those before them."""
    number, _ = _arithmetic()
    echelon: dict[int, Sparse] = {}
    return [k for k, v in enumerate(vectors) if _reduce(_sparse(v, number), echelon) is None]


def whole(vector: Any) -> Array:
    """An exact vector times the least number that makes it whole."""
    scale = lcm(*(value.denominator for value in vector))
    return np.array([int(value * scale) for value in vector], dtype=object)


def _reduce(row: Sparse, echelon: dict[int, Sparse], length: int | None = None) -> Sparse | None:
    """Eliminate; a new pivot row is kept, a row without entries below `length` is returned."""
    while row:
        lead = min(row)
        if length is not None and lead >= length:
            return row
        if lead not in echelon:
            first = row[lead]
            echelon[lead] = {key: value / first for key, value in row.items()}
            return None
        factor = row[lead]
        for key, value in echelon[lead].items():
            left = row.get(key, 0) - factor * value
            if left:
                row[key] = left
            else:
                row.pop(key, None)
    return row


def _sparse(vector: Array, number: Callable[[Any], Any]) -> Sparse:
    return {i: number(value) for i, value in enumerate(vector) if value}


@cache
def _arithmetic() -> tuple[Callable[[Any], Any], Callable[[Any], Fraction]]:
    """From a Fraction to the numbers that are calculated with, and back."""
    try:
        from flint import fmpq
    except ImportError:  # the extra `exact` is not installed
        return Fraction, Fraction
    return (
        lambda value: fmpq(value.numerator, value.denominator),
        lambda value: Fraction(int(value.p), int(value.q)),
    )


def _float_dependency(vectors: Sequence[Array] | Array) -> Array | None:
    some = np.stack(list(vectors[: len(vectors[0]) + 1]), axis=1)  # more cannot be independent
    sizes = np.linalg.norm(some, axis=0)
    coefficients = np.zeros(len(vectors))
    if not sizes.all():
        coefficients[int(np.argmin(sizes))] = 1.0
        return coefficients
    _, singular, rows = np.linalg.svd(some / sizes)
    if len(singular) == len(sizes) and singular[-1] > SINGULAR * singular[0]:
        return None
    coefficients[: len(sizes)] = rows[-1] / sizes
    return coefficients
