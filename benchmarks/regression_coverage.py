"""Slopes through the mechanism: bias and coverage of 95 % intervals, naive slopes beside them.

    python benchmarks/regression_coverage.py --releases 200

Every time a table of 2,000 rows is drawn from the model itself, so that its slope is known, and
released once. For least squares the counts are negative binomial about a line. Prints what
docs/regression.md shows.
"""

import argparse

import numpy as np
import pandas as pd

import holdfast

ROWS, SLOPE = 2000, 0.8
FAMILIES = ("poisson", "negative binomial", "gaussian")


def table(family, generator):
    people = np.exp(generator.normal(8, 1, ROWS))
    x = np.log(people) - 8
    if family == "gaussian":
        mean = np.maximum(4 + SLOPE * x, 0.2)
        counts = generator.poisson(mean * generator.gamma(4, 0.25, ROWS))
    else:
        mean = np.exp(0.3 + SLOPE * x)
        shape = generator.gamma(2, 0.5, ROWS) if family == "negative binomial" else 1.0
        counts = generator.poisson(mean * shape)
    return {"people": people.round(6), "n": counts}


def measure(family, epsilon, releases):
    found = []
    for seed in range(releases):
        generator = np.random.default_rng(seed)
        frame = pd.DataFrame(table(family, generator))
        release = holdfast.privatize(
            frame, epsilon=epsilon, max_count=40, count="n", keep=["people"], seed=seed
        )
        fit = release.regress("n ~ log(people)", family=family)
        low, high = fit.interval("log(people)")
        found.append((fit.coefficients["log(people)"], low <= SLOPE <= high,
                      fit.standard_errors["log(people)"], fit.naive.values[1],
                      abs(fit.naive.values[1] - SLOPE) <= 1.96 * fit.naive.errors[1]))  # fmt: skip
    return np.array(found, dtype=float)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--epsilons", default="0.2,1,3")
    options = parser.parse_args()
    print(f"{options.releases} releases, true slope {SLOPE}\n")
    print("| family | ε | slope | its error | covers | standard error | naive | naive covers |")
    print("|---|---|---|---|---|---|---|---|")
    for family in FAMILIES:
        for epsilon in options.epsilons.split(","):
            found = measure(family, epsilon, options.releases)
            slope, covers, error, naive, also = found.mean(axis=0)
            spread = found[:, 0].std()
            print(f"| {family} | {epsilon} | {slope:.3f} | {spread:.3f} | {100 * covers:.0f} % | "
                  f"{error:.3f} | {naive:.3f} | {100 * also:.0f} % |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
