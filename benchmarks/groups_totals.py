"""What measured totals tell the targets of groups, where counts lie above the top code.

    python benchmarks/groups_totals.py [--data DATA] [--releases 20]

W1 of z, within groups and of the whole table, without totals, with totals that steer after the
sums alone were fitted, and with totals that steer from the first round, as early releases did.
DATA holds crime_by_county.csv (or set HOLDFAST_DATA). Noise is NumPy's: this is a study.
"""

import argparse
import csv
import os
from importlib.resources import files
from pathlib import Path

import numpy as np

from group_releases import noise
from holdfast.former.privatizers.groups import fit_groups, group_sums

BUDGETS = ((0.01, 0.02), (0.05, 0.1), (0.2, 0.2))
WAYS = {"without": None, "sums first": True, "at once": False}


def classes(people, number=8):
    order = np.argsort(np.argsort(people, kind="stable"), kind="stable")
    return number * order // len(people)


def tables(folder):
    """By name: counts, groups, top code, whether groups have an order."""
    text = (files("holdfast") / "data" / "county_homicides_1996.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    counts = np.array([int(row["homicides"]) for row in rows])
    yield "homicides, 8 classes", counts, classes([int(r["population"]) for r in rows]), 30, True
    if folder:
        rows = list(csv.DictReader((Path(folder) / "crime_by_county.csv").open()))
        counts = np.array([int(row["MURDER"]) for row in rows])
        state = np.unique([row["state"] for row in rows], return_inverse=True)[1]
        yield "murders, 8 classes", counts, classes([int(r["population"]) for r in rows]), 50, True
        yield "murders, 51 states", counts, state, 50, False


def errors(counts, group, top, ordered, budget, rng):
    """W1 of z within groups and of the whole, for each way."""
    sizes, histograms = np.bincount(group), np.zeros((group.max() + 1, top + 1), dtype=np.int64)
    np.add.at(histograms, (group, np.minimum(counts, top)), 1)
    own, of_totals = budget
    sums = [found + noise(rng, own, len(found)) for found in group_sums(histograms, own)]
    totals = np.bincount(group, weights=counts) + noise(rng, of_totals, len(sizes))
    for first in WAYS.values():
        known = {} if first is None else {"totals": (totals, of_totals), "sums_first": first}
        z = fit_groups(sums, sizes, own, bins=top + 1, ordered=ordered, **known)
        left = np.cumsum(sizes[:, None] * z - histograms, axis=1)
        yield np.abs(left).sum() / sizes.sum(), np.abs(left.sum(axis=0)).sum() / sizes.sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=20)
    parser.add_argument("--data", default=os.environ.get("HOLDFAST_DATA"))
    options = parser.parse_args()
    print(f"| table | ε1, ε0 | {' | '.join(WAYS)} |\n|---|---|---|---|---|")
    for name, *table in tables(options.data):
        for budget in BUDGETS:
            found = [
                list(errors(*table, budget, np.random.default_rng(seed)))
                for seed in range(options.releases)
            ]
            cells = (f"{within:.3f}, {whole:.3f}" for within, whole in np.mean(found, axis=0))
            print(f"| {name} | {budget[0]}, {budget[1]} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
