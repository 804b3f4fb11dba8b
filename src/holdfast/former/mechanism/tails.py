"""Sums along a curve in floats: what the curves of a mechanism make of a distribution."""

import numpy as np

from holdfast.arrays import Floats, Integers

Shape = tuple[Integers, Floats, Floats]
"""Curves as their turns m, their heights x, and 1 - x, which may be too small to follow from x."""


class Tails:
    r"""The sums $\sum_i z_i S(i)$ over any range of rows, for curves with given tails.

    On the right of its turn m a curve of height x is $S(m + d) = \max(\alpha^d (x + c) - c, 0)$, on
    the left $1 - S(m - d) = \max(\alpha^d (1 - x + c) - c, 0)$, with $\alpha = e^{-\epsilon}$ and
    the lift $c = \alpha \delta / (1 - \alpha)$. Two running sums give any of them in O(1):
    $L_m = \sum_{i<m} z_i \alpha^{m-i}$ and $R_m = \sum_{i \ge m} z_i \alpha^{i-m}$.
    Cost: O(n log n).
    """

    def __init__(self, z: Floats, epsilon: float, lift: float = 0.0) -> None:
        self.z, self.n, self.epsilon, self.lift = z, len(z), epsilon, lift
        self._below = np.append(0.0, running_sums(z))
        self._left = np.append(0.0, np.exp(-epsilon) * running_sums(z, epsilon))
        self._right = np.append(running_sums(z[::-1], epsilon)[::-1], 0.0)

    def mass(self, first: Integers, end: Integers) -> Floats:
        """Σ z_i over first <= i < end."""
        return np.asarray(self._below[np.maximum(first, end)] - self._below[first])

    def right(self, first: Integers, end: Integers, turn: Integers, x: Floats) -> Floats:
        """Σ z_i S(i) over first <= i < end, all at or right of the turn."""
        end = np.maximum(first, np.minimum(end, turn + self._reach(x)))
        kept = self._power(first - turn) * self._right[first]
        kept -= self._power(end - turn) * self._right[end]
        return np.asarray((x + self.lift) * kept - self.lift * self.mass(first, end))

    def left(self, first: Integers, end: Integers, turn: Integers, rest: Floats) -> Floats:
        """Σ z_i (1 - S(i)) over first <= i < end, all left of the turn; `rest` is 1 - x."""
        first = np.minimum(end, np.maximum(first, turn + 1 - self._reach(rest)))
        kept = self._power(turn - end) * self._left[end]
        kept -= self._power(turn - first) * self._left[first]
        return np.asarray((rest + self.lift) * kept - self.lift * self.mass(first, end))

    def whole(self, turn: Integers, x: Floats, rest: Floats) -> Floats:
        """z·S of every curve."""
        start, end = np.zeros_like(turn), np.full_like(turn, self.n)
        left = self.mass(start, turn) - self.left(start, turn, turn, rest)
        return left + self.right(turn, end, turn, x)

    def misses(self, turn: Integers, x: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """P(true <= b < released) and P(released <= b < true) for curve b = 0, 1, ..."""
        start, end, split = (
            np.zeros_like(turn),
            np.full_like(turn, self.n),
            np.arange(len(turn)) + 1,
        )
        near, far = np.minimum(split, turn), np.maximum(split, turn)
        above = self.left(start, near, turn, rest)
        above += self.mass(turn, far) - self.right(turn, far, turn, x)
        below = self.right(far, end, turn, x)
        below += self.mass(near, turn) - self.left(near, turn, turn, rest)
        return above, below

    def _power(self, steps: Integers) -> Floats:
        return np.asarray(np.exp(-self.epsilon * steps))

    def _reach(self, height: Floats) -> Integers:
        """The first number of steps after which a tail of this height is 0, or n."""
        if self.lift == 0:
            return np.full(np.shape(height), self.n)
        steps = np.ceil(np.log1p(height / self.lift) / self.epsilon)
        return np.minimum(steps, self.n).astype(np.int64)


def running_sums(z: Floats, epsilon: float = 0.0) -> Floats:
    """Σ_(k<=i) z_k e^(-ε(i-k)) for every i: twice as far back in every round.

    So each is found in log2(n) additions, and relatively as accurate as that.
    """
    sums, step = z.copy(), 1
    while step < len(z) and epsilon * step < 746:  # beyond that e^-x is 0
        sums[step:] = sums[step:] + np.exp(-epsilon * step) * sums[:-step]
        step *= 2
    return sums


def curve_sums(weights: Floats, shape: Shape, epsilon: float) -> Floats:
    """Σ_b w_b S_b(i) for every row i of n, by two recursions; for curves without a lift."""
    from holdfast.former.mechanism.curve_kernel import falling_sums

    turn, x, rest = shape
    n = len(turn)
    right: Floats = np.bincount(turn, weights * x, minlength=n).astype(np.float64)
    left: Floats = np.bincount(turn, weights * rest, minlength=n).astype(np.float64)
    later = weights.sum() - np.cumsum(np.bincount(turn, weights, minlength=n))
    fall = float(np.exp(-epsilon))
    fallen = falling_sums(np.ascontiguousarray(left[::-1]), fall)[::-1] - left
    return np.asarray(falling_sums(right, fall) + later - fallen)


def curve_error(tails: Tails, error: str, shape: Shape) -> float:
    """E|i - j| or E(i - j)^2 of the kernel with these curves, one for every output but the last.

    Both are sums over b of the chances that b separates i from j, for (i - j)^2 each with the
    weight 2|b + 1/2 - i|.
    """
    above, below = tails.misses(*shape)
    if error == "absolute":
        return float((above + below).sum())
    moments = Tails(tails.z * np.arange(tails.n), tails.epsilon, tails.lift)
    above_moment, below_moment = moments.misses(*shape)
    odd = 2 * np.arange(len(above)) + 1
    return float((odd * (above - below) - 2 * (above_moment - below_moment)).sum())


def floor_error(z: Floats, error: str, floors: Integers) -> float:
    """Σ_j f_j E|i - j|, or the same with (i - j)^2."""
    counts = np.arange(len(z))
    mean = z @ counts
    if error == "absolute":
        return float(
            floors @ (mean + np.cumsum(2 * np.append(0.0, np.cumsum(z)[:-1]) - (counts > 0)))
        )
    return float(floors @ (z @ counts**2.0 - mean**2 + (counts - mean) ** 2))
