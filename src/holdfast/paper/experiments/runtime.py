"""Seconds per release against n. Times are not repeatable; everything else in the report is."""

import statistics
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from holdfast.answers.report.document import Block, Paragraph, TableBlock
from holdfast.errors import HoldfastError
from holdfast.paper.experiments.claims import Claim, RunMean, listing, sentence, sources
from holdfast.paper.experiments.datasets import BY_DEFINITION, SEED, Dataset
from holdfast.paper.experiments.drawing import Figure, curves, titled
from holdfast.paper.experiments.experiment import FULL, QUICK, Experiment, Folder, load
from holdfast.paper.experiments.runner import Row, Task
from holdfast.paper.experiments.simulation import LINEAR_PROGRAMS, figure_method, releases
from holdfast.privacy.randomness import Simulation

BUDGET = "0.6931"  # ln 2
SHARE = "0.5"  # stage 1's, as in the published code
SIZES = (11, 21, 41, 61, 81, 101, 151, 201, 301, 401, 501, 1001, 2000)
LARGEST = {  # n that a method is run up to, by effort; beyond, it takes minutes
    QUICK: {"simplex": 101, "interior-point": 101, "paper": 301},
    FULL: {"simplex": 201, "interior-point": 151, "paper": 501},
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
SELECTORS = (HEURISTIC, "heuristic-min", "heuristic-sandwich")  # all three at n = 2,000
LIMIT = 10.0  # seconds, the paper's for n = 2,000
LABELS = {"paper": "optimum, closed form"}


@cache
def sized(name: str, n: int, folder: Folder) -> Dataset:
    """The data set for n: the binomial is drawn with size n - 1, the others are top-coded."""
    if name != "binomial":
        return load(name, folder, n)
    counts = np.random.default_rng([SEED, n]).binomial(n - 1, 0.5, 10_000)
    histogram = np.bincount(counts, minlength=n)
    return Dataset(name=name, histogram=histogram, source=BY_DEFINITION, from_file=False)


def measure(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The seconds of each release: both stages and the draw, without reading and compiling."""
    method = figure_method(task["method"])
    rows: list[Row] = []
    for run in range(-1, task["replications"]):  # run -1 compiles, on a small table
        data = sized(task["data"], task["n"] if run >= 0 else 11, folder)
        eta, share = data.histogram, "0" if method.privatizer is None else SHARE
        source, rng = Simulation(seed + run + 1), np.random.default_rng([seed, run + 1])
        start = time.perf_counter()
        try:
            list(releases(method, task | {"share": share, "replications": 1}, eta, source, rng))
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
    if task["n"] == SIZES[-1] and task["method"] in SELECTORS:
        return True
    if task["method"] == "heuristic-min":
        return False
    return bool(task["n"] <= LARGEST[effort].get(task["method"], SIZES[-1]))


def _source(task: Task, folder: Folder) -> Task:
    return task | {"source": sized(task["data"], task["n"], folder).source}


Medians = dict[tuple[str, str, int], RunMean]


def _medians(rows: Sequence[Row]) -> Medians:
    """What a busy machine does to one run leaves the median alone."""
    grouped: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        if row["solved"] == "yes":
            grouped.setdefault((row["data"], row["method"], row["n"]), []).append(row["seconds"])
    return {key: RunMean(statistics.median(values)) for key, values in grouped.items()}


def _figures(rows: Sequence[Row]) -> list[Figure]:
    means, where = _medians(rows), sources(rows)
    panels = [
        curves(
            {
                method: [
                    (n, e.mean, e.error)
                    for (d, m, n), e in means.items()
                    if (d, m) == (data, method) and n <= LARGEST[FULL].get(m, n)
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
            "stops at n = 100; curves end where a method takes too long.",
            panels=panels,
        )
    ]


def _claims(rows: Sequence[Row]) -> list[Claim]:
    means, claims = _medians(rows), []
    for data, source in sources(rows).items():
        claims += _at_2000(rows, means, data, source) + _order(means, data, source)
    return claims


def _at_2000(rows: Sequence[Row], means: Medians, data: str, source: str) -> list[Claim]:
    claims = []
    for method in SELECTORS:
        timed = [r for r in rows if (r["data"], r["method"], r["n"]) == (data, method, SIZES[-1])]
        if not timed and method != HEURISTIC:
            continue
        median = means.get((data, method, SIZES[-1]))
        here = "not solved" if median is None else f"{median.mean:.2f} s"
        claims.append(
            sentence(
                f"{data}: the heuristic ({method.removeprefix('heuristic-')} selector) takes less "
                "than 10 seconds at n = 2,000",
                median is not None and median.mean < LIMIT,
                here if timed else "not timed",
                source=source,
            )
        )
    return claims


def _order(means: Medians, data: str, source: str) -> list[Claim]:
    """At every n at which both linear programs were solved."""
    by_size = {
        n: {m: means[data, m, n].mean for m in METHODS if (data, m, n) in means}
        for n in sorted({n for d, m, n in means if d == data})
        if all((data, m, n) in means for m in LINEAR_PROGRAMS)
    }
    if not by_size:
        return []
    turned = [str(n) for n, at in by_size.items() if not _is_in_order(at)]
    largest, at = max(by_size), by_size[max(by_size)]
    simplex, interior = (at[m] for m in LINEAR_PROGRAMS)
    shown = f"at n = {largest}: " + ", ".join(f"{m} {s:.2g} s" for m, s in at.items())
    return [
        sentence(
            f"{data}: truncated geometric fastest, then unfixed optimum and heuristic, then the "
            "linear programs, at every n",
            not turned,
            f"another order at n = {listing(turned)}; {shown}",
            source=source,
            reason="Where a release takes milliseconds the order is that of fixed costs.",
        ),
        sentence(
            f"{data}: of the linear programs especially simplex grows fast",
            simplex > interior,
            f"at n = {largest}: simplex {simplex:.2g} s, interior point {interior:.2g} s",
            source=source,
            reason="The published code's simplex is SciPy's old tableau method (2.1 s at n = 14), "
            "which SciPy 1.11 removed. HiGHS's simplex, here, is faster than its interior point "
            "method, which is run with crossover to a vertex.",
        ),
    ]


def _is_in_order(at: dict[str, float]) -> bool:
    return at["truncated-geometric"] == min(at.values()) and max(
        at["unfixed-optimum"], at[HEURISTIC]
    ) < min(at[m] for m in LINEAR_PROGRAMS)


def _unsolved(rows: Sequence[Row]) -> list[Block]:
    """What was not solved is on no curve; here it is named."""
    failed = Counter((r["data"], r["method"], r["n"]) for r in rows if r["solved"] != "yes")
    unsolved = [(data, method, str(n), str(many)) for (data, method, n), many in failed.items()]
    header = ("data set", "method", "n", "releases")
    caption = "Releases that are on no curve: the solver failed."
    return [Paragraph(caption), TableBlock(header=header, rows=unsolved)] if unsolved else []


RUNTIME = Experiment(
    name="runtime",
    title="Runtime against n",
    about="Both stages and the draw of a table, timed on this machine: not repeatable. Each method "
    "has compiled before its clock starts. f = 0.5, as in the published code.",
    data=("crime", "binomial", "schools"),
    grid={"method": (*METHODS, "heuristic-min"), "n": SIZES, "epsilon": (BUDGET,)},
    replications={QUICK: 7, FULL: 15},
    jobs=1,
    work=measure,
    keep=_keep,
    complete=_source,
    draw=_figures,
    tables=_unsolved,
    claims=_claims,
    repeatable=False,
)
