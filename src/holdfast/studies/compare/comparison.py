"""Methods side by side on one table: reads true counts, so it is for public or synthetic tables,
or for the side that may see them."""

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.analysis.whole_histogram import whole_histogram
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, whole_number
from holdfast.privacy.metrics import (
    absolute_deviation,
    kolmogorov_smirnov,
    squared_error,
    total_variation,
    wasserstein,
)
from holdfast.release.release import Release
from holdfast.studies.budgets import BUDGETS
from holdfast.studies.methods import Method, find_methods
from holdfast.studies.questions import Question, find_questions
from holdfast.studies.runner import Row, Study, Task, task_seed
from holdfast.studies.settings import (
    check_epsilons,
    counts_of,
    seeds_of,
    simulate,
    warm_up,
)
from holdfast.tables.histogram import check_max_count, check_target, histogram_of_counts
from holdfast.tables.table import read_table

NAME = "non_private_comparison"
MOST_ROWS = 10_000_000
MEASURES = ("w1", "ks", "tv", "absolute", "squared", "seconds")


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What methods did to one table. NOT PRIVATE: it was computed from the true counts."""

    non_private_rows: list[Row]
    """One per method, budget and repetition: w1, ks and tv of the released distribution; absolute
    and squared count error of the mechanism; "error of ..." every question; seconds."""
    non_private_histogram: Integers
    """How many rows have count 0, 1, ..., top-coded: the truth."""
    methods: tuple[Method, ...]
    """The methods, in the order asked for."""
    epsilons: tuple[str, ...]
    """The budgets."""
    questions: tuple[Question, ...]
    """The questions whose errors were measured."""
    repetitions: int
    """Releases per method and budget."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of everything that was measured."""
        return (*MEASURES, *(f"error of {question.name}" for question in self.questions))

    @property
    def non_private_distribution(self) -> Floats:
        """ζ, the true distribution of counts."""
        return np.asarray(self.non_private_histogram / self.non_private_histogram.sum())

    def non_private_summary(self) -> list[Row]:
        """One row per method and budget: the mean of every measure and its spread (one standard
        deviation over the repetitions; None for one). The mean error of a question is its bias."""
        grouped: dict[tuple[str, str], list[Row]] = {}
        for row in self.non_private_rows:
            grouped.setdefault((row["method"], row["epsilon"]), []).append(row)
        return [
            {"method": method, "epsilon": epsilon, "repetitions": len(rows)}
            | _moments(rows, self.measures)
            for (method, epsilon), rows in grouped.items()
        ]

    def non_private_example(self, method: str, epsilon: str) -> Release:
        """The first simulated release of this method and budget, made again."""
        wanted = next(m for m in self.methods if m.name == method)
        task = _task(wanted, epsilon, self.non_private_histogram, self.questions, self.repetitions)
        (seed,) = seeds_of(task_seed(NAME, task), 1)
        return wanted.simulate(
            counts_of(self.non_private_histogram),
            epsilon=epsilon,
            max_count=len(self.non_private_histogram) - 1,
            seed=seed,
        )

    def non_private_pictures(
        self, folder: str | os.PathLike[str], *, name: str = "the table"
    ) -> list[Path]:
        """Errors against budget, distributions and mechanisms as PNG and SVG, in `folder`."""
        from holdfast.studies.compare.pictures import save_pictures

        size = f"{self.non_private_histogram.sum():,} rows, {self.repetitions} releases each"
        return save_pictures(
            folder,
            about=(name, size),
            budget=self.epsilons[len(self.epsilons) // 2],
            summary=self.non_private_summary(),
            truth=self.non_private_distribution,
            methods=[method.name for method in self.methods],
            example=self.non_private_example,
        )

    def __repr__(self) -> str:
        return (
            "Comparison(NOT PRIVATE: read the true counts; methods: "
            f"{', '.join(method.name for method in self.methods)}; "
            f"epsilons: {', '.join(self.epsilons)})"
        )


def compare(
    table: Any,
    *,
    rows: int | None = None,
    max_count: int | None = None,
    count: str | None = None,
    category: str | None = None,
    structural_zero: str | Sequence[Any] | None = None,
    epsilons: Iterable[Any] = BUDGETS,
    methods: Iterable[str | Method] | None = None,
    questions: list[str] | tuple[str, ...] | None = None,
    repetitions: int = 10,
    folder: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool = False,
) -> Comparison:
    """Release one table many times by every method, and measure how far off each is.

    NOT PRIVATE: the result is computed from the true counts. Use public or synthetic tables, or
    keep it on the side that may see the counts. To choose a budget for a private table, use
    `holdfast.plan`, which reads no private data.

    Parameters:
        table: A table of counts, as `holdfast.privatize` takes it; or, with `rows`, a
            distribution of counts: one share per count 0, 1, ..., adding up to 1.
        rows: The number of rows that a given distribution stands for.
        max_count: The highest count that is published; needed for a table.
        count, category, structural_zero: As for `holdfast.privatize`.
        epsilons: The budgets; default the paper's 11 from 0.1 to 5.
        methods: Names, `holdfast.Method`s or "module:NAME"; default all the named ones.
        questions: "zeros", "mean", "above K"; default these, with K a third of max_count.
        repetitions: Releases per method and budget.
        folder: Where results are added as they come, so that a killed run resumes where it stopped.
        jobs: How many processes; default one per core. In a script, more than one needs
            `if __name__ == "__main__":` around the call.
        progress: Whether to show a bar.

    >>> found = compare([0.5, 0.3, 0.2], rows=200, epsilons=[1], methods=["staircase"], jobs=1)
    >>> found
    Comparison(NOT PRIVATE: read the true counts; methods: staircase; epsilons: 1)
    """
    histogram = _histogram(table, rows, max_count, (count, category, structural_zero))
    chosen = find_methods(methods)
    budgets = check_epsilons(epsilons)
    asked = find_questions(questions, len(histogram))
    repetitions = whole_number(repetitions, "repetitions", least=1)
    tasks = [
        _task(method, epsilon, histogram, asked, repetitions)
        for method in chosen
        for epsilon in budgets
    ]
    work = partial(measure, histogram=histogram, methods={m.name: m for m in chosen})
    found = simulate(Study(name=NAME, tasks=tasks, work=work), folder, jobs, progress)
    return Comparison(
        non_private_rows=found,
        non_private_histogram=histogram,
        methods=chosen,
        epsilons=budgets,
        questions=tuple(asked),
        repetitions=repetitions,
    )


def measure(task: Task, seed: int, *, histogram: Integers, methods: dict[str, Method]) -> list[Row]:
    """All repetitions of one method and budget."""
    method, counts, truth = (
        methods[task["method"]],
        counts_of(histogram),
        histogram / histogram.sum(),
    )
    n = len(histogram)
    asked = [(q, q.weights(n)) for q in map(Question, task["questions"].split(", "))]
    warm_up(method)
    rows = []
    for repetition, draw in enumerate(seeds_of(seed, task["repetitions"])):
        start = time.perf_counter()
        release = method.simulate(counts, epsilon=task["epsilon"], max_count=n - 1, seed=draw)
        seconds = time.perf_counter() - start
        published, matrix = release.distribution, release.mechanism.matrix
        row = {
            "repetition": repetition,
            "w1": wasserstein(truth, published),
            "ks": kolmogorov_smirnov(truth, published),
            "tv": total_variation(truth, published),
            "absolute": absolute_deviation(matrix, truth),
            "squared": squared_error(matrix, truth),
            "seconds": seconds,
        }
        errors = {f"error of {q.name}": float(w @ (published - truth)) for q, w in asked}
        rows.append(row | errors)
    return rows


def _histogram(
    table: Any, rows: int | None, max_count: int | None, names: tuple[Any, Any, Any]
) -> Integers:
    if rows is not None:
        histogram = whole_histogram(
            check_target(table), whole_number(rows, "rows", least=1, most=MOST_ROWS)
        )
        if max_count is not None and max_count != len(histogram) - 1:
            raise HoldfastError(
                "`max_count` does not fit the distribution, which has one share per count from 0 "
                "on. Hint: leave it out."
            )
        return histogram
    if max_count is None:
        raise HoldfastError(
            "`max_count` is missing. Hint: give it for a table; for a distribution give `rows`."
        )
    count, category, structural_zero = names
    read = read_table(table, count=count, category=category, structural_zero=structural_zero)
    return histogram_of_counts(read.counts[~read.structural_zero], check_max_count(max_count))


def _task(
    method: Method,
    epsilon: str,
    histogram: Integers,
    questions: Sequence[Question],
    repetitions: int,
) -> Task:
    """What decides a result, so that a resumed run never takes another's for its own."""
    return {
        "method": method.name,
        "epsilon": epsilon,
        "settings": hashlib.sha256(repr(method).encode()).hexdigest()[:16],
        "data": hashlib.sha256(histogram.astype("<i8").tobytes()).hexdigest()[:16],
        "holdfast": version("holdfast"),
        "questions": ", ".join(question.name for question in questions),
        "repetitions": repetitions,
    }


def _moments(rows: list[Row], measures: Iterable[str]) -> Row:
    summary: Row = {}
    for name in measures:
        values = np.array([row[name] for row in rows])
        summary[name] = float(values.mean())
        summary[f"spread of {name}"] = float(values.std(ddof=1)) if len(values) > 1 else None
    return summary
