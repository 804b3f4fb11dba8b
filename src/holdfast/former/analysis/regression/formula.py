"""Formulas such as `homicides ~ log(population) + C(state)`, and the columns they stand for.

Terms are joined by `+`; `a:b` is a product, `a*b` is `a + b + a:b`; `- 1` leaves the intercept out.
A factor is a column, a function of one (log, log1p, log10, sqrt, exp), or `C(column)` for a column
whose values are names; a column of texts is one by itself. `offset(...)` enters with coefficient 1.
Nothing that is typed is ever run.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Marks
from holdfast.errors import HoldfastError, one_line
from holdfast.former.analysis.conditions import as_numbers

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "log": np.log, "log1p": np.log1p, "log10": np.log10, "sqrt": np.sqrt, "exp": np.exp,
}  # fmt: skip
_FACTOR = re.compile(r"(?:(?P<function>\w+)\()?(?P<column>`[^`]+`|[^\s():*+~`-][^():*+~`]*?)\)?")
MOST_LEVELS = 500

Columns = Callable[[str], Sequence[Any]]


@dataclass(frozen=True)
class Factor:
    """A column, and the function that is taken of it."""

    column: str
    function: str = ""

    def __str__(self) -> str:
        return f"{self.function}({self.column})" if self.function else self.column


@dataclass(frozen=True)
class Formula:
    """What a formula says."""

    outcome: Factor
    terms: tuple[tuple[Factor, ...], ...]
    intercept: bool = True
    offset: Factor | None = None
    text: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns on the right."""
        factors = [factor for term in self.terms for factor in term]
        factors += [self.offset] if self.offset else []
        return tuple(dict.fromkeys(factor.column for factor in factors))


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """The regressors as numbers."""

    names: tuple[str, ...]
    matrix: Floats = field(repr=False)
    """A column for each name, a row for each row that is used."""
    offset: Floats = field(repr=False)
    used: Marks = field(repr=False)
    """Which rows have all that the formula asks for."""


def parse_formula(text: str) -> Formula:
    """What a formula says.

    >>> parse_formula("deaths ~ log(people) + poor*old - 1").terms[-1]
    (Factor(column='poor', function=''), Factor(column='old', function=''))
    """
    left, tilde, right = text.partition("~")
    if not tilde or not left.strip() or not right.strip():
        raise _unreadable("it has no outcome ~ regressors")
    terms: dict[tuple[Factor, ...], None] = {}
    intercept, offset = True, None
    for sign, term in re.findall(r"([+-]?)\s*((?:`[^`]*`|[^`+-])+)", right.strip()):
        body = term.strip()
        if body in ("0", "1"):
            intercept = (body == "1") == (sign != "-")
        elif sign == "-":
            raise _unreadable("only the intercept can be left out, by - 1")
        elif body.startswith("offset(") and body.endswith(")"):
            offset = _factor(body.removeprefix("offset(").removesuffix(")"))
        else:
            terms |= dict.fromkeys(_products(body))
    return Formula(_factor(left), tuple(terms), intercept, offset, one_line(text.strip()))


def _products(text: str) -> list[tuple[Factor, ...]]:
    if "*" not in text:
        return [tuple(_factor(part) for part in text.split(":"))]
    found: list[tuple[Factor, ...]] = [()]
    for part in text.split("*"):
        found += [(*before, _factor(part)) for before in found]
    return sorted(found[1:], key=len)


def _factor(text: str) -> Factor:
    match = _FACTOR.fullmatch(text.strip())
    if match is None or ("(" in text) != text.strip().endswith(")"):
        raise _unreadable(f"{one_line(text)!r:.40} is neither a column nor a function of one")
    function = match["function"] or ""
    if function and function != "C" and function not in FUNCTIONS:
        known = ", ".join(FUNCTIONS)
        raise _unreadable(f"{function!r:.40} is not one of {known}, C, offset")
    return Factor(match["column"].strip("`").strip(), function)


def design(formula: Formula, columns: Columns, rows: int) -> Design:
    """The regressors of a formula, of the rows in which none is missing."""
    names: list[str] = ["Intercept"] if formula.intercept else []
    blocks: list[Floats] = [np.ones((rows, 1))] if formula.intercept else []
    for term in formula.terms:
        label, block = [""], np.ones((rows, 1))
        for factor in term:
            some, values = _block(
                factor, columns(factor.column), formula.intercept or len(term) > 1
            )
            label = [f"{a}:{b}" if a else b for a in label for b in some]
            block = np.einsum("ri,rj->rij", block, values).reshape(rows, -1)
        names, blocks = names + label, [*blocks, block]
    offset = np.zeros(rows)
    if formula.offset:
        offset = numbers_of(formula.offset, columns(formula.offset.column))
    matrix = np.concatenate(blocks, axis=1) if blocks else np.empty((rows, 0))
    used = np.isfinite(matrix).all(axis=1) & np.isfinite(offset)
    _check(matrix[used], names)
    return Design(names=tuple(names), matrix=matrix[used], offset=offset[used], used=used)


def numbers_of(factor: Factor, cells: Sequence[Any]) -> Floats:
    """The values of a factor that is a number; NaN where the cell is empty."""
    numbers = as_numbers(texts_of(cells))
    if numbers is None:
        raise HoldfastError(
            f"the column {factor.column!r:.60} holds texts, and numbers are needed."
        )
    if not factor.function:
        return np.asarray(numbers, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.asarray(FUNCTIONS[factor.function](numbers), dtype=np.float64)
    if (~np.isfinite(values) & np.isfinite(numbers)).any():
        raise HoldfastError(
            f"{factor} has no value in some rows. Hint: log1p takes zeros, and rows can be left "
            "out with `where`."
        )
    return values


def texts_of(cells: Sequence[Any]) -> list[str]:
    """Cells as text; empty where nothing is known."""
    return [
        "" if cell is None or (isinstance(cell, float) and np.isnan(cell)) else str(cell)
        for cell in cells
    ]


def _block(factor: Factor, cells: Sequence[Any], reference: bool) -> tuple[list[str], Floats]:
    texts = texts_of(cells)
    if factor.function != "C" and (factor.function or as_numbers(texts) is not None):
        return [str(factor)], numbers_of(factor, cells)[:, None]
    levels = sorted(set(texts) - {""})
    if not 2 <= len(levels) <= MOST_LEVELS:
        raise HoldfastError(
            f"the column {factor.column!r:.60} has {len(levels):,} values as names, and 2 to "
            f"{MOST_LEVELS} can be used."
        )
    kept = levels[1:] if reference else levels
    values = np.array([[text == level for level in kept] for text in texts], dtype=np.float64)
    values[[text == "" for text in texts]] = np.nan
    return [f"{factor.column}[{level}]" for level in kept], values


def _check(matrix: Floats, names: Sequence[str]) -> None:
    rows, size = matrix.shape
    if not size or rows <= size:
        raise HoldfastError("the regression has fewer rows than coefficients.")
    scaled = matrix / np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    if np.linalg.matrix_rank(scaled) < size:
        raise HoldfastError(
            f"the regressors ({', '.join(names)[:200]}) say the same thing twice. Hint: leave one "
            "out."
        )


def _unreadable(why: str) -> HoldfastError:
    return HoldfastError(
        f'the formula cannot be read: {why}. Hint: such as "deaths ~ log(population) + state".'
    )
