"""Row-wise concentrating and convex count errors, and where they put the peaked scales."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.distributions import POWERS
from holdfast.paper.theory.decomposition import Decomposition
from holdfast.paper.theory.epsilon import Array, Number, is_exact, log, numbers, zeros
from holdfast.paper.theory.scales import peaked_matrix, peaked_weights, single_peaked


def error_weights(error: Any, *, n: int, z: Any = None, epsilon: Any) -> Array:
    """W of a count error: z_i |i-j| ("absolute"), z_i (i-j)^2 ("squared"), or the one given.

    >>> from holdfast.paper.theory import log, show
    >>> print(show(error_weights("absolute", n=2, z=["1/3", "2/3"], epsilon=log(2))))
      0 1/3
    2/3   0
    """
    if error is None:
        return zeros((n, n), is_exact(epsilon))
    if isinstance(error, str) and error in POWERS:
        if z is None:
            raise HoldfastError(f"`error={error!r}` needs `z`. Hint: or give a weight matrix.")
        distance = np.abs(np.arange(n)[:, None] - np.arange(n)) ** POWERS[error]
        shares = numbers(z, epsilon, "z")
        return np.asarray(shares[:, None] * numbers(distance, epsilon, "error"))
    weights = zeros(0, False) if isinstance(error, str) else numbers(error, epsilon, "error")
    if weights.shape != (n, n):
        raise HoldfastError(f"`error` must be 'absolute', 'squared' or a {n} x {n} weight matrix.")
    return weights


def count_error(matrix: Any, error: Any = "absolute", *, z: Any = None, epsilon: Any) -> Number:
    """⟨W, T⟩ for a mechanism T.

    >>> from holdfast.paper.theory import log
    >>> count_error([["2/3", "1/3"], ["1/3", "2/3"]], z=["1/2", "1/2"], epsilon=log(2))
    Fraction(1, 3)
    """
    t = numbers(matrix, epsilon, "matrix")
    weights = error_weights(error, n=len(t), z=z, epsilon=epsilon)
    return (weights * t).sum()  # type: ignore[no-any-return]


ROUNDING = 1e-12  # relative to a row's largest weight, for floats; exact numbers have none


def is_row_wise_concentrating(weights: Any) -> bool:
    """Whether every w_ij ≥ 0 is non-decreasing in |i - j|: being farther off never costs less.

    >>> is_row_wise_concentrating([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    True
    >>> is_row_wise_concentrating([[0, 1, 2], [1, 0, 2], [2, 1, 0]])  # row 1: 1 and 2 at distance 1
    False
    """
    for i, row in enumerate(_rows(weights)):
        left, right, slack = row[i::-1], row[i:], _slack(row)
        both = min(len(left), len(right))
        unequal = np.abs(left[:both] - right[:both]) > slack
        falling = np.diff(left if len(left) > both else right) < -slack
        if unequal.any() or falling.any() or row[i] < 0:
            return False
    return True


def is_row_wise_convex(weights: Any) -> bool:
    """Whether w_i,j+1 - w_ij is non-decreasing in j in every row.

    >>> is_row_wise_convex([[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    True
    >>> is_row_wise_convex([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    False
    """
    return all((np.diff(row, n=2) >= -_slack(row)).all() for row in _rows(weights))


def scale_errors(weights: Any, epsilon: Any) -> Array:
    """Entry (l, c): what the single-peaked scale at row l costs in column c, (W_c)ᵀΣ_l."""
    w = numbers(weights, epsilon, "weights")
    return np.asarray(peaked_matrix(len(w), epsilon).T @ w)


def best_columns(weights: Any, epsilon: Any) -> list[int]:
    """For every single-peaked scale the rightmost column in which it costs least.

    For a row-wise concentrating W they never decrease (the lemma behind the unfixed
    optimum); for a row-wise convex W the cost is convex in the column besides.

    >>> from holdfast.paper.theory import log
    >>> best_columns([[0, 1, 2], [1, 0, 1], [2, 1, 0]], log(2))
    [0, 1, 2]
    """
    costs = scale_errors(weights, epsilon)
    return [len(row) - 1 - int(np.argmin(row[::-1])) for row in costs]


def place_peaks(columns: Sequence[int], epsilon: Any) -> Decomposition:
    """The mechanism of U that puts all of single-peaked scale l into column columns[l].

    With `best_columns` of a row-wise concentrating W it minimises ⟨W, ·⟩ over U. With columns
    that never decrease it is an extreme point of U (docs/theory.md).

    >>> from holdfast.paper.theory import log, show
    >>> print(show(place_peaks([0, 0, 2], log(2)).matrix()))
    5/6 0 1/6
    2/3 0 1/3
    1/3 0 2/3
    """
    n = len(columns)
    if not all(0 <= column < n for column in columns):
        raise HoldfastError(f"`columns` must hold numbers from 0 to {n - 1}.")
    amounts = peaked_weights(n, epsilon)
    pieces = tuple(
        (int(column), single_peaked(n, peak), amounts[peak]) for peak, column in enumerate(columns)
    )
    return Decomposition(n=n, epsilon=epsilon, pieces=pieces)


def _rows(weights: Any) -> Array:
    array = weights
    plain = isinstance(weights, np.ndarray) and weights.dtype == np.float64
    if not plain or not np.isfinite(weights).all():
        exact = np.array(weights, dtype=object)
        floats = any(isinstance(value, float | np.floating) for value in exact.flat)
        array = numbers(exact, 1 if floats else log(2), "weights")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise HoldfastError("`weights` must be a square matrix.")
    return np.asarray(array)


def _slack(row: Array) -> Any:
    return ROUNDING * np.abs(row).max() if row.dtype.kind == "f" else 0
