"""A mechanism as a table of integer weights, and how a float matrix becomes one."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers, exact_row_sums
from holdfast.errors import CertificateError
from holdfast.former.privacy.metrics import count_error

TOTAL = 1 << 62


@dataclass(frozen=True, eq=False, slots=True)
class Weights:
    """n x n integers; every row adds up to 2^62. The counterpart of `Curves`, for any matrix."""

    weights: Integers
    """Row i gives output j with probability weights[i, j] / 2^62."""

    def __post_init__(self) -> None:
        weights = np.array(self.weights, order="C")
        square = weights.ndim == 2 and weights.shape[0] == weights.shape[1] > 0
        if weights.dtype != np.int64 or not square:
            raise CertificateError("`weights` must be a square matrix of 64-bit integers.")
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    def __len__(self) -> int:
        return len(self.weights)

    def check(self, epsilon: Fraction) -> None:
        """Raise unless no weight is negative and every row adds up to 2^62, whatever the claim."""
        weights = self.weights
        if (weights < 0).any():
            raise CertificateError("a weight is negative.")
        # exactly: a row of corrupt 64-bit weights could wrap around
        wrong = [i for i, total in enumerate(exact_row_sums(weights)) if total != TOTAL]
        if wrong:
            raise CertificateError(f"the weights of row {wrong[0]} do not add up to 2^62.")

    def row(self, i: int) -> Integers:
        """The weights of row i."""
        return np.asarray(self.weights[i])

    def table(self) -> Integers:
        """All n x n weights."""
        return self.weights

    def worst(self) -> tuple[int, int, int, int]:
        """The largest ratio of two weights of a column in adjacent rows, and where it is."""
        from holdfast.former.mechanism.certificate_kernel import (
            worst_ratio,  # numba: only when needed
        )

        top, bottom, row, column = worst_ratio(self.weights)
        return int(top), int(bottom), int(row), int(column)

    def neighbours(self) -> Iterator[tuple[Integers, Integers]]:
        """Adjacent rows."""
        return zip(self.weights[:-1], self.weights[1:], strict=True)

    def digest(self, claim: str) -> str:
        """SHA-256 of the weights and what is claimed of them."""
        digest = hashlib.sha256(f"holdfast mechanism n={len(self)} {claim}\n".encode())
        digest.update(np.ascontiguousarray(self.weights.astype("<i8", copy=False)).data)
        return digest.hexdigest()

    def image(self, source: Floats) -> Floats:
        """The law of the outputs, for inputs distributed as `source`."""
        return np.asarray(source @ self.weights / float(TOTAL))

    def expected(self, values: Floats) -> Floats:
        """Row by row, the expected value of the output."""
        return np.asarray(self.weights @ values / float(TOTAL))

    def count_error(self, source: Floats, error: Any = "absolute") -> float:
        """Expected count error for inputs distributed as `source`."""
        return count_error(self.weights / float(TOTAL), source, error)
