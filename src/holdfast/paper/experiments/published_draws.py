"""The paper's printed numbers, from the very random numbers that gave them.

The notebooks published with the paper draw from NumPy's legacy generator, seeded with 42 before
each part, so a part can be drawn again: stage 1 takes n doubles, the release one per category.
Only the random numbers are theirs; mechanisms and errors are computed by this package.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.paper.constructors import Heuristic, Optimal, UnfixedOptimum
from holdfast.paper.constructors.baselines import TruncatedGeometric
from holdfast.paper.experiments.datasets import PAPER_BUDGETS, SYNTHETIC, rounded
from holdfast.paper.experiments.experiment import Experiment, Folder, load
from holdfast.paper.experiments.published_claims import published_claims
from holdfast.paper.experiments.runner import Row, Task
from holdfast.paper.experiments.splits import GAP_BUDGETS
from holdfast.privacy.metrics import count_error, wasserstein

Generator = np.random.RandomState

SEED = 42
RUNS = {"optimal-split": 20, "optimality-gap": 100, "accuracy": 10}
"""Replications of the published run; for the table of optimal f the text says 100."""
DATA = {
    "optimal-split": (*SYNTHETIC[:4], "top-inflated", "zero-inflated"),  # one stream for all six
    "optimality-gap": ("crime", "binomial"),
    "accuracy": ("crime", "binomial", "schools"),
}
TENTHS = tuple(tenth / 10 for tenth in range(1, 10))
A, B, K = 0.6390268955896642, 0.1061220926959348, 2.869164606789786  # the rule, unrounded


def outside_in(z: Floats, r: Floats, c: Floats, matrix: Floats) -> int:
    """The sandwich selector as published: 0, 1, n-1, 2, n-2, ... instead of 0, n-1, 1, n-2, ...

    >>> outside_in(np.ones(4), np.ones(4), np.array([0.0, 0.0, 0.2, 0.3]), np.eye(4))
    3
    """
    n = len(z)
    return int(np.argmax(np.where(c > 0, np.abs(n / 2 - np.arange(n)) + 1, 0)))


CONSTRUCTORS: dict[str, Any] = {  # in the order of the notebook
    "heuristic-max": Heuristic(selector="max"),
    "heuristic-min": Heuristic(selector="min"),
    "heuristic-sandwich": Heuristic(selector=outside_in),
    "paper": Optimal(),
    "truncated-geometric": TruncatedGeometric(),
    "unfixed-optimum": UnfixedOptimum(),
}
ONE_STAGE = "truncated-geometric"


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Releases of one table, one after the other from the published random numbers."""

    histogram: Integers
    generator: Generator

    def target(self, epsilon: float) -> Floats:
        """Stage 1: cyclic Laplace noise, negatives clipped."""
        noise = self.generator.laplace(0.0, 1 / epsilon, size=len(self.histogram))
        positive = np.maximum(self.histogram + noise - np.roll(noise, -1), 0)
        return np.asarray(positive / positive.sum())

    def released(self, matrix: Floats) -> Floats:
        """The distribution of the released table."""
        cdf = np.cumsum(matrix / matrix.sum(axis=1, keepdims=True), axis=1)
        cdf /= cdf[:, -1:]
        uniform = self.generator.random_sample(int(self.histogram.sum()))
        parts = np.split(uniform, np.cumsum(self.histogram)[:-1])
        drawn = np.concatenate(
            [row.searchsorted(part, side="right") for row, part in zip(cdf, parts, strict=True)]
        )
        return np.bincount(drawn, minlength=len(self.histogram)) / len(drawn)

    def means(self, method: str, epsilon: float, share: float, runs: int) -> Row:
        """Mean errors of so many releases by a method."""
        truth, errors = self.histogram / self.histogram.sum(), []
        stage_1 = epsilon * share
        exact = Fraction(epsilon if method == ONE_STAGE else epsilon - stage_1)
        for _ in range(runs):
            z = truth if method == ONE_STAGE else self.target(stage_1)
            matrix = CONSTRUCTORS[method](z, epsilon=exact).matrix
            errors.append((count_error(matrix, truth), wasserstein(truth, self.released(matrix))))
        absolute, distance = np.mean(errors, axis=0)
        row = {"epsilon": float(rounded(epsilon)), "method": method, "share": share}
        return row | {"absolute": float(absolute), "wasserstein": float(distance)}


def draw_again(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The mean errors of every point of a part on one data set."""
    part, data = task["part"], task["data"]
    generator = Generator(SEED)
    if part == "optimal-split":
        for earlier in DATA[part][: DATA[part].index(data)]:
            histogram = load(earlier, folder).histogram
            releases = len(PAPER_BUDGETS) * len(TENTHS) * RUNS[part]
            _skip(generator, releases * (len(histogram) + int(histogram.sum())))
    stream = Stream(histogram=load(data, folder).histogram, generator=generator)
    return [stream.means(*point, runs=RUNS[part]) for point in _points(part)]


def _points(part: str) -> Iterator[tuple[str, float, float]]:
    """Method, budget and share of every point, in the order of the notebook."""
    if part == "accuracy":
        yield from ((m, e, _rule(e)) for e in PAPER_BUDGETS for m in CONSTRUCTORS)
        return
    gap = part == "optimality-gap"
    for epsilon in map(float, GAP_BUDGETS if gap else PAPER_BUDGETS):
        for share in sorted((*TENTHS, _rule(epsilon))) if gap else TENTHS:
            yield "heuristic-sandwich", epsilon, share


def _rule(epsilon: float) -> float:
    return float(B + (A - B) * np.exp(-K * epsilon))


def _skip(generator: Generator, doubles: int) -> None:
    for start in range(0, doubles, 1 << 20):
        generator.random_sample(min(1 << 20, doubles - start))


def _marked(task: Task, folder: Folder) -> Task:
    return task | {"runs": RUNS[task["part"]]}


PUBLISHED = Experiment(
    name="published-draws",
    title="The paper's printed numbers, from the random numbers that gave them",
    about="The published notebooks seed NumPy's legacy generator with 42. The same random numbers "
    "in the same order, with the sandwich order as published (0, 1, n-1, 2, n-2, ...) and "
    "mechanisms and errors computed here, must give the printed numbers digit for digit; what "
    "differs elsewhere in this report is then sampling. The table of optimal f is of 20 releases a "
    "point, not of the 100 of the text. Data without their published file are left out, and so is "
    "the discrete Gaussian, whose noise is not NumPy's.",
    data=(*DATA["optimal-split"], *DATA["accuracy"]),
    grid={"part": tuple(RUNS)},
    work=draw_again,
    keep=lambda task, effort: task["data"] in DATA[task["part"]],
    complete=_marked,
    claims=published_claims,
    from_files=True,
)
