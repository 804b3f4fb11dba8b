"""What stage 1 does to heaps: counts that those who report them round to 5 or 10.

    python benchmarks/heaps.py [--draws 40]

A made table: N counts of a lognormal law up to 100, of which, from 8 on, half are rounded to the
nearest 10 and a quarter to the nearest 5. Asked of z at all of epsilon, split by the rule: the
share of rows at multiples of 10, and at multiples of 5 that are none of 10, from 10 on, over the
true share; and W1 of z. With more of epsilon for stage 1, too.
"""

import argparse
from itertools import product

import numpy as np

from holdfast.former.privatizers import CumulativeIsotonic, CumulativeSmooth
from holdfast.former.privacy.budget import split_budget
from holdfast.former.privacy.metrics import wasserstein
from holdfast.former.tables.histogram import histogram_of_counts

TOP = 100
METHODS = {
    "CumulativeSmooth": CumulativeSmooth(),
    "CumulativeIsotonic": CumulativeIsotonic(),
}


def heaped(rows: int, seed: int = 5) -> np.ndarray:
    """The counts as they are reported."""
    chance = np.random.default_rng(seed)
    counts = np.minimum(chance.lognormal(2.5, 0.9, rows).astype(int), TOP)
    way = chance.random(rows)
    tens, fives = (counts + 5) // 10 * 10, (counts + 2) // 5 * 5
    rounded = np.where(way < 0.5, tens, np.where(way < 0.75, fives, counts))
    return np.where(counts >= 8, rounded, counts)


def heaps(shares: np.ndarray) -> tuple[float, float]:
    """The share of rows on tens, and on fives that are no tens; from 10 on and below the top."""
    at = np.arange(len(shares))
    inside = (at >= 10) & (at < TOP)
    return (
        float(shares[inside & (at % 10 == 0)].sum()),
        float(shares[inside & (at % 10 == 5)].sum()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=40)
    draws = parser.parse_args().draws
    print("| rows | epsilon | of it stage 1 | privatizer | tens kept | fives kept | W1 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for rows, epsilon, split in product((500, 2_000, 10_000), ("0.5", "1", "3"), (None, "0.1")):
        histogram = histogram_of_counts(heaped(rows), TOP)
        truth = histogram / rows
        part = split_budget(epsilon, max_count=TOP, rows=rows, split=split).stage_1
        for name, method in METHODS.items():
            found = [method(histogram, epsilon=part, rng=seed) for seed in range(draws)]
            kept = np.mean([heaps(z) for z in found], axis=0) / heaps(truth)
            distance = np.mean([wasserstein(truth, z) for z in found])
            print(
                f"| {rows:,} | {epsilon} | {float(part):.2g} | {name} | {kept[0]:.0%} "
                f"| {kept[1]:.0%} | {distance:.2f} |"
            )


if __name__ == "__main__":
    main()
