"""The error of stage 1: every privatizer and projection, on every data set."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from contenders import contender, pairs
from holdfast.former.privatizers.planning import MEASURES
from holdfast.former.studies.datasets import SYNTHETIC, DataMissing, Dataset, dataset
from holdfast.former.studies.runner import Row, Study, Task
from holdfast.former.privacy.randomness import Simulation

DATA = ("binomial", "crime", "schools", *SYNTHETIC, "heaped")
EPSILONS = ("0.01", "0.05", "0.1", "0.5", "1")
FOLDER = "HOLDFAST_DATA"
FIGURE_PAIRS = tuple(
    (name, "clip") for name in ("cyclic Laplace", "hierarchical", "Privelet", "classic Laplace")
)
FIGURE_BINS = (11, 21, 41, 61, 81, 121, 161, 241)
ERROR_BARS = 3.0  # standard errors of a difference; chance alone crosses two now and then


def table_study(
    *, draws: int, data: Sequence[str] = DATA, epsilons: Sequence[str] = EPSILONS
) -> Study:
    """All privatizers and projections; data sets that are not found are left out."""
    tasks = [
        _task(found, name, projection, epsilon, draws)
        for found in present(data)
        for epsilon in epsilons
        for name, projection in pairs()
    ]
    return Study(name="stage-1", tasks=tasks, work=measure)


def figure_study(*, draws: int, bins: Sequence[int] = FIGURE_BINS) -> Study:
    """The paper's comparison of distribution privatizers: schools, ε1 = 1, by number of bins."""
    tasks = [
        _task(load("schools", n - 1), name, projection, "1", draws) | {"bins": n}
        for n in bins
        for name, projection in FIGURE_PAIRS
    ]
    return Study(name="stage-1-figure", tasks=tasks, work=measure)


def present(names: Iterable[str]) -> list[Dataset]:
    """The data sets that are available, from the folder that HOLDFAST_DATA names or without."""
    found = []
    for name in names:
        try:
            found.append(load(name))
        except DataMissing:
            continue
    return found


@cache
def load(name: str, max_count: int | None = None) -> Dataset:
    """A data set from the folder that HOLDFAST_DATA names; workers inherit it."""
    return dataset(name, os.environ.get(FOLDER), max_count=max_count)


def measure(task: Task, seed: int) -> list[Row]:
    """The mean distances of z from the distribution of counts over many draws."""
    data = load(task["data"], task["bins"] - 1 if "bins" in task else None)
    privatizer = contender(task["privatizer"], task["projection"])
    source, truth = Simulation(seed), data.distribution
    errors = []
    for _ in range(task["draws"]):
        z = privatizer(data.histogram, epsilon=task["epsilon"], rng=source)
        errors.append([distance(truth, z) for distance in MEASURES.values()])
    mean, deviation = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1)
    row: Row = dict(zip(MEASURES, mean.tolist(), strict=True))
    bars = (deviation / np.sqrt(task["draws"])).tolist()
    return [row | {f"{name}_se": bar for name, bar in zip(MEASURES, bars, strict=True)}]


def _task(data: Dataset, name: str, projection: str, epsilon: str, draws: int) -> Task:
    return {
        "data": data.name,
        "source": data.source,
        "epsilon": epsilon,
        "privatizer": name,
        "projection": projection,
        "draws": draws,
    }


@dataclass(frozen=True, kw_only=True)
class Contest:
    """One cell of the table: who has the smallest mean error, and how another one compares."""

    data: str
    epsilon: str
    winner: tuple[str, str]
    tied: tuple[tuple[str, str], ...]
    """Those whose mean lies within the error bars of the smallest."""
    ratio: float
    """The default's mean over the smallest one."""
    bars: float
    """How many standard errors of their difference the default's mean lies above it."""
    kept: bool
    """Whether the default beats or ties every other: three standard errors are its error bars."""


def contests(rows: Sequence[Row], metric: str, default: tuple[str, str]) -> list[Contest]:
    """Who wins where, in the order of the rows.

    >>> cell = {"data": "d", "epsilon": "1", "projection": "clip", "w_se": 0.1}
    >>> means = {"a": 1.0, "b": 1.2, "c": 2.0}
    >>> rows = [cell | {"privatizer": name, "w": mean} for name, mean in means.items()]
    >>> [(c.winner[0], len(c.tied), c.kept) for c in contests(rows, "w", ("b", "clip"))]
    [('a', 2, True)]
    """
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["data"], row["epsilon"]), []).append(row)
    return [_contest(cell, metric, default) for cell in cells.values()]


def _contest(cell: list[Row], metric: str, default: tuple[str, str]) -> Contest:
    best = min(cell, key=lambda row: row[metric])
    chosen = next(row for row in cell if _pair(row) == default)
    return Contest(
        data=best["data"],
        epsilon=best["epsilon"],
        winner=_pair(best),
        tied=tuple(_pair(row) for row in cell if not clearly_above(row, best, metric)),
        ratio=chosen[metric] / best[metric] if best[metric] > 0 else 1.0,
        bars=(chosen[metric] - best[metric]) / (_bar(chosen, best, metric) or 1.0),
        kept=not any(clearly_above(chosen, row, metric) for row in cell),
    )


def clearly_above(row: Row, other: Row, metric: str) -> bool:
    """Whether a mean lies above another by more than the error bars."""
    return bool(row[metric] - other[metric] > ERROR_BARS * _bar(row, other, metric))


def _bar(row: Row, other: Row, metric: str) -> float:
    """The standard error of the difference of two independent means."""
    return float(np.hypot(row[f"{metric}_se"], other[f"{metric}_se"]))


def _pair(row: Row) -> tuple[str, str]:
    return row["privatizer"], row["projection"]
