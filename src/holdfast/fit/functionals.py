"""What is asked of how many rows have each count: numbers from a histogram, or from many draws.

Each takes distinct counts, rising, and rows with each in the last axis, and gives a number for each
entry of the others. `holdfast.request.questions` names them.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers

Functional = Callable[[Integers, Floats], Floats]
NEARLY = 1e-9  # of all rows, by which a quantile may be missed by rounding
HALF_A_ROW = 0.5  # by which a draw has a row, or one more


def functional(estimator: str | Functional, parameters: Mapping[str, Any]) -> Functional:
    """A function of this module by its name, or one like them, with what else it takes.

    >>> functional("share_between", {"first": 0, "last": 3})(np.array([0, 7]), np.array([3.0, 1.0]))
    array(0.75)
    """
    return partial(globals()[estimator] if isinstance(estimator, str) else estimator, **parameters)


def one_by_one(function: Callable[[Integers, Floats], Any]) -> Functional:
    """A functional from a function of one histogram, which gives a number."""

    def of_each(values: Integers, rows: Floats) -> Floats:
        answers = [float(function(values, each)) for each in np.atleast_2d(rows)]
        return np.asarray(answers if np.ndim(rows) > 1 else answers[0])

    return of_each


def number_of_rows(values: Integers, rows: Floats) -> Floats:
    """All rows."""
    return np.asarray(rows.sum(axis=-1))


def share_between(values: Integers, rows: Floats, first: int, last: int | None) -> Floats:
    """The part of the rows with a count from `first` to `last`; without a last one, all above.

    >>> share_between(np.array([0, 3, 7]), np.array([2.0, 1.0, 1.0]), 3, None)
    array(0.5)
    """
    share = rows_between(values, rows, first, last) / number_of_rows(values, rows)
    return np.asarray(np.minimum(share, 1.0))


def rows_between(values: Integers, rows: Floats, first: int = 0, last: int | None = None) -> Floats:
    """The number of such rows."""
    inside = values >= first if last is None else (values >= first) & (values <= last)
    return np.asarray(np.maximum(rows[..., inside].sum(axis=-1), 0.0))


def total(values: Integers, rows: Floats) -> Floats:
    """The sum of all counts; a draw below 0, which no total is, is 0."""
    return np.asarray(np.maximum(rows @ values.astype(np.float64), 0.0))


def mean(values: Integers, rows: Floats) -> Floats:
    """The mean count."""
    return np.asarray(total(values, rows) / number_of_rows(values, rows))


def variance(values: Integers, rows: Floats) -> Floats:
    """The variance of the counts, over all rows."""
    middle = float(np.mean(mean(values, rows)))  # of all draws, so that squares stay small
    away, size = values - middle, number_of_rows(values, rows)
    return np.asarray(np.maximum(rows @ away**2 / size - (rows @ away / size) ** 2, 0.0))


def standard_deviation(values: Integers, rows: Floats) -> Floats:
    """Its root."""
    return np.asarray(np.sqrt(variance(values, rows)))


def gini(values: Integers, rows: Floats) -> Floats:
    """One less twice the area under the Lorenz curve; 0 where there is nothing to spread.

    >>> gini(np.array([0, 1]), np.array([[1.0, 1.0], [0.0, 2.0], [2.0, 0.0]])).tolist()
    [0.5, 0.0, 0.0]
    """
    amounts = rows * values
    whole = amounts.sum(axis=-1)
    area = (rows * (2 * np.cumsum(amounts, axis=-1) - amounts)).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - area / (whole * number_of_rows(values, rows))
    return np.asarray(np.where(whole > 0, np.clip(found, 0.0, 1.0), 0.0))


def quantile(values: Integers, rows: Floats, level: float) -> Floats:
    """The smallest count that at least this part of the rows does not exceed: of parts of rows,
    with half a row to spare.

    >>> quantile(np.array([0, 3, 7]), np.array([2.0, 1.0, 1.0]), 0.5)
    array(0.)
    """
    upto = np.cumsum(rows, axis=-1)
    wanted = np.maximum(np.ceil(level * upto[..., -1:] * (1 - NEARLY)), 1.0) - HALF_A_ROW
    place = (upto < wanted).sum(axis=-1)
    return np.asarray(values[np.minimum(place, len(values) - 1)], dtype=np.float64)


def maximum(values: Integers, rows: Floats) -> Floats:
    """The highest count that half a row at least has or exceeds."""
    above = np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1]
    place = np.maximum((above >= HALF_A_ROW).sum(axis=-1) - 1, 0)
    return np.asarray(values[place], dtype=np.float64)


def ends(
    drawn: Floats, estimate: float, level: float, *, whole: bool = False
) -> tuple[float, float]:
    """The middle `level` of draws, outwards to whole numbers where they are counts; the estimate
    is always in it.

    >>> ends(np.array([0.0, 4.0]), 2.5, 0.5), ends(np.array([0.2, 0.4]), 2.0, 0.5, whole=True)
    ((1.0, 3.0), (0.0, 2.0))
    """
    if not np.isfinite(drawn).all():
        return _open_ends(drawn, level)
    low, high = middle(drawn, level).tolist()
    return outwards(low, high, estimate, whole=whole)


def _open_ends(drawn: Floats, level: float) -> tuple[float, float]:
    """The same of draws some of which have no end; what is not a number may be any.

    >>> _open_ends(np.array([np.nan, 0.0, 1.0, np.inf]), 0.5)
    (0.0, inf)
    """
    at = int((1 - level) / 2 * len(drawn))
    low = np.sort(np.nan_to_num(drawn, nan=-np.inf, posinf=np.inf, neginf=-np.inf))[at]
    high = np.sort(np.nan_to_num(drawn, nan=np.inf, posinf=np.inf, neginf=-np.inf))[-1 - at]
    return float(low), float(high)


def middle(drawn: Floats, level: float) -> Floats:
    """Ends of the middle `level` of draws, which are in the last axis."""
    tail = (1 - level) / 2
    return np.asarray(np.quantile(drawn, [tail, 1 - tail], axis=-1))


def outwards(
    low: float, high: float, estimate: float, *, whole: bool = False
) -> tuple[float, float]:
    """Ends outwards to the estimate, and to whole numbers where they are counts."""
    if whole:
        low, high = math.floor(low + NEARLY), math.ceil(high - NEARLY)
    return min(low, estimate) + 0.0, max(high, estimate) + 0.0  # never -0.0
