"""What was measured of many groups, and what laws of the groups expect of it.

C_i is a group's number of rows with a count of at most i. Measured are its sums over blocks of
neighbouring counts: docs/groups-fit.md says why. Arrays are over groups first.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats, Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """Sums of C over blocks of counts for every group, with noise of known law."""

    sums: Floats
    sizes: Floats
    bins: int
    edges: Integers
    """Block b holds C_i for edges[b] <= i < edges[b + 1]."""
    cells: Integers
    """Where cells of counts begin and end, each inside a block: a law is even over a cell. Single
    counts, but where there are many."""
    rate: float
    """1/scale of the noise on one measured number."""
    parts: Floats
    """How many measured numbers each of the sums is made of."""
    totals: Floats | None = None
    """Noisy totals of the counts, without a top code."""
    totals_rate: float = 1.0
    whole: Floats | None = None
    """Sums over all groups that were measured once more, with noise of their own."""
    whole_rate: float = 1.0

    @cached_property
    def widths(self) -> Floats:
        """How many counts each block holds."""
        return np.diff(self.edges).astype(np.float64)

    @cached_property
    def sizes_of_cells(self) -> Floats:
        """How many counts each cell holds."""
        return np.diff(self.cells).astype(np.float64)

    @cached_property
    def middles(self) -> Floats:
        """The mean count of each cell."""
        return np.asarray((self.cells[:-1] + self.cells[1:] - 1) / 2)

    @cached_property
    def block(self) -> Integers:
        """The block of each cell but the top code."""
        return np.searchsorted(self.edges, self.cells[:-2], side="right") - 1

    @cached_property
    def reach(self) -> Floats:
        """How many C_i of each block a row of a cell is part of, on average."""
        first = np.maximum(self.edges[:-1], self.middles[:, None])
        return np.maximum(self.edges[1:] - first, 0.0)

    @cached_property
    def reach_squared(self) -> Floats:
        """The mean square of the same."""
        squares, own = self.reach**2, np.arange(len(self.block))
        squares[own, self.block] += (self.sizes_of_cells[:-1] ** 2 - 1) / 12
        return squares

    @cached_property
    def values(self) -> Floats:
        """What a fit is held against: the sums and, where totals are known, their sum."""
        if self.totals is None:
            return self.sums
        return np.column_stack([self.sums, self.sizes * (self.bins - 1) - self.totals])

    def noise(self) -> Floats:
        """The variance of the noise on `values`."""
        variance = 2.0 * self.parts / self.rate**2
        if self.totals is None:
            return np.asarray(variance)
        return np.column_stack([variance, np.full(len(variance), 2.0 / self.totals_rate**2)])

    def expected(self, laws: Floats, excess: float) -> Floats:
        """`values` if groups held exactly what their laws expect, and rows at the top code
        `excess` more each."""
        sums = self.sizes[:, None] * (laws @ self.reach)
        if self.totals is None:
            return np.asarray(sums)
        return np.column_stack([sums, sums.sum(axis=1) - excess * self.sizes * laws[:, -1]])

    def excess(self, rows: Floats) -> float:
        """How far rows at the top code lie above it on average, over all groups, if these are the
        groups' numbers of rows with each count."""
        beyond = np.asarray(self.totals).sum() - (rows @ self.middles).sum()
        return float(max(beyond, 0.0) / max(rows[:, -1].sum(), 1.0))

    def slopes(self, laws: Floats, shapes: Floats, excess: float = 0.0) -> Floats:
        """How `expected` moves with each coefficient of `shapes` in a group's log-density."""
        by_shape = (self.reach[:, :, None] * shapes[:, None, :]).reshape(len(shapes), -1)
        moved = (laws @ by_shape).reshape(len(laws), -1, shapes.shape[1])
        moved -= (laws @ self.reach)[:, :, None] * (laws @ shapes)[:, None, :]
        moved *= self.sizes[:, None, None]
        if self.totals is None:
            return np.asarray(moved)
        moved = _with_sum(moved)
        at_top = self.sizes[:, None] * laws[:, -1:] * (shapes[-1] - laws @ shapes)
        moved[:, -1] -= excess * at_top
        return np.asarray(moved)

    def sampling(self, laws: Floats, excess: float) -> Floats:
        """The covariance of `values` without noise: rows are drawn from the laws.

        C has N (F_min(i,j) - F_i F_j), and an excess is taken for exponential.
        """
        blocks, sums = len(self.widths), laws @ self.reach
        below = np.triu(np.ones((blocks, blocks)), 1) * self.widths
        cover = sums[:, :, None] * below
        cover = cover + cover.swapaxes(1, 2) - sums[:, :, None] * sums[:, None, :]
        cover[:, range(blocks), range(blocks)] += laws @ self.reach_squared
        cover *= self.sizes[:, None, None]
        if self.totals is None:
            return np.asarray(cover)
        cover = _with_sum(_with_sum(cover).swapaxes(1, 2))
        cover[:, -1, -1] += 2.0 * excess**2 * self.sizes * laws[:, -1]
        return np.asarray(cover)

    def followed(self, laws: Floats, pull: Floats) -> Floats:
        """C at the end of each cell as expected, moved by its covariance with `values` times
        `pull`."""
        blocks, size = len(self.widths), self.sizes_of_cells
        by_block = pull[:, :blocks] + (pull[:, blocks:] if self.totals is not None else 0.0)
        by_count = np.column_stack([by_block[:, self.block], np.zeros(len(laws))])
        F = np.cumsum(laws, axis=1)
        inside = by_count * (size * F - laws * (size - 1) / 2)  # C_i of a cell rises evenly to F
        later = (by_count * size).sum(axis=1, keepdims=True) - np.cumsum(by_count * size, axis=1)
        moved = np.cumsum(inside, axis=1) + F * later
        moved -= F * inside.sum(axis=1, keepdims=True)
        return np.asarray(self.sizes[:, None] * (F + moved))


def _with_sum(rows: Floats) -> Floats:
    """The rows of each group and one more, their sum."""
    return np.concatenate([rows, rows.sum(axis=1, keepdims=True)], axis=1)
