"""What a count may be: whole numbers from 0 to 2^53; a bad one is named by row, never by value."""

import math
import re
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError

MAX_COUNT = 2**53
"""The largest count there may be; up to here floats hold whole numbers exactly."""

_HINTS = {
    "is missing": "fill in the count, 0 where there is nobody",
    "is negative": "correct it in the source; every category needs its count",
    "is infinite": "correct it in the source; every category needs its count",
    "is not a whole number": "give counts, not rates or averages",
    "is larger than 2^53": "it looks like an identifier, or a code for a missing count",
    "is a boolean": "tally rows of persons with `holdfast.count_by` first",
    "is text": "convert it to an integer: digits only, no separators, no codes such as <5",
    "is not a number": "name the column that holds the counts",
}
_TEXT_COUNT = re.compile(r"[ \t]*0*([0-9]{1,16})(?:\.0+)?[ \t]*")
_TEXT_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_TEXT_MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", ".", "-", "?"}
_TEXT_INFINITE = {"inf", "infinity", "-inf", "-infinity", "+inf", "+infinity"}
_BOOLEAN, _TEXT, _REAL = (bool, np.bool_), (str, bytes), (Decimal, Real)
_MISSING_TYPES = {"NoneType", "NAType", "NaTType", "MaskedConstant"}


def series_counts(series: Any, where: str) -> Integers:
    """The counts in a narwhals series; `where` is what an error calls it."""
    if series.null_count():
        raise BadCount(where, int(series.is_null().to_numpy().argmax()), "is missing")
    try:
        values = series.to_numpy()
    except Exception:  # 128-bit integers have no place in numpy
        values = np.fromiter(series.to_list(), dtype=object, count=len(series))
    return array_counts(values, where)


def array_counts(values: NDArray[Any], where: str) -> Integers:
    """The counts in an array of any dtype."""
    kind = values.dtype.kind
    if kind == "O":
        return _object_counts(values.tolist(), where)
    if kind not in "iuf":
        if kind in "UST":
            raise _text_column(where, values.tolist())
        raise BadCount(where, 0, "is a boolean" if kind == "b" else "is not a number")
    values = values.astype(np.float64) if kind == "f" else values
    with np.errstate(invalid="ignore"):
        good = (values >= 0) & (values <= MAX_COUNT) & (values == np.floor(values))
    if not good.all():
        row = int(good.argmin())
        raise BadCount(where, row, _number_problem(values[row]) or "is not a number")
    return values.astype(np.int64)


def _object_counts(cells: list[Any], where: str) -> Integers:
    if set(map(type, cells)) == {float}:
        return array_counts(np.array(cells, dtype=np.float64), where)
    for row, problem in enumerate(map(_problem, cells)):
        if problem == "is text":
            raise _text_column(where, cells)
        if problem:
            raise BadCount(where, row, problem)
    return np.array(list(map(int, cells)), dtype=np.int64)


def text_problem(cell: str) -> str:
    """What is wrong with a cell of text that holds no count."""
    return _text_problem(cell.strip().lower())


def text_counts(cells: list[str], where: str) -> Integers:
    """The counts in a column of text."""
    matches = map(_TEXT_COUNT.fullmatch, cells)
    counts = np.array([int(m[1]) if m else -1 for m in matches], dtype=np.int64)
    bad = (counts < 0) | (counts > MAX_COUNT)
    if bad.any():
        row = int(bad.argmax())
        raise BadCount(where, row, text_problem(cells[row]))
    return counts


def _text_problem(cell: str) -> str:
    if cell in _TEXT_MISSING:
        return "is missing"
    if cell in _TEXT_INFINITE:
        return "is infinite"
    number = Decimal(cell) if _TEXT_NUMBER.fullmatch(cell) else Decimal(0)
    return _number_problem(number) or "is text"


def _problem(value: Any) -> str | None:
    if type(value) is int and 0 <= value <= MAX_COUNT:
        return None
    if isinstance(value, _BOOLEAN):
        return "is a boolean"
    if isinstance(value, _TEXT):
        return "is text"
    if isinstance(value, _REAL):
        return _number_problem(value)
    return "is missing" if is_missing(value) else "is not a number"


def _number_problem(value: Any) -> str | None:
    if (isinstance(value, Decimal) and value.is_nan()) or value != value:
        return "is missing"
    if 0 <= value <= MAX_COUNT:
        return None if value == int(value) else "is not a whole number"
    if value in (math.inf, -math.inf):
        return "is infinite"
    return "is negative" if value < 0 else "is larger than 2^53"


def _text_column(where: str, cells: list[Any]) -> HoldfastError:
    """Text in a data frame: names the cell that kept the column from being read as numbers."""
    rows = [row for row, cell in enumerate(cells) if isinstance(cell, _TEXT)]
    odd = (row for row in rows if not _TEXT_COUNT.fullmatch(str(cells[row])))
    return BadCount(where, next(odd, rows[0]), "is text")


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value, in any library."""
    return type(value).__name__ in _MISSING_TYPES or (isinstance(value, float) and value != value)


class BadCount(HoldfastError):
    """A cell that does not hold a count; its row is named."""

    def __init__(self, where: str, row: int, problem: str) -> None:
        super().__init__(
            f"{where} must hold whole numbers from 0 to 2^53, but data row {row + 1} {problem}. "
            f"Hint: {_HINTS[problem]}."
        )
        self.where, self.row, self.problem = where, row, problem

    def after(self, rows: int, file: object) -> HoldfastError:
        """The same, where the rows were counted from the middle of a file."""
        return HoldfastError(f"`{file}`: {BadCount(self.where, self.row + rows, self.problem)}")
