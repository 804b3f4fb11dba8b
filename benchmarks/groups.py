"""Groups: what the whole table pays for them, and what its groups gain, declared or chosen later.

    python benchmarks/groups.py [whole|classes|states|relations] [releases of each, default 10]

whole     The whole table within 20 groupings of three tables: W1 and error of the share of zeros,
          over those of releases without groups; that each release's histogram is the estimate.
classes   8 classes of the demo table: mean change of a count, W1 of the whole and within classes,
          slope on ln population; without groups, with classes chosen later, and with declared ones.
states    Murders by state: errors of the totals and shares of zeros of states, by counting and by
          `ask`.
relations Murders and rapes: the correlation by `ask` and in the table, the rank correlation, mean
          changes of both counts; without and with relations.

Murders come from the folder that HOLDFAST_DATA names. Releases are seeded: it is simulation.
"""

import os
import sys
from itertools import count, islice
from pathlib import Path

import numpy as np
import pandas as pd

import holdfast

RELEASES = int(sys.argv[2]) if len(sys.argv) > 2 else 10
DEMO = Path(__file__).parents[1] / "src/holdfast/plan/data/county_homicides_1996.csv"
CRIME = Path(os.environ.get("HOLDFAST_DATA", "data")) / "crime_by_county.csv"
EPSILONS = ("0.1", "0.5", "1", "2")
TOP = 30  # from which homicides of the demo table are shown as one


def tables():
    """Tables with columns `count`, `size` and groupings."""
    rng = np.random.default_rng(0)
    demo = pd.read_csv(DEMO).rename(columns={"homicides": "count", "population": "size"})
    demo["state"] = demo.county // 1000
    demo["hundred"] = rng.integers(0, 100, len(demo))
    demo["alone"] = np.where(rng.random(len(demo)) < 0.1, np.arange(len(demo)) + 1, 0)
    yield "homicides", demo, [3, 8, 30, "state", "hundred", "alone", "state crossed"]
    if CRIME.is_file():
        crime = pd.read_csv(CRIME).rename(columns={"MURDER": "count", "population": "size"})
        crime["thousand"] = rng.integers(0, 1000, len(crime))
        crime["power law"] = np.minimum(rng.pareto(0.5, len(crime)).astype(int), 300)
        yield "murders", crime, [3, 16, 300, "state", "thousand", "power law", "state crossed"]
    size = rng.lognormal(0, 1, 2600)
    made = pd.DataFrame({"count": rng.poisson(4 * size), "size": size})
    made["town"] = np.arange(len(made)) // 26
    made["kind"] = rng.integers(0, 3, len(made))
    made["count"] += (3 * made.kind).where(made.town % 2 == 0, 0)
    yield "made", made, [4, 100, 1000, "town", "kind", ["town", "kind"]]


def within_of(grouping):
    if isinstance(grouping, int):
        return holdfast.classes("size", grouping)
    return ["state", holdfast.classes("size", 3)] if grouping == "state crossed" else grouping


def w1(a, b):
    return float(np.abs(np.sort(a) - np.sort(b)).mean())


def released(table, epsilon, seed, within=None):
    """A release of the table, and its counts."""
    names = [name for name in table if name != "count"]
    options = {"keep": names, "publish_anyway": [*names, "row order", "totals"]}
    return holdfast.privatize(
        table, count="count", epsilon=epsilon, seed=seed, within=within, **options
    )


def whole(table, release):
    """W1 and the error of the share of zeros of the whole table, which has the estimate."""
    true, column = table["count"].to_numpy(), release.columns[0]
    assert np.array_equal(np.sort(column.counts), column.estimate.whole.counts())
    for group, histogram in enumerate(column.histograms):
        assert np.array_equal(np.sort(column.counts[column.group == group]), histogram.counts())
    return w1(column.counts, true), abs((column.counts == 0).mean() - (true == 0).mean())


def the_whole():
    print("W1 and error of zeros of the whole table: in groups, without, and their ratios")
    sums, seeds = {}, count()
    for name, table, groupings in tables():
        for grouping in groupings:
            for epsilon in EPSILONS[:3]:
                pair = np.zeros((2, 2))
                for seed in islice(seeds, RELEASES):
                    release = released(table, epsilon, seed, within_of(grouping))
                    pair += whole(table, release), whole(table, released(table, epsilon, seed))
                sums[name, epsilon] = sums.get((name, epsilon), 0) + pair
            print(f"  {name} in {len(release.partition)} groups by {grouping}", flush=True)
    for (name, epsilon), pair in sums.items():
        texts = "   ".join("{:.4f} {:.4f}".format(*each) for each in pair / RELEASES)
        print(f"  {name:10} eps {epsilon:4} {texts}   ratios {(pair[0] / pair[1]).round(3)}")
    mean = np.mean([pair[0] / pair[1] for pair in sums.values()], axis=0)
    print("  ratios on average", mean.round(3), flush=True)


def classes():
    table = next(tables())[1]
    true, people = np.minimum(table["count"].to_numpy(), TOP), np.log(table["size"].to_numpy())
    eight = holdfast.classes("size", 8)
    slope = float(np.polyfit(people, true, 1)[0])
    print(f"8 classes of homicides: change, W1, W1 within, slope (true: {slope:.3f})")
    for epsilon in EPSILONS:
        rows = {"no groups": [], "later": [], "declared": []}
        for seed in range(RELEASES):
            alone = released(table, epsilon, seed)
            declared = released(table, epsilon, seed, eight)
            group = declared.columns[0].group
            for way, release in zip(rows, (alone, alone.by(eight), declared), strict=True):
                counts = np.minimum(release.counts, TOP)
                parts = [
                    (w1(counts[group == g], true[group == g]), sum(group == g)) for g in range(8)
                ]
                inside = np.average(*np.transpose(parts)[:1], weights=np.transpose(parts)[1])
                fit = np.polyfit(people, counts, 1)[0]
                rows[way].append((np.abs(counts - true).mean(), w1(counts, true), inside, fit))
        for way, found in rows.items():
            texts = "  ".join(f"{x:7.3f}" for x in np.mean(found, axis=0))
            print(f"  eps {epsilon:4} {way:10} {texts}", flush=True)


def states():
    found = [each for each in tables() if each[0] == "murders"]
    if not found:
        return
    table = found[0][1]
    by_state = table.groupby("state")["count"]
    total, zeros = by_state.sum().to_numpy(), by_state.apply(lambda own: 100 * (own == 0).mean())
    print("murders of 51 states: root mean square errors of totals and of zeros in points, in the")
    print("table without groups, with states later, with states declared; by `ask` of the last")
    for epsilon in EPSILONS:
        rows = [[], [], [], []]
        for seed in range(RELEASES):
            alone = released(table, epsilon, seed)
            declared = released(table, epsilon, seed, "state")
            made = [alone.counts, alone.by("state").counts, declared.counts]
            answers = []
            for counts in made:
                own = pd.Series(counts).groupby(table.state)
                answers.append((own.sum(), own.apply(lambda own: 100 * (own == 0).mean())))
            asked = declared.ask("total", by="state"), declared.ask("share", equal=0, by="state")
            values = [np.array([each[s].estimate for s in by_state.groups]) for each in asked]
            answers.append((values[0], 100 * values[1]))
            for row, (totals, shares) in zip(rows, answers, strict=True):
                row.append((np.mean((totals - total) ** 2), np.mean((shares - zeros) ** 2)))
        texts = "   ".join("{:6.1f} {:5.2f}".format(*np.sqrt(np.mean(row, 0))) for row in rows)
        print(f"  eps {epsilon:4} {texts}", flush=True)


def relations():
    if not CRIME.is_file():
        return
    true = pd.read_csv(CRIME)[["MURDER", "RAPE"]].clip(upper=[40, 80], axis=1)
    pair = list(true)

    def scores(release):
        shown = pd.DataFrame({name: release[name].counts for name in pair})
        pearson, ranks = (shown.corr(way).iloc[0, 1] for way in ("pearson", "spearman"))
        return pearson, ranks, *np.abs(shown - true).mean()

    print(
        f"murders and rapes, {true.corr().iloc[0, 1]:.3f}, {true.corr('spearman').iloc[0, 1]:.3f}:"
    )
    print("ask; in the table correlation, rank correlation and changes, without and with relations")
    anyway = {"keep_none": True, "publish_anyway": ["row order", "totals"]}
    for epsilon in ("0.2", *EPSILONS[1:]):
        found = []
        for seed in range(RELEASES):
            release = holdfast.privatize(true, count=pair, epsilon=epsilon, seed=seed, **anyway)
            answer = release.ask("correlation", of=pair).estimate
            found.append((answer, *scores(release), *scores(release.related())))
        texts = "  ".join(f"{x:.3f}" for x in np.mean(found, axis=0))
        print(f"  eps {epsilon:4} {texts}", flush=True)


if __name__ == "__main__":
    parts = {"whole": the_whole, "classes": classes, "states": states, "relations": relations}
    for name in sys.argv[1:2] or parts:
        parts[name]()
