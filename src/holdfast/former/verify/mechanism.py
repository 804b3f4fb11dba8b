"""A mechanism as the checks see it: neighbouring weights, and what it makes of a distribution."""

import hashlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.former.verify.exact import Mask, Words
from holdfast.former.verify.report import Damage

TOTAL = 1 << 62
STRIP = 1 << 14  # weights looked at in one go: few enough to stay near the processor
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Pairs(NamedTuple):
    """Vertical neighbours: the weights of an output for an input and for the next."""

    outputs: Integers
    rows: Integers
    """The first of the two inputs."""
    upper: Words
    """The weights for that one."""
    lower: Words
    """The weights for the next."""


class Sums(NamedTuple):
    """What a mechanism makes of counts distributed as z, for every output b; in doubles."""

    below: Floats
    """The chance that b or less is released."""
    crossing: Floats
    """The chance that b lies between a count and what it is released as."""
    error: float
    """How far off `below` can be."""


class Mechanism(Protocol):
    """The integers of a bundle, in whichever form."""

    def __len__(self) -> int: ...

    def weight(self, i: int, j: int) -> int:
        """The weight of output j for input i."""

    def column(self, j: int) -> Floats:
        """The weights of output j for every input, in doubles."""

    def pairs(self, worst: Callable[[], Fraction] | None = None) -> Iterator[Pairs]:
        """All neighbours in a column whose weights may differ; where `worst` gives the largest
        ratio of those seen so far, all whose ratio may be larger."""

    def possible(self) -> Mask:
        """Which outputs have a positive weight for any input."""

    def check_row_totals(self) -> str:
        """Raise unless every row adds up to 2^62."""

    def digest(self, claim: str) -> str:
        """The SHA-256 sum of the integers and what is claimed of them."""

    def sums(self, z: Floats) -> Sums:
        """What the mechanism makes of counts distributed as z."""

    def moved(self, errors: Floats) -> Floats:
        """How far the sums of outputs move where those of inputs are off by up to `errors`."""


class WeightTable:
    """All n x n weights, column by column: 8 n^2 bytes."""

    def __init__(self, columns: Words) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns)

    def weight(self, i: int, j: int) -> int:
        """The weight of output j for input i."""
        return int(self.columns[j, i])

    def column(self, j: int) -> Floats:
        """The weights of output j for every input, in doubles."""
        return np.asarray(self.columns[j], dtype=np.float64)

    def pairs(self, worst: Callable[[], Fraction] | None = None) -> Iterator[Pairs]:
        """All there are."""
        outputs, inputs = self.columns.shape
        step, rows = max(1, STRIP // inputs), np.arange(inputs - 1)
        for start in range(0, outputs, step):
            block = self.columns[start : start + step]
            which = np.repeat(np.arange(start, start + len(block)), len(rows))
            sides = block[:, :-1].ravel(), block[:, 1:].ravel()
            yield Pairs(which, np.tile(rows, len(block)), *sides)

    def possible(self) -> Mask:
        """Which outputs have a positive weight for any input."""
        return np.array([column.any() for column in self.columns])

    def check_row_totals(self) -> str:
        """Every row adds up to 2^62, in integers that cannot wrap around."""
        high = np.zeros(len(self), dtype=np.uint64)
        low = high.copy()
        for column in self.columns:
            high += column >> np.uint64(32)
            low += column & np.uint64(0xFFFFFFFF)
        for i, (above, below) in enumerate(zip(high.tolist(), low.tolist(), strict=True)):
            if (above << 32) + below != TOTAL:
                raise Damage(f"the weights of input {i} do not add up to 2^62.")
        return f"{len(self):,} rows add up to 2^62 each"

    def digest(self, claim: str) -> str:
        """The SHA-256 sum of the weights, row by row."""
        digest = hashlib.sha256(f"holdfast mechanism n={len(self)} {claim}\n".encode())
        for start in range(0, len(self), 64):
            rows = np.ascontiguousarray(self.columns[:, start : start + 64].T)
            digest.update(rows.astype("<u8", copy=False).data)
        return digest.hexdigest()

    def sums(self, z: Floats) -> Sums:
        """Column by column: two sums of n terms that come to 1 in all, each rounded n times."""
        n, kept = len(self), z / TOTAL
        below, crossing = np.zeros(n), np.zeros(n)
        cumulative = np.zeros(n)
        for j, column in enumerate(self.columns):
            cumulative += column
            below[j] = cumulative @ kept
            crossing[j] = cumulative[j + 1 :] @ kept[j + 1 :]
            crossing[j] += (TOTAL - cumulative[: j + 1]) @ kept[: j + 1]
        return Sums(below, crossing, (2 * n + 6) * 2.0**-53)

    def moved(self, errors: Floats) -> Floats:
        """By the changes of each cumulative weight from one input to the next."""
        cumulative, found = np.zeros(len(self)), np.zeros(len(self))
        for j, column in enumerate(self.columns):
            cumulative += column
            found[j] = np.abs(np.diff(cumulative)) @ errors / TOTAL
        return found
