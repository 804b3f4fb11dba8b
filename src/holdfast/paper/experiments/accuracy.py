"""Distribution error and count error against the budget, on the paper's three data sets."""

from collections.abc import Callable, Sequence
from typing import Any

from holdfast.paper.experiments.accuracy_claims import claims, squared_claims
from holdfast.paper.experiments.claims import BASELINES, BEYOND, budgets_of, means_of, sources
from holdfast.paper.experiments.datasets import BUDGETS
from holdfast.paper.experiments.drawing import Figure, curves, titled
from holdfast.paper.experiments.experiment import FULL, QUICK, Experiment
from holdfast.paper.experiments.runner import Row, Task
from holdfast.paper.experiments.simulation import FIXED_POINT, simulate, with_share

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
SQUARED = Experiment(
    name="squared-error",
    title="Count error as mean squared error",
    about="The same with methods that minimise the mean squared error; the paper mentions the "
    "figure and omits it.",
    data=PAPERS_DATA,
    grid={"method": IN_COUNTS, "epsilon": BUDGETS},
    replications={QUICK: 3, FULL: 10},
    work=simulate,
    complete=_minimises_squared,
    draw=_squared_figures,
    claims=squared_claims,
)
