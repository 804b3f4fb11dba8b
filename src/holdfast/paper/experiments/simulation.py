"""The methods of the paper's figures, and whole releases of known tables by them.

A simulation takes stage 2's matrix as it is and draws the whole histogram at once. Against
`paper.privatize` that leaves out the rounding to certified integer weights, which moves an error by
less than 0.1 %.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.paper.constructors import Heuristic, LinearProgram
from holdfast.paper.distributions import (
    POWERS,
    count_error,
    kolmogorov_smirnov,
    total_variation,
    wasserstein,
)
from holdfast.paper.experiments.experiment import Folder, load
from holdfast.paper.experiments.runner import Row, Task, task_seed
from holdfast.paper.methods import Method, methods_by_name, two_stages
from holdfast.paper.privatizers import ClassicLaplace, CyclicLaplace, Hierarchical, Privelet
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.randomness import Randomness, Simulation

FIXED_POINT = ("paper", "heuristic-max", "heuristic-min", "heuristic-sandwich")
PRIVATIZERS = {
    "cyclic Laplace": CyclicLaplace(),
    "classic Laplace": ClassicLaplace(),
    "Privelet": Privelet(),
    "hierarchical": Hierarchical(),
}
"""Those of the paper's comparison, with its projection."""
LINEAR_PROGRAMS = ("simplex", "interior-point")
DISTANCES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "wasserstein": wasserstein,
    "kolmogorov_smirnov": kolmogorov_smirnov,
    "total_variation": total_variation,
}


@cache
def figure_method(name: str, error: str = "absolute") -> Method:
    """A method by its name in figures; `error` is what stage 2 minimises where it can.

    >>> figure_method("paper").split, figure_method("staircase").privatizer
    (None, None)
    """
    if name in PRIVATIZERS:
        return two_stages(name, Heuristic(selector="sandwich", error=error), PRIVATIZERS[name])
    if name in LINEAR_PROGRAMS:
        return two_stages(name, LinearProgram(method=name, error=error))
    return methods_by_name(error)[name]


def with_share(task: Task, folder: Folder) -> Task:
    """The task with stage 1's share of the budget, 0 for methods of one stage."""
    return task | {"share": share_of(figure_method(task["method"]), task["epsilon"])}


def share_of(method: Method, epsilon: str) -> str:
    """Stage 1's share by the method's rule, as exact text."""
    share = method.share(exact_epsilon(epsilon))
    decimal = f"{float(share):.9g}"
    return decimal if Fraction(decimal) == share else str(share)


Simulated = tuple[Floats, Floats, Floats]
"""ζ, T and ẑ of one simulated release."""


def errors_of(truth: Floats, matrix: Floats, released: Floats) -> Row:
    """Errors of the distribution, as drawn; of the counts, as expected from the matrix."""
    distances = {name: d(truth, released) for name, d in DISTANCES.items()}
    return distances | {name: count_error(matrix, truth, name) for name in POWERS}


def releases(
    method: Method,
    task: Task,
    histogram: Integers,
    source: Randomness,
    rng: np.random.Generator,
) -> Iterator[Simulated]:
    """A task's releases of one table; without a stage 1 all of them share one matrix."""
    total, part = exact_epsilon(task["epsilon"]), Fraction(task["share"])
    constructor = method.constructor.for_rows(int(histogram.sum()))
    truth, matrix = histogram / histogram.sum(), None
    for _ in range(task["replications"]):
        if matrix is None or method.privatizer is not None:
            z = truth
            if method.privatizer is not None:
                z = method.privatizer(histogram, epsilon=total * part, rng=source)
            matrix = constructor(z, epsilon=total * (1 - part)).matrix
        yield truth, matrix, draw_distribution(histogram, matrix, rng)


def draw_distribution(histogram: Integers, matrix: Floats, rng: np.random.Generator) -> Floats:
    """The distribution of one released table.

    >>> draw_distribution(np.array([2, 3]), np.eye(2), np.random.default_rng(1)).tolist()
    [0.4, 0.6]
    """
    rows = matrix / matrix.sum(axis=1, keepdims=True)
    return np.asarray(rng.multinomial(histogram, rows).sum(axis=0) / histogram.sum())


def simulate(task: Task, seed: int, folder: Folder) -> list[Row]:
    """A row of errors for every release.

    Methods with the same stage 1 and share see the same z: their curves differ by stage 2 alone.
    """
    histogram = load(task["data"], folder).histogram
    method = figure_method(task["method"], task.get("error", "absolute"))
    keys = ("data", "digest", "epsilon", "share")
    stage_1 = {key: task[key] for key in keys} | {"by": repr(method.privatizer)}
    source, rng = Simulation(task_seed("stage 1", stage_1)), np.random.default_rng(seed)
    drawn = releases(method, task, histogram, source, rng)
    return [{"run": run} | errors_of(*release) for run, release in enumerate(drawn)]
