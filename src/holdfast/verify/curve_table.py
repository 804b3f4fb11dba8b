"""Weights that follow from curves, worked out where they change: O(n) memory, O(n/ε) work."""

import hashlib
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from holdfast.verify.exact import Mask, Words, product
from holdfast.verify.folder import CURVES
from holdfast.verify.mechanism import STRIP, TOTAL, Floats, Integers, Strip, Sums
from holdfast.verify.report import Damage


class CurveTable:
    """A mechanism made of curves, as docs/bundle.md defines them; the curves are in order.

    A curve is constant further from its turn than its powers reach. So weights change, and can be
    negative, only within that reach of the two curves that a column lies between.
    """

    def __init__(
        self, turns: Integers, heights: Integers, floors: Integers, *, lift: int, powers: Words
    ) -> None:
        self.turns, self.heights, self.floors, self.lift = turns, heights, floors, lift
        self.keep = TOTAL - int(floors.sum())
        self.reach = int(np.count_nonzero(powers))
        self.powers = np.append(powers[: self.reach], np.uint64(0))

    def __len__(self) -> int:
        return len(self.turns)

    def weight(self, i: int, j: int) -> int:
        """The weight of output j for input i."""
        rows = np.array([i])
        below = int(self._curves(np.array([j - 1]), rows)[0, 0]) if j else 0
        return int(self._curves(np.array([j]), rows)[0, 0]) - below + int(self.floors[j])

    def column(self, j: int) -> Floats:
        """The weights of output j for every input, in doubles."""
        below, here = self._curves(np.array([j - 1, j]), np.arange(len(self)))
        return np.asarray(here - below + self.floors[j], dtype=np.float64)

    def strips(self) -> Iterator[Strip]:
        """Columns whose curves turn near each other, in all rows that these curves reach.

        Turns are in order, so the rows between them come to n in all, however they are spread.
        """
        n, reach = len(self), self.reach
        most = max(8, STRIP // (3 * reach + 3))
        outputs = np.flatnonzero(self._unlike)  # the others have their floor in every row
        turns, first = self.turns[outputs], 0
        while first < len(outputs):
            start = int(turns[first - 1]) if first else 0
            near = int(np.searchsorted(turns, start + max(reach, 64), side="right"))
            end = min(max(near, first + 1), first + most)
            last = min(int(turns[min(end, len(turns)) - 1]) + reach + 2, n)
            yield self._strip(outputs[first:end], np.arange(max(start - reach - 1, 0), last))
            first = end

    @property
    def _unlike(self) -> Mask:
        """Which curves are another than the one before; the first one than 0."""
        return np.asarray(
            (np.diff(self.turns, prepend=0) != 0) | (np.diff(self.heights, prepend=0) != 0)
        )

    def _strip(self, outputs: Integers, rows: Integers) -> Strip:
        below = self._curves(np.append(outputs[0] - 1, outputs), rows)
        weights = np.diff(below, axis=0)
        weights += self.floors[outputs][:, None]
        if weights.min() < 0:
            line, at = divmod(int(np.argmin(weights)), len(rows))
            i, j = rows[at], outputs[line]
            raise Damage(f"{CURVES}: the weight of input {i}, output {j} is negative.")
        return Strip(outputs, rows, weights.view(np.uint64))

    def _curves(self, curves: Integers, rows: Integers) -> Integers:
        """The cumulative weights of some outputs without their floors; curve -1 is 0."""
        none = curves < 0
        turn = np.where(none, 0, self.turns[curves])[:, None]
        height = np.where(none, 0, self.heights[curves])[:, None]
        steps = rows - turn
        right = steps >= 0
        np.abs(steps, out=steps)
        power = self.powers[np.minimum(steps, self.reach, out=steps)]
        ends = [(part + self.lift).astype(np.uint64) for part in (height, self.keep - height)]
        high, low = product(power, np.where(right, *ends))
        high <<= np.uint64(2)
        high |= low >> np.uint64(62)
        tail = high.view(np.int64)
        tail -= self.lift
        np.maximum(tail, 0, out=tail)
        return np.where(right, tail, self.keep - tail)

    def possible(self) -> Mask:
        """Which outputs have a positive weight for any input."""
        found = self.floors > 0
        if (self._unlike & ~found).any():  # without a floor, but between two curves that differ
            for strip in self.strips():
                found[strip.outputs] |= strip.weights.any(axis=1)
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
        """By the windows in which a curve is neither 0 nor full, and the shares left of them.

        In doubles: a value of a curve is rounded five times, and cut off below 2^-62.
        """
        n, before, keep = len(self), np.append(0.0, np.cumsum(z)), self.keep / TOTAL
        whole, upper = np.zeros(n), np.zeros(n)
        for curves, rows, shares in self._parts(z):
            parts = self._heights(curves, rows) * shares
            left, at = before[np.maximum(rows[:, 0], 0)], before[curves + 1]
            whole[curves] = parts.sum(axis=1) + keep * left
            beyond = np.where(rows > curves[:, None], parts, 0.0).sum(axis=1)
            upper[curves] = beyond + keep * np.maximum(left - at, 0.0)
        floors, shares = np.cumsum(self.floors) / TOTAL, before[1:]
        lower = keep * shares - (whole - upper)
        crossing = upper + floors * (before[-1] - shares) + lower + (1 - keep - floors) * shares
        return Sums(whole + floors, crossing, (3 * n + 20) * 2.0**-53)

    def _heights(self, curves: Integers, rows: Integers) -> Floats:
        """The same as `_curves` as shares of 2^62, in doubles."""
        turn, height = self.turns[curves][:, None], self.heights[curves][:, None]
        right = rows >= turn
        power = (self.powers / TOTAL)[np.minimum(np.abs(rows - turn), self.reach)]
        lift, keep = self.lift / TOTAL, self.keep / TOTAL
        start = np.where(right, height / TOTAL, (self.keep - height) / TOTAL) + lift
        tail = np.maximum(start * power - lift, 0.0)
        return np.asarray(np.where(right, tail, keep - tail))

    def _parts(self, values: Floats) -> Iterator[tuple[Integers, Integers, Floats]]:
        """Curves, the rows around their turns, and the values there; 0 beyond the table."""
        n, reach = len(self), self.reach
        width = 2 * reach + 1
        step = max(1, STRIP // width)
        for first, end in pairwise([*range(0, n, step), n]):
            curves = np.arange(first, end)
            rows = self.turns[curves][:, None] + np.arange(-reach, reach + 1)
            inside = (rows >= 0) & (rows < len(values))
            yield curves, rows, np.where(inside, values[np.clip(rows, 0, len(values) - 1)], 0.0)

    def reached(self, outputs: Integers) -> Floats:
        """The chance that one of these outputs or a lower one is released, one line per output, for
        every input."""
        curves = self._curves(outputs, np.arange(len(self))) / TOTAL
        return np.asarray(curves + (np.cumsum(self.floors) / TOTAL)[outputs][:, None])

    def moved(self, errors: Floats) -> Floats:
        """By the falls of each curve from one input to the next."""
        found = np.zeros(len(self))
        for curves, rows, off in self._parts(errors):
            falls = -np.diff(self._heights(curves, rows), axis=1)
            found[curves] = (falls * off[:, :-1]).sum(axis=1)
        return found
