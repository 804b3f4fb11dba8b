"""What a count may be: whole numbers from 0 to 2^53; bad ones are named by row, never by value."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import is_missing

MAX_COUNT = 2**53
"""The largest count there may be; up to here floats hold whole numbers exactly."""

MISSING = -1
"""Stands for a count that is not known."""

_HINTS = {
    "is missing": "fill in the count, 0 where there is nobody, or name the code for what is not "
    "known with `missing`, --missing ''",
    "is negative": "correct it in the source, or name the code for what is not known with "
    "`missing`, --missing -999",
    "is infinite": "correct it in the source; every category needs its count",
    "is not a whole number": "give counts, not rates or averages",
    "may have a mark between thousands": "write a thousand as 1000; of a CSV file the mark may be "
    "named instead, with `thousands`, --thousands where it stands between thousands, and with "
    "`decimal`, --decimal where it stands before decimals; in a workbook make such text numbers",
    "is written with an exponent": "write all its digits, a million as 1000000",
    "is larger than 2^53": "it looks like an identifier, or a code for a missing count",
    "is a boolean": "tally rows of persons with `holdfast.count_by` first",
    "is text": "convert it to an integer: digits only, no codes such as <5; marks in numbers of a "
    "CSV file are named with `thousands`, --thousands and `decimal`, --decimal",
    "is not a number": "name the column that holds the counts",
}
_TEXT_COUNT = re.compile(r"[ \t]*0*([0-9]{1,16})(?:\.(?!000(?!0))0+)?[ \t]*")
"""Digits, and zeros as decimals; not three of them: 3.000 is three thousand in half of Europe."""
_TEXT_GROUPED = re.compile(
    r"[0-9]+\.000|[1-9][0-9]{0,2}(?:([.,_ '\u2019\u00a0\u2009\u202f])[0-9]{3}(?:\1[0-9]{3})*)"
)
_TEXT_EXPONENT = re.compile(r"[0-9]+(?:[.,][0-9]+)?[eE][+-]?[0-9]+")
_TEXT_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_TEXT_MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", ".", "-", "?"}
_TEXT_INFINITE = {"inf", "infinity", "-inf", "-infinity", "+inf", "+infinity"}
_BOOLEAN, _TEXT, _REAL = (bool, np.bool_), (str, bytes), (Decimal, Real)


def series_counts(series: Any, where: str, missing: Sequence[Any] = ()) -> Integers:
    """The counts in a narwhals series; `where` is what an error calls it."""
    if series.dtype.is_integer() or series.dtype.is_float():
        try:
            gaps = series.is_null().to_numpy().astype(np.bool_)
            values = (series.fill_null(0) if gaps.any() else series).to_numpy()
        except Exception:  # 128-bit integers have no place in numpy
            return _object_counts(series.to_list(), where, missing)
        if values.dtype.kind in "iuf":
            return _number_counts(values, gaps, where, missing)
    return _object_counts(series.to_list(), where, missing)


def array_counts(values: NDArray[Any], where: str, missing: Sequence[Any] = ()) -> Integers:
    """The counts in an array of any dtype; `MISSING` where it has a code for what is not known."""
    if values.dtype.kind in "iuf":
        return _number_counts(values, np.zeros(len(values), dtype=np.bool_), where, missing)
    if values.dtype.kind in "OUSTb":
        return _object_counts(values.tolist(), where, missing)
    raise BadCount(where, [(0, "is not a number")])


def _number_counts(
    values: NDArray[Any], gaps: Marks, where: str, missing: Sequence[Any]
) -> Integers:
    codes, blank = Codes(missing), gaps | (values != values)
    unknown = np.isin(values, codes.numbers) & ~blank if codes.numbers else np.zeros_like(blank)
    if codes.empty:
        unknown |= blank
    elif blank.any():  # it is an error, which is told of with all others
        values = np.where(blank, np.nan, values)
    values = np.where(unknown, 0, values) if unknown.any() else values
    values = values.astype(np.float64) if values.dtype.kind == "f" else values
    with np.errstate(invalid="ignore"):
        good = (values >= 0) & (values <= MAX_COUNT)
        if values.dtype.kind == "f":
            good &= values == np.floor(values)
    if not good.all():
        bad = np.flatnonzero(~good).tolist()
        kinds = [_number_problem(value) or "is not a number" for value in values[~good].tolist()]
        raise BadCount(where, list(zip(bad, kinds, strict=True)))
    counts: Integers = values.astype(np.int64)
    counts[unknown] = MISSING
    return counts


def _object_counts(cells: list[Any], where: str, missing: Sequence[Any]) -> Integers:
    gaps = list(map(Codes(missing).has, cells)) if missing else [False] * len(cells)
    cells = [0 if gap else cell for gap, cell in zip(gaps, cells, strict=True)]
    bad = [(row, problem) for row, problem in enumerate(map(_problem, cells)) if problem]
    if any(problem == "is text" for _, problem in bad):
        raise _text_column(where, cells)
    if bad:
        raise BadCount(where, bad)
    counts = np.array(list(map(int, cells)), dtype=np.int64)
    counts[gaps] = MISSING
    return counts


class Codes:
    """Codes that mean that a count is not known: text as it stands in a file, or numbers.

    >>> codes = Codes(["-999", ""])
    >>> [codes.has(cell) for cell in (-999, "-999 ", None, "", 0, "9")]
    [True, True, True, True, False, False]
    """

    def __init__(self, codes: Sequence[Any]) -> None:
        self.texts = {str(code).strip(" \t") for code in codes if not is_missing(code)}
        """As they stand in a file of text."""
        self.numbers = [float(text) for text in self.texts if _TEXT_NUMBER.fullmatch(text)]
        """Those that are numbers."""
        self.empty = "" in self.texts or any(map(is_missing, codes))
        """Whether no count at all is one of them."""

    def has(self, cell: Any) -> bool:
        """Whether a cell holds one of them."""
        if is_missing(cell):
            return self.empty
        if isinstance(cell, str):
            return cell.strip(" \t") in self.texts
        return isinstance(cell, _REAL) and not isinstance(cell, _BOOLEAN) and cell in self.numbers


def read_codes(missing: Any) -> tuple[Any, ...]:
    """One code or several. One that a count may be is refused: which rows have just that count
    would be published, and one person more or less would have a row vanish.

    >>> read_codes([-999, "", "NA"]), read_codes("x")
    ((-999, '', 'NA'), ('x',))
    >>> read_codes([99])
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `missing` names 99, which a count may be: ...
    """
    one = isinstance(missing, str) or not isinstance(missing, Iterable)
    codes = (missing,) if one else tuple(missing)
    for text in sorted(Codes(codes).texts):
        code = _read_as(text)
        if code >= 0 and code == math.floor(code):
            raise HoldfastError(
                f"`missing` names {text}, which a count may be: the release would tell exactly "
                "which rows have it, and a row would vanish when one person comes or goes. Hint: "
                "give counts that are not known a code of their own in the table, such as -999 or "
                "an empty cell."
            )
    return codes


def _read_as(code: str) -> float:
    """The number that people and programs would read a code as; NaN where it is not a number."""
    grouped = _TEXT_GROUPED.fullmatch(code) is not None
    try:
        number = float(re.sub(r"[., _'\u2019\u00a0\u2009\u202f]" if grouped else ",", "", code))
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def text_counts(cells: list[str], where: str, missing: Sequence[Any] = ()) -> Integers:
    """The counts in a column of text; `MISSING` where it has a code for what is not known."""
    counts = text_values(cells, missing)
    bad = np.flatnonzero(counts < MISSING).tolist()
    if bad:
        raise BadCount(where, [(row, text_problem(cells[row])) for row in bad])
    return counts


def text_values(cells: list[str], missing: Sequence[Any] = ()) -> Integers:
    """The same, and -2 where a cell holds no count.

    >>> text_values(["3", " 4.0", "", "x"], missing=[""])
    array([ 3,  4, -1, -2])
    """
    matches = map(_TEXT_COUNT.fullmatch, cells)
    numbers = (int(m[1]) if m else -2 for m in matches)
    counts = np.fromiter(numbers, dtype=np.int64, count=len(cells))
    counts[counts > MAX_COUNT] = -2
    if missing:
        counts[list(map(Codes(missing).has, cells))] = MISSING
    return counts


def text_problem(cell: str) -> str:
    """What is wrong with a cell of text that holds no count."""
    cell = cell.strip().lower()
    if written := _written(cell):
        return written
    if cell in _TEXT_MISSING:
        return "is missing"
    if cell in _TEXT_INFINITE:
        return "is infinite"
    number = Decimal(cell) if _TEXT_NUMBER.fullmatch(cell) else Decimal(0)
    return _number_problem(number) or "is text"


def _written(cell: str) -> str | None:
    """What is wrong with how a number is written.

    >>> _written("3.000"), _written("1 204"), _written("1e6"), _written("3.00")
    ('may have a mark between thousands', 'may have a mark between thousands', \
'is written with an exponent', None)
    """
    if _TEXT_GROUPED.fullmatch(cell):
        return "may have a mark between thousands"
    return "is written with an exponent" if _TEXT_EXPONENT.fullmatch(cell) else None


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
    odd = [row for row in rows if not _TEXT_COUNT.fullmatch(str(cells[row]))]
    problems = ((row, _written(str(cells[row])) or "is text") for row in odd or rows[:1])
    return BadCount(where, list(problems))


class BadCount(HoldfastError):
    """Cells that do not hold a count: how many, of which kind, and the first row of each."""

    def __init__(self, where: str, bad: Sequence[tuple[int, str]]) -> None:
        first: dict[str, int] = {}
        for row, problem in bad:
            first.setdefault(problem, row)
        hints = "; ".join(_HINTS[problem] for problem in first)
        super().__init__(
            f"{where} must hold whole numbers from 0 to 2^53, but {_which(bad, first)}. "
            f"Hint: {hints}."
        )
        self.where, self.bad = where, bad

    def after(self, rows: int, file: str) -> HoldfastError:
        """The same, where the rows were counted from the middle of a file."""
        if not rows and not file:
            return self
        moved = BadCount(self.where, [(row + rows, problem) for row, problem in self.bad])
        return HoldfastError(f"`{file}`: {moved}") if file else moved


def _which(bad: Sequence[tuple[int, str]], first: dict[str, int]) -> str:
    """One bad row, or how many of each kind.

    >>> _which([(2, "is missing"), (5, "is missing")], {"is missing": 2})
    '2 rows do not: data row 3 is missing (one of 2 such rows)'
    """
    if len(bad) == 1:
        return f"data row {bad[0][0] + 1} {bad[0][1]}"
    numbers = Counter(problem for _, problem in bad)
    parts = (
        f"data row {row + 1} {problem}"
        + (f" (one of {numbers[problem]:,} such rows)" if numbers[problem] > 1 else "")
        for problem, row in first.items()
    )
    return f"{len(bad):,} rows do not: {', '.join(parts)}"
