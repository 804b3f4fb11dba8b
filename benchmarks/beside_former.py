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
parts     672 cells: 4 tables, 10 parts that are chosen later by something public, 4 questions, and
          two differences of means. For each epsilon and question the geometric mean of the root
          mean square errors, each a quarter of a row or count at the least, and the cover of 90 %
          intervals; and each part's, over all questions.

Murders come from the folder that HOLDFAST_DATA names. Releases are seeded: it is simulation. Every
epsilon has noise of its own, as the luck of ten releases that had the same made one product look
twice as good as the other.
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


def seeds(epsilon):
    first = round(1000 * epsilon) * 1000
    return range(first, first + RELEASES)


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
        for seed in seeds(epsilon):
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
            for seed in seeds(epsilon):
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
        for seed in seeds(epsilon):
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
        for seed in seeds(epsilon):
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


def tables_of_parts():
    """Counts, people, states, the highest count that the former needed, and three states."""
    table = demo()
    yield table.homicides, table.population, table.state, 30, ("01", "06", "38")
    crime = pd.read_csv(CRIME)
    yield crime.MURDER, crime.population, crime.state, 50, ("AL", "CA", "ND")
    chance = np.random.default_rng(5)
    people = np.exp(chance.normal(6, 0.8, 6000)).astype(int) + 20
    state = chance.integers(0, 40, 6000)
    rate = 0.02 * np.exp(chance.normal(0, 0.7, 6000)) * (1 + 0.5 * (state % 3))
    yield chance.poisson(people * rate), people, state.astype(str), 80, ("1", "2", "3")
    chance = np.random.default_rng(11)
    people = np.exp(chance.normal(8, 1.2, 2000)).astype(int) + 50
    state, dozens = chance.integers(0, 30, 2000), chance.poisson(people / 4000)
    loose = chance.random(2000) < 0.2
    counts = 12 * dozens + np.where(loose, chance.integers(0, 6, 2000), 0)
    yield counts, people, state.astype(str), 40, ("1", "2", "3")


def chosen_rows(people, state, names):
    """Marks of rows by classes of people, states, and at random."""
    chance = np.random.default_rng(7)
    quarter, half, three, tenth = np.quantile(people, [0.25, 0.5, 0.75, 0.9])
    few, many = people < quarter, people >= tenth
    found = {"few people": few, "middle": (people >= half) & (people < three), "most": many}
    found |= {f"state {place}": state == name for place, name in enumerate(names)}
    drawn = {"any 100": (people > 0, 100), "any 20": (people > 0, 20)}
    drawn |= {"20 of few people": (few, 20), "20 of most": (many, 20)}
    for name, (among, rows) in drawn.items():
        found[name] = np.isin(
            np.arange(len(people)), chance.choice(np.flatnonzero(among), rows, replace=False)
        )
    return found


def parts():
    asked = {
        "share 0": ("share", {"equal": 0}, lambda counts: (counts == 0).mean()),
        "share 3+": ("share", {"at_least": 3}, lambda counts: (counts >= 3).mean()),
        "mean": ("mean", {}, np.mean),
        "median": ("median", {}, lambda counts: np.sort(counts)[(len(counts) - 1) // 2]),
    }
    for epsilon in (0.2, 0.5, 1.0, 3.0):
        found = {}
        for place, (counts, people, state, top, names) in enumerate(tables_of_parts()):
            counts, people, state = np.minimum(counts, top), np.asarray(people), np.asarray(state)
            chosen = chosen_rows(people, state, names)
            differences = ("most", "few people"), ("state 0", "state 1")
            table = pd.DataFrame({"homicides": np.asarray(counts)})
            counts = table.homicides.to_numpy()
            for seed in seeds(epsilon):
                release = released(table, epsilon, 4 * seed + place, top, count="homicides")
                means = {}
                for part, marks in chosen.items():
                    for question, (name, options, functional) in asked.items():
                        answer = release.ask(name, where=marks, **options)
                        means |= {part: answer} if question == "mean" else {}
                        step = {"mean": 0, "median": 1}.get(question, 1 / marks.sum())
                        noted = answer, functional(counts[marks]), step / 4
                        found.setdefault((place, part, question), []).append(noted)
                for one, other in differences:
                    truth = counts[chosen[one]].mean() - counts[chosen[other]].mean()
                    noted = means[one].difference(means[other]), truth, 0
                    found.setdefault((place, one, "difference"), []).append(noted)
        cells = {key: error_and_cover(noted) for key, noted in found.items()}
        for kind in (2, 1):
            for name in dict.fromkeys(key[kind] for key in cells):
                of_kind = np.array([cell for key, cell in cells.items() if key[kind] == name])
                figures = np.exp(np.log(of_kind[:, 0]).mean()), of_kind[:, 1].mean()
                shown("parts", epsilon, f"{name}: error, cover", figures)


def error_and_cover(noted):
    """Of one cell: the root mean square error, at least so much, and the cover."""
    squares = np.mean([(answer.estimate - truth) ** 2 for answer, truth, _ in noted])
    covered = [
        answer.interval[0] - 1e-9 <= truth <= answer.interval[1] + 1e-9
        for answer, truth, _ in noted
    ]
    return max(squares**0.5, noted[0][2]), np.mean(covered)


if __name__ == "__main__":
    every = {"classes": classes, "states": states, "pairs": pairs, "years": years, "parts": parts}
    for name in sys.argv[2:] or every:
        every[name]()
