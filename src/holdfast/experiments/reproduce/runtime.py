"""Seconds per release against n. Times are not repeatable; everything else in the report is."""

import statistics
import time
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.experiments.datasets import Dataset
from holdfast.experiments.engine import Row, Task
from holdfast.experiments.release_errors import drawn
from holdfast.experiments.reproduce.claims import Claim, Estimate, sentence
from holdfast.experiments.reproduce.drawing import Figure, curves, titled
from holdfast.experiments.reproduce.experiment import FULL, QUICK, Experiment, Folder, load
from holdfast.experiments.reproduce.pipelines import matrix_of, pipeline, share_of
from holdfast.experiments.reproduce.summaries import sources
from holdfast.experiments.synthetic import BY_DEFINITION, SEED
from holdfast.randomness import Simulation

BUDGET = "0.6931"  # ln 2
SIZES = (11, 21, 41, 61, 81, 101, 151, 201, 301, 401, 501, 1001, 2000)
LARGEST = {  # n that a method is run up to, by effort; beyond, it takes minutes
    QUICK: {"simplex": 101, "interior-point": 101, "paper": 301, "heuristic-sandwich": 201},
    FULL: {"simplex": 201, "interior-point": 151, "paper": 501, "heuristic-sandwich": 301},
}
HEURISTIC = "heuristic-max"
ONCE_IS_ENOUGH = 0.5  # seconds: what takes longer is timed once
METHODS = (
    "truncated-geometric",
    "unfixed-optimum",
    HEURISTIC,
    "heuristic-sandwich",
    "paper",
    "simplex",
    "interior-point",
)
LABELS = {"paper": "optimum, holdfast's solver"}
SANDWICH = (
    "For large n some clipped z are beyond double precision in the sandwich order, and the library "
    "repeats them in exact integers, which takes minutes at n = 2,000; so the max selector stands "
    "for the heuristic there."
)


@cache
def sized(name: str, n: int, folder: Folder) -> Dataset:
    """The data set for n: the binomial is drawn with size n - 1, the others are top-coded."""
    if name != "binomial":
        return load(name, folder, n)
    counts = np.random.default_rng([SEED, n]).binomial(n - 1, 0.5, 10_000)
    histogram = np.bincount(counts, minlength=n)
    return Dataset(name=name, histogram=histogram, source=BY_DEFINITION)


def measure(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The seconds of each release: both stages and the draw, without reading and compiling."""
    method, epsilon = pipeline(task["method"]), Fraction(task["epsilon"])
    rows: list[Row] = []
    for run in range(-1, task["replications"]):  # run -1 compiles, on a small table
        data = sized(task["data"], task["n"] if run >= 0 else 11, folder)
        share = Fraction(share_of(method, task["epsilon"], data.histogram))
        source, rng = Simulation(seed + run + 1), np.random.default_rng([seed, run + 1])
        start = time.perf_counter()
        try:
            _, matrix = matrix_of(method, data.histogram, epsilon, share, source)
            drawn(data.histogram, matrix, rng)
            solved = "yes"
        except HoldfastError:
            solved = "no"
        seconds = time.perf_counter() - start
        if run >= 0:
            rows.append({"run": run, "seconds": seconds, "solved": solved})
            if seconds > ONCE_IS_ENOUGH:
                break
    return rows


def _keep(task: Task, effort: str) -> bool:
    return bool(task["n"] <= LARGEST[effort].get(task["method"], SIZES[-1]))


def _source(task: Task, folder: Folder) -> Task:
    return task | {"source": sized(task["data"], task["n"], folder).source}


def _medians(rows: Sequence[Row]) -> dict[tuple[str, str, int], Estimate]:
    """What a busy machine does to one run leaves the median alone."""
    grouped: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        if row["solved"] == "yes":
            grouped.setdefault((row["data"], row["method"], row["n"]), []).append(row["seconds"])
    return {key: Estimate(statistics.median(values)) for key, values in grouped.items()}


def _figures(rows: Sequence[Row]) -> list[Figure]:
    means, where = _medians(rows), sources(rows)
    panels = [
        curves(
            {
                method: [
                    (n, e.mean, e.error)
                    for (d, m, n), e in means.items()
                    if (d, m) == (data, method)
                ]
                for method in METHODS
            },
            x="n, number of bins (top code n - 1)",
            y="seconds per release",
            title=titled(data, where[data]),
            ticks=(10, 20, 50, 100, 200, 500, 1000, 2000),
            labels=LABELS,
        )
        for data in where
    ]
    return [
        Figure(
            name="runtime",
            title="Runtime against n, ε_t = ln 2",
            caption="Median seconds for both stages and the draw, on the machine that wrote this "
            "report and with whatever else it was doing: not repeatable. The paper "
            f"stops at n = 100; curves end where a method takes too long. {SANDWICH}",
            panels=panels,
        )
    ]


def _claims(rows: Sequence[Row]) -> list[Claim]:
    means, claims = _medians(rows), []
    for data, source in sources(rows).items():
        largest = max(n for d, m, n in means if (d, m) == (data, HEURISTIC))
        seconds = means[data, HEURISTIC, largest].mean
        claims.append(
            sentence(
                f"{data}: the heuristic (max selector) takes less than 10 seconds at n = 2,000",
                largest == 2000 and seconds < 10,
                f"{seconds:.2f} s at n = {largest}",
                source=source,
            )
        )
        claims += _order(means, data, source)
    return claims


def _order(means: dict[tuple[str, str, int], Estimate], data: str, source: str) -> list[Claim]:
    sizes = sorted({n for d, m, n in means if d == data and m == "simplex"})
    if not sizes:
        return []
    n = sizes[-1]
    at = {m: means[data, m, n].mean for m in METHODS if (data, m, n) in means}
    slow = [m for m in ("simplex", "interior-point") if m in at]
    return [
        sentence(
            f"{data}: truncated geometric fastest, then unfixed optimum and heuristic, then the "
            "linear programs",
            at["truncated-geometric"] == min(at.values())
            and max(at["unfixed-optimum"], at[HEURISTIC]) < min(at[m] for m in slow),
            f"at n = {n}: " + ", ".join(f"{m} {s:.2g} s" for m, s in at.items()),
            source=source,
        )
    ]


def _beyond(rows: Sequence[Row]) -> list[Claim]:
    means, claims = _medians(rows), []
    for data in sources(rows):
        for solver in ("simplex", "interior-point"):
            sizes = [n for d, m, n in means if (d, m) == (data, solver)]
            if sizes:
                theirs, ours = (means[data, m, max(sizes)] for m in (solver, "paper"))
                claims.append(
                    Claim(
                        what=f"{data}, n = {max(sizes)}: seconds to the optimum, {solver} (HiGHS) "
                        "and holdfast's solver",
                        paper=str(theirs),
                        here=str(ours),
                        ratio=f"{ours.mean / theirs.mean:.3g}",
                        verdict="faster" if ours.mean < theirs.mean else "slower",
                        note="not repeatable",
                    )
                )
    return claims


RUNTIME = Experiment(
    name="runtime",
    title="Runtime against n",
    about="Both stages and the draw of a table, timed on this machine: not repeatable. Each method "
    "has compiled before its clock starts.",
    data=("crime", "binomial", "schools"),
    grid={"method": METHODS, "n": SIZES, "epsilon": (BUDGET,)},
    replications={QUICK: 7, FULL: 15},
    jobs=1,
    work=measure,
    keep=_keep,
    complete=_source,
    draw=_figures,
    claims=_claims,
    beyond=_beyond,
    repeatable=False,
)
