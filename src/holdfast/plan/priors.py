"""Public priors of a table: last year's release, another region, or a named shape."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.plan.simulation import KnownTable, read_known

LONGEST = 1_000_000  # counts that a shape is followed for


def _geometric(k: Floats, mean: float) -> Floats:
    return k * math.log(mean / (1 + mean))


def _power(k: Floats, exponent: float, top: float) -> Floats:
    return np.where(k <= top, -exponent * np.log1p(k), -np.inf)


def _uniform(k: Floats, top: float) -> Floats:
    return np.where(k <= top, 0.0, -np.inf)


SHAPES: dict[str, tuple[Callable[..., Floats], tuple[str, ...]]] = {
    "geometric": (_geometric, ("MEAN",)),
    "powerlaw": (_power, ("EXPONENT", "TOP")),
    "uniform": (_uniform, ("TOP",)),
}
"""Log weights of each shape, and its numbers; any of them with more zeros as
"zeros:SHARE+SHAPE"."""
NAMES = ", ".join(":".join([name, *numbers]) for name, (_, numbers) in SHAPES.items())
HINT = (
    f"Hint: a CSV, Parquet or Excel file, the folder of a release, or one of {NAMES}, "
    "zeros:SHARE+ONE OF THESE, such as zeros:0.4+geometric:3."
)


def prior_table(
    prior: Any, rows: int | None, *, count: Any = None, within: Any = None, missing: Any = ()
) -> KnownTable:
    """A table like the one that is planned, of so many rows.

    >>> prior_table("zeros:0.5+uniform:1", 4).counts.tolist()
    [0, 0, 0, 1]
    """
    if isinstance(prior, str) and not _is_path(prior):
        if within is not None:
            raise HoldfastError(
                "`within` needs a prior that has this column. Hint: last year's table or release."
            )
        if rows is None:
            raise HoldfastError("`rows` is missing. Hint: the number of rows of the table.")
        return _shaped(prior, rows)
    if isinstance(prior, KnownTable):
        return prior if rows in (None, len(prior.counts)) else prior.resized(rows or 1)
    shown = read_known(prior, count=count, within=within, missing=missing)
    return prior_table(shown, rows)


def _is_path(text: str) -> bool:
    return bool(text) and (Path(text).exists() or Path(text).suffix[1:].isalpha())


def _shaped(prior: str, rows: int) -> KnownTable:
    """A table whose counts are the quantiles of a shape."""
    places = (np.arange(rows) + 0.5) / rows
    counts = np.searchsorted(np.cumsum(_shape(prior)), places)
    return KnownTable(name=prior, counts=counts.astype(np.int64), group=np.zeros(rows, np.int64))


def _shape(text: str) -> Floats:
    """Shares of counts 0, 1, …"""
    name, _, rest = text.partition("+")
    if rest:
        kind, _, number = name.partition(":")
        share = _number(number, text)
        if kind != "zeros" or not 0 <= share < 1:
            raise _no_shape(text)
        shares = (1 - share) * _shape(rest)
        shares[0] += share
        return shares
    name, *numbers = text.split(":")
    if name not in SHAPES or len(numbers) != len(SHAPES[name][1]):
        raise _no_shape(text)
    values = [_number(number, text) for number in numbers]
    if any(not 0 < value <= LONGEST for value in values):
        raise HoldfastError(f"`prior` {text!r:.60} has a number that is not positive. {HINT}")
    logs = SHAPES[name][0](np.arange(LONGEST, dtype=np.float64), *values)
    shares = np.exp(logs - logs.max())
    kept = int(np.searchsorted(np.cumsum(shares), (1 - 1e-12) * shares.sum())) + 1
    return np.asarray(shares[:kept] / shares[:kept].sum())


def _number(text: str, prior: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _no_shape(prior) from None


def _no_shape(text: str) -> HoldfastError:
    return HoldfastError(f"`prior` {text!r:.60} is neither a file nor a shape. {HINT}")
