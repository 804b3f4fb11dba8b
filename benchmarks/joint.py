"""Two counts and their joint distribution: joint and separate releases of murders and rapes.

    python benchmarks/joint.py --data DATA [--releases 8] [--classes 20]

DATA holds crime_by_county.csv (or set HOLDFAST_DATA). Noise is NumPy's: this is a study.
"""

import argparse
import csv
import os
from fractions import Fraction
from pathlib import Path

import numpy as np

from group_releases import noise
from holdfast.constructors import Optimal
from holdfast.mechanism.blur import first_relation
from holdfast.privacy.budget import share_rule
from holdfast.privatizers.conditional import fit_conditional
from holdfast.privatizers.groups import fit_groups, group_sums

TOPS = {"MURDER": 40, "RAPE": 80}
EPSILONS = ("0.2", "0.5", "1", "2")


def counts(folder):
    """The two columns, capped."""
    rows = list(csv.DictReader((Path(folder) / "crime_by_county.csv").open()))
    return [np.minimum([int(float(row[c])) for row in rows], top) for c, top in TOPS.items()]


def histograms(values, group, top):
    """How many rows of each group have each count."""
    tables = np.zeros((group.max() + 1, top + 1), dtype=np.int64)
    np.add.at(tables, (group, values), 1)
    return tables


def parts(epsilon, rows, bins, groups=1):
    """The budgets of the stages."""
    share = share_rule(Fraction(epsilon), rows=rows, bins=bins, groups=groups)
    return float(share * Fraction(epsilon)), Fraction(epsilon) * (1 - share)


def measured(tables, epsilon, rng):
    """Noisy sums of each group."""
    return [sums + noise(rng, epsilon, len(sums)) for sums in group_sums(tables, epsilon)]


def alone(values, top, epsilon, rng):
    """A release of one count: what is released, z and the mechanism."""
    first, second = parts(epsilon, len(values), top + 1)
    table = histograms(values, np.zeros(len(values), dtype=np.int64), top)
    z = fit_groups(measured(table, first, rng), [len(values)], first, bins=top + 1)[0]
    mechanism = Optimal()(z, epsilon=second).mechanism
    return mechanism.sample(values, rng), z, mechanism


def classes_of(released, number, bins):
    """The class of every count: about as many rows in each, equal counts together."""
    table = np.bincount(released, minlength=bins)
    middle = (np.cumsum(table) - table / 2) / table.sum()
    raw = np.minimum((middle * number).astype(np.int64), number - 1)
    return np.maximum(np.searchsorted(np.unique(raw[table > 0]), raw, side="right") - 1, 0)


def class_blur(mechanism, law, classes):
    """P(true count in class c | released count in class k), as row k and column c."""
    every = np.arange(classes.max() + 1)
    relation = first_relation([mechanism], [law], classes)
    return relation.blur(np.column_stack([np.zeros_like(every), every]))


def given(values, top, before, epsilon, number, rng):
    """A release of a further count that keeps its relation to the one before."""
    released, z, mechanism = before
    classes = classes_of(released, number, len(z))
    group, blur = classes[released], class_blur(mechanism, z, classes)
    tables = histograms(values, group, top)
    first, second = parts(epsilon, len(values), top + 1, len(blur))
    fit = fit_conditional(
        measured(tables, first, rng),
        tables.sum(axis=1),
        first,
        bins=top + 1,
        blur=blur,
        order=[len(blur)],
    )
    drawn = np.empty_like(values)
    for g in range(len(blur)):
        optimum = Optimal(target=fit.targets[g])(fit.sources[g], epsilon=second)
        drawn[group == g] = optimum.mechanism.sample(values[group == g], rng)
    return drawn


def w1(one, other):
    """The distance of two samples' distributions, in counts."""
    bins = max(one.max(), other.max()) + 1
    apart = np.bincount(one, minlength=bins) - np.bincount(other, minlength=bins)
    return np.abs(np.cumsum(apart)).sum() / len(one)


def scores(first, second, epsilon, number, seed):
    """Correlation, change and W1 of the second count; `number` None for separate releases."""
    rng, half = np.random.default_rng(seed), Fraction(epsilon) / 2
    before = alone(first, TOPS["MURDER"], half, rng)
    if number is None:
        drawn = alone(second, TOPS["RAPE"], half, rng)[0]
    else:
        drawn = given(second, TOPS["RAPE"], before, half, number, rng)
    change = np.abs(drawn - second).mean()
    return np.corrcoef(before[0], drawn)[0, 1], change, w1(drawn, second)


def main():
    """One line a budget and way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("HOLDFAST_DATA"))
    parser.add_argument("--releases", type=int, default=8)
    parser.add_argument("--classes", type=int, default=20)
    chosen = parser.parse_args()
    first, second = counts(chosen.data)
    print(f"true correlation {np.corrcoef(first, second)[0, 1]:.3f}")
    for epsilon in EPSILONS:
        for way, number in (("separate", None), ("joint", chosen.classes)):
            found = [scores(first, second, epsilon, number, s) for s in range(chosen.releases)]
            correlation, change, distance = np.mean(found, axis=0)
            print(
                f"ε {epsilon:>3}  {way:<8}  correlation {correlation:.3f}  change {change:.2f}  "
                f"W1 {distance:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
