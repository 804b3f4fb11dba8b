"""Groups, pairs and years beside the product before noise came first.

    python benchmarks/beside_former.py [releases of each, default 10] [a part]

It uses what both have, so that `PYTHONPATH` tells which of them runs: the former is commit
a77b5eb3. Figures of both are kept in `benchmarks/figures/beside_former.txt`. Parts:

classes   8 classes of the demo table, declared, counts up to 30: mean change of a count, W1 of the
          whole and within classes, slope on ln population.
states    Murders by state: root mean square errors of totals and of shares of zeros (in points)
          of the 40 states with 20 rows or more, by counting in the table and by `ask`; with states
          declared, and without.
pairs     Murders and rapes: their correlation by `ask`, and of counts in the table.
years     Two years of the demo table, the second made up: root mean square error and cover of 90 %
          intervals for changes of the share of zeros, the mean and totals of 8 states; for changes
          of rows the cover, the median width, and how many rows stand out.

Murders come from the folder that HOLDFAST_DATA names. Releases are seeded: it is simulation.
"""

import os
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

import holdfast

RELEASES = int(sys.argv[1]) if len(sys.argv) > 1 else 10
CRIME = Path(os.environ.get("HOLDFAST_DATA", "data")) / "crime_by_county.csv"
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
TOP = 30
STATES = ("48", "31", "01", "06", "51", "20", "34", "23")
FORMER = not hasattr(holdfast.Release, "by")  # it needed an upper end, and kept all columns


def demo():
    folder = files("holdfast") / ("data" if FORMER else "plan/data")
    path = str(folder / "county_homicides_1996.csv")
    table = pd.read_csv(path, dtype={"county": str})
    return table.assign(state=table.county.str[:2])


def released(table, epsilon, seed, max_count, **options):
    kept = [name for name in table if name not in ("homicides", "MURDER", "RAPE", "county")]
    options |= {"max_count": max_count} if FORMER else {}
    options |= {"keep": kept} if kept or FORMER else {"keep_none": True}
    anyway = [*kept, "row order"] + ([] if FORMER else ["totals"])
    return holdfast.privatize(table, epsilon=epsilon, seed=seed, publish_anyway=anyway, **options)


def w1(a, b):
    return np.abs(np.sort(a) - np.sort(b)).mean()


def shown(part, epsilon, name, values):
    print(f"{part:8} {epsilon:4} {name:24}", *(f"{x:8.3f}" for x in values), flush=True)


def classes():
    table = demo()
    true, people = table.homicides.clip(upper=TOP).to_numpy(), np.log(table.population.to_numpy())
    group = pd.qcut(table.population, 8, labels=False).to_numpy()
    for epsilon in EPSILONS:
        found = []
        for seed in range(RELEASES):
            release = released(
                table, epsilon, seed, TOP, count="homicides", category="county",
                within=holdfast.classes("population", 8),
            )  # fmt: skip
            counts = np.minimum(release.counts, TOP)
            inside = sum(w1(counts[group == g], true[group == g]) for g in range(8)) / 8
            slope = np.polyfit(people, counts, 1)[0]
            found.append((np.abs(counts - true).mean(), w1(counts, true), inside, slope))
        shown("classes", epsilon, "change, W1, W1 in, slope", np.mean(found, axis=0))


def states():
    table = pd.read_csv(CRIME)[["MURDER", "state"]]
    by_state = table.groupby("state").MURDER
    large = by_state.size()[by_state.size() >= 20].index
    total, zeros = by_state.sum()[large], 100 * by_state.agg(lambda own: (own == 0).mean())[large]

    def errors(totals, shares):
        return np.mean((totals - total) ** 2), np.mean((100 * shares - zeros) ** 2)

    for epsilon in EPSILONS[1:]:
        for name, options in {"without": {}, "declared": {"within": "state"}}.items():
            table_errors, ask_errors = [], []
            for seed in range(RELEASES):
                release = released(
                    table, epsilon, seed, table.MURDER.max(), count="MURDER", **options
                )
                own = pd.Series(np.asarray(release.counts)).groupby(table.state)
                table_errors.append(
                    errors(own.sum()[large], own.agg(lambda own: (own == 0).mean())[large])
                )
                asked = (
                    release.ask("total", by="state"),
                    release.ask("share", equal=0, by="state"),
                )
                values = [np.array([each[s].estimate for s in large]) for each in asked]
                ask_errors.append(errors(*values))
            for way, found in {"table": table_errors, "ask": ask_errors}.items():
                shown("states", epsilon, f"{name}, {way}", np.sqrt(np.mean(found, axis=0)))


def pairs():
    table = pd.read_csv(CRIME)[["MURDER", "RAPE"]].clip(upper=[40, 80], axis=1)
    shown("pairs", 0, "true", [table.corr().iloc[0, 1]])
    for epsilon in EPSILONS[1:]:
        found = []
        for seed in range(RELEASES):
            release = released(table, epsilon, seed, {"MURDER": 40, "RAPE": 80}, count=list(table))
            answer = release.ask("correlation", of=list(table))
            counts = [np.asarray(release[name].counts) for name in table]
            found.append((answer.estimate, np.corrcoef(counts)[0, 1]))
        shown("pairs", epsilon, "ask, table", np.mean(found, axis=0))


def two_years():
    chance, first = np.random.default_rng(7), demo()
    first["homicides"] = first.homicides.clip(upper=TOP)
    again = chance.binomial(first.homicides, 0.75) + chance.poisson(0.2 * first.homicides + 0.05)
    order = chance.permutation(len(first))[: len(first) - 12]
    again = np.minimum(again, TOP)
    return first, first.assign(homicides=again).iloc[order].reset_index(drop=True)


def years():
    tables = two_years()
    counts = [table.homicides for table in tables]
    sums = [table.groupby("state").homicides.sum() for table in tables]
    true = {
        "zeros": (counts[1] == 0).mean() - (counts[0] == 0).mean(),
        "mean": counts[1].mean() - counts[0].mean(),
        **{state: sums[1][state] - sums[0][state] for state in STATES},
    }
    both = tables[1].merge(tables[0], on="county", suffixes=("", "_before"))
    change = (both.homicides - both.homicides_before).to_numpy()
    for epsilon in EPSILONS[1:]:
        found, rows = {name: [] for name in ("zeros", "mean", "totals")}, []
        for seed in range(RELEASES):
            then, now = (
                released(
                    table, epsilon, 2 * seed + later, TOP, count="homicides", category="county"
                )
                for later, table in enumerate(tables)
            )
            of_states = now.ask("total", by="state", against=then)
            answers = {
                "zeros": now.ask("share", equal=0, against=then),
                "mean": now.ask("mean", against=then),
                **{state: of_states[state] for state in STATES},
            }
            for name, answer in answers.items():
                low, high = answer.interval
                off = answer.estimate - true[name]
                found.get(name, found["totals"]).append((off**2, low <= true[name] <= high))
            changes = now.changes(then)
            covered = (changes.low <= change) & (change <= changes.high)
            width = np.median(changes.high - changes.low)
            picked = changes.picked.rows if FORMER else changes.stands_out
            rows.append((covered.mean(), width, picked.sum()))
        for name, values in found.items():
            error, cover = np.mean(values, axis=0)
            shown("years", epsilon, f"{name}: error, cover", (error**0.5, cover))
        shown("years", epsilon, "rows: cover, width, out", np.mean(rows, axis=0))


if __name__ == "__main__":
    parts = {"classes": classes, "states": states, "pairs": pairs, "years": years}
    for name in sys.argv[2:] or parts:
        parts[name]()
