"""What `holdfast plan` predicts for the demo table, against what releases of it then show.

Two priors: the demo table's own distribution, and one release of it ("last year's"), which is all
that a steward might have. Prints predicted and shown expected errors and their ratio.

    python benchmarks/plan_predictions.py [RELEASES]

How far the smallest budget for a target depends on the draws of the simulation: six plans with
draws of their own (40 to 45 repetitions, as the seed follows from the settings).

    python benchmarks/plan_predictions.py --target
"""

import sys
from importlib.resources import as_file, files

import numpy as np

import holdfast.former as holdfast
from holdfast.former.tables.histogram import histogram_of_counts
from holdfast.former.tables.table import read_table

MAX_COUNT, EPSILONS = 30, ("0.2", "0.5", "1", "2")
NAMES = {
    "w1": "w1",
    "absolute": "absolute",
    "error of zeros": "zeros",
    "error of mean": "mean",
    "error of above 10": "above 10",
}


def demo_counts() -> np.ndarray:
    with as_file(files("holdfast") / "data" / "county_homicides_1996.csv") as path:
        return read_table(path, count="homicides").counts


def predicted(prior: np.ndarray, rows: int, repetitions: int, epsilons=EPSILONS) -> dict:
    plan = holdfast.plan(
        categories=rows,
        max_count=MAX_COUNT,
        prior=prior,
        epsilons=epsilons,
        splits=[None],
        repetitions=repetitions,
        jobs=1,
    )
    return {row["epsilon"]: {name: row[name] for name in NAMES} for row in plan.rows}


def shown(counts: np.ndarray, releases: int, epsilons=EPSILONS) -> dict:
    """Mean errors of as many releases: the questions' in absolute value."""
    found = holdfast.compare(
        counts,
        max_count=MAX_COUNT,
        epsilons=epsilons,
        methods=["default"],
        repetitions=releases,
        jobs=1,
    )
    rows = found.non_private_rows
    return {
        epsilon: {
            name: float(np.mean([abs(r[name]) for r in rows if r["epsilon"] == epsilon]))
            for name in NAMES
        }
        for epsilon in epsilons
    }


def smallest_budgets() -> None:
    target = "zeros within 1 point, 9 in 10"
    found = []
    for repetitions in range(40, 46):
        plan = holdfast.plan(
            categories=3100,
            max_count=50,
            prior="zeros:0.4+geometric:3",
            epsilons=["1", "4"],
            splits=[None],
            target=target,
            repetitions=repetitions,
            jobs=1,
        )
        found.append(plan.smallest_epsilon["default"])
    shown = ", ".join(f"{epsilon:.3g}" for epsilon in sorted(found))
    spread = np.std(found, ddof=1) / np.mean(found)
    print(f"{target}: epsilon = {shown}; standard deviation {spread:.1%} of the mean")


def main() -> None:
    if sys.argv[1:] == ["--target"]:
        smallest_budgets()
        return
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    counts = demo_counts()
    truth = histogram_of_counts(counts, MAX_COUNT) / len(counts)
    last_year = holdfast.privatize(counts, epsilon=1, max_count=MAX_COUNT, seed=1996).target
    measured = shown(counts, releases)
    print(f"demo table, {len(counts):,} rows, {releases} releases and {releases // 2} for the plan")
    for title, prior in (("the table's own distribution", truth), ("a release of it", last_year)):
        guesses = predicted(prior, len(counts), releases // 2)
        print(
            f"\nprior: {title}\n{'epsilon':>8} {'error':10} {'plan':>9} {'shown':>9} {'ratio':>7}"
        )
        for epsilon in EPSILONS:
            for key, name in NAMES.items():
                p, s = guesses[epsilon][key], measured[epsilon][key]
                print(f"{epsilon:>8} {name:10} {p:9.5f} {s:9.5f} {p / s:7.3f}")


if __name__ == "__main__":
    main()
