"""The paper's room, timed and compared: Algorithm 1, the optimum, the frontier.

    PYTHONPATH=tests/helpers python benchmarks/paper.py [--highs 81]

Prints seconds of the processor and errors, a line each; about a minute.
"""

import argparse
import time

import numpy as np

from algorithm_1_as_printed import algorithm_1
from families import binomial, hump, powerlaw
from holdfast.paper.constructors import Frontier, Heuristic, LinearProgram, Optimal, UnfixedOptimum

SIZES = (51, 201, 501, 1001, 2000)


def timed(function):
    """What a call gives, and the least of three times, in seconds of the processor."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        found = function()
        seconds.append(time.process_time() - start)
    return found, min(seconds)


def algorithm_1_lines():
    Heuristic(selector="max")(hump(9), epsilon=1)  # compiles
    for family in (binomial, hump, powerlaw):
        for n in SIZES:
            z = family(n)
            for selector in ("max", "min", "sandwich"):
                found, seconds = timed(
                    lambda s=selector, z=z: Heuristic(selector=s)(z, epsilon="0.5")
                )
                off = np.abs(found.matrix.sum(axis=1) - 1).max()
                moved = np.abs(z @ found.matrix - z).max()
                what = f"{family.__name__}({n}) {selector}"
                yield f"{what}: {seconds:.4f} s, rows off by {off:.0e}, z by {moved:.0e}"


def as_printed_line():
    z = hump(201)
    off = np.abs(algorithm_1(z, 2.0, np.argsort(z)).sum(axis=1) - 1).max()
    return f"Algorithm 1 as printed, in doubles, hump(201), epsilon 2: row sums off by {off:.1e}"


def optimum_lines(highs):
    for n in SIZES:
        found, build = timed(lambda n=n: Optimal()(hump(n), epsilon="0.5"))
        _, certified = timed(lambda f=found: f.__class__(**fields(f)).mechanism)
        yield (
            f"Optimal hump({n}): {build:.3f} s, certified in {certified:.3f} s, "
            f"error {found.count_error:.6f}"
        )
    z = hump(highs)
    program, seconds = timed(lambda: LinearProgram()(z, epsilon="0.5"))
    best = Optimal()(z, epsilon="0.5").count_error
    above = program.count_error / best - 1
    yield f"HiGHS hump({highs}): {seconds:.2f} s, {above:.0e} above Optimal"


def fields(construction):
    """What a construction was made of, so that its mechanism is made anew."""
    names = ("matrix", "epsilon", "target", "count_error", "method", "source", "delta")
    return {name: getattr(construction, name) for name in names}


def frontier_lines():
    z = hump(81)
    for price in ("0", "0.25", "0.5", "0.75", "1"):
        found, seconds = timed(lambda p=price: Frontier(price=p)(z, epsilon="0.5"))
        w1 = np.abs(np.cumsum(z @ found.matrix) - np.cumsum(z)).sum()
        yield f"Frontier price {price}: {seconds:.4f} s, error {found.count_error:.4f}, W1 {w1:.4f}"
    ends = (c(z, epsilon="0.5").count_error for c in (UnfixedOptimum(), Optimal()))
    yield "Algorithm 2 and Optimal: errors {:.4f} and {:.4f}".format(*ends)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--highs", type=int, default=51, help="n of the linear program")
    asked = parser.parse_args()
    for lines in (
        algorithm_1_lines(),
        [as_printed_line()],
        optimum_lines(asked.highs),
        frontier_lines(),
    ):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
