"""The optimum over F, in closed form."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.constructors.construction import Construction
from holdfast.former.constructors.constructor import Constructor
from holdfast.former.mechanism.curves import Curves
from holdfast.former.mechanism.tails import Shape, Tails, curve_error, running_sums
from holdfast.former.mechanism.weights import TOTAL
from holdfast.former.privacy.approximate import exact_delta
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.delta import unit_delta
from holdfast.former.privacy.metrics import POWERS, count_error, error_weights
from holdfast.former.privacy.rational import exp_above, exp_below
from holdfast.former.tables.histogram import check_target

ROUNDING = 1e-12  # of the largest weight: what a computed W may miss the Monge property by


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimal(Constructor):
    r"""The mechanism with the least count error among all that are ε-private and keep z.

    $$\min \langle W, T \rangle : \quad T 1 = 1, \quad z^\top T = w, \quad
    e^{-\epsilon} t_{i+1,j} \le t_{ij} \le e^{\epsilon} t_{i+1,j}.$$

    The optimum is known: for every b the chance of an output up to b falls, from row to row, as
    steeply as privacy allows, and is w_0 + ... + w_b on average (docs/optimum.md, with the proof).
    It is the same for every error that grows convexly with the distance, on either side, so no
    error need be chosen. O(n) numbers, O(n log n) time; no matrix is made.

    >>> found = Optimal()([0.5, 0.3, 0.2], epsilon="0.5")
    >>> round(found.count_error, 6), found.gap
    (0.611303, 0.0)
    """

    target: ArrayLike | None = None
    """w: the law that the released counts are to have; by default z itself, the fixed point."""
    error: Any = "absolute"
    """Count error that is reported: see `metrics.error_weights`. A weight matrix must have the
    Monge property, or other mechanisms than this one have the least error."""
    delta: Any = 0
    """The probability with which the privacy loss of one person may exceed epsilon."""
    steps: int = 1
    """How far one person can move a count; `delta` is for all of it, epsilon for one step.
    `holdfast.privatize` fills it in."""

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for true counts with this distribution."""
        z, exact, delta = check_target(target), exact_epsilon(epsilon), self.promised_delta
        delta = unit_delta(delta, exact, self.steps)
        w = z if self.target is None else check_target(self.target)
        if w.shape != z.shape:
            raise HoldfastError("`target` must have one share for every count, as z has.")
        family = Family(z, exact, delta)
        error, bound = family.least_error(w, self.error)
        return Construction(
            form=family.integers(w),
            epsilon=exact,
            target=w,
            source=None if self.target is None else z,
            count_error=error,
            method="Optimal()",
            delta=delta,
            lower_bound=bound,
            gap=0.0,
        )

    @property
    def promised_delta(self) -> Fraction:
        """Delta for one person."""
        return exact_delta(self.delta)

    def for_release(self, *, rows: int, steps: int) -> "Optimal":
        """The same for a table in which a person moves a count so far; only `delta` asks."""
        return replace(self, steps=steps) if self.promised_delta else self


def least_error(z: Floats, error: Any, epsilon: Fraction) -> float | None:
    """What no mechanism in F has a smaller count error than; None for errors where that is open."""
    if not isinstance(error, str) and steepest(error_weights(error, z), z, z) is None:
        return None
    return Family(z, epsilon).least_error(z, error)[1]


class Family:
    r"""All curves for one distribution z of true counts, from S = 0 to S = 1 in their order.

    A curve falls as steeply as privacy allows, S(i+1) = F(S(i)) with
    $F(s) = \max(0, \alpha (s - \delta), 1 - \delta - (1 - s)/\alpha)$, $\alpha = e^{-\epsilon}$.
    It is given by the row at which it changes from one branch of F to the other, its turn m, and
    its height x = S(m); the first and the last row are the turn of all curves beyond. On the way
    through the family z·S grows from 0 to 1, and between two of its knots linearly in x.
    """

    def __init__(self, z: Floats, epsilon: Fraction, delta: Fraction = Fraction(0)) -> None:
        self.z, self.epsilon = z, epsilon
        # below the delta that is promised by what rounding to integers may add
        self.delta = max(delta - 16 * (1 + exp_below(epsilon)) / TOTAL, Fraction(0))
        self.lift = self.delta / (exp_above(epsilon) - 1)
        if self.lift > 1:
            raise HoldfastError(
                f"`delta` must be at most e^epsilon - 1, got {float(delta):g} with epsilon = "
                f"{float(epsilon):g}."
            )
        self.tails = Tails(z, float(epsilon), float(self.lift))
        self.mirrored = Tails(z[::-1], float(epsilon), float(self.lift))
        self.knots, self.mirrored_knots = _Knots(self.tails), _Knots(self.mirrored)

    def through(self, w: Floats) -> Shape:
        """(m, x, 1 - x) of the curve with z·S = w_0 + ... + w_b, for every b but the last.

        Sums from the left serve the lower half of the curves, sums from the right the upper: so
        that neither a small x nor a small 1 - x is found by subtraction.
        """
        below, above = running_sums(w)[:-1], running_sums(w[::-1])[::-1][1:]
        low = below <= above
        turn, x, rest = np.zeros(len(low), dtype=np.int64), np.zeros(len(low)), np.zeros(len(low))
        turn[low], x[low], rest[low] = self.knots.through(below[low])
        mirrored, rest[~low], x[~low] = self.mirrored_knots.through(above[~low])
        turn[~low] = len(self.z) - 1 - mirrored
        return turn, x, rest

    def integers(self, w: Floats) -> Curves:
        """The optimal curves from z to w in integers, rounded so that they stay private.

        Rounding moves a weight by at most 2 units down and 4 up, and e^ε times a weight less its
        neighbour is 0 at the least before: a floor of 3 coth(ε/2) + 1 units makes up for that.
        """
        grow, n = exp_below(self.epsilon), len(w)
        least = math.ceil(3 * (grow + 1) / (grow - 1)) + 1
        floors = np.where(w > 0, least, 0)
        keep = TOTAL - least * int(np.count_nonzero(w))
        law = np.maximum(w - floors / TOTAL, 0)
        turn, x, rest = self.through(law / law.sum())
        small = np.rint(np.minimum(x, rest) * keep).astype(np.int64)
        heights = np.append(np.where(x <= rest, small, keep - small), keep)
        turns = np.append(turn, n - 1)
        # where a curve can turn, rounded inwards; the first and the last row are free
        decay = 1 / grow
        low = math.ceil(keep * decay * (1 - self.delta) / (1 + decay))
        high = math.floor(keep * (1 + decay * self.delta) / (1 + decay))
        heights = np.maximum(heights, np.where(turns == 0, 0, low))
        heights = np.minimum(heights, np.where(turns == n - 1, keep, high))
        turns, heights = _in_order(turns, heights, w > 0)
        lift = math.floor(keep * self.lift)
        return Curves(turns=turns, heights=heights, floors=floors, epsilon=self.epsilon, lift=lift)

    def least_error(self, w: Floats, error: Any) -> tuple[float, float]:
        """The least count error from z to w, and a float that it is certainly not below.

        Every sum here is of numbers of one sign, found in at most 2 log2(n) additions, or a
        difference whose result is at least 1/(1 + e^ε) of its terms: so it is wrong by a few units
        in the last place times that factor. A curve that misses its level by such an error changes
        the count error by as much, times the steepest slope of the error.
        """
        shape = self.through(w)
        if isinstance(error, str) and error in POWERS:
            found = curve_error(self.tails, error, shape)
            slope = 1.0 if error == "absolute" else 2.0 * len(w)
            size = slope * curve_error(self.tails, "absolute", shape)
        else:
            weights = error_weights(error, self.z)
            slope = _checked(steepest(weights, self.z, w))
            found, size = count_error(self._matrix(shape), self.z, weights), np.abs(weights).sum()
        below = running_sums(w)
        levels = np.minimum(below, np.maximum(1 - below, 0)).sum()
        slip = (2 * math.log2(len(w)) + 64) * 2.0**-50
        slack = slip * ((1 + math.exp(self.epsilon)) * size + slope * levels)
        return found, float(found - slack)

    def _matrix(self, shape: Shape) -> Floats:
        """The transition matrix of curves, before any rounding to integers."""
        (turn, x, rest), lift = shape, float(self.lift)
        steps = np.arange(len(self.z))[:, None] - turn
        decay = np.exp(-float(self.epsilon) * np.abs(steps))
        left, right = np.maximum((rest + lift) * decay, lift), np.maximum((x + lift) * decay, lift)
        below = np.where(steps < 0, 1 + lift - left, right - lift)
        return np.diff(below, axis=1, prepend=0.0, append=1.0)


class _Knots:
    """Curves in their order between which z·S is linear in x.

    A turn ends at the height from which both branches of F lead to the same, where the next begins.
    With a lift, z·S also bends where a tail becomes one row longer.
    """

    def __init__(self, tails: Tails) -> None:
        n, lift, decay = tails.n, tails.lift, math.exp(-tails.epsilon)
        delta = lift * math.expm1(tails.epsilon)
        low, high = decay * (1 - delta) / (1 + decay), (1 + decay * delta) / (1 + decay)
        longest = min(math.log1p(1 / lift) / tails.epsilon, n) if lift else 0
        bends = lift * np.expm1(tails.epsilon * np.arange(math.floor(longest) + 1))
        heights = np.unique(np.concatenate([bends, 1 - bends, [high]]))
        first, last = heights[heights <= low], heights[heights > high]
        turning = heights[(heights > low) & (heights <= high)]
        turns = np.repeat(np.arange(n), len(turning))
        self.turn = np.concatenate([np.zeros(len(first), int), turns, np.full(len(last), n - 1)])
        self.x = np.concatenate([first, np.tile(turning, n), last])
        self.low = low
        self.reached = np.maximum.accumulate(tails.whole(self.turn, self.x, 1 - self.x))

    def through(self, levels: Floats) -> Shape:
        """The curves with z·S equal to these levels."""
        at = np.minimum(np.searchsorted(self.reached, levels), len(self.reached) - 1)
        before = np.maximum(at - 1, 0)
        start = np.where(self.turn[before] == self.turn[at], self.x[before], self.low)
        rise = self.reached[at] - self.reached[before]
        part = np.ones_like(levels)
        np.divide(levels - self.reached[before], rise, out=part, where=rise > 0)
        x = start + np.clip(part, 0, 1) * (self.x[at] - start)
        return self.turn[at], x, 1 - x


def steepest(weights: Floats, z: Floats, w: Floats) -> float | None:
    """How much the error of one count changes per step; None without the Monge property.

    With l(i, j) the error of releasing j for a true count i: l(i, j) + l(i+1, j+1) must not exceed
    l(i, j+1) + l(i+1, j). Counts that do not occur must not weigh; what is never released may.
    """
    live = weights[:, w > 0]
    costs = live[z > 0] / z[z > 0, None]
    steps = np.diff(costs, axis=1)
    slip = ROUNDING * np.abs(costs).max()
    if (np.diff(steps, axis=0) > slip).any() or (np.ptp(live[z == 0], axis=1) > slip).any():
        return None
    return float(np.abs(steps).max(initial=0))


def _checked(slope: float | None) -> float:
    if slope is None:
        raise HoldfastError(
            "`error` must have the Monge property, as every convex function of the distance has: "
            "only then is the least error known in closed form. "
            "Hint: LinearProgram(error=...) takes any weights."
        )
    return slope


def _in_order(turns: Integers, heights: Integers, live: Marks) -> tuple[Integers, Integers]:
    """The same curves, none below the one before it; an output that never occurs repeats it."""
    order = np.lexsort((heights, turns, live))  # what is not live ranks below all that is
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    highest = order[np.maximum.accumulate(rank)]
    started = live[highest]
    return np.where(started, turns[highest], 0), np.where(started, heights[highest], 0)
