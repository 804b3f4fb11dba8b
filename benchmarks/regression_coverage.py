"""Slopes through the mechanism: bias and coverage of 95 % intervals, naive slopes beside them.

    python benchmarks/regression_coverage.py --releases 200 --folder results

Every time a table of 2,000 rows is drawn from the model itself, so that its slope is known, and
released once. For least squares the counts are negative binomial about a line. Prints what
docs/regression.md shows. A killed run goes on where it was.

    python benchmarks/regression_coverage.py --long

Counts of a long range, fitted as Poisson ones, which they are or are not.
"""

import argparse

import numpy as np
import pandas as pd

import holdfast.former as holdfast
from holdfast.former.studies.runner import Study, run

ROWS, SLOPE, BLOCK = 2000, 0.8, 10
FAMILIES = ("poisson", "negative binomial", "gaussian")
LONG, HIGHER, SPREAD = 20_000, 3.0, "poisson, overdispersed"


def table(family, generator, long=False):
    people = np.exp(generator.normal(8, 1, ROWS))
    x = np.log(people) - 8
    if family == "gaussian":
        mean = np.maximum(4 + SLOPE * x, 0.2)
        counts = generator.poisson(mean * generator.gamma(4, 0.25, ROWS))
    else:
        mean = np.exp(0.3 + HIGHER * long + SLOPE * x)
        shape = 1.0 if family == "poisson" else generator.gamma(2, 0.5, ROWS)
        counts = generator.poisson(mean * shape)
    return {"people": people.round(6), "n": counts}


def work(task, seed):
    long = task.get("long", False)
    return [once(task["family"], task["epsilon"], seed + number, long) for number in range(BLOCK)]


def once(family, epsilon, seed, long):
    frame = pd.DataFrame(table(family, np.random.default_rng(seed), long))
    top = LONG if long else 40
    release = holdfast.privatize(
        frame, epsilon=epsilon, max_count=top, count="n", keep=["people"], seed=seed
    )
    fit = release.regress("n ~ log(people)", family=family.removesuffix(", overdispersed"))
    low, high = fit.interval("log(people)")
    naive, its_error = float(fit.naive.values[1]), float(fit.naive.errors[1])
    return {
        "slope": fit.coefficients["log(people)"],
        "covers": int(low <= SLOPE <= high),
        "error": fit.standard_errors["log(people)"],
        "naive": naive,
        "naive covers": int(abs(naive - SLOPE) <= 1.96 * its_error),
    }


def show(rows):
    heads = ("family", "ε", "releases", "slope", "its error", "covers", "standard error", "naive")
    print("| " + " | ".join((*heads, "naive covers")) + " |")
    print("|---|---|---|---|---|---|---|---|---|")
    for family, epsilon in dict.fromkeys((row["family"], row["epsilon"]) for row in rows):
        found = [row for row in rows if (row["family"], row["epsilon"]) == (family, epsilon)]
        mean = {name: np.mean([row[name] for row in found]) for name in found[0] if name not in
                ("family", "epsilon", "block", "long")}  # fmt: skip
        spread = np.std([row["slope"] for row in found])
        print(f"| {family} | {epsilon} | {len(found)} | {mean['slope']:.3f} | {spread:.3f} | "
              f"{mean['covers']:.1%} | {mean['error']:.3f} | {mean['naive']:.3f} | "
              f"{mean['naive covers']:.0%} |".replace("%", " %"))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--epsilons", default="0.2,1,3")
    parser.add_argument("--folder", default=None, help="where results are kept")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--long", action="store_true", help="a max_count of 20,000")
    options = parser.parse_args()
    more = {"long": True} if options.long else {}
    tasks = [
        {"family": family, "epsilon": epsilon, "block": block} | more
        for block in range(-(-options.releases // BLOCK))
        for family in (("poisson", SPREAD) if options.long else FAMILIES)
        for epsilon in options.epsilons.split(",")
    ]
    study = Study(name="regression_coverage", tasks=tasks, work=work)
    print(f"true slope {SLOPE}\n")
    show(run(study, folder=options.folder, jobs=options.jobs, progress=False))


if __name__ == "__main__":
    main()
