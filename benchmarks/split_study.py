"""The study behind the rule that splits the budget, as in the paper's appendix, for our default."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from holdfast.former.constructors import Optimal
from holdfast.former.privatizers import (
    CumulativeIsotonic,
    CumulativeSmooth,
    CyclicLaplace,
    Privatizer,
)
from holdfast.former.studies.budgets import BUDGETS
from holdfast.former.studies.datasets import SYNTHETIC
from holdfast.former.studies.runner import Row, Study, Task
from holdfast.former.studies.simulator import ERRORS, Simulator
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.metrics import wasserstein
from holdfast.former.privacy.randomness import Simulation
from stage_1_study import load

HELD_OUT = ("binomial", "crime", "schools")
PREFERENCE = 0.04  # in units of the objective, for a share e times as large
OTHER_SIZES = (300, 100_000)
"""The six sets are drawn again at these N, so that the rule can depend on it."""
SHARES = (
    "0.002", "0.005", "0.01", "0.02", "0.04", "0.07", "0.12", "0.2", "0.3", "0.4", "0.5", "0.65",
    "0.8",
)  # fmt: skip
ORACLE = "oracle"
STAGE_1: dict[str, Callable[[], Privatizer]] = {
    "smooth": CumulativeSmooth,
    "isotonic": CumulativeIsotonic,
    "cyclic, clip": CyclicLaplace,
}


@dataclass(frozen=True, kw_only=True)
class Point:
    """One way to spend a budget on one data set."""

    data: str
    """A data set, or NAME@N: N categories drawn from its distribution."""
    epsilon: str
    """The total budget."""
    share: str
    """Stage 1's share of it; "0" for the oracle, which is told the distribution."""
    stage_1: str
    """A name in `STAGE_1`, or "oracle"."""
    error: str = "absolute"
    """Which count error stage 2 minimises: "absolute" or "squared"."""


def study(name: str, points: Sequence[Point], *, runs: int) -> Study:
    """Each point, `runs` times."""
    tasks = [
        {"data": p.data, "source": _source(p.data), "epsilon": p.epsilon, "share": p.share}
        | {"stage_1": p.stage_1, "error": p.error, "runs": runs}
        for p in points
    ]
    return Study(name=name, tasks=tasks, work=measure)


def table(name: str) -> NDArray[np.int64]:
    """A data set's histogram; NAME@N draws N categories from its distribution."""
    base, _, size = name.partition("@")
    data = load(base)
    if not size:
        return data.histogram
    return np.random.default_rng(2025).multinomial(int(size), data.distribution)


def _source(name: str) -> str:
    return load(name.partition("@")[0]).source


def measure(task: Task, seed: int) -> list[Row]:
    """A row of errors for each run: of the distribution, drawn; of the counts, expected."""
    histogram, rng = table(task["data"]), np.random.default_rng(seed)
    releases = _simulator(task).releases(histogram, task["runs"], Simulation(rng), rng)
    return [
        release.errors() | {"target_wasserstein": wasserstein(release.truth, release.target)}
        for release in releases
    ]


def _simulator(task: Task) -> Simulator:
    privatizer = None if task["stage_1"] == ORACLE else STAGE_1[task["stage_1"]]()
    optimal = Optimal(error=task["error"])
    epsilon, share = exact_epsilon(task["epsilon"]), Fraction(task["share"])
    return Simulator.of(privatizer, optimal, epsilon, share)


def objective(rows: Sequence[Row], error: str) -> tuple[float, float]:
    """The paper's ln(count error) + ln(W1) of the mean errors, and its standard error."""
    values = np.array([[row[error], row["wasserstein"]] for row in rows])
    mean = values.mean(axis=0)
    relative = (values / mean).sum(axis=1)
    bar = relative.std(ddof=1) / math.sqrt(len(rows)) if len(rows) > 1 else math.inf
    return float(np.log(mean).sum()), float(bar)


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
