"""Curves of all kinds, and their largest ratio by looking at all of their weights."""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from holdfast.former.constructors import Optimal
from holdfast.former.mechanism.weights import TOTAL
from holdfast.former.privacy.rational import decay_table

EPSILONS = ("1/100", "1/30", "1/10", "1/4", "2/3", "1", "2", "5", "10")


class CurveSet(NamedTuple):
    """The integers of a mechanism made of curves."""

    turns: np.ndarray
    heights: np.ndarray
    floors: np.ndarray
    epsilon: str
    lift: int = 0

    @property
    def keep(self):
        return TOTAL - int(self.floors.sum())

    @property
    def in_order(self):
        later, higher = np.diff(self.turns), np.diff(self.heights)
        inside = self.heights.min() >= 0 and self.heights.max() <= self.keep
        return inside and not (higher[later == 0] < 0).any()


def all_weights(curves):
    """Column by column as docs/bundle.md has them, in Python's integers."""
    n, keep, lift = len(curves.turns), curves.keep, curves.lift
    powers = [*decay_table(Fraction(curves.epsilon), n, total=TOTAL), *[0] * n]

    def tail(height, d):
        return max(((height + lift) * powers[d] >> 62) - lift, 0)

    before, columns = [0] * n, []
    numbers = (array.tolist() for array in curves[:3])
    for turn, height, floor in zip(*numbers, strict=True):
        curve = [keep - tail(keep - height, turn - i) for i in range(turn)]
        curve += [tail(height, i - turn) for i in range(turn, n)]
        columns.append([b - a + floor for a, b in zip(before, curve, strict=True)])
        before = curve
    return columns


def worst_of_all(columns):
    """The largest ratio; "negative" or "impossible" where no ratio is looked for."""
    if min(map(min, columns)) < 0:
        return "negative"
    p, r = 1, 1
    for column in columns:
        if 0 in column and any(column):
            return "impossible"
        for a, b in pairwise(column):
            if max(a, b) * r > p * min(a, b):
                p, r = max(a, b), min(a, b)
    return Fraction(p, r)


def some_curves(random):
    """Curves in order, with floors from none to plenty, that most often are far from private."""
    n, epsilon = int(random.integers(2, 40)), str(random.choice(EPSILONS))
    most = int(random.choice([3, 12, 100, 3000, 1 << 30]))
    floors = random.integers(0 if random.random() < 0.1 else 1, most + 1, n)
    if random.random() < 0.6:
        floors[:] = floors[0]
    keep = TOTAL - int(floors.sum())
    turns = np.arange(n) if random.random() < 0.6 else np.sort(random.integers(0, n, n))
    scale = float(random.choice([1.0, 2.0**-10, 2.0**-30, 2.0**-50]))
    heights = (random.random(n) * keep * scale).astype(np.int64)
    heights = np.where(turns > 0, np.minimum(keep - keep // 3 + heights // 8, keep), heights)
    order = np.lexsort((heights, turns))
    turns, heights = turns[order], heights[order]
    turns[-1], heights[-1] = n - 1, keep
    return CurveSet(turns, heights, floors, epsilon)


def optimal_curves(random):
    """Curves of the optimum, and the same off by some units in a height or in all floors."""
    n, epsilon = int(random.integers(2, 50)), str(random.choice(EPSILONS))
    z = random.dirichlet(np.full(n, random.choice([0.05, 0.3, 3.0])))
    if random.random() < 0.3:
        z *= random.random(n) < 0.6
    z[0] += 1e-12
    made = Optimal()(z / z.sum(), epsilon=epsilon).mechanism.curves
    curves = CurveSet(made.turns, made.heights, made.floors, epsilon)
    yield curves
    for _ in range(3):
        heights, at = made.heights.copy(), int(random.integers(0, max(n - 1, 1)))
        heights[at] += int(random.choice([-(1 << 20), -2, -1, 1, 2, 1 << 20]))
        changed = curves._replace(heights=heights)
        if changed.in_order:
            yield changed
    lower = curves._replace(floors=np.maximum(made.floors - int(random.integers(1, 9)), 0))
    yield lower._replace(heights=np.append(made.heights[:-1], lower.keep))


def one_tail(f, height, epsilon, n):
    """All columns but the last are one, with floor f, that falls from the first row on."""
    keep = TOTAL - f * n
    numbers = [0] * (n - 1) + [n - 1], [height] * (n - 1) + [keep], [f] * n
    return CurveSet(*(np.array(part, dtype=np.int64) for part in numbers), epsilon)
