"""Choosing a budget before the private table is touched: from a public prior alone."""

import hashlib
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError, whole_number
from holdfast.former.engines.stages import check_parameters
from holdfast.former.studies.compare.by_group import ByGroup, prior_groups, refuse_agencies
from holdfast.former.studies.compare.comparison import compared
from holdfast.former.studies.methods import Method, find_methods
from holdfast.former.studies.plan.expectation import (
    errors_by_size,
    expected_distances,
    expected_errors,
    probability_within,
    question_moments,
)
from holdfast.former.studies.plan.priors import prior_distribution
from holdfast.former.studies.plan.targets import Target, read_target
from holdfast.former.studies.questions import Question, find_questions
from holdfast.former.studies.runner import Row, Study, Task, task_seed
from holdfast.former.studies.settings import (
    check_epsilons,
    counts_of,
    seeds_of,
    simulate,
)
from holdfast.former.privacy.budget import split_budget
from holdfast.former.tables.histogram import whole_histogram

Grouped = dict[tuple[str, str], list[Row]]

EPSILONS = ("0.1", "0.2", "0.5", "1", "2", "5")
SPLITS = (None, "0.05", "0.1", "0.2", "0.35", "0.5")
SIZE = "counts of "
MOST_ROWS = 10_000_000
HALVINGS = 5  # of the interval between two budgets of the grid


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """What to expect of a release, by budget and split; no private data took part."""

    rows: list[Row]
    """One per budget and split. "stage 1" is stage 1's share of the budget; w1, ks, tv, absolute
    and squared are expected errors, "counts of 10-99" the absolute one for counts of that size;
    "error of QUESTION" is the expected absolute error of its
    answer, "bias of QUESTION" its mean error, and "9 in 10 of QUESTION" what the error stays
    within nine times in ten."""
    categories: int
    """N, the number of rows of the planned table."""
    max_count: int
    """The highest count that will be published."""
    prior: str
    """Where the prior came from."""
    questions: tuple[Question, ...]
    """The questions."""
    target: Target | None = None
    """What was to be met."""
    smallest_epsilon: dict[str, float | None] | None = None
    """For every split, the smallest budget found to meet the target; None if none of them did."""

    by_group: list[Row] | None = None
    """Where `within` was given, one per method ("by-group", and the one without groups) and budget:
    what `holdfast.compare` measures, "w1 within" and "totals within" among it, on the prior."""

    @property
    def best(self) -> tuple[str, float] | None:
        """The split that meets the target with the least budget, and that budget."""
        met = [(e, s) for s, e in (self.smallest_epsilon or {}).items() if e is not None]
        return (min(met)[1], min(met)[0]) if met else None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Planner:
    """One planned table, and how its releases are simulated."""

    histogram: Integers
    method: Method
    questions: tuple[Question, ...]
    repetitions: int
    distances: bool
    folder: Any
    jobs: int | None
    progress: bool

    def run(self, name: str, points: Iterable[tuple[str, str | None]]) -> Grouped:
        """Simulated releases at (budget, split)s."""
        tasks = [self._task(epsilon, split) for epsilon, split in points]
        work = partial(_simulate, histogram=self.histogram, method=self.method)
        grouped: Grouped = {}
        study = Study(name=name, tasks=tasks, work=work)
        for row in simulate(study, self.folder, self.jobs, self.progress):
            grouped.setdefault((row["epsilon"], row["split"]), []).append(row)
        return grouped

    def _task(self, epsilon: str, split: str | None) -> Task:
        prior = hashlib.sha256(self.histogram.astype("<i8").tobytes()).hexdigest()[:16]
        return {
            "epsilon": epsilon,
            "split": _name(split),
            "repetitions": self.repetitions,
            "prior": prior,
            "method": hashlib.sha256(repr(self.method).encode()).hexdigest()[:16],
            "holdfast": version("holdfast"),
            "questions": ", ".join(question.name for question in self.questions),
            **({} if self.distances else {"distances": False}),
        }


def plan(
    *,
    categories: int,
    max_count: int,
    prior: Any,
    count: str | None = None,
    epsilons: Iterable[Any] = EPSILONS,
    splits: Iterable[Any] = SPLITS,
    questions: list[str] | tuple[str, ...] | None = None,
    target: str | Target | None = None,
    method: str | Method = "default",
    repetitions: int = 40,
    distances: bool = True,
    folder: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool = False,
    within: Any = None,
    totals: Any = None,
) -> Plan:
    """What releases of a table like `prior` would be worth, for a range of budgets and splits.

    No private data take part: give last year's release, another region, or a named shape. Stage 1
    is simulated; what stage 2 adds is computed from the mechanism, with the normal law for
    the noise of many rows.

    Parameters:
        categories: N, the number of rows that the table will have.
        max_count: The highest count that will be published.
        prior: "uniform", "poisson:MEAN", "geometric:MEAN", "powerlaw:EXPONENT",
            "zeros:SHARE+SHAPE"; a CSV or Parquet file; the folder of a release; or shares.
        count: Name of the prior's count column, when it has several.
        epsilons: The budgets to look at.
        splits: Stage 1's shares of the budget to look at; None is the default rule.
        questions: "mean", or shares as `holdfast ask` takes them; "zeros", "above K" for short.
        target: "zeros within 1 point, 9 in 10": the smallest budget that meets it is sought
            for every split, between the least and the largest of `epsilons`.
        method: The way to publish: a name or a `holdfast.Method`, its split left out.
        repetitions: Simulated releases per budget and split.
        distances: Whether w1, ks and tv are estimated too, by drawing all rows several times, which
            takes most of the time.
        folder, jobs, progress: As for `holdfast.compare`.
        within, totals: As for `holdfast.privatize`, for a prior that is a table with these columns:
            what groups would gain, at each budget, stands in `by_group`.

    >>> found = plan(categories=500, max_count=9, prior="geometric:2", epsilons=[1],
    ...              splits=[None], repetitions=4, jobs=1)
    >>> 0 < found.rows[0]["error of zeros"] < 0.1
    True
    """
    size = whole_number(categories, "categories", least=1, most=MOST_ROWS)
    shares, name = prior_distribution(prior, max_count=max_count, count=count)
    goal = read_target(target) if isinstance(target, str) else target
    asked = find_questions(questions, len(shares))
    if goal is not None and goal.question not in asked:
        goal.question.weights(len(shares))
        asked.append(goal.question)
    (chosen,) = find_methods([method])
    budgets, shown = check_epsilons(epsilons), _check_splits(splits, chosen)
    planner = _Planner(
        histogram=whole_histogram(shares, size),
        method=chosen,
        questions=tuple(asked),
        repetitions=whole_number(repetitions, "repetitions", least=2),
        distances=distances,
        folder=folder,
        jobs=jobs,
        progress=progress,
    )
    by_group = None
    if within is not None:
        by_group = _by_group(planner, budgets, prior, count, within, totals)
    elif totals:
        raise HoldfastError("`totals` goes with `within` here. Hint: name a column of groups.")
    found = planner.run("plan", ((epsilon, split) for epsilon in budgets for split in shown))
    smallest = None if goal is None else _search(planner, goal, budgets, shown, found)
    return Plan(
        rows=[_expected(rows, asked) for rows in found.values()],
        categories=size,
        max_count=len(shares) - 1,
        prior=name,
        questions=tuple(asked),
        target=goal,
        smallest_epsilon=smallest,
        by_group=by_group,
    )


def _by_group(
    planner: _Planner, budgets: tuple[str, ...], prior: Any, count: Any, within: Any, totals: Any
) -> list[Row]:
    refuse_agencies((planner.method,))
    size, top = int(planner.histogram.sum()), len(planner.histogram) - 1
    groups = prior_groups(
        prior, rows=size, max_count=top, count=count, within=within, totals=totals
    )
    methods = planner.method, ByGroup(groups=groups, totals=totals)
    histogram = groups.histograms(groups.counts, top).sum(axis=0)
    how = {name: vars(planner)[name] for name in ("folder", "jobs", "progress")}
    asked = planner.questions, planner.repetitions, how
    return compared(
        histogram, groups, methods, budgets, *asked, name="plan_by_group"
    ).non_private_summary()


def _simulate(task: Task, seed: int, *, histogram: Integers, method: Method) -> list[Row]:
    """One budget and split: what each simulated release is expected to be off by."""
    n, counts, truth = len(histogram), counts_of(histogram), histogram / histogram.sum()
    asked = [Question(name) for name in task["questions"].split(", ")]
    if task["split"] != "default":
        method = replace(method, split=task["split"])
    # the same seeds at every budget and split: what differs between them is not mere chance
    common = {name: task[name] for name in task if name not in ("epsilon", "split")}
    rows = []
    for draw in seeds_of(task_seed("plan", common), task["repetitions"]):
        release = method.simulate(counts, epsilon=task["epsilon"], max_count=n - 1, seed=draw)
        mechanism, budget = release.mechanism, release.privacy.budget
        row = {"stage 1": float(budget.stage_1 / budget.epsilon)}
        if task.get("distances", True):
            row |= expected_distances(mechanism, counts, draw)
        row["absolute"] = mechanism.count_error(truth)
        row["squared"] = mechanism.count_error(truth, "squared")
        sizes = errors_by_size(mechanism, histogram)
        row |= {f"{SIZE}{size}": error for size, error in sizes.items()}
        for q in asked:
            bias, spread = question_moments(mechanism, histogram, q.weights(n))
            row |= {f"bias of {q.name}": bias, f"spread of {q.name}": spread}
        rows.append(row)
    return rows


def _expected(rows: list[Row], questions: Iterable[Question]) -> Row:
    """What the simulated releases of one budget and split say together."""
    found: Row = {name: rows[0][name] for name in ("epsilon", "split")}
    sizes = [name for name in rows[0] if name.startswith(SIZE)]
    for name in ("stage 1", "w1", "ks", "tv", "absolute", "squared", *sizes):
        if name in rows[0]:
            found[name] = float(np.mean([row[name] for row in rows]))
    for question in questions:
        found |= expected_errors(_moments(rows, question), question.name)
    return found


def _moments(rows: list[Row], question: Question) -> list[tuple[float, float]]:
    name = question.name
    return [(row[f"bias of {name}"], row[f"spread of {name}"]) for row in rows]


def _search(
    planner: _Planner,
    goal: Target,
    budgets: Sequence[str],
    splits: Sequence[str | None],
    found: Grouped,
) -> dict[str, float | None]:
    """The smallest budget per split, to the resolution of `HALVINGS` halvings of the grid."""

    def holds(rows: list[Row]) -> bool:
        moments = _moments(rows, goal.question)
        return probability_within(moments, goal.tolerance) >= goal.probability

    names = {_name(split): split for split in splits}
    brackets: dict[str, tuple[float, float]] = {}
    smallest: dict[str, float | None] = {}
    grid = sorted(budgets, key=Fraction)
    for name in names:
        failed = [i for i, epsilon in enumerate(grid) if not holds(found[epsilon, name])]
        above = grid[failed[-1] + 1 :] if failed else grid
        smallest[name] = float(Fraction(above[0])) if above else None
        if above and failed:
            brackets[name] = float(Fraction(grid[failed[-1]])), float(Fraction(above[0]))
    for _ in range(HALVINGS if brackets else 0):
        points = [(f"{math.sqrt(low * high):.3g}", names[n]) for n, (low, high) in brackets.items()]
        for (epsilon, name), rows in planner.run("plan_search", points).items():
            low, high = brackets[name]
            brackets[name] = (low, float(epsilon)) if holds(rows) else (float(epsilon), high)
    return smallest | {name: high for name, (_, high) in brackets.items()}


def _name(split: str | None) -> str:
    return "default" if split is None else split


def _check_splits(splits: Iterable[Any], method: Method) -> tuple[str | None, ...]:
    asked = check_parameters(
        epsilon=1, max_count=1, privatizer=method.privatizer, constructor=method.constructor
    )
    if asked.options["one_stage"]:
        return (None,)
    given = [splits] if splits is None or isinstance(splits, str | float) else list(splits)
    texts = tuple(dict.fromkeys(None if s in (None, "default") else str(s) for s in given))
    if not texts:
        raise HoldfastError("`splits` is empty. Hint: None is the default rule.")
    for split in texts:
        split_budget(1, max_count=1, rows=1, split=split)
    return texts
