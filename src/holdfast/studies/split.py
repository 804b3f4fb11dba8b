"""The study behind the rule that splits the budget, as in the paper's appendix, for our default."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from holdfast.studies.datasets import SYNTHETIC
from holdfast.studies.engine import Row, Study
from holdfast.studies.pipeline import BUDGETS, SHARES, Point, objective, study, table
from holdfast.studies.release_errors import ERRORS

HELD_OUT = ("binomial", "crime", "schools")
PREFERENCE = 0.04  # in units of the objective, for a share e times as large
OTHER_SIZES = (300, 100_000)
"""The six sets are drawn again at these N, so that the rule can depend on it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """The combined objective of one data set, budget and count error, by stage 1's share."""

    data: str
    epsilon: float
    error: str
    rows: int
    """N."""
    bins: int
    """n."""
    shares: NDArray[np.float64]
    objective: NDArray[np.float64]
    bars: NDArray[np.float64]

    def at(self, share: float) -> float:
        """The objective at any share, between the measured ones."""
        return float(np.interp(math.log(share), np.log(self.shares), self.objective))

    def gap(self, share: float) -> float:
        """How far the objective lies above the least that was measured."""
        return self.at(share) - float(self.objective.min())

    @property
    def best(self) -> float:
        """The share with the least measured objective."""
        return float(self.shares[self.objective.argmin()])


def training(*, runs: int) -> Study:
    """Six synthetic sets, eleven budgets, both errors; and other N for every second budget."""
    points = [
        Point(data=data, epsilon=epsilon, share=share, stage_1="smooth", error=error)
        for data in SYNTHETIC
        for epsilon in BUDGETS
        for error in ERRORS
        for share in SHARES
    ]
    points += [
        Point(data=f"{data}@{size}", epsilon=epsilon, share=share, stage_1="smooth")
        for data in SYNTHETIC
        for size in OTHER_SIZES
        for epsilon in BUDGETS[::2]
        for share in SHARES
    ]
    return study("split-training", points, runs=runs)


def curves(rows: Sequence[Row]) -> list[Curve]:
    """The objective by share, from the rows of a study."""
    found = []
    for (data, epsilon, error), group in groupby(rows, key=_cell):
        by_share = {s: list(g) for s, g in groupby(group, key=lambda row: row["share"])}
        values = [objective(runs, error) for runs in by_share.values()]
        histogram = table(data)
        found.append(
            Curve(
                data=data,
                epsilon=float(epsilon),
                error=error,
                rows=int(histogram.sum()),
                bins=len(histogram),
                shares=np.array([float(share) for share in by_share]),
                objective=np.array([value for value, _ in values]),
                bars=np.array([max(bar, 0.02) for _, bar in values]),
            )
        )
    return found


def _cell(row: Row) -> tuple[str, str, str]:
    return row["data"], row["epsilon"], row["error"]


def logistic_rule(
    parameters: Sequence[float] | NDArray[np.float64], epsilon: float, rows: int, bins: int
) -> float:
    """f = 1 / (1 + e^-x) with x linear in ln ε, ln N and ln n."""
    a, b, c, d = parameters
    x = a + b * math.log(epsilon) + c * math.log(rows) + d * math.log(bins)
    return 1 / (1 + math.exp(-x))


def fit_rule(training_curves: Sequence[Curve]) -> tuple[NDArray[np.float64], float]:
    """The parameters with the least mean optimality gap on the training sets, and that gap.

    The objective is flat near its least value; a preference for the larger of two shares that
    do about as well settles it for the distribution.
    """
    from scipy.optimize import minimize

    def gaps(parameters: NDArray[np.float64]) -> tuple[float, float]:
        shares = [logistic_rule(parameters, c.epsilon, c.rows, c.bins) for c in training_curves]
        above = [curve.gap(share) for curve, share in zip(training_curves, shares, strict=True)]
        return float(np.mean(above)), float(np.log(shares).mean())

    def loss(parameters: NDArray[np.float64]) -> float:
        gap, log_share = gaps(parameters)
        return gap - PREFERENCE * log_share

    starts = [[1.0, -1.0, -0.3, -1.0], [0.0, -1.0, 0.2, -1.3], [1.0, -1.0, 0.3, -1.0]]
    options = {"maxiter": 1500, "maxfev": 3000}
    found = [minimize(loss, x, method="Nelder-Mead", options=options) for x in starts]
    best = min(found, key=lambda result: result.fun)
    return best.x, gaps(best.x)[0]
