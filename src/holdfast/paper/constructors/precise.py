"""Algorithm 1 as printed, in fixed-point integers: slow, and right where doubles are not.

`Heuristic` turns to it in the rare case that the clock kernel misses a row sum, which takes
chains of near-ties between columns and a large epsilon.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Floats
from holdfast.paper.constructors.construction import Representation
from holdfast.privacy.rational import exp_below


def fill_precisely(
    z: Floats, epsilon: Fraction, next_column: "Callable[[FixedPoint], int]"
) -> tuple[Floats, Representation]:
    """The matrix and its pieces.

    Numbers carry 1.45 n ε + 160 bits behind the point: r spans a factor of e^(nε) at the most,
    so an error in its smallest entry stays small however far a scale carries it. Time
    O(n^2) operations on integers of O(n ε) bits.
    """
    state = FixedPoint(z, epsilon)
    while any(state.c):
        j = next_column(state)
        last = np.count_nonzero(state.c) == 1
        while state.c[j]:
            state.add_piece(j, last)
    return state.matrix(), state.representation(float(epsilon))


class FixedPoint:
    """The state of Algorithm 1: r, c, A and the pieces, as integers over 2^bits."""

    def __init__(self, z: Floats, epsilon: Fraction) -> None:
        n = len(z)
        self.bits = int(1.45 * n * float(epsilon)) + 160
        self.one = 1 << self.bits
        self.tie = 1 << 40  # rounding errors are a few units in the last place
        self.powers = _powers(epsilon, n, self.bits)
        self.grow = math.floor(exp_below(epsilon, bits=self.bits + 64) * self.one)
        self.z = self._exact(z)
        self.r = np.full(n, self.one, dtype=object)
        self.c = self._exact(z)
        self.columns = np.zeros((n, n), dtype=object)
        self.bound_from = np.full(n - 1, np.iinfo(np.int64).max)
        self.bound_step = np.zeros(n - 1, dtype=np.int64)
        self.pieces: list[tuple[int, float]] = []

    def add_piece(self, j: int, last: bool) -> None:
        """As much as fits of column j's present scale; the last column takes all of r."""
        n = len(self.r)
        pattern = np.where(np.arange(n - 1) < j, 1, -1)
        pattern = np.where(self.bound_step != 0, self.bound_step, pattern)
        heights = np.concatenate([[0], np.cumsum(pattern)])
        s = self.powers[heights.max() - heights]
        free = np.flatnonzero(self.bound_step == 0).tolist()
        # Proposition on step 8: the slack of a free step over what one unit of s takes off it
        takes = [self._slack(s, i, pattern[i]) for i in free]
        slacks = [self._slack(self.r, i, pattern[i]) for i in free]
        mass = int(self.z @ s) >> self.bits
        limits = [(slack << self.bits) // take for slack, take in zip(slacks, takes, strict=True)]
        fill = (self.c[j] << self.bits) // mass
        if last:
            fill = max(limits) + 1 if limits else int(self.r[int(np.argmax(s))])
        q = max(min([fill, *limits]), 0)
        drop = (q * s) >> self.bits
        self.columns[j] += drop
        self.r -= drop
        filled = q == fill
        self.pieces.append((j, float(Fraction(int(drop.sum()), self.one))))
        for i in free:
            if self._slack(self.r, i, pattern[i]) <= self.tie:
                self.bound_from[i], self.bound_step[i] = len(self.pieces), -pattern[i]
        rest = self.c[j] - ((q * mass) >> self.bits)
        self.c[j] = 0 if filled or (rest <= self.tie and not last) else max(rest, 1)

    def _slack(self, values: NDArray[np.object_], i: int, direction: int) -> int:
        near, far = (values[i + 1], values[i]) if direction > 0 else (values[i], values[i + 1])
        return int((self.grow * near >> self.bits) - far)

    def _exact(self, values: Floats) -> NDArray[np.object_]:
        exact = [int(Fraction(float(value)) * self.one) for value in values]
        return np.array(exact, dtype=object)

    def floats(self, values: NDArray[np.object_]) -> Floats:
        """Fixed-point numbers as doubles."""
        shift = max(self.bits - 1000, 0)
        scale = math.ldexp(1.0, self.bits - shift)
        return np.array([float(int(value) >> shift) / scale for value in values.flat]).reshape(
            values.shape
        )

    def matrix(self) -> Floats:
        """The paper's A as it is now."""
        return self.floats(self.columns.T)

    def representation(self, epsilon: float) -> Representation:
        """The pieces so far."""
        columns, amounts = zip(*self.pieces, strict=True)
        return Representation(
            columns=np.array(columns),
            amounts=np.array(amounts),
            bound_from=self.bound_from,
            bound_step=self.bound_step,
            epsilon=epsilon,
        )


def _powers(epsilon: Fraction, n: int, bits: int) -> NDArray[np.object_]:
    """e^(-εk) for k = 0 ... n-1 in fixed point."""
    one = 1 << bits
    shrink = one * one // math.floor(exp_below(epsilon, bits=bits + 64) * one)
    powers = [one]
    for _ in range(n - 1):
        powers.append(powers[-1] * shrink >> bits)
    return np.array(powers, dtype=object)
