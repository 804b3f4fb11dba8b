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

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, whole_number
from holdfast.former.release.release import Release
from holdfast.former.studies.budgets import BUDGETS
from holdfast.former.studies.compare.by_group import (
    MEASURES_WITHIN,
    ByGroup,
    GroupedCounts,
    grouped_counts,
    measured_within,
    refuse_agencies,
)
from holdfast.former.studies.methods import Method, find_methods, methods_for
from holdfast.former.studies.questions import Question, find_questions
from holdfast.former.studies.runner import Row, Study, Task, task_seed
from holdfast.former.studies.settings import (
    DISTANCES,
    check_epsilons,
    counts_of,
    seeds_of,
    simulate,
    warm_up,
)
from holdfast.former.tables.histogram import (
    check_max_count,
    check_target,
    histogram_of_counts,
    whole_histogram,
)
from holdfast.former.tables.table import read_table

NAME = "non_private_comparison"
MOST_ROWS = 10_000_000
MEASURES = (*DISTANCES, "absolute", "squared", "seconds")


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What methods did to one table. NOT PRIVATE: it was computed from the true counts."""

    non_private_rows: list[Row]
    """One per method, budget and repetition: w1, ks and tv of the released distribution; absolute
    and squared count error of the mechanism; "error of ..." every question; seconds. With groups
    also "w1 within" them, and how far the "total" and on average the "totals within" are off."""
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
    non_private_groups: GroupedCounts | None = None
    """The true counts and their groups, where `within` was given."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of everything that was measured."""
        within = () if self.non_private_groups is None else MEASURES_WITHIN
        return (*MEASURES, *within, *(f"error of {question.name}" for question in self.questions))

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
        asked = self.questions, self.repetitions, self.non_private_groups
        task = _task(wanted, epsilon, self.non_private_histogram, *asked)
        (seed,) = seeds_of(task_seed(NAME, task), 1)
        return wanted.simulate(
            _counts(self.non_private_histogram, self.non_private_groups),
            epsilon=epsilon,
            max_count=len(self.non_private_histogram) - 1,
            seed=seed,
        )

    def non_private_pictures(
        self, folder: str | os.PathLike[str], *, name: str = "the table"
    ) -> list[Path]:
        """Errors against budget, distributions and mechanisms as PNG and SVG, in `folder`."""
        from holdfast.former.studies.compare.pictures import save_pictures

        size = f"{self.non_private_histogram.sum():,} rows, {self.repetitions} releases each"
        return save_pictures(
            folder,
            about=(name, size),
            budget=self.epsilons[len(self.epsilons) // 2],
            summary=self.non_private_summary(),
            truth=self.non_private_distribution,
            methods=[m.name for m in self.methods if not isinstance(m, ByGroup)],
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
    within: Any = None,
    totals: Any = None,
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
        questions: "mean", or shares as `holdfast ask` takes them; "zeros", "above K" for short.
            Default: these three, with K a third of max_count.
        repetitions: Releases per method and budget.
        folder: Where results are added as they come, so that a killed run resumes where it stopped.
        jobs: How many processes; default one per core. In a script, more than one needs
            `if __name__ == "__main__":` around the call.
        progress: Whether to show a bar.
        within, totals: As for `holdfast.privatize`: the release by group is one more method,
            "by-group", and all are measured within the groups too.

    >>> found = compare([0.5, 0.3, 0.2], rows=200, epsilons=[1], methods=["staircase"], jobs=1)
    >>> found
    Comparison(NOT PRIVATE: read the true counts; methods: staircase; epsilons: 1)
    """
    names = {"count": count, "category": category, "structural_zero": structural_zero}
    chosen = find_methods(methods)
    if max_count is not None:
        chosen = methods_for(methods, check_max_count(max_count))
    if within is None:
        if totals:
            raise HoldfastError("`totals` goes with `within` here. Hint: name a column of groups.")
        histogram, groups = _histogram(table, rows, max_count, names), None
    else:
        refuse_agencies(chosen)
        groups = _groups(table, rows, max_count, names | {"within": within}, totals)
        histogram = groups.histograms(groups.counts, max_count or 0).sum(axis=0)
        chosen = (*chosen, ByGroup(groups=groups, totals=totals))
    budgets = check_epsilons(epsilons)
    asked = find_questions(questions, len(histogram))
    repetitions = whole_number(repetitions, "repetitions", least=1)
    how = {"folder": folder, "jobs": jobs, "progress": progress}
    return compared(histogram, groups, chosen, budgets, tuple(asked), repetitions, how)


def compared(
    histogram: Integers,
    groups: GroupedCounts | None,
    chosen: tuple[Method, ...],
    budgets: tuple[str, ...],
    asked: tuple[Question, ...],
    repetitions: int,
    how: dict[str, Any],
    name: str = NAME,
) -> Comparison:
    """Methods side by side on what was read and checked; `name` is that of the file."""
    tasks = [
        _task(method, epsilon, histogram, asked, repetitions, groups)
        for method in chosen
        for epsilon in budgets
    ]
    known = {method.name: method for method in chosen}
    work = partial(measure, histogram=histogram, methods=known, groups=groups)
    found = simulate(Study(name=name, tasks=tasks, work=work), **how)
    return Comparison(
        non_private_rows=found,
        non_private_histogram=histogram,
        methods=chosen,
        epsilons=budgets,
        questions=asked,
        repetitions=repetitions,
        non_private_groups=groups,
    )


def measure(
    task: Task,
    seed: int,
    *,
    histogram: Integers,
    methods: dict[str, Method],
    groups: GroupedCounts | None = None,
) -> list[Row]:
    """All repetitions of one method and budget."""
    method, counts, truth = (
        methods[task["method"]],
        _counts(histogram, groups),
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
        published = release.distribution
        row = {
            "repetition": repetition,
            **{name: distance(truth, published) for name, distance in DISTANCES.items()},
            "absolute": _change(method, release, truth, "absolute"),
            "squared": _change(method, release, truth, "squared"),
            "seconds": seconds,
        }
        row |= {} if groups is None else measured_within(release, groups, n - 1)
        errors = {f"error of {q.name}": float(w @ (published - truth)) for q, w in asked}
        rows.append(row | errors)
    return rows


def _change(method: Method, release: Release, truth: Floats, error: str) -> float:
    if isinstance(method, ByGroup) and release.groups is not None:
        return method.groups.expected_change(release.groups.mechanism, error)
    return release.mechanism.count_error(truth, error)


def _counts(histogram: Integers, groups: GroupedCounts | None) -> Integers:
    return counts_of(histogram) if groups is None else groups.counts


def _groups(
    table: Any, rows: int | None, max_count: int | None, names: dict[str, Any], totals: Any
) -> GroupedCounts:
    if rows is not None or max_count is None:
        raise HoldfastError(
            "`within` needs a table and `max_count`. Hint: leave `rows` out, a distribution has no "
            "columns."
        )
    top, read = check_max_count(max_count), read_table(table, **names)
    return grouped_counts(read, max_count=top, within=names["within"], totals=totals)


def _histogram(
    table: Any, rows: int | None, max_count: int | None, names: dict[str, Any]
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
    read = read_table(table, **names)
    return histogram_of_counts(read.counts[~read.structural_zero], check_max_count(max_count))


def _task(
    method: Method,
    epsilon: str,
    histogram: Integers,
    questions: Sequence[Question],
    repetitions: int,
    groups: GroupedCounts | None = None,
) -> Task:
    """What decides a result, so that a resumed run never takes another's for its own."""
    data = hashlib.sha256(histogram.astype("<i8").tobytes()).hexdigest()[:16]
    return {
        "method": method.name,
        "epsilon": epsilon,
        "settings": hashlib.sha256(repr(method).encode()).hexdigest()[:16],
        "data": data if groups is None else groups.digest,
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
