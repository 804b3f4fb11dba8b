"""Sums over curves, of all curves at once: O(n log n), in doubles."""

import numpy as np

from holdfast.former.verify.mechanism import Floats, Integers


class TailSums:
    """Σ_d values_(m+d) max((x + lift) p_d - lift, 0) over d >= some start, for turns m, heights x.

    p_d is q^d, so all of them follow from sums that fade by q from row to row; these come from sums
    over 1, 2, 4, ... rows, so that each is rounded few times.
    """

    def __init__(self, values: Floats, powers: Floats, lift: float) -> None:
        self.powers, self.lift = powers, lift
        self.before = np.append(0.0, np.cumsum(values))
        self.faded = np.append(values, 0.0)
        step, reach = 1, len(powers) - 1
        while step < min(reach, len(values)):
            self.faded[:-step] += powers[step] * self.faded[step:]
            step *= 2

    def __call__(self, turns: Integers, heights: Floats, start: Integers | int) -> Floats:
        """From `start` rows right of the turn on; `start` is 0 or more."""
        end = np.maximum(self._lengths(heights), start)
        first, after = (np.minimum(turns + d, len(self.before) - 1) for d in (start, end))
        faded = self._power(start) * self.faded[first] - self._power(end) * self.faded[after]
        lifted = self.lift * (self.before[after] - self.before[first])
        return np.asarray((heights + self.lift) * faded - lifted)

    def _lengths(self, heights: Floats) -> Integers:
        """How many rows from its turn on a tail is above 0."""
        highest = heights + self.lift
        least = np.divide(self.lift, highest, out=np.ones(len(heights)), where=highest > 0)
        return len(self.powers) - np.searchsorted(self.powers[::-1], least, side="right")

    def _power(self, steps: Integers | int) -> Floats:
        return np.asarray(self.powers[np.minimum(steps, len(self.powers) - 1)])


class CurveSums:
    """Σ_i values_i s(i) of curves s, all numbers being shares of 2^62 and floors left out.

    A curve of turn m and height x is `keep` less its left tail before m, and its right tail from
    there on; its depth is keep - x, the height of the left tail.
    """

    def __init__(self, values: Floats, powers: Floats, *, lift: float, keep: float) -> None:
        self.keep, self.last = keep, len(values) - 1
        self.before = np.append(0.0, np.cumsum(values))
        self.right, self.left = (TailSums(v, powers, lift) for v in (values, values[::-1]))

    def whole(self, turns: Integers, heights: Floats, depths: Floats) -> Floats:
        """Over all inputs."""
        left = self.left(self.last - turns, depths, 1)
        return np.asarray(self.keep * self.before[turns] - left + self.right(turns, heights, 0))

    def crossing(
        self, turns: Integers, heights: Floats, depths: Floats, outputs: Integers
    ) -> Floats:
        """What a curve has over the inputs above its output, and lacks of `keep` over the others.

        The one is the right tail beyond the output, the other the left tail up to it. Between turn
        and output a curve has, or lacks, what the other tail leaves of `keep`.
        """
        after, mirrored = outputs + 1 - turns, self.last - turns
        between = self.keep * np.abs(self.before[outputs + 1] - self.before[turns])
        right = [self.right(turns, heights, d) for d in (0, np.maximum(after, 0))]
        left = [self.left(mirrored, depths, d) for d in (1, np.maximum(1 - after, 1))]
        return np.asarray(between + 2 * (right[1] + left[1]) - (right[0] + left[0]))
