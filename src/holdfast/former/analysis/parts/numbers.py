"""The numbers that a histogram of true counts has, and how one more row changes them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.analysis import nonlinear
from holdfast.former.analysis.nonlinear import Curved

STEP = 1e-4  # of a share, for slopes of functions of one's own


@dataclass(frozen=True, kw_only=True, eq=False)
class Average:
    """The mean of f over the rows, times a scale: shares, means, totals."""

    f: Floats = field(repr=False)
    scale: float = 1.0
    straight: bool = True
    by_formula: bool = True

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the most there can be."""
        return self.scale * float(self.f.min()), self.scale * float(self.f.max())

    def value(self, histogram: Floats) -> float:
        """The number."""
        return self.scale * float(self.f @ histogram) / float(histogram.sum())

    def slope(self, histogram: Floats) -> Floats:
        """By one more row of each count, the number of rows being fixed."""
        return self.scale * self.f / float(histogram.sum())


def variance(n: int) -> Curved:
    """The variance of the counts."""
    steps = np.arange(n, dtype=np.float64)
    return Curved(
        g=nonlinear.variance,
        derivative=lambda p: steps**2 - 2 * float(p @ steps) * steps,
        limits=(0.0, (n - 1) ** 2 / 4),
    )


def gini(n: int) -> Curved:
    """The Gini coefficient of the counts."""
    steps = np.arange(n, dtype=np.float64)

    def derivative(p: Floats) -> Floats:
        below, mean = np.cumsum(p)[:-1], float(p @ steps)
        if mean <= 0:
            return steps
        above = np.append(np.cumsum((1 - 2 * below)[::-1])[::-1], 0.0)  # from i upwards
        return (above - float(nonlinear.gini(p)) * steps) / mean

    return Curved(g=nonlinear.gini, derivative=derivative, limits=(0.0, 1.0))


def own(g: Callable[[Floats], Any]) -> Curved:
    """A function of one's own, whose derivative is taken by small steps."""

    def value(shares: Floats) -> float:
        return nonlinear.own_value(g, shares)

    def derivative(p: Floats) -> Floats:
        here = value(p)
        moved = (1 - STEP) * p + STEP * np.eye(len(p))
        return np.array([value(row) - here for row in moved]) / STEP

    limits = (-np.inf, np.inf)
    return Curved(g=value, derivative=derivative, limits=limits, by_formula=False)
