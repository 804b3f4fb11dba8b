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
        rows = np.array([[i]])
        below = int(self._curves(np.array([j - 1]), rows)[0, 0]) if j else 0
        return int(self._curves(np.array([j]), rows)[0, 0]) - below + int(self.floors[j])

    def strips(self) -> Iterator[Strip]:
        """The windows around the turns of each column's two curves, or whole columns."""
        width = 2 * self.reach + 3
        if width >= len(self):
            yield from self._whole_columns()
            return
        step = max(1, STRIP // width)
        for start in range(0, len(self), step):
            outputs = np.arange(start, min(start + step, len(self)))
            before = self._window(outputs - 1, width)
            yield self._strip(outputs, before)
            own = self._window(outputs, width)
            yield self._strip(outputs, own, own[:, :-1] >= before[:, -1:])

    def _whole_columns(self) -> Iterator[Strip]:
        n = len(self)
        rows, step = np.arange(n)[None, :], max(1, STRIP // n)
        for start in range(0, n, step):
            outputs = np.arange(start, min(start + step, n))
            yield self._strip(outputs, rows)

    def _window(self, curves: Integers, width: int) -> Integers:
        """Rows around the turns, a line a curve; at the ends a row is repeated."""
        turns = np.where(curves < 0, 0, self.turns[curves])
        rows = turns[:, None] + np.arange(width) - (width // 2)
        return np.clip(rows, 0, len(self) - 1)

    def _strip(self, outputs: Integers, rows: Integers, fresh: Mask | None = None) -> Strip:
        before = self._curves(outputs - 1, rows)
        weights = self._curves(outputs, rows) - before + self.floors[outputs][:, None]
        if weights.min() < 0:
            line, at = np.unravel_index(int(np.argmin(weights)), weights.shape)
            i, j = np.broadcast_to(rows, weights.shape)[line, at], outputs[line]
            raise Damage(f"{CURVES}: the weight of input {i}, output {j} is negative.")
        return Strip(outputs, rows, weights.astype(np.uint64), fresh)

    def _curves(self, curves: Integers, rows: Integers) -> Integers:
        """The cumulative weights of some outputs without their floors; curve -1 is 0."""
        none = curves < 0
        turn = np.where(none, 0, self.turns[curves])[:, None]
        height = np.where(none, 0, self.heights[curves])[:, None]
        steps = rows - turn
        right = steps >= 0
        power = self.powers[np.minimum(np.abs(steps), self.reach)]
        start = np.where(right, height, self.keep - height).astype(np.uint64) + np.uint64(self.lift)
        high, low = product(power, start)
        left = ((high << np.uint64(2)) | (low >> np.uint64(62))).astype(np.int64) - self.lift
        tail = np.maximum(left, 0)
        return np.where(right, tail, self.keep - tail)

    def possible(self) -> Mask:
        """Which outputs have a positive weight for any input."""
        found = self.floors > 0
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
        """By the windows in which a curve is neither 0 nor full, and the shares left of them."""
        n, before = len(self), np.append(0.0, np.cumsum(z))
        whole, upper = np.zeros(n), np.zeros(n)
        for curves, rows, shares in self._parts(z):
            parts = self._curves(curves, rows) * shares
            left, at = before[np.maximum(rows[:, 0], 0)], before[curves + 1]
            whole[curves] = parts.sum(axis=1) + self.keep * left
            beyond = np.where(rows > curves[:, None], parts, 0.0).sum(axis=1)
            upper[curves] = beyond + self.keep * np.maximum(left - at, 0.0)
        floors, shares = np.cumsum(self.floors), before[1:]
        lower = self.keep * shares - (whole - upper)
        rest = TOTAL - self.keep - floors
        crossing = upper + floors * (before[-1] - shares) + lower + rest * shares
        return Sums((whole + floors) / TOTAL, crossing / TOTAL, (3 * n + 9) * 2.0**-53)

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

    def moved(self, errors: Floats) -> Floats:
        """By the falls of each curve from one input to the next."""
        found = np.zeros(len(self))
        for curves, rows, off in self._parts(errors):
            falls = np.abs(self._curves(curves, rows) - self._curves(curves, rows + 1))
            found[curves] = (falls * off).sum(axis=1) / TOTAL
        return found
