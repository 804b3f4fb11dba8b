"""Stage 1 for groups: what a joint fit gains, on two real tables; the share of stage 1; its time.

    python benchmarks/groups.py demo [--releases 200]      # homicides, 8 classes of population
    python benchmarks/groups.py states --data DATA        # murders by state
    python benchmarks/groups.py split [--data DATA]       # other shares of stage 1
    python benchmarks/groups.py time                      # up to 10,000 groups at n = 101
    python benchmarks/groups.py totals [--data DATA]      # what totals cost, by their share
    python benchmarks/groups.py classes                   # how many classes a table bears

DATA holds crime_by_county.csv (or set HOLDFAST_DATA). Noise is NumPy's: this is a study.
"""

import argparse
import math
import os
import time
from fractions import Fraction

import numpy as np

from group_releases import (
    by_class,
    demo,
    known,
    made,
    one_by_one,
    released,
    states,
    together,
    ungrouped,
)
from holdfast.former.privatizers.groups import classes_rule
from holdfast.former.privatizers.totals import totals_whole_share
from holdfast.former.privacy.budget import share_rule

WAYS = {
    "ungrouped": ungrouped,
    "one by one": one_by_one,
    "together": together,
    "limit": known,
}
FIRST_SEED = 10_000  # the model's constants were chosen on seeds 0 to 99
FACTORS = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.2)


def share(table, way, epsilon):
    """Of stage 1, by the rule for what is fitted."""
    tables = table.histograms
    rows, bins = int(tables.sum()), tables.shape[1]
    if way == "limit":
        return 0.0
    groups = len(tables) if way == "together" else 1
    rows = rows // len(tables) if way == "one by one" else rows
    return float(share_rule(Fraction(epsilon), rows=rows, bins=bins, groups=groups))


def scores(table, way, epsilon, part, releases):
    """Means of scores over seeded releases."""
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + releases):
        rng = np.random.default_rng(seed)
        targets = WAYS[way](table, part * epsilon, rng)
        found.append(released(table, targets, (1 - part) * epsilon, rng))
    return {name: float(np.mean([row[name] for row in found])) for name in found[0]}


def compare(table, epsilons, releases):
    """One line a budget and way."""
    for epsilon in epsilons:
        for way in WAYS:
            part = share(table, way, epsilon)
            means = scores(table, way, float(epsilon), part, releases)
            text = "  ".join(f"{name} {value:8.4g}" for name, value in means.items())
            print(f"ε {epsilon:>4}  {way:<10}  f {part:.3f}  {text}", flush=True)


def split(tables, releases):
    """ln(change) + ln(W1 within) at multiples of the rule's share, above the best of them."""
    for name, table in tables.items():
        for epsilon in ("0.1", "0.3", "1", "3"):
            rule = share(table, "together", epsilon)
            parts = [min(rule * factor, 0.9) for factor in FACTORS]
            found = [scores(table, "together", float(epsilon), p, releases) for p in parts]
            losses = [math.log(s["change"]) + math.log(s["W1 within"]) for s in found]
            above = "  ".join(
                f"{p:.3f}: {x - min(losses):.2f}" for p, x in zip(parts, losses, strict=True)
            )
            print(f"{name:<14} ε {epsilon:>3}  rule {rule:.3f}  {above}", flush=True)


def timing():
    """Seconds of one fit by number of groups, n = 101, 333 rows each."""
    for ordered in (False, True):
        for groups in (100, 300, 1000, 3000, 10_000):
            table = made(groups, 333, 101)
            begin = time.process_time()
            together(
                type(table)(**{**vars(table), "ordered": ordered}), 0.05, np.random.default_rng(0)
            )
            print(f"ordered {ordered!s:<5}  G {groups:>6}  {time.process_time() - begin:6.2f} s")


def totals(tables, releases):
    """What a share for totals costs the rest, and how well totals are then known."""
    for name, table in tables.items():
        sizes = len(table.histograms)
        part = float(totals_whole_share(sizes))
        for epsilon in ("0.2", "1"):
            for taken in (0, 0.05, 0.1, 0.2):
                rest = float(epsilon) * (1 - taken)
                exact = Fraction(str(round(rest, 6)))
                found = scores(table, "together", rest, share(table, "together", exact), releases)
                words = "  ".join(f"{key} {found[key]:.4g}" for key in ("change", "W1 within"))
                if taken:
                    noise = 1 / (float(epsilon) * taken)
                    own = noise / (1 - part)
                    whole = noise / part if part else own * math.sqrt(sizes)
                    words += (
                        f"  mean error of a group's total {own:.0f}, of the table's {whole:.0f}"
                    )
                print(f"{name:<12} ε {epsilon:>3}  share {taken:4}  {words}", flush=True)


def classes(releases):
    """ln(change) + ln(W1 within 32 classes) by number of classes, above the best of them."""
    numbers = (1, 2, 4, 8, 16, 32, 64)
    for rows in (300, 1000, 2197, 10_000):
        for epsilon in ("0.1", "0.3", "1", "3"):
            losses = []
            for number in numbers:
                found = [by_class(rows, number, epsilon, seed) for seed in range(releases)]
                losses.append(sum(math.log(mean) for mean in np.mean(found, axis=0)))
            rule = classes_rule(rows)
            above = "  ".join(
                f"{k}: {x - min(losses):.2f}" for k, x in zip(numbers, losses, strict=True)
            )
            print(f"N {rows:>6}  ε {epsilon:>3}  rule {rule:>2}  {above}", flush=True)


def options():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["demo", "states", "split", "time", "totals", "classes"])
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--data", default=os.environ.get("HOLDFAST_DATA"))
    return parser.parse_args()


def main():
    """Print the tables."""
    chosen = options()
    if chosen.what == "demo":
        compare(demo(8), ("0.1", "0.5", "1", "2"), chosen.releases)
    elif chosen.what == "states":
        compare(states(chosen.data), ("0.2", "0.5", "1", "2"), chosen.releases)
    elif chosen.what == "time":
        timing()
    elif chosen.what == "classes":
        classes(min(chosen.releases, 6))
    elif chosen.what == "totals":
        tables = {"demo, 8": demo(8)} | ({"states": states(chosen.data)} if chosen.data else {})
        totals(tables, min(chosen.releases, 20))
    else:
        tables = {"demo, 8": demo(8), "demo, 16": demo(16), "made, 200": made(200, 20, 101)}
        if chosen.data:
            tables["states, 51"] = states(chosen.data)
        split(tables, chosen.releases)


if __name__ == "__main__":
    main()
