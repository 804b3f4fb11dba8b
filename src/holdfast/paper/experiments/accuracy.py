"""Distribution error and count error against the budget, on the paper's three data sets; and how
far methods lie above what no private mechanism from tables to tables can get below."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.answers.report.document import Block, Paragraph, TableBlock
from holdfast.paper.experiments.accuracy_claims import claims, squared_claims
from holdfast.paper.experiments.claims import BASELINES, BEYOND, budgets_of, means_of, sources
from holdfast.paper.experiments.datasets import BUDGETS
from holdfast.paper.experiments.drawing import Figure, curves, titled
from holdfast.paper.experiments.experiment import FULL, QUICK, Experiment, Folder, load
from holdfast.paper.experiments.runner import Row, Task
from holdfast.paper.experiments.simulation import FIXED_POINT, simulate, with_share
from holdfast.paper.theory import lower_bound

PAPERS_DATA = ("binomial", "crime", "schools")
TICKS = (0.1, 0.2, 0.5, 1, 2, 5)
NAMES = {
    "wasserstein": "Wasserstein-1 distance, in counts",
    "kolmogorov_smirnov": "Kolmogorov-Smirnov distance",
    "total_variation": "total variation distance",
    "absolute": "expected absolute deviation, in counts",
    "squared": "mean squared error, in counts squared",
}
IN_DISTRIBUTION = ("heuristic-sandwich", *BASELINES, BEYOND)
IN_COUNTS = (*FIXED_POINT, *BASELINES, BEYOND)
BUDGET_AXIS = "total budget ε_t"


def by_budget(
    rows: Sequence[Row], measure: str, methods: Sequence[str], **options: Any
) -> list[Callable[[Any], None]]:
    """A panel per data set: the mean of a measure against the budget, a curve per method."""
    means, where = means_of(rows, measure), sources(rows)
    budgets = budgets_of(rows)
    return [
        curves(
            {
                method: [
                    (e, means[data, method, e].mean, means[data, method, e].error) for e in budgets
                ]
                for method in methods
            },
            x=BUDGET_AXIS,
            y=NAMES[measure],
            ticks=TICKS,
            title=titled(data, where[data]),
            **options,
        )
        for data in where
    ]


def _figures(rows: Sequence[Row]) -> list[Figure]:
    runs = 1 + max(row["run"] for row in rows)
    bars = f"Means of {runs} releases; bars are one standard error."
    figures = [
        Figure(
            name=f"distribution-error-{measure.replace('_', '-')}",
            title=f"Distribution error against budget: {NAMES[measure]}",
            caption="Distribution error of the released table against the total budget. The "
            "heuristic with the sandwich selector stands for all fixed-point methods of the "
            f"paper, as in the paper. {bars}",
            panels=by_budget(rows, measure, IN_DISTRIBUTION),
        )
        for measure in ("wasserstein", "kolmogorov_smirnov", "total_variation")
    ]
    figures.append(
        Figure(
            name="count-error-absolute",
            title="Count error against budget: expected absolute deviation",
            caption="Expected absolute deviation of a count, computed from the matrix and the true "
            "distribution; the baselines' matrices are analytic, so no figure here is sampled "
            f"beyond stage 1. {bars}",
            panels=by_budget(rows, "absolute", IN_COUNTS),
        )
    )
    return figures


def _squared_figures(rows: Sequence[Row]) -> list[Figure]:
    return [
        Figure(
            name="count-error-squared",
            title="Count error against budget: mean squared error, which stage 2 minimises here",
            caption="Mean squared error of a count; optimum and unfixed optimum minimise it here, "
            "not the absolute deviation.",
            panels=by_budget(rows, "squared", IN_COUNTS),
        )
    ]


def _minimises_squared(task: Task, folder: str | None) -> Task:
    return with_share(task, folder) | {"error": "squared"}


ACCURACY = Experiment(
    name="accuracy",
    title="Accuracy of distribution and of counts against the budget",
    about="Whole releases of each table by each method at the paper's eleven budgets and its rule "
    "for the split; distances of the released distribution, and count errors of the mechanism.",
    data=PAPERS_DATA,
    grid={"method": IN_COUNTS, "epsilon": BUDGETS},
    replications={QUICK: 10, FULL: 10},
    work=simulate,
    complete=with_share,
    draw=_figures,
    claims=claims,
)
SQUARED = replace(
    ACCURACY,
    name="squared-error",
    title="Count error as mean squared error",
    about="The same with methods that minimise the mean squared error; the paper mentions the "
    "figure and omits it.",
    replications={QUICK: 3, FULL: 10},
    complete=_minimises_squared,
    draw=_squared_figures,
    claims=squared_claims,
)


FEW_BUDGETS = ("0.1", "0.4782", "1.046", "2.287")
COMPARED = (*FIXED_POINT, "unfixed-optimum", "truncated-geometric", BEYOND)


def above_bound(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The mean errors of a method, and how far its count error lies above the bound at its W1."""
    truth = load(task["data"], folder).distribution
    runs = simulate(task, seed, folder)
    error, w1 = (
        float(np.mean([run[name] for run in runs])) for name in ("absolute", "wasserstein")
    )
    bound = lower_bound(truth, task["epsilon"])
    return [{"absolute": error, "wasserstein": w1, "above": bound.above(error, w1)}]


def _frontier_tables(rows: Sequence[Row]) -> list[Block]:
    above = {(r["data"], r["epsilon"], r["method"]): f"{r['above']:.1%}" for r in rows}
    return [
        Paragraph("Count error above what no mechanism with the method's own W1 can get below."),
        TableBlock(
            header=("data set", "ε_t", *COMPARED),
            rows=[
                (data, f"{epsilon:g}", *(above[data, epsilon, method] for method in COMPARED))
                for data, epsilon in dict.fromkeys((d, e) for d, e, _ in above)
            ],
        ),
    ]


FRONTIER = Experiment(
    name="frontier",
    title="What no private mechanism can beat",
    about="Not in the paper: the frontier of count error and distribution error over all private "
    "mechanisms from tables to tables (docs/optimum.md), and how far the methods lie above it.",
    data=PAPERS_DATA,
    grid={"method": COMPARED, "epsilon": FEW_BUDGETS},
    replications={QUICK: 20, FULL: 200},
    work=above_bound,
    complete=with_share,
    tables=_frontier_tables,
)
