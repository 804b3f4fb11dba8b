"""How far methods lie above what no private mechanism from tables to tables can get below."""

from collections.abc import Sequence

import numpy as np

from holdfast.answers.report.document import Block, Paragraph, TableBlock
from holdfast.paper.experiments.accuracy import PAPERS_DATA
from holdfast.paper.experiments.claims import BEYOND
from holdfast.paper.experiments.experiment import FULL, QUICK, Experiment, Folder, load
from holdfast.paper.experiments.runner import Row, Task
from holdfast.paper.experiments.simulation import FIXED_POINT, simulate, with_share
from holdfast.paper.theory import lower_bound

BUDGETS = ("0.1", "0.4782", "1.046", "2.287")
METHODS = (*FIXED_POINT, "unfixed-optimum", "truncated-geometric", BEYOND)


def measure(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The mean errors of a method, and how far its count error lies above the bound at its W1."""
    truth = load(task["data"], folder).distribution
    runs = simulate(task, seed, folder)
    error, w1 = (
        float(np.mean([run[name] for run in runs])) for name in ("absolute", "wasserstein")
    )
    bound = lower_bound(truth, task["epsilon"])
    return [{"absolute": error, "wasserstein": w1, "above": bound.above(error, w1)}]


def _tables(rows: Sequence[Row]) -> list[Block]:
    above = {(r["data"], r["epsilon"], r["method"]): f"{r['above']:.1%}" for r in rows}
    return [
        Paragraph("Count error above what no mechanism with the method's own W1 can get below."),
        TableBlock(
            header=("data set", "ε_t", *METHODS),
            rows=[
                (data, f"{epsilon:g}", *(above[data, epsilon, method] for method in METHODS))
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
    grid={"method": METHODS, "epsilon": BUDGETS},
    replications={QUICK: 20, FULL: 200},
    work=measure,
    complete=with_share,
    tables=_tables,
)
