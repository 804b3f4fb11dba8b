"""Tables whose counts may be looked at: public ones, made ones, or on the trusted side; and their
releases with simulated noise: the same budget, noise and fit, and no ledger or bundle."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, one_line
from holdfast.fit.cells import choose_blocks
from holdfast.fit.histogram import Histogram, collected
from holdfast.measure.room import Room
from holdfast.privacy.randomness import randomness
from holdfast.release.load import load
from holdfast.release.release import Column
from holdfast.request import Request
from holdfast.tables import UNNAMED
from holdfast.tables.leaks.search import ROW_ORDER, TOTALS
from holdfast.tables.table import open_table


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownTable:
    """Counts that may be looked at, and the public group of each row."""

    name: str
    """Where it came from."""
    counts: Integers
    group: Integers
    labels: tuple[str, ...] = ("all rows",)
    """The name of each group; one where there are no groups."""

    @cached_property
    def whole(self) -> Histogram:
        """The true histogram of all rows."""
        return histogram_of(self.counts)

    def resized(self, rows: int) -> "KnownTable":
        """A table of so many rows like this one, with each group's part of them."""
        order = np.lexsort((self.counts, self.group))
        chosen = order[(np.arange(rows) * 2 + 1) * len(order) // (2 * rows)]
        groups, group = np.unique(self.group[chosen], return_inverse=True)
        return KnownTable(
            name=self.name,
            counts=self.counts[chosen],
            group=group,
            labels=tuple(self.labels[g] for g in groups),
        )


def read_known(
    source: Any, *, count: Any = None, within: Any = None, missing: Any = ()
) -> KnownTable:
    """A table of counts, or a release of one, with the group of each row.

    >>> read_known([3, 0, 1]).counts
    array([3, 0, 1])
    """
    name = one_line(os.fspath(source)) if isinstance(source, str | os.PathLike) else "a table"
    if isinstance(source, str | os.PathLike) and (Path(source) / "release.json").is_file():
        release = load(source)
        source, count = release.table, release.only.name if count is None else count
        name = f"the release {name}"
    asked = Request.read(count=count, within=within, missing=missing, epsilon=1).table_options
    public = (*asked.within.columns, ROW_ORDER, TOTALS)  # nothing of it is published
    table = open_table(source, asked, publish_anyway=public)
    if len(table.counts) > 1:
        raise HoldfastError("`count` must name one column here. Hint: look at one at a time.")
    (column,) = table.counts
    batches = [
        (batch.counts[column], batch.group, batch.measured[column]) for batch in table.batches()
    ]
    counts, group, measured = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return KnownTable(
        name=name, counts=counts[measured], group=group[measured], labels=table.partition.names
    )


def simulated(table: KnownTable, epsilon: Any, seed: int, **options: Any) -> Column:
    """The column of a simulated release of a known table; `options` are those of
    `holdfast.privatize`.

    >>> table = KnownTable(name="", counts=np.arange(50) % 5, group=np.zeros(50, int))
    >>> simulated(table, 1, seed=1).counts.shape
    (50,)
    """
    request = Request.read(epsilon=epsilon, seed=seed, **options)
    (budget,) = request.promise(len(table.counts), len(table.labels)).budgets
    room = Room(budget.noise_of_counts, source=randomness(seed), groups=len(table.labels))
    noisy = room.noisy(table.counts, table.group)
    measurement = room.finish(choose_blocks, **budget.noises)
    measured = np.ones(len(noisy), dtype=np.bool_)
    return Column(
        name=UNNAMED,
        budget=budget,
        measurement=measurement,
        measured=measured,
        missing=~measured,
        noisy=noisy,
        group=table.group,
        ties=seed,
    )


def histogram_of(counts: Integers) -> Histogram:
    """How many rows have each count."""
    return collected(counts.astype(np.int64), np.ones(len(counts), dtype=np.int64))


def w1(counts: Integers, other: Integers) -> float:
    """Wasserstein distance between the distributions of two columns of equal length.

    >>> w1(np.array([3, 0]), np.array([1, 0]))
    1.0
    """
    return float(np.abs(np.sort(counts) - np.sort(other)).mean())


LONGEST = 1_000_000  # counts that a shape is followed for
SHAPES: dict[str, tuple[Callable[..., Floats], tuple[str, ...]]] = {
    "geometric": (lambda k, mean: k * math.log(mean / (1 + mean)), ("MEAN",)),
    "powerlaw": (
        lambda k, exponent, top: np.where(k <= top, -exponent * np.log1p(k), -np.inf),
        ("EXPONENT", "TOP"),
    ),
    "uniform": (lambda k, top: np.where(k <= top, 0.0, -np.inf), ("TOP",)),
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
        places = (np.arange(rows) + 0.5) / rows  # the counts are the quantiles of a shape
        counts = np.searchsorted(np.cumsum(_shape(prior)), places).astype(np.int64)
        return KnownTable(name=prior, counts=counts, group=np.zeros(rows, np.int64))
    known = isinstance(prior, KnownTable)
    table = prior if known else read_known(prior, count=count, within=within, missing=missing)
    return table if rows in (None, len(table.counts)) else table.resized(rows or 1)


def _is_path(text: str) -> bool:
    return bool(text) and (Path(text).exists() or Path(text).suffix[1:].isalpha())


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
