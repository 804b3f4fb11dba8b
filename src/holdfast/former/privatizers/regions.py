"""Which sums are measured of a table whose counts run far: docs/long-ranges.md.

Sort the counts from the highest down and draw each as a row of cells. One person adds or removes
one cell at the edge of this diagram, whatever the table. So however the plane is cut into regions,
the numbers of cells in all of them together have sensitivity 1.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.privatizers.pooling import nearest_rising_weighted

FIRST_SHARE = Fraction(1, 20)  # of epsilon, for the first look
FOCUS = 3.0  # noise of a block against the scatter inside it
GROWTH = 0.2  # of a block over where it begins
MOST_COLUMNS, MOST_RANKS = 1 << 12, 1 << 16
BEYOND = 20.0  # noise scales of ranks past those that seem to be above `border`
LARGEST_SUM = 1 << 62


@dataclass(frozen=True, kw_only=True, eq=False)
class Regions:
    """Below `border` sums of C over blocks of counts, above it sums over blocks of ranks."""

    border: int
    columns: Integers
    """Where blocks of counts begin and end, from 0 to `border`."""
    ranks: Integers
    """Where blocks of ranks begin and end, from the highest count down to the last row."""

    def __len__(self) -> int:
        return len(self.columns) + len(self.ranks) - 2

    def sums(self, histogram: Integers) -> Integers:
        """The exact numbers of cells: rows at or below each count of a block of counts, and what
        the rows of a block of ranks have above `border`."""
        below = block_sums(np.cumsum(histogram)[: self.border], self.columns)
        return np.concatenate([below, self._above(histogram)])

    def _above(self, histogram: Integers) -> Integers:
        """By what the r highest rows have above the border in all: between two values of r that
        end a run of equal counts, that count more for each row."""
        counts = np.flatnonzero(histogram)[::-1]
        rows, excess = histogram[counts], np.maximum(counts - self.border, 0)
        ends = np.concatenate([[0], np.cumsum(rows)])
        totals = np.concatenate([[0], np.cumsum(rows * excess)])
        run = np.minimum(np.searchsorted(ends, self.ranks, side="right") - 1, len(counts) - 1)
        return np.asarray(np.diff(totals[run] + (self.ranks - ends[run]) * excess[run]))


def first_edges(bins: int) -> Integers:
    """Where blocks of the first look begin and end: each as wide as all before it.

    >>> first_edges(31).tolist()
    [0, 1, 2, 4, 8, 16, 30]
    """
    edges = [0, 1]
    while edges[-1] < bins - 1:
        edges.append(min(2 * edges[-1], bins - 1))
    return np.array(edges)


def first_sums(histogram: Integers) -> Integers:
    """Exact sums of the cumulative histogram over the blocks of the first look."""
    if int(histogram.sum()) * len(histogram) >= LARGEST_SUM:
        raise HoldfastError(
            "rows times `max_count` must stay below 2^62 for sums over long ranges. "
            "Hint: a lower max_count, or privatizer CumulativeSmooth()."
        )
    return block_sums(np.cumsum(histogram)[:-1], first_edges(len(histogram)))


def block_sums(values: Integers, edges: Integers) -> Integers:
    """The sum of the values from each edge to the next."""
    return np.diff(np.concatenate([[0], np.cumsum(values)])[edges])


def find_regions(first: Integers, bins: int, rows: int, epsilon: Fraction) -> Regions:
    """The regions for a second look with `epsilon`, from the noisy sums of the first look.

    Blocks are so wide that their noise is about as large as the scatter of the rows inside them:
    with ρ rows a count, (3 / ε√ρ)^(2/3) counts or (3ρ / ε)^(2/3) ranks. Where ρ falls below 1 for
    good, blocks of ranks are fewer than blocks of counts, and take over.
    """
    counts, below = _first_path(first, bins, rows)
    density = np.diff(below) / np.diff(counts)
    border = _border(counts, density)
    noise = 1 / float(epsilon)
    by_count = np.cbrt((FOCUS * noise) ** 2 / np.maximum(density, 1e-12))
    by_rank = np.cbrt((FOCUS * noise * density) ** 2)
    above = rows - float(np.interp(border, counts, below))
    last = min(rows, int(1.5 * above + BEYOND * noise))
    columns = _edges(border, -(-border // MOST_COLUMNS), counts[1:], by_count)
    ranks = _edges(last, -(-last // MOST_RANKS), (rows - below[:-1])[::-1], by_rank[::-1])
    if border == bins - 1:
        ranks = np.array([0])
    elif last < rows:
        ranks = np.append(ranks, rows)
    return Regions(border=border, columns=columns, ranks=ranks)


def _first_path(first: Integers, bins: int, rows: int) -> tuple[Floats, Floats]:
    """Counts, and about how many rows are at or below each."""
    edges = first_edges(bins)
    widths = np.diff(edges)
    below = nearest_rising_weighted(first / widths, widths.astype(np.float64) ** 2)
    counts = np.concatenate([[-1.0], (edges[:-1] + edges[1:] - 1) / 2, [bins - 1.0]])
    return counts, np.concatenate([[0.0], np.clip(below, 0, rows), [float(rows)]])


def _border(counts: Floats, density: Floats) -> int:
    """The first count from which on there is less than one row per count, but for the top code."""
    dense = np.flatnonzero(density[:-1] >= 1)
    if len(dense) == 0:
        return 0
    last = int(dense[-1]) + 1
    if last == len(density) - 1 and density[-1] >= 1:
        last += 1
    return int(np.ceil(counts[last]))


def _edges(stop: int, least: int, ends: Floats, widths: Floats) -> Integers:
    """Blocks from 0 to `stop`: as wide as is said for where they begin, if not wider than a part
    of that place, nor narrower than `least`."""
    edges, k, place = [0], 0, 0
    while place < stop:
        while k < len(ends) - 1 and place >= ends[k]:
            k += 1
        place += max(least, min(_whole(widths[k]), 1 + int(GROWTH * place)))
        edges.append(min(place, stop))
    return np.array(edges)


def _whole(width: float) -> int:
    """Rounded down, but the same where another machine's roots differ in their last digit."""
    return int(width * (1 + 1e-9))
