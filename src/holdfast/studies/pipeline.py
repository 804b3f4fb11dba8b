"""Both stages on a known table: the errors that the budget's split trades against each other."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.constructors import Optimal
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.metrics import wasserstein
from holdfast.privacy.randomness import Simulation
from holdfast.privatizers import CumulativeIsotonic, CumulativeSmooth, CyclicLaplace, Privatizer
from holdfast.studies.engine import Row, Study, Task
from holdfast.studies.release_errors import drawn, errors_of
from holdfast.studies.stage_1 import load

BUDGETS = tuple(f"{value:.4g}" for value in 10 ** np.linspace(-1, math.log10(5), 11))
"""The paper's eleven total budgets."""
SHARES = (
    "0.002",
    "0.005",
    "0.01",
    "0.02",
    "0.04",
    "0.07",
    "0.12",
    "0.2",
    "0.3",
    "0.4",
    "0.5",
    "0.65",
    "0.8",
)
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
    """A row of errors for each run."""
    histogram, rng = table(task["data"]), np.random.default_rng(seed)
    total, share = exact_epsilon(task["epsilon"]), Fraction(task["share"])
    return [
        errors(histogram, total, share, task["stage_1"], task["error"], rng)
        for _ in range(task["runs"])
    ]


def errors(
    histogram: NDArray[np.int64],
    epsilon: Fraction,
    share: Fraction,
    stage_1: str,
    error: str,
    rng: np.random.Generator,
) -> Row:
    """Errors of one simulated release: of its distribution, drawn; of its counts, expected."""
    truth = histogram / histogram.sum()
    target = truth
    if stage_1 != ORACLE:
        target = STAGE_1[stage_1]()(histogram, epsilon=epsilon * share, rng=Simulation(rng))
    matrix = Optimal(error=error)(target, epsilon=epsilon * (1 - share)).matrix
    row = errors_of(truth, matrix, drawn(histogram, matrix, rng))
    return row | {"target_wasserstein": wasserstein(truth, target)}


def objective(rows: Sequence[Row], error: str) -> tuple[float, float]:
    """The paper's ln(count error) + ln(W1) of the mean errors, and its standard error.

    >>> rows = [{"absolute": 1.0, "wasserstein": w} for w in (0.5, 1.5)]
    >>> objective(rows, "absolute")
    (0.0, 0.5)
    """
    values = np.array([[row[error], row["wasserstein"]] for row in rows])
    mean = values.mean(axis=0)
    relative = (values / mean).sum(axis=1)
    bar = relative.std(ddof=1) / math.sqrt(len(rows)) if len(rows) > 1 else math.inf
    return float(np.log(mean).sum()), float(bar)
