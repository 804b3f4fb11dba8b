r"""Noise on a count, then a monotone map: the kernels that all optima here are.

Let X be the canonical noise of (ε, δ): for δ = 0 discrete Laplace noise, $P(X = x) \propto
\alpha^{|x|}$ with $\alpha = e^{-\epsilon}$. A count i becomes v = i + X + U with U uniform on
[0, 1), which breaks ties at random, and the map publishes the number of thresholds
$t_0 \le t_1 \le \dots$ that v exceeds. Then $S_b(i) = P(v \le t_b)$ is the chance of an output up
to b, and it falls from row to row as steeply as privacy allows, S(i+1) = F(S(i)) with

    F(s) = max(0, α (s - δ), 1 - δ - (1 - s)/α).

As a function of i it is known by the row m in which it changes from one branch of F to the other,
its *turn*, and its height x = S(m). With the *lift* c = δ/(e^ε - 1), which is 0 for δ = 0,

    S(m + d) = max(α^d (x + c) - c, 0),    1 - S(m - d) = max(α^d (1 - x + c) - c, 0).

Thresholds between two whole numbers are heights between (1-δ)/(1+e^ε) and one less that; below
the first count and above the last any height will do, since noise there is clamped.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError

Knots = tuple[Integers, Floats, Floats]
BLOCK = 1 << 21  # entries of curves that are held at once


@dataclass(frozen=True, kw_only=True, eq=False)
class CanonicalNoise:
    """Canonical noise of (ε, δ) on counts 0, ..., n - 1."""

    epsilon: float
    """Of the promise."""
    delta: float
    """Of the promise; 0 for discrete Laplace noise."""
    n: int
    """How many counts there are."""

    @staticmethod
    def of(n: int, epsilon: Fraction, delta: Fraction = Fraction(0)) -> "CanonicalNoise":
        """Checked; δ above e^ε - 1 would leave nothing to protect."""
        if delta > math.expm1(epsilon):
            raise HoldfastError(
                f"`delta` must be at most e^epsilon - 1, got {float(delta):g} with epsilon = "
                f"{float(epsilon):g}."
            )
        return CanonicalNoise(epsilon=float(epsilon), delta=float(delta), n=n)

    @property
    def lift(self) -> float:
        """c: what both tails are lowered by."""
        return self.delta / math.expm1(self.epsilon)

    @property
    def low(self) -> float:
        """The least height at a turn; 1 less it is the largest."""
        return (1 - self.delta) / (1 + math.exp(self.epsilon))

    def chances(self, turn: Integers, height: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """S(i) and 1 - S(i) for every row i and every curve, each relatively accurate where it is
        the smaller; `rest` is 1 - height, which may be too small to follow from it."""
        steps = np.arange(self.n)[:, None] - turn
        side = steps < 0
        tail = np.where(side, rest + self.lift, height + self.lift)
        tail *= np.exp(-self.epsilon * np.arange(self.n))[np.abs(steps)]
        if self.lift:
            tail = np.maximum(tail - self.lift, 0.0)
        other = 1 - tail
        return np.where(side, other, tail), np.where(side, tail, other)

    def knots(self) -> Knots:
        """(turn, height, 1 - height) of curves in their order between which z·S is linear.

        A turn ends at the height from which both branches of F lead to the same, where the next
        begins. With a lift z·S also bends where a tail becomes one row longer.
        """
        bends = np.empty(0)
        if self.lift:
            longest = min(math.log1p(1 / self.lift) / self.epsilon, self.n)
            bends = self.lift * np.expm1(self.epsilon * np.arange(1, math.floor(longest) + 1))
        low, high, last = self.low, 1 - self.low, self.n - 1
        heights = np.sort(np.concatenate([bends, 1 - bends, [high]]))
        inner = heights[(heights > low) & (heights <= high)]
        first, end = heights[(heights > 0) & (heights <= low)], heights[heights > high]
        turn = np.repeat(np.arange(self.n), len(inner))
        turn = np.concatenate([np.zeros(1 + len(first), int), turn, np.full(len(end) + 1, last)])
        height = np.concatenate([[0.0], first, np.tile(inner, self.n), end, [1.0]])
        return turn, height, 1 - height


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """One curve S_b for every output b but the last."""

    noise: CanonicalNoise
    """Whose curves they are."""
    turn: Integers
    """m."""
    height: Floats
    """x = S(m)."""
    rest: Floats
    """1 - x."""

    @cached_property
    def chances(self) -> tuple[Floats, Floats]:
        """S_b(i) and 1 - S_b(i), row i and column b."""
        return self.noise.chances(self.turn, self.height, self.rest)

    def matrix(self) -> Floats:
        """t_ij = S_j(i) - S_(j-1)(i), from whichever of S and 1 - S is small."""
        up_to, above = self.chances
        matrix = np.where(
            np.hstack([up_to <= above, np.zeros((self.noise.n, 1), dtype=bool)]),
            np.diff(up_to, axis=1, prepend=0.0, append=1.0),
            -np.diff(above, axis=1, prepend=1.0, append=0.0),
        )
        return np.maximum(matrix, 0.0, out=matrix)


def curves_through(z: Floats, up_to: Floats, above: Floats, noise: CanonicalNoise) -> Curves:
    """The curves with z·S_b = up_to[b], where `above` is 1 - up_to, for b = 0, ..., n - 2.

    Between knots z·S is linear in the height, so it is one sorted search and one division for each.
    Sums of S serve the lower curves and sums of 1 - S the upper, so that neither a small height nor
    a small rest is found by subtraction. Cost: O(n) for every knot, of which there are about n.
    """
    turn, height, rest = noise.knots()
    reached, left = _sums(z, noise, (turn, height, rest))
    at = np.where(
        up_to <= above,
        np.searchsorted(reached, up_to),
        len(left) - np.searchsorted(left[::-1], above, side="right"),
    )
    at = np.clip(at, 1, len(turn) - 1)
    same = turn[at - 1] == turn[at]
    start = np.where(same, height[at - 1], noise.low)
    start_rest = np.where(same, rest[at - 1], 1 - noise.low)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(
            up_to <= above,
            (up_to - reached[at - 1]) / (reached[at] - reached[at - 1]),
            1 - (above - left[at]) / (left[at - 1] - left[at]),
        )
        short = np.where(
            up_to <= above,
            (reached[at] - up_to) / (reached[at] - reached[at - 1]),
            (above - left[at]) / (left[at - 1] - left[at]),
        )
    part, short = (np.clip(np.nan_to_num(share, nan=1.0), 0, 1) for share in (part, short))
    return Curves(
        noise=noise,
        turn=turn[at],
        height=start + part * (height[at] - start),
        rest=rest[at] + short * (start_rest - rest[at]),
    )


def _sums(z: Floats, noise: CanonicalNoise, knots: Knots) -> tuple[Floats, Floats]:
    """z·S and z·(1 - S) of every curve, in their order."""
    if not noise.lift:
        return _geometric_sums(z, noise, knots)
    size = max(BLOCK // noise.n, 1)
    (turn, height, rest), parts = knots, []
    for at in range(0, len(turn), size):
        some = slice(at, at + size)
        parts.append([z @ chance for chance in noise.chances(turn[some], height[some], rest[some])])
    reached, left = (np.concatenate(part) for part in zip(*parts, strict=True))
    return np.maximum.accumulate(reached), np.minimum.accumulate(left)


def _geometric_sums(z: Floats, noise: CanonicalNoise, knots: Knots) -> tuple[Floats, Floats]:
    r"""The same without a lift, from $L_m = \sum_{i<m} z_i \alpha^{m-i}$ and
    $R_m = \sum_{i \ge m} z_i \alpha^{i-m}$: one recursion each."""
    turn, height, rest = knots
    decay = math.exp(-noise.epsilon)
    fall = [0.0]
    for share in z.tolist():
        fall.append(decay * (fall[-1] + share))
    rise = [0.0]
    for share in z[::-1].tolist():
        rise.append(share + decay * rise[-1])
    before, after = rest * np.array(fall)[turn], height * np.array(rise)[::-1][turn]
    below, above = np.append(0.0, np.cumsum(z)), np.append(np.cumsum(z[::-1])[::-1], 0.0)
    reached, left = below[turn] - before + after, above[turn] - after + before
    return np.maximum.accumulate(reached), np.minimum.accumulate(left)


def curves_error(z: Floats, curves: Curves, error: str) -> float:
    """E|i - j| ("absolute") or E(i - j)^2 ("squared") of the kernel with these curves.

    Both are sums over b of the chances that b separates the true count i from the released one,
    for (i - j)^2 each with the weight 2|b + 1/2 - i|: sums of positive numbers, so they are
    relatively as accurate as the curves.
    """
    up_to, above = curves.chances
    n = curves.noise.n
    gap = np.arange(n - 1) - np.arange(n)[:, None]
    missed = np.where(gap >= 0, above, up_to)
    if error == "squared":
        missed *= np.abs(2 * gap + 1)
    return float(z @ missed.sum(axis=1))


def raise_to_private(t: Floats, epsilon: float) -> None:
    """Raise, in place, every entry to max_k e^(-ε|i-k|) t_k: the least private matrix above t."""
    decay = math.exp(-epsilon)
    for i in range(1, len(t)):
        np.maximum(t[i], decay * t[i - 1], out=t[i])
    for i in range(len(t) - 2, -1, -1):
        np.maximum(t[i], decay * t[i + 1], out=t[i])
