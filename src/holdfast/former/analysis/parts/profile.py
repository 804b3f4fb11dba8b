"""How unlikely the released counts of some rows are, for every value that an answer may have."""

from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Protocol

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError

GAP, WORST_GAP = 0.002, 0.1  # of a log likelihood, that a fit may leave
LARGEST_TILT, SMALLEST_TILT = 300.0, 0.1
CLOSE = 0.02  # of an interval's side, to which its end is found
MARGIN, FEW = 0.12, 8.0  # by which an interval is wider than for many rows; measured, docs/parts.md
ROUNDS = 6  # for a number whose slope depends on where one is
NEAR = 1.6  # and by which it reaches further where its end comes near to what is possible


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """Rows whose counts one mechanism drew: how many show each count, and the law they came by."""

    seen: Floats = field(repr=False)
    """How many rows show each of the counts that occur."""
    kernel: Floats = field(repr=False)
    """Of every true count, the probability of each of the counts that occur."""

    @staticmethod
    def of(histogram: Floats, matrix: Floats) -> "Drawn":
        """From how many rows show 0, 1, ..., and the mechanism's matrix."""
        shown = np.flatnonzero(histogram)
        return Drawn(
            seen=np.asarray(histogram[shown], dtype=np.float64),
            kernel=np.ascontiguousarray(matrix[:, shown]),
        )

    @cached_property
    def rows(self) -> float:
        """How many rows there are."""
        return float(self.seen.sum())

    def tilted(self, tilt: Floats, start: Floats | None = None) -> tuple[float, Floats]:
        r"""$\min_h D(h) - t \cdot h$ and the histogram h of true counts where it is taken.

        D(h) is the rate at which rows with the true histogram h show what was released:
        $D(h) = \min_A \sum A_{ij} \log(A_{ij} / h_i T_{ij})$ over tables A of (true, released)
        counts with these margins, which is $-\log P(\text{released} \mid h)$ but for lower-order
        terms. With h free, the minimum over A and h together is that of $-\sum_j y_j
        \log (hK)_j$ with $K = \mathrm{diag}(e^t) T$: the most likely mixture of K's rows.
        """
        from holdfast.former.analysis.parts.mixture_kernel import most_likely_mixture

        highest, n = float(tilt.max()), len(tilt)
        kernel = self.kernel * np.exp(tilt - highest)[:, None]
        for begin in (start, np.ones(n)):  # a warm start can be too far away
            if begin is None:
                continue
            p = begin / begin.sum()
            value, left = most_likely_mixture(self.seen / self.rows, kernel, p, GAP / self.rows)
            if left * self.rows < WORST_GAP:
                return -self.rows * (value + highest), self.rows * p
        raise HoldfastError("the likelihood of these rows could not be maximised.")

    @cached_property
    def likeliest(self) -> tuple[float, Floats]:
        """The same without a tilt, from where every question starts."""
        return self.tilted(np.zeros(len(self.kernel)))


class Asked(Protocol):
    """A number that a histogram of true counts has."""

    def value(self, histogram: Floats) -> float:
        """The number."""

    def slope(self, histogram: Floats) -> Floats:
        """By how much one more row of each count changes it."""

    @property
    def straight(self) -> bool:
        """Whether the slope is the same everywhere."""

    @property
    def by_formula(self) -> bool:
        """Whether the slope costs no more than the number itself."""

    @property
    def limits(self) -> tuple[float, float]:
        """What is possible."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is known of the number without these rows' own released counts: about normal."""

    mean: float
    variance: float

    def rate(self, value: float) -> float:
        """-log density, but for a constant."""
        return (value - self.mean) ** 2 / (2 * self.variance)


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """The most likely true histogram among those with some value of the number asked for."""

    tilt: float
    value: float
    rate: float
    histogram: Floats = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    r"""For every value θ of a number, the least rate D(h) of histograms h that have it.

    The true counts are fixed and all randomness is the mechanism's, so an interval needs no law
    that the true counts would come from. θ is in it while its rate exceeds the least of all by no
    more than half the quantile of χ² with one degree of freedom: the likelihood ratio, calibrated
    as usual. Nothing is assumed of the distribution of the counts.
    """

    drawn: Drawn
    asked: Asked
    told: Told | None = None
    """Of the same number, from elsewhere."""
    _points: dict[float, Point] = field(default_factory=dict, repr=False)

    def point(self, tilt: float, near: Point | None = None) -> Point:
        """Where the rate has the slope `tilt` in the number asked for."""
        if tilt not in self._points:
            self._points[tilt] = self._fit(tilt, near)
        return self._points[tilt]

    def _fit(self, tilt: float, near: Point | None) -> Point:
        start = near.histogram if near else None
        whole = self._flat if start is None else start
        for _ in range(1 if self.asked.straight or not tilt else ROUNDS):
            slope = self.asked.slope(whole)
            plain = start is None and not tilt
            least, found = self.drawn.likeliest if plain else self.drawn.tilted(tilt * slope, start)
            moved, whole, start = float(np.abs(found - whole).sum()), found, found
            if moved < 1e-4 * self.drawn.rows:
                break
        value = self.asked.value(whole)
        rate = least + tilt * float(slope @ whole) + (self.told.rate(value) if self.told else 0.0)
        return Point(tilt=tilt, value=value, rate=rate, histogram=whole)

    @property
    def _flat(self) -> Floats:
        """As good as any, where nothing was found yet."""
        n = self.drawn.kernel.shape[0]
        return np.full(n, self.drawn.rows / n)

    @cached_property
    def unit(self) -> float:
        """A tilt that matters little: one row more or less of the number's range."""
        slope = self.asked.slope(self._flat)
        wide = float(slope.max() - slope.min())
        if wide <= 0:
            raise HoldfastError("this question has the same answer for all counts.")
        return SMALLEST_TILT / wide

    @cached_property
    def best(self) -> Point:
        """The most likely value."""
        start = self.point(0.0)
        if self.told is None:
            return start
        return _least(self, start)

    def interval(self, level: float) -> tuple[float, float]:
        """The values whose rate is within reach of the best."""
        from scipy.special import chdtri

        reach = float(chdtri(1, 1 - level)) / 2 * (1 + MARGIN + FEW / self.drawn.rows)
        low, high = (self._end(side, reach, self.best) for side in (-1.0, 1.0))
        return low, high

    def _end(self, side: float, reach: float, inner: Point) -> float:
        """The end on one side, further out where it comes near to what is possible."""
        end, limit = self._reached(side, reach, inner), self.asked.limits[side > 0]
        if 0 < abs(limit - end) < abs(end - self.best.value):
            return self._reached(side, reach * NEAR, inner)
        return end

    def _reached(self, side: float, reach: float, inner: Point) -> float:
        """Walks out until the rate is out of reach, then closes in."""
        best, limit = self.best, self.asked.limits[side > 0]
        step, outer = self.unit, None
        while outer is None:
            tilt = inner.tilt + side * step
            if abs(tilt) > LARGEST_TILT * self.unit / SMALLEST_TILT:
                return inner.value
            found = self.point(tilt, inner)
            if found.rate - best.rate > reach:
                outer = found
            elif isfinite(limit) and abs(found.value - limit) <= 1e-6 * max(
                map(abs, self.asked.limits)
            ):
                return limit
            else:
                inner, step = found, step * (3 if found.rate - best.rate < reach / 8 else 1.3)
        return self._closed_in(inner, outer, reach)

    def _closed_in(self, inner: Point, outer: Point, reach: float) -> float:
        best = self.best
        for _ in range(20):
            if abs(outer.value - inner.value) <= CLOSE * abs(outer.value - best.value):
                break
            near, far = (max(p.rate - best.rate, 0.0) ** 0.5 for p in (inner, outer))
            part = (reach**0.5 - near) / (far - near) if far > near else 0.5
            tilt = inner.tilt + min(max(part, 0.05), 0.95) * (outer.tilt - inner.tilt)
            found = self.point(tilt, inner)
            inner, outer = (inner, found) if found.rate - best.rate > reach else (found, outer)
        part = (reach - (inner.rate - best.rate)) / max(outer.rate - inner.rate, 1e-12)
        return inner.value + min(max(part, 0.0), 1.0) * (outer.value - inner.value)


def _least(profile: Profile, start: Point) -> Point:
    """The least rate with what is told: the tilt and the slope of what is told add up to 0."""
    told = profile.told
    if told is None:
        return start

    def excess(point: Point) -> float:
        return point.tilt + (point.value - told.mean) / told.variance

    side = -1.0 if excess(start) > 0 else 1.0
    inner, step = start, profile.unit
    for _ in range(40):
        outer = profile.point(inner.tilt + side * step, inner)
        if side * excess(outer) >= 0:
            break
        inner, step = outer, step * 2
    for _ in range(12):
        a, b = excess(inner), excess(outer)
        part = min(max(a / (a - b), 0.1), 0.9) if a != b else 0.5
        found = profile.point(inner.tilt + part * (outer.tilt - inner.tilt), inner)
        inner, outer = (found, outer) if side * excess(found) < 0 else (inner, found)
        if abs(outer.value - inner.value) <= CLOSE * told.variance**0.5:
            break
    return inner if inner.rate < outer.rate else outer
