"""Weights that follow from curves, worked out where they matter: O(n) memory, about O(n) work."""

import hashlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from holdfast.former.verify.curve_sums import CurveSums
from holdfast.former.verify.exact import Mask, Words, part
from holdfast.former.verify.folder import CURVES
from holdfast.former.verify.mechanism import STRIP, TOTAL, Floats, Integers, Pairs, Sums
from holdfast.former.verify.report import Damage

NEAR = 2  # rows beside a turn that are looked at in every column


class Stretches(NamedTuple):
    """Parts of columns: an output, and inputs one after the other."""

    outputs: Integers
    first: Integers
    last: Integers


class CurveTable:
    """A mechanism made of curves, as docs/bundle.md defines them; the curves are in order.

    A curve is constant further from its turn than the highest tail reaches. So weights change, and
    can be negative, only within that reach of the two curves that a column lies between.
    """

    def __init__(
        self, turns: Integers, heights: Integers, floors: Integers, *, lift: int, powers: Words
    ) -> None:
        self.turns, self.heights, self.floors, self.lift = turns, heights, floors, lift
        self.keep = TOTAL - int(floors.sum())
        self.powers = np.append(powers[powers > 0], np.uint64(0))
        highest = self._tails(np.full(len(self.powers), self.keep), self.powers)
        self.reach = int(np.count_nonzero(highest))

    def __len__(self) -> int:
        return len(self.turns)

    def weight(self, i: int, j: int) -> int:
        """The weight of output j for input i."""
        return int(self._weights(np.array([j]), np.array([i]))[0])

    def column(self, j: int) -> Floats:
        """The weights of output j for every input, in doubles."""
        rows = np.arange(len(self))
        return np.asarray(self._weights(np.full(len(self), j), rows), dtype=np.float64)

    def pairs(self, worst: Callable[[], Fraction] | None = None) -> Iterator[Pairs]:
        """With `worst`, from the turns outwards, as far as something worse may follow."""
        if worst is None or self.lift:
            yield from self._pairs(self._stretches(self.reach))
            return
        stretches = self._stretches(NEAR)
        while len(stretches.outputs):
            yield from self._pairs(stretches)
            stretches = self._beyond(stretches, worst())

    @property
    def _unlike(self) -> Mask:
        """Which curves are another than the one before; the first one than 0."""
        return np.asarray(
            (np.diff(self.turns, prepend=0) != 0) | (np.diff(self.heights, prepend=0) != 0)
        )

    def _stretches(self, reach: int) -> Stretches:
        """Of every column that is not its floor in all rows: between its turns, and beside them."""
        outputs = np.flatnonzero(self._unlike)
        first, last = self._turns_before(outputs) - reach, self.turns[outputs] + reach
        return Stretches(outputs, np.maximum(first, 0), np.minimum(last, len(self) - 1))

    def _turns_before(self, outputs: Integers) -> Integers:
        return np.where(outputs > 0, self.turns[outputs - 1], 0)

    def _beyond(self, seen: Stretches, worst: Fraction) -> Stretches:
        """As much again as was seen of every tail in which a worse ratio may follow."""
        outputs, first, last = seen
        before, turns, n = self._turns_before(outputs), self.turns[outputs], len(self)
        most = np.maximum(before - self.reach, 0), np.minimum(turns + self.reach, n - 1)
        left, right = (first <= before) & (first > most[0]), (last >= turns) & (last < most[1])
        left[left] = ~self._settled(outputs[left], first[left], worst)
        right[right] = ~self._settled(outputs[right], last[right], worst)
        return Stretches(
            np.append(outputs[left], outputs[right]),
            np.append(np.maximum(2 * first - before, most[0])[left], last[right]),
            np.append(first[left], np.minimum(2 * last - turns, most[1])[right]),
        )

    def _settled(self, outputs: Integers, rows: Integers, worst: Fraction) -> Mask:
        """Whether no ratio is above `worst` further out, by the weights at these rows of tails.

        In the tails of a column with floor f weights are y + f within 2, and y falls by q = e^-ε
        from row to row. Where a weight w is f + 2 or more, y lies between 0 and u = w + 2 - f, and
        so it does further out. Ratios there are at most (f + 2) / (f - 2) or
        (u + f + 2) / (q u + f - 2): docs/privacy-guarantee.md, "Tails", has the proof.
        """
        floors, weights = self.floors[outputs], self._weights(outputs, rows)
        kinds = np.unique(floors)
        most = np.array([self._most_settled(int(f), worst) for f in kinds], dtype=np.int64)
        return np.asarray(
            (weights >= floors + 2) & (weights <= most[np.searchsorted(kinds, floors)])
        )

    def _most_settled(self, f: int, worst: Fraction) -> int:
        """The largest weight w for which both bounds are at most `worst`; -1 if there is none."""
        p, r, q = (
            worst.numerator,
            worst.denominator,
            int(self.powers[1]),
        )  # cut off, so q u is not too large
        room, slope = p * (f - 2) - r * (f + 2), r * TOTAL - p * q
        if f <= 2 or room < 0:
            return -1
        u = room * TOTAL // slope if slope > 0 else TOTAL
        return min(u - 2 + f, TOTAL)

    def _pairs(self, stretches: Stretches) -> Iterator[Pairs]:
        ends = np.cumsum(stretches.last - stretches.first + 1)
        shift = stretches.last + 1 - ends
        for start in range(0, int(ends[-1]) if len(ends) else 0, STRIP):
            entries = np.arange(start, min(start + STRIP + 1, int(ends[-1])))
            which = np.searchsorted(ends, entries, side="right")
            outputs, rows = stretches.outputs[which], shift[which] + entries
            weights = self._weights(outputs, rows)
            if weights.min() < 0:
                at = int(np.argmin(weights))
                i, j = rows[at], outputs[at]
                raise Damage(f"{CURVES}: the weight of input {i}, output {j} is negative.")
            same, words = which[:-1] == which[1:], weights.view(np.uint64)
            yield Pairs(outputs[:-1][same], rows[:-1][same], words[:-1][same], words[1:][same])

    def _weights(self, outputs: Integers, rows: Integers) -> Integers:
        """The weights of outputs for inputs, one by one."""
        weights = self._curves(outputs, rows)
        weights -= np.where(outputs > 0, self._curves(outputs - 1, rows), 0)
        weights += self.floors[outputs]
        return weights

    def _curves(self, curves: Integers, rows: Integers) -> Integers:
        """The cumulative weights of outputs without their floors."""
        turn, height = self.turns[curves], self.heights[curves]
        steps = rows - turn
        right = steps >= 0
        np.abs(steps, out=steps)
        power = self.powers[np.minimum(steps, self.reach, out=steps)]
        tail = self._tails(np.where(right, height, self.keep - height), power)
        return np.where(right, tail, self.keep - tail)

    def _tails(self, heights: Integers, powers: Words) -> Integers:
        """What is left of heights where these powers are, one by one."""
        tail = part(powers, (heights + self.lift).view(np.uint64)).view(np.int64)
        tail -= self.lift
        return np.maximum(tail, 0, out=tail)

    def possible(self) -> Mask:
        """Which outputs have a positive weight for any input."""
        found = self.floors > 0
        if (self._unlike & ~found).any():  # without a floor, but between two curves that differ
            for pairs in self.pairs():
                found[pairs.outputs[(pairs.upper > 0) | (pairs.lower > 0)]] = True
        return found

    def check_row_totals(self) -> str:
        """The last curve holds everything in every row, so a row's weights add up to 2^62."""
        n = len(self)
        if self.turns[-1] != n - 1 or self.heights[-1] != self.keep:
            raise Damage("the weights of input 0 do not add up to 2^62.")
        return f"{n:,} rows add up to 2^62 each"

    def digest(self, claim: str) -> str:
        """The SHA-256 sum of turns, heights and floors."""
        words = f"holdfast curves n={len(self)} lift={self.lift} {claim}\n"
        digest = hashlib.sha256(words.encode())
        for numbers in (self.turns, self.heights, self.floors):
            digest.update(numbers.astype("<i8").tobytes())
        return digest.hexdigest()

    def sums(self, z: Floats) -> Sums:
        """In doubles: the share up to a count is rounded once for every count, a tail a few
        hundred times, and what a curve has is cut off below 2^-62."""
        n, keep, sums = len(self), self.keep / TOTAL, self._curve_sums(z)
        below, crossing = np.empty(n), np.empty(n)
        for start in range(0, n, STRIP):
            outputs = np.arange(start, min(start + STRIP, n))
            below[outputs] = sums.whole(*self._shape(outputs))
            crossing[outputs] = sums.crossing(*self._shape(outputs), outputs)
        floors, shares = np.cumsum(self.floors) / TOTAL, sums.before[1:]
        crossing += floors * (shares[-1] - shares) + (1 - keep - floors) * shares
        return Sums(below + floors, crossing, (3 * n + 400) * 2.0**-53)

    def _curve_sums(self, values: Floats) -> CurveSums:
        powers = self.powers / TOTAL
        return CurveSums(values, powers, lift=self.lift / TOTAL, keep=self.keep / TOTAL)

    def _shape(self, curves: Integers) -> tuple[Integers, Floats, Floats]:
        heights = self.heights[curves]
        return self.turns[curves], heights / TOTAL, (self.keep - heights) / TOTAL

    def reached(self, outputs: Integers) -> Floats:
        """The chance that one of these outputs or a lower one is released, one line per output, for
        every input."""
        curves = self._curves(outputs[:, None], np.arange(len(self))) / TOTAL
        return np.asarray(curves + (np.cumsum(self.floors) / TOTAL)[outputs][:, None])

    def moved(self, errors: Floats) -> Floats:
        """Σ_i errors_i (s_b(i) - s_b(i+1)), summed by parts."""
        changes = np.diff(errors, prepend=0.0, append=0.0)
        return self._curve_sums(changes).whole(*self._shape(np.arange(len(self))))
