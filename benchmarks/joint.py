"""Several counts and their joint distribution: what is kept, apart and jointly, and at what price.

    python benchmarks/joint.py pairs --data DATA [--releases 50]     murders and rapes
    python benchmarks/joint.py three --data DATA [--releases 10]     and robberies
    python benchmarks/joint.py limit --data DATA [--releases 50]     pairs, with known laws
    python benchmarks/joint.py classes --data DATA [--releases 8]    numbers of classes
    python benchmarks/joint.py stream [--rows 20000000]              three counts in one stream

DATA holds crime_by_county.csv (or set HOLDFAST_DATA). All but `limit` are seeded releases.
"""

import argparse
import csv
import os
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from scipy.stats import rankdata

import holdfast.former as holdfast
from holdfast.former.constructors import Optimal
from holdfast.former.engines import several
from holdfast.former.tables.csv import CsvTable

TOPS = {"MURDER": 40, "RAPE": 80, "ROBBERY": 100}
EPSILONS = ["0.2", "0.5", "1", "2"]
DIRECTIONS = 64


def counts(folder, columns):
    """The columns, capped."""
    rows = list(csv.DictReader((Path(folder) / "crime_by_county.csv").open()))
    return {c: np.minimum([int(float(row[c])) for row in rows], TOPS[c]) for c in columns}


def table_of(true):
    """The counts as a table of text."""
    cells = zip(*(column.tolist() for column in true.values()), strict=True)
    return CsvTable(tuple(true), [[str(cell) for cell in row] for row in cells])


def released(true, epsilon, joint, seed):
    """A release through `holdfast.privatize`: its counts, by column."""
    columns = list(true)
    release = holdfast.privatize(
        table_of(true),
        count=columns,
        max_count={c: TOPS[c] for c in columns},
        epsilon=epsilon,
        joint=joint,
        seed=seed,
    )
    return {c: release[c].counts for c in columns}


def w1(one, other):
    """The distance of two samples' distributions, in counts."""
    bins = max(one.max(), other.max()) + 1
    apart = np.bincount(one, minlength=bins) - np.bincount(other, minlength=bins)
    return np.abs(np.cumsum(apart)).sum() / len(one)


def sliced_w1(one, other):
    """The mean over directions of the W1 of two clouds' projections, in counts."""
    angles = np.pi * (np.arange(DIRECTIONS) + 0.5) / DIRECTIONS
    axes = np.array([np.cos(angles), np.sin(angles)])
    return float(np.abs(np.sort(one @ axes, axis=0) - np.sort(other @ axes, axis=0)).mean())


def pair_scores(true, drawn, a, b):
    """Correlation, Spearman's, and the distance of the released pairs from the true ones."""
    one, other = (np.column_stack([t[a], t[b]]) for t in (drawn, true))
    ranks = [rankdata(drawn[c]) for c in (a, b)]
    return np.corrcoef(*one.T)[0, 1], np.corrcoef(*ranks)[0, 1], sliced_w1(one, other)


def scores(true, drawn):
    """Of every pair, and of every column its mean change and its W1."""
    names = list(true)
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    found = [x for a, b in pairs for x in pair_scores(true, drawn, a, b)]
    own = [(np.abs(drawn[c] - true[c]).mean(), w1(drawn[c], true[c])) for c in names]
    return [*found, *(x for pair in own for x in pair)]


def header(names):
    """What the numbers of a line are."""
    pairs = [f"{a[:3]}-{b[:3]}" for k, a in enumerate(names) for b in names[k + 1 :]]
    words = [f"{p} {w}" for p in pairs for w in ("corr", "rank", "W1")]
    return " | ".join([*words, *(f"{c[:3]} {w}" for c in names for w in ("change", "W1"))])


def line(epsilon, way, found):
    """One line of the table, with the standard deviation of the first correlation."""
    mean = " ".join(f"{x:.3f}" for x in np.mean(found, axis=0))
    print(f"ε {epsilon:>3}  {way:<9} {mean}  (sd {np.std(found, axis=0)[0]:.3f})", flush=True)


def study(data, columns, releases):
    """Joint and separate releases at every epsilon."""
    true = counts(data, columns)
    print(header(columns))
    line("-", "truth", [scores(true, true)])
    for epsilon in EPSILONS:
        for way, joint in (("separate", False), ("joint", True)):
            drawn = (released(true, epsilon, joint, s) for s in range(releases))
            line(epsilon, way, [scores(true, one) for one in drawn])


def limit(data, releases):
    """Pairs with known laws: no stage 1, half of epsilon for each column's counts, no classes."""
    true = counts(data, ["MURDER", "RAPE"])
    a, b = true.values()
    law = np.zeros((41, 81))
    np.add.at(law, (a, b), 1 / len(a))
    of_a, given = law.sum(axis=1), law / np.maximum(law.sum(axis=1, keepdims=True), 1e-300)
    print(header(list(true)))
    for epsilon in EPSILONS:
        half = Fraction(epsilon) / 2
        first = Optimal()(of_a, epsilon=half).mechanism
        seen = of_a[:, None] * first.matrix
        seen = (seen / np.maximum(seen.sum(axis=0), 1e-300)).T @ given
        kernels = {
            k: Optimal(target=given[k])(seen[k], epsilon=half).mechanism
            for k in np.flatnonzero(of_a)
        }
        alone = Optimal()(law.sum(axis=0), epsilon=half).mechanism
        every = {"separate": [], "joint": []}
        for seed in range(releases):
            rng = np.random.default_rng(seed)
            shown, joint = first.sample(a, rng), np.empty_like(b)
            for k in np.unique(shown):
                joint[shown == k] = kernels[k].sample(b[shown == k], rng)
            for way, drawn in (("separate", alone.sample(b, rng)), ("joint", joint)):
                every[way].append(scores(true, {"MURDER": shown, "RAPE": drawn}))
        for way, found in every.items():
            line(epsilon, way, found)


def classes(data, releases):
    """Pairs with other numbers of classes."""
    true = counts(data, ["MURDER", "RAPE"])
    print(header(list(true)))
    for epsilon in EPSILONS:
        for number in (8, 20, 40):
            several.CLASSES[1] = number
            drawn = (released(true, epsilon, True, s) for s in range(releases))
            line(epsilon, f"{number}", [scores(true, one) for one in drawn])


def stream(rows):
    """Three counts in one stream, against three streams of one; CPU time and the clock."""
    rng = np.random.default_rng(0)
    columns = [np.minimum(rng.geometric(p, rows) - 1, 60) for p in (0.5, 0.3, 0.2)]
    names = ("a", "b", "c")
    options = {"category": "id", "max_count": 50, "seed": None}
    with tempfile.TemporaryDirectory() as folder:
        path, short = Path(folder) / "table.csv", Path(folder) / "short.csv"
        table = pa.table(dict(zip(("id", *names), [np.arange(rows), *columns], strict=True)))
        for place, number in ((path, rows), (short, 1000)):
            pa.csv.write_csv(table.slice(0, number), place)
        del table, columns
        for k, count in enumerate((list(names), "a")):  # kernels are compiled and loaded
            holdfast.privatize_stream(
                short, Path(folder) / f"warm-{k}", count=count, epsilon=1, **options
            )
        spent = []
        for count in (list(names), *names):
            wall, cpu = time.perf_counter(), time.process_time()
            out = Path(folder) / f"out-{len(spent)}"
            holdfast.privatize_stream(path, out, count=count, epsilon=1, **options)
            spent.append((time.perf_counter() - wall, time.process_time() - cpu))
            print(f"{count}: {spent[-1][0]:.1f} s, {spent[-1][1]:.1f} s of CPU", flush=True)
    together, apart = np.array(spent[0]), np.sum(spent[1:], axis=0)
    print("together / apart: {:.2f} of the time, {:.2f} of CPU".format(*(together / apart)))


def main():
    """One study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=("pairs", "three", "limit", "classes", "stream"))
    parser.add_argument("--data", default=os.environ.get("HOLDFAST_DATA"))
    parser.add_argument("--releases", type=int, default=50)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--epsilon", help="one of 0.2, 0.5, 1, 2; default: all of them")
    chosen = parser.parse_args()
    if chosen.epsilon is not None:
        EPSILONS[:] = [chosen.epsilon]
    if chosen.study in ("pairs", "three"):
        study(chosen.data, list(TOPS)[: 2 if chosen.study == "pairs" else 3], chosen.releases)
    elif chosen.study == "limit":
        limit(chosen.data, chosen.releases)
    elif chosen.study == "classes":
        classes(chosen.data, chosen.releases)
    else:
        stream(chosen.rows)


if __name__ == "__main__":
    main()
