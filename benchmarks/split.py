"""The rule that splits the budget: the study, the fit, and what it is worth on held-out data.

    python benchmarks/split.py fit --folder RESULTS [--data DATA] [--runs 8]
    python benchmarks/split.py held-out --folder RESULTS [--data DATA] [--runs 100] [--grid]

`fit` measures the combined objective ln(count error) + ln(W1) on the six synthetic sets (at the
paper's sizes, and drawn again at other N) for our default stage 1 and the optimum, and fits the
rule in holdfast.privacy.budget. `held-out` compares, on binomial, crime and schools and at equal
budgets, our default with our rule and with the paper's rule, the paper's method with its rule, and
an oracle that is told the distribution; --grid adds other shares, to show what a rule leaves. A
killed run resumes where it stopped.
"""

import argparse
import os
from fractions import Fraction
from itertools import groupby

import numpy as np

from holdfast.former.studies.budgets import BUDGETS
from holdfast.former.studies.runner import Row, run
from holdfast.former.studies.simulator import ERRORS
from holdfast.former.privacy.budget import paper_rule, share_rule
from split_study import (
    HELD_OUT,
    ORACLE,
    Point,
    curves,
    fit_rule,
    logistic_rule,
    objective,
    study,
    training,
)
from split_study import table as histogram
from stage_1_study import FOLDER

GRID = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.4")


def share_of(data: str, epsilon: str, rule: str) -> str:
    counts = histogram(data)
    if rule == "paper":
        return str(float(paper_rule(Fraction(epsilon))))
    return str(float(share_rule(Fraction(epsilon), rows=int(counts.sum()), bins=len(counts))))


def fit(arguments: argparse.Namespace) -> None:
    found = curves(run(training(runs=arguments.runs), folder=arguments.folder))
    parameters, gap = fit_rule(found)
    print("f = 1 / (1 + exp(-x)),  x = a + b ln(epsilon) + c ln(N) + d ln(n)")
    print("a, b, c, d =", ", ".join(f"{value:.3f}" for value in parameters))
    print(f"mean optimality gap {gap:.3f} over {len(found)} curves, by rule and data set:")
    print(f"{'data':<22}{'N':>8}{'n':>5}{'fitted':>9}{'paper':>9}   best f by budget")
    found.sort(key=lambda curve: (curve.error, "@" in curve.data, curve.data))
    for name, group in groupby(found, key=lambda curve: (curve.data, curve.error)):
        members = list(group)
        ours = [c.gap(logistic_rule(parameters, c.epsilon, c.rows, c.bins)) for c in members]
        paper = [c.gap(float(paper_rule(Fraction(c.epsilon)))) for c in members]
        best = " ".join(f"{c.best:.2g}" for c in members)
        title = f"{name[0]}, {name[1][:3]}"
        print(
            f"{title:<22}{members[0].rows:>8}{members[0].bins:>5}"
            f"{np.mean(ours):>9.3f}{np.mean(paper):>9.3f}   {best}"
        )


def held_out_points(grid: bool) -> list[Point]:
    points = []
    for data in HELD_OUT:
        for error in ERRORS:
            for epsilon in BUDGETS:
                cell = {"data": data, "epsilon": epsilon, "error": error}
                ours, paper = (share_of(data, epsilon, rule) for rule in ("ours", "paper"))
                points.append(Point(**cell, share="0", stage_1=ORACLE))
                points.append(Point(**cell, share=paper, stage_1="cyclic, clip"))
                shares = dict.fromkeys((ours, paper, *GRID) if grid else (ours,))
                points += [Point(**cell, share=share, stage_1="smooth") for share in shares]
    return points


def cells(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    return {
        key: list(group)
        for key, group in groupby(rows, key=lambda row: (row["stage_1"], row["share"]))
    }


def mean(rows: list[Row], name: str) -> str:
    values = np.array([row[name] for row in rows])
    return f"{values.mean():.3g} ±{values.std(ddof=1) / np.sqrt(len(values)):.1g}"


def higher(ours: list[Row], theirs: list[Row], name: str) -> float:
    """How many standard errors our mean lies above theirs."""
    a, b = (np.array([row[name] for row in rows]) for rows in (ours, theirs))
    bar = np.hypot(a.std(ddof=1), b.std(ddof=1)) / np.sqrt(len(a))
    return float((a.mean() - b.mean()) / max(bar, 1e-300))


def held_out(arguments: argparse.Namespace) -> None:
    print("What each method's objective lies above the oracle's; W1 and count error beside it.")
    points = held_out_points(arguments.grid)
    rows = run(study("held-out", points, runs=arguments.runs), folder=arguments.folder)
    worst: dict[str, float] = {"W1": -np.inf, "count error": -np.inf}
    for (data, error), group in groupby(rows, key=lambda row: (row["data"], row["error"])):
        print(f"\n{data}, {error}")
        print(
            f"{'eps':>7}{'oracle':>8}{'paper':>7}{'ours':>7}   ours: f, W1, error | paper's", end=""
        )
        print(" | least, at f; gap of our and of the paper's f" if arguments.grid else "")
        for epsilon, members in groupby(group, key=lambda row: row["epsilon"]):
            by = cells(list(members))
            ours, paper = (share_of(data, epsilon, rule) for rule in ("ours", "paper"))
            mine, method = by["smooth", ours], by["cyclic, clip", paper]
            oracle, theirs, own = (
                objective(cell, error)[0] for cell in (by[ORACLE, "0"], method, mine)
            )
            print(
                f"{epsilon:>7}{oracle:>8.2f}{theirs - oracle:>7.2f}{own - oracle:>7.2f}   "
                f"{ours}, {mean(mine, 'wasserstein')}, {mean(mine, error)} | "
                f"{mean(method, 'wasserstein')}, {mean(method, error)}",
                end=gaps(by, error, oracle, ours, paper) if arguments.grid else "\n",
            )
            worst["W1"] = max(worst["W1"], higher(mine, method, "wasserstein"))
            worst["count error"] = max(worst["count error"], higher(mine, method, error))
    for name, bars in worst.items():
        print(f"{name}: at its worst ours lies {bars:.1f} standard errors above the paper's method")


def gaps(
    by: dict[tuple[str, str], list[Row]], error: str, oracle: float, ours: str, paper: str
) -> str:
    """The least objective over all shares, and what the two rules lie above it."""
    smooth = {share: objective(r, error)[0] for (s, share), r in by.items() if s == "smooth"}
    best = min(smooth, key=lambda share: smooth[share])
    return (
        f" | {smooth[best] - oracle:.2f} at {best}; {smooth[ours] - smooth[best]:.2f}, "
        f"{smooth[paper] - smooth[best]:.2f}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=("fit", "held-out"))
    parser.add_argument("--folder", help="where results are kept")
    parser.add_argument("--data", help="folder of the paper's data")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--grid", action="store_true", help="held-out: other shares as well")
    arguments = parser.parse_args()
    if arguments.data:
        os.environ[FOLDER] = arguments.data
    arguments.runs = arguments.runs or {"fit": 8, "held-out": 100}[arguments.part]
    {"fit": fit, "held-out": held_out}[arguments.part](arguments)


if __name__ == "__main__":
    main()
