"""Totals of the uncapped counts: discrete Laplace noise on integers, then made to fit each other.

One person adds at most `contributions` to one row, so to the total of one group and to that of the
table. Groups are disjoint: all their totals are measured with the same epsilon. docs/groups.md has
the proof.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.former.privacy.budget import Budget
from holdfast.former.privacy.randomness import Randomness, laplace_measurement

FEW_GROUPS = 30
WHOLE_SHARE = Fraction(1, 5)
LEVEL = Fraction(9, 10)
MOST = 1 << 53  # a total beyond it is measured as this: that moves it by no more than before


def totals_whole_share(groups: int) -> Fraction:
    """The part of the totals' epsilon for the total of the table; 0 where groups say it as well.

    In units of noise at the whole epsilon, the error of the sum of 51 groups is 10.1. With a fifth
    for the table it is 6.2, and that of a group rises from 1.41 to 1.75. Up to 30 groups there is
    little to gain: 16 have 5.7 and 5.0.

    >>> totals_whole_share(8), totals_whole_share(51)
    (Fraction(0, 1), Fraction(1, 5))
    """
    return WHOLE_SHARE if groups > FEW_GROUPS else Fraction(0)


@dataclass(frozen=True)
class Total:
    """A total of true counts, not capped, and where it lies."""

    value: int
    """0 or more; those of groups add up to that of the table."""
    low: int
    """With `high`, an interval that covers the truth with probability `level`."""
    high: int
    level: Fraction = LEVEL


@dataclass(frozen=True, kw_only=True, eq=False)
class Totals:
    """What was measured of the totals, and all that follows from it without another look."""

    measured: tuple[int, ...]
    """The noisy total of each group; of the table, where there are none."""
    measured_whole: int | None
    """The noisy total of the table, where it was measured beside those of groups."""
    epsilon: Fraction
    """Spent on them, for one person."""
    moved: int
    """How far one person can move one of them, or several together."""

    @property
    def share(self) -> Fraction:
        """Of the epsilon, for the total of the table."""
        return Fraction(0) if self.measured_whole is None else WHOLE_SHARE

    @property
    def unit(self) -> Fraction:
        """Epsilon of a group's noise, for a change of one."""
        return self.epsilon * (1 - self.share) / self.moved

    @property
    def whole(self) -> Total:
        """The total of the table."""
        return self._usual[0]

    @property
    def groups(self) -> tuple[Total, ...]:
        """The total of each group; one, that of the table, where there are none."""
        return self._usual[1]

    @cached_property
    def _usual(self) -> tuple[Total, tuple[Total, ...]]:
        return self.at(LEVEL)

    def at(self, level: Any) -> tuple[Total, tuple[Total, ...]]:
        """The total of the table and those of the groups, with intervals of this level."""
        every = range(len(self.measured))
        return self.of(every, level), tuple(self.of([number], level) for number in every)

    def of(self, groups: Sequence[int], level: Any) -> Total:
        """The total of some groups together, by their numbers, with an interval of this level."""
        exact = Fraction(str(level))
        if not 0 < exact < 1:
            raise HoldfastError(f"`level` must lie between 0 and 1, got {level!r:.40}.")
        value = sum(self._values[number] for number in groups)
        line = self.unbiased(groups)
        half = laplace_reach(self._noises(len(groups)), float(exact))
        # a total is 0 or more: what was measured below says no more than a measured 0
        low, high = math.floor(line - half), math.ceil(max(line, 0.0) + half)
        return Total(value, max(min(low, value), 0), max(high, value), exact)

    def unbiased(self, groups: Sequence[int]) -> float:
        """The total of some groups together as it was measured, which may be below 0."""
        return float(sum(self.measured[number] for number in groups) - len(groups) * self._off)

    def reach(self, groups: int, level: float) -> float:
        """How far from it the truth lies at most, for so many groups, with this probability."""
        return laplace_reach(self._noises(groups), level)

    def error(self, groups: int) -> float:
        """The standard error of the total of so many groups."""
        return math.sqrt(sum(2 * m * s**2 for s, m in self._noises(groups)))

    @cached_property
    def _values(self) -> list[int]:
        return fitted_totals(self.measured, self.measured_whole, self._weight)

    @property
    def _weight(self) -> Fraction:
        """How many times the variance of a group's noise that of the table's is."""
        return ((1 - self.share) / self.share) ** 2 if self.share else Fraction(0)

    @cached_property
    def _off(self) -> Fraction:
        """What least squares, without regard to signs, takes off every group: then the estimates
        are unbiased."""
        if self.measured_whole is None:
            return Fraction(0)
        return (sum(self.measured) - self.measured_whole) / (len(self.measured) + self._weight)

    def _noises(self, some: int) -> tuple[tuple[float, int], ...]:
        """Scales of the noises in the total of so many groups, and how many have each."""
        G, own = len(self.measured), 1 / float(self.unit)
        if self.measured_whole is None:
            return ((own, some),)
        part = some / (G + float(self._weight))
        others, table = (own * part, G - some), (own * part * math.sqrt(self._weight), 1)
        return tuple(pair for pair in ((own * (1 - part), some), others, table) if pair[1])


def measure_totals(totals: Sequence[int], budget: Budget, source: Randomness) -> Totals:
    """Noisy totals of groups and, where that helps, of the table; `totals` are those of groups.

    >>> from holdfast.former.privacy.budget import split_budget
    >>> from holdfast.former.privacy.randomness import Simulation
    >>> budget = split_budget(1, max_count=9, rows=100, totals="1/2")
    >>> measure_totals([700], budget, Simulation(1)).whole
    Total(value=695, low=690, high=700, level=Fraction(9, 10))
    """
    share, capped = totals_whole_share(len(totals)), np.array([min(t, MOST) for t in totals])
    spent, k = budget.totals, budget.moved
    noisy = source.add_laplace(capped, spent * (1 - share), k)
    whole = None
    if share:
        everything = np.array([min(sum(totals), MOST)])
        whole = int(source.add_laplace(everything, spent * share, k)[0])
    return Totals(measured=tuple(noisy.tolist()), measured_whole=whole, epsilon=spent, moved=k)


def certified_totals(budget: Budget, groups: int) -> Fraction:
    """What OpenDP's map states for the noise on totals, for one person."""
    if not budget.totals:
        return Fraction(0)
    share = totals_whole_share(groups)
    parts = [part for part in (1 - share, share) if part]
    return sum(
        (laplace_measurement(budget.totals * part, budget.moved)[1] for part in parts),
        Fraction(0),
    )


def fitted_totals(measured: Sequence[int], whole: int | None, weight: Fraction) -> list[int]:
    """The whole numbers of 0 or more nearest to what was measured, in least squares.

    `weight` is how many times a group's variance that of `whole` is. Where the table was not
    measured, the groups add up to the sum of what was measured, or to 0. One number is taken off
    every group until that fits; then the largest fractions are rounded up.

    >>> fitted_totals([10, -4, 3], None, Fraction(0))
    [8, 0, 1]
    >>> fitted_totals([10, -4, 3], 15, Fraction(16))
    [10, 0, 3]
    """
    wanted = max(sum(measured), 0) if whole is None else whole
    above, kept, off = 0, 0, Fraction(0)
    for number in sorted(measured, reverse=True):
        reached = (above + number - wanted) / (kept + 1 + weight)
        if number <= reached:
            break
        above, kept, off = above + number, kept + 1, Fraction(reached)
    if not kept:
        return [0] * len(measured)
    p, q = off.numerator, off.denominator
    parts = [divmod(max(number * q - p, 0), q) for number in measured]
    extra = (2 * sum(part[1] for part in parts) + q) // (2 * q)
    order = sorted(range(len(parts)), key=lambda g: -parts[g][1])
    raised = set(order[:extra])
    return [part[0] + (g in raised) for g, part in enumerate(parts)]


@lru_cache(maxsize=64)
def laplace_reach(parts: tuple[tuple[float, int], ...], level: float) -> float:
    """How far from 0 a sum of Laplace noises stays with this probability.

    `parts` are scales and how many noises have each. The sum's characteristic function
    Π (1 + s²t²)^-m is inverted on a grid. Noise of whole numbers goes a little less far.

    >>> round(laplace_reach(((1.0, 1),), 0.9), 3), round(laplace_reach(((1.0, 50),), 0.9), 1)
    (2.303, 16.4)
    """
    if len(parts) == 1 and parts[0][1] == 1:
        return -parts[0][0] * math.log(1 - level)
    deviation = math.sqrt(sum(2 * m * s**2 for s, m in parts))
    t = (np.arange(20_000) + 0.5) * 0.04
    log_law = sum(-m * np.log1p((s / deviation * t) ** 2) for s, m in parts)
    law = np.exp(log_law) / t * (2 * 0.04 / math.pi)
    reach = 1.6
    for _ in range(60):  # Newton's steps: the chance is concave, so they end from below
        step = (level - np.sin(reach * t) @ law) / (np.cos(reach * t) @ (law * t))
        reach = max(reach + float(step), 0.0)
        if abs(step) < 1e-10:
            break
    return reach * deviation
