"""How often intervals for changes between two years cover, over pairs of releases.

    python benchmarks/changes_coverage.py [--releases 50] [--epsilon 1]

The table is that of the package. Its second year is made up: three of four homicides happen again,
and as many new ones as keep most counties where they were. Rows stand in another order then, and a
few counties are gone. What is asked at 90 %: the change of the share of zeros, of the mean, of the
totals of some states, and of every row.
"""

import argparse
from importlib.resources import files

import numpy as np
import pandas as pd

import holdfast

TOP = 30
STATES = ("48", "31", "01", "06", "51", "20", "34", "23")


def two_years(seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same counties in two years."""
    chance = np.random.default_rng(seed)
    file = files("holdfast") / "data" / "county_homicides_1996.csv"
    first = pd.read_csv(str(file), dtype={"county": str})
    first = first.assign(state=first.county.str[:2])
    again = chance.binomial(first.homicides, 0.75) + chance.poisson(0.2 * first.homicides + 0.05)
    order = chance.permutation(len(first))[: len(first) - 12]
    return first, first.assign(homicides=again).iloc[order].reset_index(drop=True)


def truths(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, float]:
    """What the answers are about."""
    counts = [np.minimum(frame.homicides, TOP) for frame in (first, second)]
    found = {
        "share zero": float((counts[1] == 0).mean() - (counts[0] == 0).mean()),
        "mean": float(counts[1].mean() - counts[0].mean()),
    }
    sums = [c.groupby(frame.state).sum() for c, frame in zip(counts, (first, second), strict=True)]
    return found | {f"total, {state}": sums[1][state] - sums[0][state] for state in STATES}


def released(frame: pd.DataFrame, epsilon: float, seed: int) -> holdfast.Release:
    return holdfast.privatize(
        frame, count="homicides", category="county", keep=["state"], epsilon=epsilon,
        max_count=TOP, publish_anyway=["row order"], seed=seed,
    )  # fmt: skip


def run(releases: int, epsilon: float) -> dict[str, float]:
    """The share of intervals that cover, by what is asked."""
    first, second = two_years()
    wanted, inside, rows = truths(first, second), dict[str, int](), list[float]()
    joined = second.merge(first, on="county", suffixes=("", "_before"))
    change = np.minimum(joined.homicides, TOP) - np.minimum(joined.homicides_before, TOP)
    for seed in range(releases):
        then, now = released(first, epsilon, 2 * seed), released(second, epsilon, 2 * seed + 1)
        states = now.ask("total", by="state", against=then, where=_some_states())
        answers = {
            "share zero": now.ask("share", equal=0, against=then),
            "mean": now.ask("mean", against=then),
            **{f"total, {state}": states[state] for state in STATES},
        }
        for name, answer in answers.items():
            low, high = answer.interval
            inside[name] = inside.get(name, 0) + (low <= wanted[name] <= high)
        found = now.changes(then)
        assert [str(x) for x in found.labels] == [str(x) for x in joined.county]
        rows.append(float(((found.low <= change) & (change <= found.high)).mean()))
    return {name: hits / releases for name, hits in inside.items()} | {"rows": np.mean(rows)}


def _some_states() -> str:
    return " or ".join(f"state == '{state}'" for state in STATES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--releases", type=int, default=50)
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    for name, share in run(given.releases, given.epsilon).items():
        print(f"{name:12} {share:.3f}")


if __name__ == "__main__":
    main()
