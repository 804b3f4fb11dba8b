"""How often intervals for changes between two years cover, over pairs of releases.

    python benchmarks/changes_coverage.py [--releases 50] [--epsilon 1]

The table is that of the package. Its second year is made up: three of four homicides happen again,
and as many new ones as keep most counties where they were. Rows stand in another order then, and a
few counties are gone. What is asked at 90 %: the change of the share of zeros, of the mean, of the
totals of some states, and of every row; of the rows whose own interval has no 0, and of the ten
surest of them; and of those that stand out among all rows, by the intervals that are made for them.
With --striking so many counties get any count in the second year.
"""

import argparse
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

import holdfast.former as holdfast

TOP = 30
STATES = ("48", "31", "01", "06", "51", "20", "34", "23")


def two_years(striking: int = 0, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same counties in two years."""
    chance = np.random.default_rng(seed)
    file = files("holdfast") / "data" / "county_homicides_1996.csv"
    first = pd.read_csv(str(file), dtype={"county": str})
    first = first.assign(state=first.county.str[:2])
    again = chance.binomial(first.homicides, 0.75) + chance.poisson(0.2 * first.homicides + 0.05)
    again[chance.choice(len(first), striking, replace=False)] = chance.integers(0, TOP, striking)
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


def run(releases: int, epsilon: float, striking: int) -> dict[str, float]:
    """The share of intervals that cover, by what is asked."""
    first, second = two_years(striking)
    wanted, inside, rows = truths(first, second), dict[str, int](), list[dict[str, float]]()
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
        rows.append(of_rows(found, change.to_numpy()))
    shares = {name: float(np.mean([each[name] for each in rows])) for name in rows[0]}
    return {name: hits / releases for name, hits in inside.items()} | shares


def of_rows(found: Any, change: np.ndarray) -> dict[str, float]:
    """The share of rows that are covered, of all and of those that are picked by looking."""
    covered = (found.low <= change) & (change <= found.high)
    apart = (found.low > 0) | (found.high < 0)
    surest = np.argsort(-np.maximum(found.rose, found.fell), kind="stable")[:10]
    picked = found.picked.rows
    held = (found.picked.low <= change) & (change <= found.picked.high)
    return {
        "rows": covered.mean(),
        "rows with an interval without 0": apart.sum(),
        "  covered": covered[apart].mean(),
        "ten surest, covered": covered[surest].mean(),
        "rows that stand out": picked.sum(),
        "  not covered, 0 where none stands out": (picked & ~held).sum() / max(picked.sum(), 1),
    }


def _some_states() -> str:
    return " or ".join(f"state == '{state}'" for state in STATES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--releases", type=int, default=50)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--striking", type=int, default=0)
    given = parser.parse_args()
    for name, share in run(given.releases, given.epsilon, given.striking).items():
        print(f"{name:40} {share:.3f}")


if __name__ == "__main__":
    main()
