r"""Which sums of the cumulative histogram to measure, chosen from noisy counts alone; and how much
of epsilon they get.

A block of w counts measures the mean of C over it with noise of variance v/w^2. Within it C rises
by the R rows that it holds, give or take the root of R by sampling, which no smooth density can
say. Blocks are the narrowest of which the noise is about that scatter, w^2 R >= v: narrow where
rows are many or the noise is small, wide in a thin tail. Zero, where a spike is likely, is a block
of its own. R comes from the noisy counts by a few steps of expectation and maximisation from even
rows, which is smooth enough.
"""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.fit.cells import Cells, cells_for
from holdfast.fit.likelihood import LEAST

if TYPE_CHECKING:
    from holdfast.privacy.noise import Noise

STEPS = 50  # of expectation and maximisation
NARROWEST = 0.6  # w^2 R / v
FEW, MANY = 3_000, 10_000  # rows
SHARES = (
    (0.01, 0.3, 0.3),
    (0.1, 0.14, 0.15),
    (0.22, 0.09, 0.09),
    (0.48, 0.065, 0.05),
    (1.05, 0.032, 0.021),
    (2.29, 0.007, 0.007),
    (5.0, 0.002, 0.002),
)
"""Epsilon, and the share of sums for few rows and for many, by benchmarks/accuracy.py."""
GROUPS = Fraction(4, 3)
"""Of the whole's; 8 classes at epsilon = 0.1: W1 within 0.33, with none 0.66."""
TELLING = 3
"""Rows a group times the squared share, from which groups' sums beat their noisy counts."""


def choose_blocks(value: Integers, rows: Integers, noise: "Noise", sums_noise: "Noise") -> Integers:
    """Edges of the blocks whose sums of C are measured, from a tally of noisy counts."""
    if len(value) == 0:
        return np.zeros(0, dtype=np.int64)
    cells = cells_for(value, rows, noise)
    first = int(cells.edges[0])
    seen = cells.inside(value) & (value >= first)
    last = int(value[seen].max()) if seen.any() else first
    last = max(min(last, int(cells.edges[-1])), first + 1)
    below = np.append(0.0, np.cumsum(_even_rows(cells, value, rows, last)))[:-1]
    edges = [first, first + 1] if first == 0 else [first]
    needed = NARROWEST * sums_noise.variance
    while edges[-1] < last:
        place = int(np.searchsorted(cells.edges, edges[-1], side="right")) - 1
        wide = (cells.edges[place:] - edges[-1]) ** 2 * (below[place:] - below[place]) >= needed
        ends = cells.edges[place:][wide]
        edges.append(min(max(int(ends[0]), edges[-1] + 1), last) if len(ends) else last)
    return np.array(edges, dtype=np.int64)


def _even_rows(cells: Cells, value: Integers, rows: Integers, last: int) -> Floats:
    """Rows in each cell, as even as the noisy counts let them be."""
    seen = cells.binned(value, rows)
    found = np.where(cells.edges <= last, cells.widths.astype(float), 1e-3)
    found *= seen.sum() / found.sum()
    for _ in range(STEPS):
        found = found * (cells.kernel @ (seen / np.maximum(found @ cells.kernel, LEAST)))
    return np.asarray(found)


def share_of_sums(epsilon_per_unit: Fraction, rows: int) -> Fraction:
    """epsilon_1 / epsilon: the share of a column's budget that measures sums of the whole table.

    >>> share_of_sums(Fraction(1), 3000)
    Fraction(33, 1000)
    """
    epsilon, few, many = np.log(SHARES).T
    place = np.log(min(max(rows, FEW), MANY) / FEW) / np.log(MANY / FEW)
    log = np.interp(np.log(float(epsilon_per_unit)), epsilon, few + place * (many - few))
    return Fraction(round(1000 * float(np.exp(log))), 1000)


def share_of_groups(share: Fraction, rows: int, groups: int) -> Fraction:
    """What sums of each group are worth beside those of the whole table, whose share this is.

    The whole never pays for its groups: its sums get what they would get without. Those of a group
    of n rows have errors of 1 / (share epsilon), while its n noisy counts alone tell how many have
    some count to about the root of n over epsilon. Where that is no worse, groups have no sums.

    >>> share_of_groups(Fraction(14, 100), 2197, 8), share_of_groups(Fraction(6, 100), 2197, 8)
    (Fraction(4, 3), Fraction(0, 1))
    """
    return GROUPS if rows * share**2 >= TELLING * groups else Fraction(0)
