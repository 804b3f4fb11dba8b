"""Formulas such as `homicides ~ log(population) + C(state)`, and the columns they stand for.

Terms are joined by `+`; `a:b` is a product, `a*b` is `a + b + a:b`; `- 1` leaves the intercept out.
A factor is a column, a function of one (log, log1p, log10, sqrt, exp), or `C(column)` for a column
whose values are names; a column of texts is one by itself. `offset(...)` enters with coefficient 1.
Nothing that is typed is ever run.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from holdfast.answers.conditions import as_numbers, cell_texts
from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, numbered, one_line

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "log": np.log, "log1p": np.log1p, "log10": np.log10, "sqrt": np.sqrt, "exp": np.exp,
}  # fmt: skip
_FACTOR = re.compile(r"(?:(?P<function>\w+)\()?(?P<column>`[^`]+`|[^\s():*+~`-][^():*+~`]*?)\)?")
_MARKS = re.compile(r"(?<=\d)[,.'\s](?=\d)")
MOST_LEVELS = 500

Cells = Callable[[str], Sequence[Any]]


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
class Block:
    """The columns that one term contributes to a design, as far as they are public."""

    names: tuple[str, ...]
    values: Floats = field(repr=False)
    """Of shape (rows, columns)."""
    counts: tuple[Factor, ...] = ()
    """Factors that are private counts, by which the columns are yet to be multiplied."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """The regressors of a formula, of the rows in which none is missing.

    `at(counts)` is the matrix for these values of the private counts among them.
    """

    blocks: tuple[Block, ...]
    offset: Floats = field(repr=False)
    used: Marks = field(repr=False)
    """Which rows have all that the formula asks for."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the coefficients."""
        return tuple(name for block in self.blocks for name in block.names)

    def at(self, counts: Callable[[str], Integers]) -> Floats:
        """The matrix, of shape (rows, coefficients); `counts` gives a private column's values."""
        matrices = []
        for block in self.blocks:
            values = block.values
            for factor in block.counts:
                values = values * of_counts(factor, counts(factor.column))[:, None]
            matrices.append(values)
        return np.concatenate(matrices, axis=1)


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
        return [tuple(map(_factor, text.split(":")))]
    factors = list(map(_factor, text.split("*")))
    return [each for size in range(len(factors)) for each in combinations(factors, size + 1)]


def _factor(text: str) -> Factor:
    match = _FACTOR.fullmatch(text.strip())
    if match is None or ("(" in text) != text.strip().endswith(")"):
        raise _unreadable(f"{one_line(text)!r:.40} is neither a column nor a function of one")
    function = match["function"] or ""
    if function and function != "C" and function not in FUNCTIONS:
        names = ", ".join(FUNCTIONS)
        raise _unreadable(f"{function!r:.40} is not one of {names}, C, offset")
    return Factor(match["column"].strip("`").strip(), function)


def design(formula: Formula, cells: Cells, private: Sequence[str], rows: int) -> Design:
    """The regressors of a formula; `cells` gives a public column, `private` names the counts."""
    blocks = [Block(names=("Intercept",), values=np.ones((rows, 1)))] if formula.intercept else []
    for term in formula.terms:
        label, values, counts = [""], np.ones((rows, 1)), []
        for factor in term:
            if factor.column in private:
                if factor.function == "C":
                    raise HoldfastError("a private count cannot be taken as names, by C(...).")
                some, columns = [str(factor)], np.ones((rows, 1))
                counts.append(factor)
            else:
                reference = formula.intercept or len(term) > 1
                some, columns = _block(factor, cells(factor.column), reference)
            label = [f"{a}:{b}" if a else b for a in label for b in some]
            values = np.einsum("ri,rj->rij", values, columns).reshape(rows, -1)
        blocks.append(Block(names=tuple(label), values=values, counts=tuple(counts)))
    offset = np.zeros(rows)
    if formula.offset:
        offset = numbers_of(formula.offset, cells(formula.offset.column))
    used = np.isfinite(offset)
    for block in blocks:
        used &= np.isfinite(block.values).all(axis=1)
    kept = tuple(
        Block(names=each.names, values=each.values[used], counts=each.counts) for each in blocks
    )
    if not kept:
        raise HoldfastError("the formula has no regressors and no intercept.")
    return Design(blocks=kept, offset=offset[used], used=used)


def numbers_of(factor: Factor, cells: Sequence[Any]) -> Floats:
    """The values of a factor that is a number; NaN where the cell is empty."""
    texts = cell_texts(cells)
    numbers = as_numbers(texts)
    if numbers is None:
        raise _no_numbers(factor.column, texts)
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


def of_counts(factor: Factor, counts: Integers) -> Floats:
    """A function of counts; noisy ones below 0, which no count is, are taken as 0 by it."""
    if not factor.function:
        return counts.astype(np.float64)
    if factor.function in ("log", "log10", "exp"):
        raise HoldfastError(
            f"{factor} cannot be taken of a private count, which may be 0 or large. "
            f"Hint: log1p({factor.column}) or sqrt({factor.column})."
        )
    return np.asarray(FUNCTIONS[factor.function](np.maximum(counts, 0)), dtype=np.float64)


def _block(factor: Factor, cells: Sequence[Any], reference: bool) -> tuple[list[str], Floats]:
    texts = cell_texts(cells)
    if factor.function != "C" and (factor.function or as_numbers(texts) is not None):
        return [str(factor)], numbers_of(factor, cells)[:, None]
    levels = sorted(set(texts) - {""})
    alike = sum(as_numbers([_MARKS.sub("", text)]) is not None for text in levels)
    if factor.function != "C" and 2 * alike > len(levels):
        raise _no_numbers(factor.column, texts)
    if not 2 <= len(levels) <= MOST_LEVELS:
        raise HoldfastError(
            f"the column {factor.column!r:.60} has {len(levels):,} values as names, and 2 to "
            f"{MOST_LEVELS} can be used."
        )
    kept = levels[1:] if reference else levels
    number = {level: place for place, level in enumerate(kept)}
    places = np.array([number.get(text, -1) for text in texts])
    values = (places[:, None] == np.arange(len(kept))).astype(np.float64)
    values[[text == "" for text in texts]] = np.nan
    return [f"{factor.column}[{level}]" for level in kept], values


def _no_numbers(column: str, texts: Sequence[str]) -> HoldfastError:
    odd = [text for text in texts if as_numbers([text]) is None]
    return HoldfastError(
        f"the column {column!r:.60} holds no number, as it is written, in "
        f"{numbered(len(odd), 'row')} of {len(texts):,}, such as {odd[0]!r:.40}. Hint: release it "
        "with numbers alone, or name the marks of a CSV file when it is released, with "
        f"`thousands`, --thousands and `decimal`, --decimal; a formula takes C({column}) as names."
    )


def _unreadable(why: str) -> HoldfastError:
    return HoldfastError(
        f'the formula cannot be read: {why}. Hint: such as "deaths ~ log(population) + state".'
    )
