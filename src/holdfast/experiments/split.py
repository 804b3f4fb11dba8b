"""The study behind the rule that splits the budget, as in the paper's appendix, for our default."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from holdfast.experiments.datasets import SYNTHETIC
from holdfast.experiments.engine import Row, Study
from holdfast.experiments.pipeline import (
    BUDGETS,
    ERRORS,
    ORACLE,
    SHARES,
    Point,
    objective,
    study,
    table,
)

HELD_OUT = ("binomial", "crime", "schools")
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

    def smooth(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """The objective at any share: a fourth-degree polynomial in its logarithm."""
        x = np.log(self.shares)
        coefficients = np.polynomial.Polynomial.fit(x, self.objective, 4, w=1 / self.bars)
        return np.asarray(coefficients(np.clip(np.log(share), x[0], x[-1])))

    def gap(self, share: float) -> float:
        """How far the objective lies above its least value."""
        fine = np.geomspace(self.shares[0], self.shares[-1], 200)
        return float(self.smooth(np.array([share]))[0] - self.smooth(fine).min())

    @property
    def best(self) -> float:
        """The share at which the smoothed objective is least."""
        fine = np.geomspace(self.shares[0], self.shares[-1], 200)
        return float(fine[self.smooth(fine).argmin()])


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


def held_out(*, runs: int, methods: dict[str, tuple[str, dict[str, str]]]) -> Study:
    """The held-out sets: each method's (stage 1, share by budget), and the oracle."""
    points = [
        Point(data=data, epsilon=epsilon, share=share, stage_1=stage_1, error=error)
        for data in HELD_OUT
        for error in ERRORS
        for epsilon in BUDGETS
        for stage_1, share in dict.fromkeys(
            [(ORACLE, "0")]
            + [(stage_1, shares[f"{data} {epsilon}"]) for stage_1, shares in methods.values()]
        )
    ]
    return study("split-held-out", points, runs=runs)


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
    """The parameters with the least mean optimality gap on the training sets, and that gap."""
    from scipy.optimize import minimize

    def mean_gap(parameters: NDArray[np.float64]) -> float:
        gaps = [
            curve.gap(logistic_rule(parameters, curve.epsilon, curve.rows, curve.bins))
            for curve in training_curves
        ]
        return float(np.mean(gaps))

    start = np.array([1.0, -1.0, -0.3, 0.0])
    found = minimize(mean_gap, start, method="Nelder-Mead", options={"maxiter": 600})
    return found.x, float(found.fun)
