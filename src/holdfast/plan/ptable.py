"""Perturbation tables of the cell-key method, as the R package ptable writes them."""

import os
from fractions import Fraction
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.plan.agencies import Published, cell_key
from holdfast.tables.csv_file import CsvFile

ROUNDING = Fraction(1, 10**6)
"""How far from 1 the probabilities of a row may add up to: a file holds rounded decimals."""
NoiseLaw = dict[int, Fraction]


def read_ptable(path: str | os.PathLike[str]) -> Published:
    """The cell-key method with the table in a file with the columns i, j and p.

    As the R package ptable and τ-ARGUS have them, p is the probability that a count i is published
    as j. Other columns are ignored; tables with `type` even and odd, for magnitudes, are refused.
    It may be a file of `pt_export`, for either of its tools, or the slot `pTable` written by
    `write.csv` or `write.csv2`.

    The decimals are taken as exact, and each row is divided by its sum, which must be 1 but for
    rounding.
    """
    table = CsvFile(Path(path)).held()
    kinds = {"all", *(table.column("type") if "type" in table.columns else [])}
    if kinds != {"all"}:
        raise HoldfastError(f"`{path}` is a table for magnitudes, of types {sorted(kinds)}.")
    cells = zip(*(table.column(name, "ptable") for name in ("i", "j", "p")), strict=True)
    rows: dict[int, NoiseLaw] = {}
    for number, (i, j, p) in enumerate(cells, 1):
        count, published, probability = _numbers(path, number, i, j, p)
        if probability:
            law = rows.setdefault(count, {})
            law[published - count] = law.get(published - count, Fraction(0)) + probability
    return cell_key(_normed(path, rows))


def _numbers(path: Any, number: int, i: str, j: str, p: str) -> tuple[int, int, Fraction]:
    try:
        numbers = int(i), int(j), Fraction(p.replace(",", "."))
    except ValueError:
        raise HoldfastError(
            f"`{path}`: data row {number} must have whole numbers i and j and a decimal p."
        ) from None
    if any(number < 0 for number in numbers):
        raise HoldfastError(f"`{path}`: data row {number} must have no negative number.")
    return numbers


def _normed(path: Any, rows: dict[int, NoiseLaw]) -> tuple[NoiseLaw, ...]:
    if sorted(rows) != list(range(len(rows))) or not rows:
        raise HoldfastError(f"`{path}` must have a law for each of the counts i = 0, 1, 2, ...")
    for count, law in rows.items():
        if abs(sum(law.values(), Fraction(-1))) > ROUNDING:
            raise HoldfastError(f"`{path}`: the probabilities of i = {count} must add up to 1.")
    return tuple({v: p / sum(law.values()) for v, p in rows[i].items()} for i, law in rows.items())


def usual_ptable() -> Published:
    r"""The method with the table that ptable's `create_cnt_ptable(D = 5, V = 3)` makes by default.

    The law of a count has the largest entropy among those with noise of at most 5 that keeps the
    count at 0 or more, mean 0, a variance of at most 3, and probabilities that do not fall from the
    lowest noise up to 0: $p_v \propto e^{a v + b v^2}$, and equal ones where these would fall. A
    count of 0 stays 0.
    """
    with as_file(files("holdfast") / "plan" / "data" / "ptable_5_3.csv") as path:
        return read_ptable(path)
