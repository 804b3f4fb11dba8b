"""The search for columns that give the counts away: how many it finds, how many innocents it names.

usage: python benchmarks/leaks.py [tables] [seed]

Each table has counts of a random law and 12 public columns of random kinds, of which some are
functions of the counts, alone or together with others: one of ten kinds each. A leak counts as
found if a leak is named that has all its columns, or some of them. A column that has no part in
any leak is innocent, and named wrongly if any leak names it. Then near copies of large counts, and
of counts that are mostly small, and columns that go with them as closely as other counts of other
people do.
"""

import sys
import time
from collections import Counter

import numpy as np

from holdfast.former.tables.columns import Wanted, refuse_leaks
from holdfast.former.tables.leaks import find_leaks
from holdfast.former.tables.leaks.watch import Watch

COLUMNS = 12


def counts_of(rng, rows):
    kind = rng.integers(5)
    if kind == 0:
        return rng.poisson(rng.uniform(0.3, 8), rows)
    if kind == 1:
        return rng.geometric(rng.uniform(0.02, 0.7), rows) - 1
    if kind == 2:
        return rng.poisson(rng.gamma(0.4, rng.uniform(2, 200), rows))
    if kind == 3:
        return np.where(rng.random(rows) < 0.9, 0, rng.zipf(1.8, rows).clip(max=10_000))
    return np.round(rng.lognormal(4, 1, rows)).astype(int)


def innocent(rng, y):
    """A column that goes with the counts as much as public columns do, and does not tell them."""
    rows, kind = len(y), rng.integers(8)
    if kind == 0:
        return rng.integers(0, rng.integers(2, 60), rows)
    if kind == 1:
        return rng.lognormal(8, 1.5, rows).astype(int)
    if kind == 2:
        return [f"region {k}" for k in rng.integers(0, 12, rows)]
    if kind == 3:
        return rng.permutation(rows)
    if kind == 4:  # a population that the counts rise with
        return np.round((y + rng.gamma(2, 2, rows)) * rng.lognormal(5, 0.5, rows)).astype(int)
    if kind == 5:  # last year's counts
        return rng.poisson(0.8 * y + 0.5)
    if kind == 6:  # a flag that is likelier where counts are high
        return np.where(rng.random(rows) < 0.2 + 0.6 * (y > np.median(y)), "urban", "rural")
    return np.round(rng.normal(50, 20, rows), 2)


def spoil(rng, x, share=0.05):
    other = rng.permutation(x)
    return np.where(rng.random(len(x)) < share, other, x)


def leak(rng, kind, y):
    """The columns of a leak; those after the first are innocent by themselves."""
    rows = len(y)
    a, b = rng.integers(0, 2000, rows), rng.integers(0, 500, rows)
    big = rng.integers(1000, 10**6, rows)
    return {
        "equal": lambda: [y],
        "scaled": lambda: [y * rng.integers(2, 50)],
        "shifted": lambda: [y + rng.integers(-100, 1000)],
        "sum or difference of two": lambda: [a + y, a],
        "sum or difference of three": lambda: [a + b - y, a, b],
        "ratio": lambda: [np.round(1e5 * y / big, 3), big],
        "monotone": lambda: [[np.log1p, np.sqrt, lambda v: -(v**2.0)][rng.integers(3)](y)],
        "nearly all rows": lambda: [spoil(rng, 3 * y + 7)],
        "flag": lambda: [np.where(y > np.median(y), "yes", "no")],
        "class": lambda: [[f"class {'dbace'[min(int(v), 4)]}" for v in y // max(1, y.max() // 20)]],
    }[kind]()


KINDS = (
    *("equal", "scaled", "shifted", "sum or difference of two", "sum or difference of three"),
    *("ratio", "monotone", "nearly all rows", "flag", "class"),
)


def table(rng):
    rows = int(rng.choice([200, 1000, 5000, 20_000]))
    y = counts_of(rng, rows)
    columns, leaks, number = {}, {}, 0
    for kind in rng.choice(KINDS, size=rng.integers(0, 3), replace=False):
        made = leak(rng, kind, y)
        names = [f"x{number + k}" for k in range(len(made))]
        columns |= dict(zip(names, made, strict=True))
        leaks[str(kind)] = set(names)
        number += len(made)
    while len(columns) < COLUMNS:
        columns[f"x{number}"] = innocent(rng, y)
        number += 1
    order = rng.permutation(list(columns))
    return y, {name: columns[name] for name in order}, leaks


def large_counts_of(rng, rows):
    return [
        lambda: np.round(rng.lognormal(rng.uniform(7, 12), rng.uniform(0.8, 1.5), rows)),
        lambda: 1 + rng.poisson(rng.gamma(0.5, rng.uniform(2000, 9000), rows)),
        lambda: rng.integers(100, 10 ** int(rng.integers(4, 7)), rows),
    ][rng.integers(3)]().astype(int)


def near_copies(rng, y):
    moved = y + rng.integers(-2, 3, len(y))
    return {
        "scaled, plus or minus 5": np.round(3.2 * y + rng.uniform(-5, 5, len(y)), 1),
        "plus or minus 2": moved,
        "falling": 10**7 - y + rng.integers(-3, 4, len(y)),
        "rank of a near copy": np.argsort(np.argsort(moved)),
    }


def like_counts(rng, y):
    def varied(spread):
        return y * rng.lognormal(0, spread, len(y))

    return {
        "last year": rng.poisson(0.8 * y),
        "last year, varied": rng.poisson(varied(0.05)),
        "population": np.round(30 * varied(0.1)),
        "some of the people": rng.binomial(y, 0.7),
    }


def mixed_counts_of(rng, rows):
    """Mostly small, some of them large: at least 40 from 300 on."""
    while True:
        y = rng.poisson(rng.lognormal(rng.uniform(0.5, 3), rng.uniform(1.5, 2.3), rows))
        if np.median(y) < 30 and np.count_nonzero(y >= 300) >= 40:
            return y


def near_where_large(rng, y):
    moved = rng.integers(0, 3, len(y))
    return {
        "plus or minus 1, from 0 on": np.maximum(y + moved - 1, 0),
        "plus 0, 1 or 2": y + moved,
        "rounded to 10": np.round(y, -1),
        "scaled, plus 0, 1 or 2": 1.03 * y + moved,
        "Laplace noise of scale 3": y + rng.laplace(0, 3, len(y)),
        "Laplace noise of scale 10": y + rng.laplace(0, 10, len(y)),
    }


def like_mixed(rng, y):
    columns = like_counts(rng, y + 1)  # else zeros are where the counts have theirs
    return columns | {"most of the people": rng.binomial(y + 1, 0.85)}


def near(rng, tables, title, counts, copies, others):
    there, found, innocents, accused = Counter(), Counter(), Counter(), Counter()
    for _ in range(tables):
        y = counts(rng, int(rng.choice([1000, 5000, 20_000])))
        for name, cells in copies(rng, y).items():
            there[name] += 1
            found[name] += bool(find_leaks(y, {name: cells}))
        for name, cells in others(rng, y).items():
            innocents[name] += 1
            accused[name] += bool(find_leaks(y, {name: cells}))
    print(title)
    for name in there:
        print(f"  {name:<28} {found[name]:>3} of {there[name]:>3}")
    print(f"as close as other counts, named: {accused.total()} of {innocents.total()}")


def main(tables=200, seed=1):
    rng = np.random.default_rng(seed)
    there, found, innocents, accused, seconds = Counter(), Counter(), 0, [], 0.0
    for _ in range(tables):
        y, columns, leaks = table(rng)
        began = time.process_time()
        told = find_leaks(y, columns)
        seconds += time.process_time() - began
        for kind, names in leaks.items():
            there[kind] += 1
            found[kind] += any(set(one.names) & names for one in told)
        guilty = set().union(*leaks.values()) if leaks else set()
        innocents += len(columns) - len(guilty)
        accused += sorted({name for one in told for name in one.names} - guilty)
    print(f"{tables} tables of {COLUMNS} columns, {seconds / tables:.2f} s of processor each")
    for kind in KINDS:
        print(f"  {kind:<28} {found[kind]:>3} of {there[kind]:>3}")
    print(f"  {'all':<28} {found.total():>3} of {there.total():>3}")
    print(f"innocent columns named: {len(accused)} of {innocents}")
    kinds = {
        "near copies of large counts": (large_counts_of, near_copies, like_counts),
        "near copies of small and large counts": (mixed_counts_of, near_where_large, like_mixed),
    }
    for title, made in kinds.items():
        near(np.random.default_rng(seed), tables // 2, title, *made)
    large(np.random.default_rng(seed))


def large(rng, rows=1_000_000, columns=20):
    y = rng.poisson(rng.gamma(0.5, 4, rows))
    kept = {f"x{k}": np.asarray(innocent(rng, y)) for k in range(columns)}
    began, clock = time.process_time(), time.perf_counter()
    watch = Watch(list(kept))
    watch.see(y, lambda chosen: [column[chosen].tolist() for column in kept.values()])
    refuse_leaks(watch.leaks(), Wanted())
    spent = time.process_time() - began
    print(
        f"{rows:,} rows x {columns} columns: {spent:.1f} s of processor, "
        f"{time.perf_counter() - clock:.1f} s by the clock"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
