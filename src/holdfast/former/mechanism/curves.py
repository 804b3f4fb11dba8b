"""A mechanism made of curves: three integers per column, from which every weight follows."""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers, exact_sum
from holdfast.errors import CertificateError, HoldfastError
from holdfast.former.mechanism.tails import Shape, Tails, curve_error, curve_sums, floor_error
from holdfast.former.mechanism.weights import TOTAL
from holdfast.former.privacy.metrics import POWERS, count_error
from holdfast.former.privacy.rational import decay_table

LARGEST_TABLE = 10_001
HIGHEST_FLOOR = 1 << 30


# slots: nothing can be put on an instance that would answer in place of its integers
@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Curves:
    r"""Integers (turn, height, floor) for every output b: the cumulative weights of all rows.

    With $p_d = \lfloor 2^{62} e^{-\epsilon d} \rfloor$ and K = 2^62 less all floors, row i gives
    the outputs 0 to b the weight $f_0 + \dots + f_b + s_b(i)$, where $s_b$ is the steepest curve
    that privacy allows through height $x_b$ at row $m_b$: right of it
    $s_b(m_b + d) = \lfloor x_b p_d / 2^{62} \rfloor$, left of it the same for $K - s_b$ and
    $K - x_b$. `lift` bends both tails down to 0 for (ε, δ)-privacy. The last curve is K in every
    row. Memory: O(n); one row costs O(n).
    """

    turns: Integers
    """m: the row at which every curve has its height."""
    heights: Integers
    """x: its cumulative weight there, without the floors."""
    floors: Integers
    """f: what a column has in every row; 0 for an output that never occurs."""
    epsilon: Fraction
    """What the powers are powers of."""
    lift: int = 0
    """What both tails are lowered by; 0 for pure privacy."""
    powers: Integers = field(init=False)
    """⌊2^62 e^(-εd)⌋, as far as it is not 0 and fewer than n."""

    def __post_init__(self) -> None:
        for name in ("turns", "heights", "floors"):
            array = np.array(getattr(self, name))
            if array.dtype != np.int64 or array.ndim != 1 or len(array) == 0:
                raise CertificateError(f"`{name}` must be a 1-D array of 64-bit integers.")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "epsilon", Fraction(*self.epsilon.as_integer_ratio()))
        powers = np.array(_powers(self.epsilon, len(self.turns)), dtype=np.int64)
        powers.setflags(write=False)
        object.__setattr__(self, "powers", powers)

    def __len__(self) -> int:
        return len(self.turns)

    @property
    def keep(self) -> int:
        """What the floors leave for the curves: the height of the last one."""
        return TOTAL - exact_sum(self.floors)

    def check(self, epsilon: Fraction) -> None:
        """Raise unless these are curves in their order, for this epsilon, of rows of 2^62."""
        n, keep, turns, heights = len(self), self.keep, self.turns, self.heights
        later = np.diff(turns) > 0
        in_order = later | ((np.diff(turns) == 0) & (np.diff(heights) >= 0))
        sound = (
            len(heights) == len(self.floors) == n
            and 0 <= self.floors.min() <= self.floors.max() <= HIGHEST_FLOOR
            and 0 < keep <= TOTAL
            and 0 <= turns.min() <= turns.max() < n
            and 0 <= heights.min() <= heights.max() <= keep
            and type(self.lift) is int
            and 0 <= self.lift <= keep
        )
        if not sound or not in_order.all():
            raise CertificateError("the curves are not in order, or leave the range of weights.")
        if turns[-1] != n - 1 or heights[-1] != keep:
            raise CertificateError("the weights of a row do not add up to 2^62.")
        if self.epsilon != epsilon or self.powers.tolist() != list(_powers(epsilon, n)):
            raise CertificateError("the powers are not those of epsilon.")

    def row(self, i: int) -> Integers:
        """The weights of row i."""
        return self._part(i, 0, len(self))

    def column(self, j: int) -> tuple[int, Integers]:
        """The weights of output j from this row on, as far as they are more than its floor."""
        from holdfast.former.mechanism.curve_kernel import rows_of_column, weights_of_column

        first, end = rows_of_column(j, self.turns, self.powers)
        weights = np.empty(end - first, dtype=np.int64)
        weights_of_column(j, first, *self._arguments, weights)
        return int(first), weights

    def table(self) -> Integers:
        """All n x n weights."""
        if len(self) > LARGEST_TABLE:
            raise HoldfastError(
                f"{len(self):,} x {len(self):,} weights are too many to hold at once. "
                "Hint: `row(i)` gives the weights of one row."
            )
        from holdfast.former.mechanism.curve_kernel import weights_of_row

        weights, arguments = np.empty((len(self), len(self)), dtype=np.int64), self._arguments
        for i, row in enumerate(weights):
            weights_of_row(i, 0, *arguments, row)
        return weights

    def worst(self) -> tuple[int, int, int, int]:
        """The largest ratio of two weights of a column in adjacent rows.

        Mostly about 6n comparisons: once beside the turns alone, and once as far as a ratio above
        what was found there may follow (docs/privacy-guarantee.md, "Tails").
        """
        found = self._worst(np.full(len(self), TOTAL, dtype=np.int64))
        return self._worst(self._settled(Fraction(*found[:2]))) if found[1] else found

    def _worst(self, settled: Integers) -> tuple[int, int, int, int]:
        from holdfast.former.mechanism.curve_kernel import NEGATIVE, worst_curve_ratio

        found = worst_curve_ratio(*self._arguments, settled)
        top, bottom, row, column = (int(number) for number in found)
        if bottom == NEGATIVE:
            raise CertificateError("a weight is negative.")
        return top, bottom, row, column

    def _settled(self, worst: Fraction) -> Integers:
        """For every column the largest weight in a tail with no ratio above `worst` beyond; or -1.

        A weight w is c e^(-εd) + f within 2, so that with y = w + 2 - f ratios beyond it are at
        most (f + 2) / (f - 2) or (y + f + 2) / (y e^-ε + f - 2).
        """
        decay = Fraction(int(self.powers[1]), TOTAL) if len(self.powers) > 1 else Fraction(0)
        floors = np.unique(self.floors)
        settled = np.full(len(floors), -1, dtype=np.int64)
        for k, f in enumerate(floors.tolist()):
            room, slope = worst * (f - 2) - (f + 2), 1 - worst * decay
            if f > 2 and room >= 0 and not self.lift:
                y = math.floor(room / slope) if slope > 0 else TOTAL
                settled[k] = min(y - 2 + f, TOTAL)
        return np.asarray(settled[np.searchsorted(floors, self.floors)])

    def neighbours(self) -> Iterator[tuple[Integers, Integers]]:
        """Adjacent rows, without the columns in which both have the same weight."""
        reach = len(self.powers)
        for i in range(len(self) - 1):
            first = int(np.searchsorted(self.turns, i - reach))
            end = min(int(np.searchsorted(self.turns, i + 1 + reach, side="right")) + 1, len(self))
            pair = self._part(i, first, end), self._part(i + 1, first, end)
            if min(part.min(initial=0) for part in pair) < 0:
                raise CertificateError("a weight is negative.")
            yield pair

    def digest(self, claim: str) -> str:
        """SHA-256 of the integers and what is claimed of them."""
        words = f"holdfast curves n={len(self)} lift={self.lift} {claim}\n"
        digest = hashlib.sha256(words.encode())
        for array in (self.turns, self.heights, self.floors):
            digest.update(array.astype("<i8", copy=False).data)
        return digest.hexdigest()

    def image(self, source: Floats) -> Floats:
        """The law of the outputs, for inputs distributed as `source`."""
        kept = self._tails(source).whole(*self._shape)
        below = (self.keep * kept + np.cumsum(self.floors, dtype=np.float64)) / TOTAL
        return np.diff(below, prepend=0.0)

    def expected(self, values: Floats) -> Floats:
        """Row by row, the expected value of the output; O(n log n) for pure privacy."""
        if self.lift:
            return np.asarray(self.table() @ values / float(TOTAL))
        falls = np.append(-np.diff(values), values[-1])  # the last curve is 1 in every row
        kept = curve_sums(falls, self._shape, float(self.epsilon))
        return np.asarray((self.keep * kept + float(self.floors @ values)) / TOTAL)

    def near(self, first: int, last: int) -> "NearCurves":
        """What gives expected values in the rows first to last; for pure privacy."""
        rows, keep, epsilon = slice(first, last + 1), self.keep, float(self.epsilon)
        turns, x = self.turns[rows], self.heights[rows] / keep
        rest = (keep - self.heights[rows]) / keep
        low = x * np.exp(-epsilon * np.maximum(first - turns, 0))
        high = rest * np.exp(-epsilon * np.maximum(turns - last, 0))
        heights = np.where(turns > last, 1 - high, low), np.where(turns < first, 1 - low, high)
        shape = np.clip(turns, first, last) - first, *heights
        return NearCurves(shape=shape, epsilon=epsilon, kept=keep / TOTAL)

    def count_error(self, source: Floats, error: Any = "absolute") -> float:
        """Expected count error for inputs distributed as `source`; O(n) for the named errors."""
        if not isinstance(error, str) or error not in POWERS:
            return count_error(self.table() / TOTAL, source, error)
        turn, x, rest = self._shape
        curves = curve_error(self._tails(source), error, (turn[:-1], x[:-1], rest[:-1]))
        return (self.keep * curves + floor_error(source, error, self.floors)) / TOTAL

    @property
    def _shape(self) -> Shape:
        keep = self.keep
        return self.turns, self.heights / keep, (keep - self.heights) / keep

    def _tails(self, source: Floats) -> Tails:
        return Tails(source, float(self.epsilon), self.lift / self.keep)

    @property
    def scale(self) -> tuple[int, int, Integers]:
        """What all curves share: their highest, the lift and the powers."""
        return self.keep, self.lift, self.powers

    @property
    def _arguments(self) -> tuple[Any, ...]:
        return self.turns, self.heights, self.floors, *self.scale

    def _part(self, i: int, first: int, end: int) -> Integers:
        from holdfast.former.mechanism.curve_kernel import weights_of_row

        weights = np.empty(end - first, dtype=np.int64)
        weights_of_row(i, first, *self._arguments, weights)
        return weights


@dataclass(frozen=True, kw_only=True, eq=False)
class NearCurves:
    """Some of the curves that follow each other, in the rows of the same numbers."""

    shape: Shape
    epsilon: float
    kept: float

    def expected(self, values: Floats, beyond: float, floor: float) -> Floats:
        """The expected value of the output in each of these rows, for values that are all `beyond`
        after them and all the same before them; `floor` is what the floors of all outputs add."""
        falls = values - np.append(values[1:], beyond)
        return np.asarray(
            self.kept * (beyond + curve_sums(falls, self.shape, self.epsilon)) + floor
        )


@lru_cache(maxsize=4)
def _powers(epsilon: Fraction, n: int) -> tuple[int, ...]:
    return tuple(decay_table(epsilon, n, total=TOTAL))
