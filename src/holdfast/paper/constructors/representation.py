"""A mechanism as a sum of scales: the paper's matrix B, kept sparse."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Representation:
    """The pieces (column, pattern, amount) whose scales add up to the matrix.

    Piece p adds `amounts[p]` times the ε-scale with pattern p to column `columns[p]`.
    Patterns are not stored one by one: step i of piece p is `bound_step[i]` once p has
    reached `bound_from[i]`, and points down away from the column before that. So the whole
    of it takes O(n) memory.
    """

    columns: NDArray[np.int64]
    amounts: NDArray[np.float64]
    bound_from: NDArray[np.int64]
    bound_step: NDArray[np.int64]
    epsilon: float

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.int64], float]]:
        for p in range(len(self)):
            yield int(self.columns[p]), self.pattern(p), float(self.amounts[p])

    def pattern(self, piece: int) -> NDArray[np.int64]:
        """+1 where the scale of this piece rises, -1 where it falls; length n - 1."""
        steps = np.arange(len(self.bound_from))
        peaked = np.where(steps < self.columns[piece], 1, -1)
        return np.where(self.bound_from <= piece, self.bound_step, peaked)

    def scale(self, piece: int) -> NDArray[np.float64]:
        """The ε-scale of this piece: a probability vector of length n."""
        heights = np.concatenate([[0], np.cumsum(self.pattern(piece))])
        scale = np.exp(self.epsilon * (heights - heights.max()))
        return np.asarray(scale / scale.sum())

    def matrix(self) -> NDArray[np.float64]:
        """The sum of all pieces: the matrix T = Ψ B."""
        n = len(self.bound_from) + 1
        matrix = np.zeros((n, n))
        for p in range(len(self)):
            matrix[:, self.columns[p]] += self.amounts[p] * self.scale(p)
        return matrix
