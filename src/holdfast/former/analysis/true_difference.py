"""The difference of two true counts, of which the highest stands for all above it."""

from dataclasses import dataclass
from math import inf, nan

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.analysis.long_rows import NOTHING, support
from holdfast.former.analysis.posterior import Posterior
from holdfast.former.release.row_laws import SAME, shortest_run


@dataclass(frozen=True, kw_only=True)
class TrueDifference:
    """What two releases of a row, or two rows of a release, say of their difference."""

    interval: tuple[float, float]
    """Open (infinite) on a side where one of the counts may be any above the highest."""
    expected: float
    """NaN where the interval is open."""
    more: float
    """Probability that the first is higher."""
    equal: float
    less: float
    unknown: float
    """Probability that it cannot be told which is higher, as both may be above the highest."""


def true_difference(one: Posterior, other: Posterior, level: float) -> TrueDifference:
    """The first count less the second, of independent laws.

    A count at the top of its law is that or any above, so the difference is at least, or at most,
    what it would be otherwise. The interval holds the level whatever the counts above are.

    >>> high = Posterior(count=2, probabilities=np.array([0.0, 0.05, 0.95]))
    >>> low = Posterior(count=0, probabilities=np.array([1.0, 0.0, 0.0]))
    >>> true_difference(high, low, 0.9).interval, true_difference(low, high, 0.9).interval
    ((2.0, inf), (-inf, -2.0))
    >>> found = true_difference(high, high, 0.9)
    >>> found.interval, round(found.unknown, 4)
    ((-inf, inf), 0.9025)
    """
    a, b = one.probabilities[:-1], other.probabilities[:-1]
    above, below = float(one.probabilities[-1]), float(other.probabilities[-1])
    law, least = _law(a, b)
    steps = least + np.arange(len(law))
    more = float(law[steps > 0].sum() + above * b[: len(a)].sum())
    less = float(law[steps < 0].sum() + below * a[: len(b)].sum())
    equal = float(law[steps == 0].sum())
    ends = _ends(one.probabilities, other.probabilities, law, least, level)
    return TrueDifference(
        interval=ends,
        expected=one.mean - other.mean if np.isfinite(ends).all() else nan,
        more=more,
        equal=equal,
        less=less,
        unknown=max(1 - more - less - equal, 0.0),
    )


def _ends(a: Floats, b: Floats, law: Floats, least: int, level: float) -> tuple[float, float]:
    """The shortest closed interval; if counts at the top are too probable for one, as far as it is
    known on one side."""
    if law.sum() >= level - SAME:
        low, high = shortest_run(law, min(level / float(law.sum()), 1.0))
        return float(low + least), float(high + least)
    up, down = _law(a, b[:-1]), _law(a[:-1], b)
    if up[0].sum() >= max(level - SAME, down[0].sum()):
        return up[1] + _last(np.cumsum(up[0][::-1])[::-1], level), inf
    if down[0].sum() >= level - SAME:
        return -inf, down[1] + len(down[0]) - 1 - _last(np.cumsum(down[0])[::-1], level)
    return -inf, inf


def _last(sums: Floats, level: float) -> float:
    """The last place at which sums that fall still have the level."""
    return float(np.flatnonzero(sums >= level - SAME)[-1])


def _law(a: Floats, b: Floats) -> tuple[Floats, int]:
    """Of the difference, as far as both counts have a probability here; and the least of it."""
    from scipy.signal import convolve

    if a.max(initial=0.0) <= NOTHING or b.max(initial=0.0) <= NOTHING:
        return np.zeros(1), 0
    (first, one), (second, other) = support(a), support(b)
    return np.maximum(convolve(one, other[::-1]), 0.0), first - second - len(other) + 1
