"""Ratios of the release path against peers, in one run on one machine.

Run with `make bench`. Every line names what it is measured against.
"""

import csv
import io
import itertools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import holdfast.former as holdfast
from algorithm_1_as_printed import algorithm_1
from families import hump, powerlaw
from holdfast.former.constructors import Heuristic, clock_kernel
from holdfast.former.constructors.heuristic import ORDERS
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.mechanism.rounding import certified_mechanism
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.randomness import laplace_measurement


def best_time(work: Callable[[], object], repeat: int = 3) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def heuristic_against_the_printed_algorithm(n: int = 2000) -> None:
    print(f"\nHeuristic (sandwich) at n = {n}, against Algorithm 1 as printed in NumPy")
    print(
        f"{'target':>9} {'eps':>4} {'printed s':>10} {'ours s':>8} {'ratio':>6} {'rows off':>9}"
        f" {'ours off':>9} {'round s':>8} {'certify s':>9}"
    )
    heuristic = Heuristic(selector="sandwich")
    heuristic(hump(9), epsilon=1).mechanism.verify()
    for family in (hump, powerlaw):
        for epsilon in (0.1, 0.5, 2.0):
            z = family(n)
            order = ORDERS["sandwich"](z)
            printed = best_time(lambda z=z, e=epsilon, o=order: algorithm_1(z, e, o), 2)
            ours = best_time(lambda z=z, e=epsilon: heuristic(z, epsilon=e))
            found = heuristic(z, epsilon=epsilon)
            rows = np.abs(algorithm_1(z, epsilon, order).sum(axis=1) - 1).max()
            own = np.abs(found.matrix.sum(axis=1) - 1).max()
            rounding = best_time(
                lambda f=found: certified_mechanism(f.matrix, epsilon=f.epsilon, target=f.target), 1
            )
            check = best_time(lambda m=found.mechanism: Mechanism.verify(m))
            print(
                f"{family.__name__:>9} {epsilon:4} {printed:10.3f} {ours:8.3f} "
                f"{printed / ours:6.1f} {rows:9.0e} {own:9.0e} {rounding:8.3f} {check:9.3f}"
            )


def represent(z: np.ndarray, epsilon: float) -> None:
    """The representation, in O(n log n) time and O(n) memory."""
    clock_kernel.fill_columns(clock_kernel.start(z, epsilon), ORDERS["sandwich"](z))


def growth_of_the_representation() -> None:
    print("\nRepresentation alone (no n x n matrix): seconds, and the ratio per doubling of n")
    sizes = (2000, 4000, 8000, 16000, 32000)
    for family in (hump, powerlaw):
        for epsilon in (0.1, 2.0):
            times = []
            for n in sizes:
                z = family(n)
                times.append(best_time(lambda z=z, e=epsilon: represent(z, e), 2))
            ratios = "  ".join(f"{b / a:.2f}" for a, b in itertools.pairwise(times))
            seconds = "  ".join(f"{t:.3f}" for t in times)
            print(f"{family.__name__:>9} eps {epsilon}: {seconds}   per doubling: {ratios}")


def a_million_rows() -> None:
    rows, max_count = 1_000_000, 100
    counts = np.minimum(np.random.default_rng(0).negative_binomial(1, 0.1, rows), max_count)
    print(f"\n{rows:,} rows, n = {max_count + 1}, epsilon = 1")
    ours = best_time(lambda: holdfast.privatize(counts, epsilon=1, max_count=max_count), 2)
    measurement, _ = laplace_measurement(exact_epsilon(1))
    values = counts.tolist()
    peer = best_time(lambda: measurement(values), 1)
    print(
        f"privatize an array: {ours:.3f} s; OpenDP's vector discrete Laplace on the same "
        f"counts: {peer:.2f} s; ratio {peer / ours:.1f}"
    )

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.csv"
        with open(source, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["place", "n"])
            writer.writerows(enumerate(values))
        number = iter(range(99))

        def whole() -> None:
            release = holdfast.privatize(source, epsilon=1, max_count=max_count, count="n")
            release.save(Path(folder) / f"out{next(number)}")

        def copy() -> None:
            with open(source, newline="") as file:
                lines = list(csv.reader(file))
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(lines)
            (Path(folder) / "copy.csv").write_text(text.getvalue())

        privatized, copied = best_time(whole, 2), best_time(copy, 2)
        print(
            f"CSV in, bundle out: {privatized:.2f} s; reading and writing the same CSV with the "
            f"csv module and nothing in between: {copied:.2f} s; ratio {privatized / copied:.1f}"
        )


if __name__ == "__main__":
    heuristic_against_the_printed_algorithm()
    growth_of_the_representation()
    a_million_rows()
