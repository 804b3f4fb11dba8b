"""The paper's appendix on the split: the best f, the rule fitted to it, and what the rule costs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.answers.report.document import Block, Paragraph, TableBlock
from holdfast.paper.experiments.accuracy import TICKS
from holdfast.paper.experiments.claims import sources
from holdfast.paper.experiments.datasets import BUDGETS, SYNTHETIC
from holdfast.paper.experiments.drawing import STYLES, Figure, draw_grid, spelled
from holdfast.paper.experiments.experiment import FULL, QUICK, Experiment, Folder, load
from holdfast.paper.experiments.runner import Row, Task, task_seed
from holdfast.paper.experiments.simulation import errors_of, figure_method, releases
from holdfast.paper.experiments.split_claims import (
    fit,
    gap_claims,
    objectives,
    optimal_claims,
    optimal_table,
    printed_optima,
    rule,
)
from holdfast.privacy.randomness import Simulation

TENTHS = tuple(f"0.{tenth}" for tenth in range(1, 10))
RULE = "rule"
GAP_BUDGETS = ("0.1", "0.5", "1", "5")
METHOD = "heuristic-sandwich"


def simulate(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The mean errors of many releases by the paper's method at one share, and their errors."""
    histogram = load(task["data"], folder).histogram
    # the same uniform numbers for every share, so that shares are compared, not draws
    common = task_seed("shares", {key: task[key] for key in ("data", "digest", "epsilon")})
    source, rng = Simulation(common), np.random.default_rng(seed)
    drawn = releases(figure_method(METHOD), task, histogram, source, rng)
    errors = [errors_of(*release) for release in drawn]
    values = {name: np.array([one[name] for one in errors]) for name in errors[0]}
    row: Row = {name: float(v.mean()) for name, v in values.items()}
    spread = {n: float(v.std(ddof=1) / len(v) ** 0.5) for n, v in values.items()}
    return [row | {f"{name}_se": error for name, error in spread.items()}]


def _resolve_rule(task: Task, folder: Folder) -> Task:
    """The rule of thumb's share, beside the nine tenths."""
    if task["share"] != RULE:
        return task | {"by_rule": "no"}
    return task | {"share": f"{rule(float(task['epsilon'])):.4f}", "by_rule": "yes"}


def _optimal_figures(rows: Sequence[Row]) -> list[Figure]:
    optima = optimal_table(rows)
    a, b, k = fit(optima)
    runs = rows[0]["replications"]

    def panel(axis: Any) -> None:
        fine = np.geomspace(0.1, 5, 200)
        axis.plot(fine, b + (a - b) * np.exp(-k * fine), "k-", label="fitted here")
        axis.plot(fine, rule(fine), "k:", label="the paper's rule of thumb")
        names = list(dict.fromkeys(data for data, _ in optima))
        for index, name in reversed(list(enumerate(names))):
            points = [(e, f) for (data, e), f in optima.items() if data == name]
            x, y = np.array(points).T
            # tenths coincide: each data set is set off a little to be seen
            axis.plot(
                x * 1.02 ** (index - 2.5), y, "sod^v<"[index], label=name, markersize=6,
                markerfacecolor="none", color="#333333",
            )  # fmt: skip
        axis.set(
            xscale="log",
            xlabel=spelled("total budget ε_t"),
            ylabel="share f of stage 1",
            ylim=(0, 1),
        )
        draw_grid(axis, TICKS)
        axis.set_title("(" + "; ".join(dict.fromkeys(sources(rows).values())) + ")", fontsize=6)

    return [
        Figure(
            name="optimal-split",
            title="The best share of stage 1, by the paper's method",
            caption="The f of nine tenths with the least ln(absolute deviation) + ln(W1) for each "
            f"of the six synthetic data sets, {runs} releases each (points set off sideways "
            f"so that all are seen), and B + (A - B) exp(-K ε_t) fitted to them: A = {a:.3f}, "
            f"B = {b:.3f}, K = {k:.2f}.",
            panels=[panel],
            width=7.5,
        )
    ]


def _optimal_tables(rows: Sequence[Row]) -> list[Block]:
    optima, printed = optimal_table(rows), printed_optima(rows)
    names = list(dict.fromkeys(data for data, _ in optima))
    return [
        Paragraph("Optimal f found here (in brackets the paper's, where it is another)."),
        TableBlock(
            header=("ε_t", *names),
            rows=[
                (f"{e:.2f}", *(_both(optima[name, e], printed[name, e]) for name in names))
                for e in sorted({e for _, e in optima})
            ],
        ),
    ]


def _both(here: float, paper: float) -> str:
    return f"{here:.1f}" + ("" if abs(here - paper) < 0.01 else f" ({paper:.1f})")


def _gap_figures(rows: Sequence[Row]) -> list[Figure]:
    where = sources(rows)
    return [
        Figure(
            name=f"optimality-gap-{data}",
            title=f"{data} ({where[data]}): combined error objective against f",
            caption=f"Combined error objective ln(absolute deviation) + ln(W1) against f on {data}"
            f" ({where[data]}), {rows[0]['replications']} releases per point. Vertical line: the "
            "rule of thumb's f. Its distance above the dotted line is the optimality gap.",
            panels=[_gap_panel(rows, data, epsilon) for epsilon in map(float, GAP_BUDGETS)],
            width=3.3,
        )
        for data in where
    ]


def _gap_panel(rows: Sequence[Row], data: str, epsilon: float) -> Any:
    points = objectives(rows)[data, epsilon]
    tenths = sorted((p.share, p.value, p.bar) for p in points if not p.by_rule)
    chosen = next(p for p in points if p.by_rule)

    def panel(axis: Any) -> None:
        x, y, bar = np.array(tenths).T
        axis.errorbar(x, y, bar, capsize=2, markersize=5, **STYLES[METHOD]._asdict())
        axis.axvline(chosen.share, color="#333333", linestyle="-", linewidth=1.2, label="f̂ (rule)")
        axis.axhline(
            chosen.value, color="#333333", linestyle="--", linewidth=1.2, label="objective at f̂"
        )
        least = min(value for _, value, _ in tenths)
        axis.axhline(
            min(least, chosen.value), color="#333333", linestyle=":", linewidth=1.6,
            label="least objective",
        )  # fmt: skip
        axis.set(xlabel="share f of stage 1", xlim=(0, 1), ylabel="combined error objective")
        gap = max(0.0, chosen.value - least)
        axis.set_title(spelled(f"ε_t = {epsilon:g}, optimality gap {gap:.3f}"), fontsize=9)
        draw_grid(axis)

    return panel


OPTIMAL_SPLIT = Experiment(
    name="optimal-split",
    title="The optimal f, and the rule of thumb fitted to it",
    about="The paper's method (cyclic Laplace, heuristic with the sandwich selector) on its six "
    "synthetic data sets at f = 1/10 ... 9/10; count error and distribution error by every "
    "measure, so that the paper's robustness checks come from the same releases.",
    data=SYNTHETIC,
    grid={"epsilon": BUDGETS, "share": TENTHS},
    replications={QUICK: 40, FULL: 100},
    work=simulate,
    draw=_optimal_figures,
    tables=_optimal_tables,
    claims=optimal_claims,
)
OPTIMALITY_GAP = Experiment(
    name="optimality-gap",
    title="What the rule of thumb costs on the three data sets",
    about="The combined error objective at f = 1/10 ... 9/10 and at the rule of thumb's f.",
    data=("crime", "binomial", "schools"),
    grid={"epsilon": GAP_BUDGETS, "share": (*TENTHS, RULE)},
    replications={QUICK: 100, FULL: 100},
    work=simulate,
    complete=_resolve_rule,
    draw=_gap_figures,
    claims=gap_claims,
)
