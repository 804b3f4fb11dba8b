"""Accuracy of a release beside the product before noise first, and beside the lower bound.

    python benchmarks/accuracy.py                   # 100 releases of each table: about 20 minutes
    python benchmarks/accuracy.py 10                # fewer

Two errors: how far a released count lies from the true one (mean), and how far the distribution of
released counts lies from that of the true ones (W1). Both are of counts shown up to a top, which
the former product had to be told. Its figures were measured with this script's tables at the last
commit before noise first, whose hash is kept with them in benchmarks/figures/accuracy_former.json;
the code is gone, so they are not measured again.

The lower bound is that of docs/optimum.md, for tables of so many rows or more that are drawn from
this table's own distribution: no mechanism of this epsilon with our W1 has a smaller mean change.
It is of whole counts, without a top.

Where a cell is worse than the former product's is said, with the reason, in docs/fit.md.

Tables come from the folder that HOLDFAST_DATA names, beside the demo table. All of it is
simulation. Figures are kept in benchmarks/figures/accuracy.json.
"""

import csv
import json
import os
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from holdfast.fit.cells import choose_blocks, share_of_sums
from holdfast.fit.estimate import fit
from holdfast.match.match import match
from holdfast.measure.room import Room
from holdfast.paper.constructors.optimal import lower_bound
from holdfast.privacy.noise import Noise
from holdfast.privacy.randomness import Simulation

FOLDER = Path(os.environ.get("HOLDFAST_DATA", "data"))
FIGURES = Path(__file__).parent / "figures" / "accuracy.json"
FORMER = Path(__file__).parent / "figures" / "accuracy_former.json"
DEMO = Path(__file__).parents[1] / "src/holdfast/plan/data/county_homicides_1996.csv"
EPSILONS = ("0.1", "0.22", "0.48", "1.05", "2.29", "5")
LARGEST_BOUND = 1500  # counts for which the bound is computed
PROTOTYPE = {
    "homicides (demo) 0.1": (3.682, 0.160),
    "homicides (demo) 0.48": (1.179, 0.083),
    "homicides (demo) 1.05": (0.592, 0.047),
    "homicides (demo) 2.29": (0.182, 0.0225),
    "homicides (demo) 5": (0.0127, 0.0044),
    "murders 0.1": (3.142, 0.206),
    "murders 0.48": (1.110, 0.058),
    "murders 1.05": (0.558, 0.0450),
    "murders 2.29": (0.1836, 0.0206),
    "murders 5": (0.0130, 0.0039),
    "bird flu 0.48": (0.600, 0.360),
    "bimodal 0.1": (5.98, 0.067),
    "bimodal 0.48": (1.895, 0.027),
    "binomial 0.48": (1.521, 0.020),
}
"""Change and W1 of a first hundred lines: 6 to 12 releases, with splits of their own."""
HISTOGRAMS = (
    *("binomial", "bimodal", "left_skewed", "right_skewed", "uniform"),
    *("zero_inflated", "top_inflated"),
)


def column(path: Path, name: str) -> np.ndarray:
    with path.open(encoding="utf-8") as file:
        return np.array([int(float(row[name])) for row in csv.DictReader(file)])


def tables() -> dict[str, tuple[np.ndarray, int]]:
    """Counts, and the top from which on they are shown as one."""
    found = {"homicides (demo)": (column(DEMO, "homicides"), 30)}
    if (FOLDER / "crime_murder_by_county.csv").is_file():
        found["murders"] = (column(FOLDER / "crime_murder_by_county.csv", "MURDER"), 50)
        found["bird flu"] = (column(FOLDER / "bird_flu_by_state.csv", "Bird_Flu_Cases"), 40)
        found["robberies"] = (column(FOLDER / "crime_by_county.csv", "ROBBERY"), 20_000)
        for name in HISTOGRAMS:
            path = FOLDER / f"{name}_histogram.csv"
            counts = column(path, "count")
            rows = np.repeat(counts, column(path, "categories"))
            found[name.replace("_", " ")] = (rows, len(counts) - 1)
    return found


def errors(released: np.ndarray, true: np.ndarray, top: int) -> tuple[float, float]:
    """Mean change of a count, and W1."""
    shown, right = np.minimum(released, top), np.minimum(true, top)
    apart = np.abs(np.sort(shown) - np.sort(right))
    return float(np.abs(shown - right).mean()), float(apart.mean())


def noise_first(counts: np.ndarray, epsilon: str, seed: int) -> np.ndarray:
    """Released counts of the plain case, by the parts that a release is made of."""
    whole = Fraction(epsilon)
    share = share_of_sums(whole, len(counts))
    room = Room(Noise(epsilon=whole * (1 - share)), source=Simulation(seed))
    group = np.zeros(len(counts), dtype=np.int64)
    noisy = room.noisy(counts)
    measurement = room.finish(choose_blocks, whole=Noise(epsilon=whole * share))
    return match(noisy, group, fit(measurement).histograms, seed)


def measured(counts: np.ndarray, top: int, epsilon: str, releases: int) -> dict[str, float]:
    """Means of both errors, their standard errors, and how far change is above the bound."""
    highest = int(counts.max())
    shown, all_of_it = [], []
    for seed in range(releases):
        released = noise_first(counts, epsilon, seed)
        shown.append(errors(released, counts, top))
        all_of_it.append(errors(released, counts, highest))
    mean, error = np.mean(shown, axis=0), np.std(shown, axis=0) / np.sqrt(releases)
    figures = {"change": mean[0], "w1": mean[1], "change_se": error[0], "w1_se": error[1]}
    if highest <= LARGEST_BOUND:
        bound = lower_bound(np.bincount(counts) / len(counts), epsilon)
        figures["above_bound"] = bound.above(*np.mean(all_of_it, axis=0))
    return {name: round(float(value), 5) for name, value in figures.items()}


def line(table: str, epsilon: str, new: dict[str, float], old: dict[str, float]) -> str:
    """One cell as a row of a table in Markdown."""
    change, w1 = (f"{new[e]:.4f} | {100 * (new[e] / old[e] - 1):+.1f} %" for e in ("change", "w1"))
    above = f"{100 * new['above_bound']:.0f} %" if "above_bound" in new else ""
    first = ", ".join(f"{error:g}" for error in PROTOTYPE.get(f"{table} {epsilon}", ()))
    return f"| {table} | {epsilon} | {change} | {w1} | {above} | {first} |"


def main() -> None:
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    former = json.loads(FORMER.read_text(encoding="utf-8"))
    print(f"Means of {releases} releases, and of {former['releases']} of the former product\n")
    print("| table | ε | mean change | against former | W1 | against former ", end="")
    print("| above the bound | prototype |\n|---|---|---|---|---|---|---|---|")
    cells = {}
    for table, (counts, top) in tables().items():
        for epsilon in EPSILONS:
            key = f"{table} {epsilon}"
            cells[key] = measured(counts, top, epsilon, releases)
            print(line(table, epsilon, cells[key], former["cells"][key]), flush=True)
    record = {"releases": releases, "cells": cells}
    FIGURES.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
