"""Random groupings of random tables: does every distribution hold, and is every group certified?

    python benchmarks/groups_random.py [--tables 1000] [--first 0]

Tables of 1 to 60 rows, labels and classes and both crossed, missing labels, groups of one row, more
classes than values, totals and none; seeded. Of each release: the certificate of every group is at
most stage 2's epsilon, every group's target comes through its own integers as it was (exact image,
to 1e-9), the groups together give the target of the table, sizes and members agree, totals add up.
Then what is at the edge: 10,000 groups, and what must be refused in words.
"""

import argparse
import collections
import time

import numpy as np
import pandas as pd

import holdfast.former as holdfast
from holdfast.errors import HoldfastError

ANYWAY = ["g", "h", "x", "row order", "totals"]
CLOSE = 1e-9


def frame(rng, rows, n):
    groups = int(rng.integers(1, rows + 1))
    labels = rng.integers(0, groups, rows).astype(str).astype(object)
    labels[rng.random(rows) < rng.choice([0, 0.2])] = ""
    return pd.DataFrame(
        {
            "g": labels,
            "h": rng.choice(["a", "b"], rows),
            "x": rng.integers(0, rng.choice([2, 1000]), rows),
            "n": rng.integers(0, 2 * n + 1, rows),
        }
    )


def within(rng):
    classes = holdfast.classes("x", int(rng.choice([1, 2, 5, 40])))
    ways = {"labels": "g", "classes": classes, "crossed": ["g", "h"], "both": ["h", classes]}
    kind = str(rng.choice(list(ways)))
    return kind, ways[kind]


def check(release, table, n):
    """What must be true of every release by group."""
    groups, budget = release.groups, release.privacy.budget
    for group in groups.values():
        assert group.mechanism.certified_epsilon <= budget.unit_2
    images = [part.integers.image(part.target) for part in groups.mechanism.parts]
    kept = np.array(images)[groups.mechanism.index]
    assert np.abs(kept - groups.targets).max() < CLOSE
    assert np.abs(groups.sizes @ kept / release.rows - release.target).max() < CLOSE
    assert (np.bincount(groups.members, minlength=len(groups)) == groups.sizes).all()
    assert groups.sizes.min() >= 1 and groups.sizes.sum() == len(table)
    assert ((release.counts >= 0) & (release.counts <= n)).all()
    if release.totals is not None:
        assert sum(t.value for t in release.totals.groups) == release.totals.whole.value
        assert min(t.low for t in release.totals.groups) >= 0
    assert budget.stage_1 + budget.stage_2 + budget.totals == budget.epsilon


def random_groupings(tables, first):
    seen, ones = collections.Counter(), 0
    for seed in range(first, first + tables):
        rng = np.random.default_rng(seed)
        rows, n = int(rng.integers(1, 61)), int(rng.integers(1, 13))
        table, (kind, chosen) = frame(rng, rows, n), within(rng)
        release = holdfast.privatize(
            table, count="n", within=chosen, epsilon=str(rng.choice(["0.05", "0.5", "3"])),
            max_count=n, totals=rng.choice([None, True]), publish_anyway=_named(chosen), seed=seed,
        )  # fmt: skip
        check(release, table, n)
        seen[kind] += 1
        ones += int((release.groups.sizes == 1).sum())
    print(f"{tables:,} groupings in order: {dict(seen)}; {ones:,} groups of one row", flush=True)


def _named(chosen):
    parts = chosen if isinstance(chosen, list) else [chosen]
    return [part if isinstance(part, str) else part.column for part in parts] + ANYWAY[-2:]


def many_groups(number):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"g": np.arange(3 * number) % number, "n": rng.poisson(2, 3 * number)})
    begin = time.process_time()
    release = holdfast.privatize(
        table, count="n", within="g", epsilon=1, max_count=10, publish_anyway=["g"], seed=1
    )
    check(release, table, 10)
    seconds = time.process_time() - begin
    print(f"{number:,} groups of 3 rows in order: {seconds:.1f} s of processor time", flush=True)


def refusals():
    table = pd.DataFrame({"g": ["a", "b"] * 10, "x": [1.0, None] * 10, "n": [0, 0, 1, 1] * 5})
    wide = pd.DataFrame({"g": np.arange(30_000), "n": np.arange(30_000) % 7})
    cases = {
        "a class without a number": (table, {"within": holdfast.classes("x", 2), "max_count": 3}),
        "a column of fractions": (table.assign(x=0.5), {"within": "x", "max_count": 3}),
        "30,000 groups of 1,001 counts": (wide, {"within": "g", "max_count": 1000}),
    }
    for name, (given, options) in cases.items():
        try:
            holdfast.privatize(given, count="n", epsilon=1, seed=1, **options)
        except HoldfastError as error:
            print(f"{name}: {error}", flush=True)
        else:
            raise AssertionError(f"{name} was not refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    random_groupings(options.tables, options.first)
    many_groups(10_000)
    refusals()


if __name__ == "__main__":
    main()
