"""Distribution error of fixed-point methods and baselines where their curves meet, many releases.

    python benchmarks/against_baselines.py [--data DATA] [--runs 200] [--epsilon 5 ...]

The figure of `holdfast reproduce accuracy` has the paper's ten releases per point, too few to order
curves that lie together. "oracle" is the optimum told the true distribution, with the whole budget.
"""

import argparse

import numpy as np

from holdfast.former.privatizers.planning import MEASURES
from holdfast.former.studies.reproduce.experiment import is_here, load
from holdfast.former.studies.reproduce.methods import ORACLE, figure_method, share_of, simulator
from holdfast.former.privacy.randomness import Simulation

METHODS = ("default", "paper", "heuristic-sandwich", ORACLE, "unfixed-optimum")
MECHANISMS = ("truncated-geometric",)


def releases(data, name, epsilon, runs):
    """Errors of so many releases; a mechanism without stage 1 is built once and drawn more."""
    histogram, method = data.histogram, figure_method(name)
    share = share_of(method, epsilon, histogram)
    stages = simulator(method, epsilon, share, int(histogram.sum()))
    source, rng = Simulation(11), np.random.default_rng(7)
    runs = runs if method.privatizer is not None else 10 * runs
    releases = stages.releases(histogram, runs, source, rng)
    return share, np.array([list(release.errors().values()) for release in releases])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the data sets")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--epsilon", nargs="+", default=["0.1", "0.1479", "3.381", "5"])
    parser.add_argument("--sets", nargs="+", default=["binomial", "crime", "schools"])
    given = parser.parse_args()
    print(f"{'data':9} {'ε_t':7} {'method':20} {'f':7} " + "  ".join(f"{n:22}" for n in MEASURES))
    for name in (name for name in given.sets if is_here(name, given.data)):
        data = load(name, given.data)
        for epsilon in given.epsilon:
            for method in (*METHODS, *MECHANISMS):
                share, errors = releases(data, method, epsilon, given.runs)
                bars = errors.std(axis=0, ddof=1) / len(errors) ** 0.5
                cells = "  ".join(
                    f"{mean:.5f} ± {bar:.5f}     "
                    for mean, bar in zip(errors.mean(axis=0)[:3], bars[:3], strict=True)
                )
                print(f"{name:9} {epsilon:7} {method:20} {float(share):<7.4f} {cells}", flush=True)


if __name__ == "__main__":
    main()
