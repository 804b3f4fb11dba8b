"""The methods of the paper's figures, and their simulation."""

from fractions import Fraction
from functools import cache

import numpy as np

from holdfast.arrays import Integers
from holdfast.paper.constructors import Heuristic, LinearProgram, Optimal
from holdfast.paper.privatizers import (
    ClassicLaplace,
    CumulativeSmooth,
    CyclicLaplace,
    Hierarchical,
    Privelet,
)
from holdfast.paper.experiments.methods import Method, methods_by_name, papers_method
from holdfast.paper.experiments.experiment import Folder, load
from holdfast.paper.experiments.runner import Row, Task, task_seed
from holdfast.paper.experiments.simulator import Simulator
from holdfast.privacy.budget import exact_epsilon, split_budget
from holdfast.privacy.randomness import Simulation

FIXED_POINT = ("paper", "heuristic-max", "heuristic-min", "heuristic-sandwich")
ORACLE = "oracle"
"""The optimum told the true distribution, with the whole budget: a perfect stage 1 for free."""
PRIVATIZERS = {
    "cyclic Laplace": CyclicLaplace(),
    "classic Laplace": ClassicLaplace(),
    "Privelet": Privelet(),
    "hierarchical": Hierarchical(),
}
"""Those of the paper's comparison, with its projection."""
LINEAR_PROGRAMS = ("simplex", "interior-point")


@cache
def figure_method(name: str, error: str = "absolute") -> Method:
    """A method by its name in figures; `error` is what stage 2 minimises where it can.

    One without a privatizer has no stage 1.

    >>> figure_method("paper").split, figure_method("staircase").privatizer
    ('paper', None)
    """
    if name == "default":
        return Method(name=name, privatizer=CumulativeSmooth(), constructor=Optimal(error=error))
    if name == ORACLE:
        return Method(name=name, constructor=Optimal(error=error))
    if name in PRIVATIZERS:
        sandwich = Heuristic(selector="sandwich", error=error)
        return papers_method(name, sandwich, PRIVATIZERS[name])
    if name in LINEAR_PROGRAMS:
        return papers_method(name, LinearProgram(method=name, error=error))
    return methods_by_name(error)[name]


def with_share(task: Task, folder: Folder) -> Task:
    """The task with stage 1's share of the budget, 0 for methods of one stage."""
    method, data = figure_method(task["method"]), load(task["data"], folder)
    return task | {"share": share_of(method, task["epsilon"], data.histogram)}


def share_of(method: Method, epsilon: str, histogram: Integers) -> str:
    """Stage 1's share by the method's rule, as exact text."""
    if method.privatizer is None:
        return "0"
    rows, top = int(histogram.sum()), len(histogram) - 1
    budget = split_budget(epsilon, max_count=top, rows=rows, split=method.split)
    share = budget.stage_1 / budget.epsilon
    decimal = f"{float(share):.9g}"
    return decimal if Fraction(decimal) == share else str(share)


def simulator(method: Method, epsilon: str, share: str, rows: int) -> Simulator:
    """The method's two stages at one budget and share, for tables of so many rows."""
    constructor = method.constructor.for_release(rows=rows, steps=1)
    return Simulator.of(method.privatizer, constructor, exact_epsilon(epsilon), Fraction(share))


def simulate(task: Task, seed: int, folder: Folder) -> list[Row]:
    """A row of errors for every release.

    Methods with the same stage 1 and share see the same z: their curves differ by stage 2 alone.
    """
    histogram = load(task["data"], folder).histogram
    method = figure_method(task["method"], task.get("error", "absolute"))
    stages = simulator(method, task["epsilon"], task["share"], int(histogram.sum()))
    source, rng = Simulation(_stage_1_seed(task, method)), np.random.default_rng(seed)
    releases = stages.releases(histogram, task["replications"], source, rng)
    return [{"run": run} | release.errors() for run, release in enumerate(releases)]


def _stage_1_seed(task: Task, method: Method) -> int:
    keys = ("data", "digest", "epsilon", "share")
    return task_seed("stage 1", {k: task[k] for k in keys} | {"by": repr(method.privatizer)})
