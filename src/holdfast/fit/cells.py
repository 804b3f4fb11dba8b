"""Where a density is needed: cells of counts, bins of noisy counts, and the noise between them.
Which sums of the cumulative histogram C are measured, chosen from noisy counts alone, and with how
much of epsilon.

A block of w counts measures the mean of C over it with noise of variance v/w^2. Within it C rises
by the R rows that it holds, give or take the root of R by sampling, which no smooth density can
say. Blocks are the narrowest of which the noise is about that scatter, w^2 R >= v: narrow where
rows are many or the noise is small, wide in a thin tail. Zero, where a spike is likely, is a block
of its own. R comes from the noisy counts by a few steps of expectation and maximisation from even
rows, which is smooth enough.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.fit.likelihood import LEAST
from holdfast.privacy.noise import Noise

CELLS = 320  # that a density may have
OUT_OF_REACH = 1e-8  # chance that noise carries a row farther than `reach`
E_FOLDS = 18.4  # of geometric noise within that reach
NEIGHBOURS = 5  # rows within one scale of the noise, where a density tells more than the row itself
POINTS = 4  # of a wide cell from which noise is added
GROWTH = 0.04  # width of a cell over its count, until it reaches the noise
FINENESS = 3  # cells within one scale of the noise
BINS = 4  # bins of noisy counts within one scale of the noise
STEPS = 50  # of expectation and maximisation
NARROWEST = 0.6  # w^2 R / v
FEW, MANY = 3_000, 10_000  # rows
SHARES = (
    (0.01, 0.3, 0.3),
    (0.1, 0.17, 0.15),
    (0.22, 0.12, 0.09),
    (0.48, 0.09, 0.05),
    (1.05, 0.045, 0.021),
    (2.29, 0.009, 0.007),
    (5.0, 0.002, 0.002),
)
"""Epsilon, and the share of sums for few rows and for many, by benchmarks/accuracy.py."""
TELLING = 3
"""Rows a group times the squared share, from which groups' sums beat their noisy counts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Cells of counts [edges[i], edges[i+1]), the last one open, and bins of noisy counts.

    Rows whose noisy count lies outside [lowest, highest] need no density: that count is its own
    best reading.
    """

    edges: Integers
    """Where cells begin; the last begins the open cell, so that there are len(edges) cells."""
    bins: Integers
    """Where bins of noisy counts begin, after the first, which has no beginning."""
    kernel: Floats
    """P(bin | cell), of shape (cells, bins)."""
    lowest: int
    highest: int

    @property
    def widths(self) -> Integers:
        """How many counts each cell has; 1 for the open one."""
        return np.append(np.diff(self.edges), 1)

    @property
    def middles(self) -> Floats:
        """The mean count of each cell; where it begins for the open one."""
        return np.asarray(self.edges[0] + self.places)

    @property
    def places(self) -> Floats:
        """The same, from where the first begins: all different, however large counts are."""
        return np.asarray(self.edges - self.edges[0] + (self.widths - 1) / 2)

    def inside(self, value: Integers) -> Marks:
        """Which noisy counts need a density."""
        return (value >= self.lowest) & (value <= self.highest)

    def binned(self, value: Integers, rows: Integers) -> Floats:
        """Rows in each bin."""
        place = np.searchsorted(self.bins, value, side="right")
        many = np.bincount(place, weights=rows, minlength=len(self.bins) + 1)
        return np.asarray(many, dtype=np.float64)

    def block_weights(self, block_edges: Integers) -> Floats:
        """What a row in each cell adds to each block's sum of C, of shape (blocks, cells).

        A count x adds 1 to C_i for every i >= x: to the block [a, b) it adds min(b - a, b - x), at
        least 0. Its mean over a cell follows from R(t) = sum of max(t - x, 0) over x in the cell.
        """
        first, width = self.edges, self.widths

        def ramp(t: Integers) -> Floats:
            n = np.clip(t[:, None] - first[None], 0, width[None]).astype(float)
            return np.asarray(n * (t[:, None] - first[None]) - n * (n - 1) / 2)

        ramps = ramp(np.asarray(block_edges, dtype=np.int64)) / width
        weights = np.diff(ramps, axis=0)
        weights[:, -1] = 0.0
        return np.asarray(weights)


def scale_of(noise: Noise) -> float:
    """How far noise reaches while its chance falls by a factor e."""
    return max(noise.quantile(1 - OUT_OF_REACH) / E_FOLDS, 0.05)


def cells_for(value: Integers, rows: Integers, noise: Noise) -> Cells:
    """Cells for a tally of noisy counts, from nothing but what is public or private already."""
    reach, scale = noise.quantile(1 - OUT_OF_REACH), scale_of(noise)
    dense = value[_neighbours(value, rows, max(scale, 1.0)) >= NEIGHBOURS]
    top = max(int(dense[-1]) if len(dense) else 0, 0) + 1
    bottom = int(dense[0]) - reach if len(dense) else 0
    start = bottom if bottom > reach else 0
    finest = max(int(scale / FINENESS), 1)
    growth = GROWTH
    edges = _edges(start, max(top, start) + reach, growth, finest)
    while len(edges) >= CELLS and edges[CELLS - 1] - start < 2 * reach:
        growth *= 1.3
        edges = _edges(start, max(top, start) + reach, growth, finest)
    edges = edges[:CELLS]
    end = int(edges[-1])
    step = max(int(scale / BINS), 1)
    bins = np.append(np.arange(start - reach, end, step), end)
    return Cells(
        edges=edges,
        bins=bins,
        kernel=_kernel(edges, bins, noise),
        lowest=start if start else int(np.iinfo(np.int64).min),
        highest=end - reach // 2,
    )


def _neighbours(value: Integers, rows: Integers, within: float) -> Integers:
    """Rows within so much of each value, itself included."""
    below = np.concatenate([[0], np.cumsum(rows)])
    last = np.searchsorted(value, value + int(within), side="right")
    return np.asarray(below[last] - below[np.searchsorted(value, value - int(within))])


def _edges(start: int, end: int, growth: float, finest: int) -> Integers:
    """Cells of one count, then growing, never wider than the finest that noise lets one see."""
    edges, at = [start], start
    while at < end and len(edges) <= CELLS:
        at += min(max(int((at - start) * growth), 1), finest)
        edges.append(at)
    return np.array(edges, dtype=np.int64)


def _kernel(edges: Integers, bins: Integers, noise: Noise) -> Floats:
    widths = np.append(np.diff(edges), 1)
    part = (np.arange(POINTS) + 0.5) / POINTS
    points = edges[:, None] + np.floor(part * widths[:, None]).astype(np.int64)
    away = bins[None, None, :] - 1 - points[:, :, None]
    below = noise.cumulative(away.ravel()).reshape(away.shape).mean(axis=1)
    ends = np.ones((len(edges), 1))
    kernel = np.diff(np.concatenate([0 * ends, below, ends], axis=1), axis=1)
    kernel[-1] = 0.0
    kernel[-1, -1] = 1.0
    return np.asarray(np.maximum(kernel, 0.0))


def choose_blocks(value: Integers, rows: Integers, noise: Noise, sums_noise: Noise) -> Integers:
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
    Fraction(47, 1000)
    """
    epsilon, few, many = np.log(SHARES).T
    place = np.log(min(max(rows, FEW), MANY) / FEW) / np.log(MANY / FEW)
    log = np.interp(np.log(float(epsilon_per_unit)), epsilon, few + place * (many - few))
    return Fraction(round(1000 * float(np.exp(log))), 1000)


def share_of_groups(share: Fraction, rows: int, groups: int) -> Fraction:
    """What sums of each group are worth beside those of the whole table, whose share this is.

    The whole never pays for its groups: its sums get what they would get without. Those of a group
    of n rows have errors of 1 / (share epsilon), while its n noisy counts alone tell how many have
    some count to about the root of n over epsilon. Where that is no worse, groups have no sums; nor
    has the only group, whose sums are those of the whole. Others have as much as the whole: 8
    classes at epsilon = 0.2 have W1 within 0.27, and 0.30 with none.

    >>> share_of_groups(Fraction(17, 100), 2197, 8), share_of_groups(Fraction(9, 100), 2197, 8)
    (Fraction(1, 1), Fraction(0, 1))
    """
    return Fraction(groups > 1 and rows * share**2 >= TELLING * groups)
