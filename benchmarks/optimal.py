"""How fast `Optimal` is, beside HiGHS on the same linear program in the same run.

PYTHONPATH=tests/helpers python benchmarks/optimal.py [--highs 600] [--quick] [--only hump 501 0.5]

n = 81 and 201 beside HiGHS, which gets a minute a method, then `Optimal` alone up to n = 1001;
with --highs, HiGHS gets that many seconds at n = 501 and 1001 too. --quick stops after n = 81;
--only runs a single case.

Every figure is wall time in a process of its own, after a warm-up that compiles: the least of as
many runs as fit in two seconds, at most five. HiGHS works to the tolerance of `LinearProgram`,
1e-10, and is also timed at its own, 1e-7.
"""

import argparse
import multiprocessing
import os
import resource
import time
from typing import Any

import numpy as np

from families import binomial, hump, powerlaw
from holdfast.constructors import LinearProgram, Optimal

FAMILIES = {"binomial": binomial, "hump": hump, "powerlaw": powerlaw}
CASES = [("binomial", 0.5), ("hump", 0.5), ("powerlaw", 0.5), ("hump", 2)]
METHODS = ("simplex", "interior-point")
LARGE = [("binomial", 0.5), ("hump", 0.5)]


def solver(name: str) -> Any:
    if name == "Optimal":
        return Optimal()
    method, _, tolerance = name.partition(" at ")
    return LinearProgram(method=method, tolerance=float(tolerance or 1e-10))


def measure(name: str, family: str, n: int, epsilon: float, result: Any) -> None:
    solver(name)(binomial(12), epsilon=epsilon)
    times: list[float] = []
    while sum(times) < 2 and len(times) < 5:
        start = time.perf_counter()
        try:
            found = solver(name)(FAMILIES[family](n), epsilon=epsilon)
            outcome = f"{found.count_error:.6f} gap {found.gap:.0e}"
        except ValueError as error:
            outcome = f"failed: {str(error)[:120]}"
        times.append(time.perf_counter() - start)
    seconds = min(times)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    result.put((seconds, outcome, memory))


def timed(name: str, family: str, n: int, epsilon: float, limit: float) -> tuple[float, str, float]:
    context = multiprocessing.get_context("spawn")
    result = context.Queue()
    process = context.Process(target=measure, args=(name, family, n, epsilon, result))
    process.start()
    try:
        return result.get(timeout=limit)
    except Exception:
        return float("inf"), f"not done after {limit:.0f} s", 0.0
    finally:
        process.terminate()
        process.join()


def beside_highs(n: int, family: str, epsilon: float, limit: float) -> float:
    ours, outcome, memory = timed("Optimal", family, n, epsilon, 600)
    print(f"n {n:4d}  {family:8s} ε {epsilon:<4g} {ours:7.2f} s  {memory:.2f} GB  {outcome}")
    if limit > 0:
        for methods in (METHODS, [f"{method} at 1e-7" for method in METHODS]):
            compare({m: timed(m, family, n, epsilon, limit) for m in methods}, ours)
    return ours


def compare(peers: dict[str, tuple[float, str, float]], ours: float) -> None:
    for method, (seconds, theirs, _) in peers.items():
        print(f"{'HiGHS ' + method:>30s} {seconds:7.2f} s  {seconds / ours:5.0f} x  {theirs}")
    solved = [seconds for seconds, theirs, _ in peers.values() if theirs[0].isdigit()]
    verdict = f"{min(solved) / ours:15.0f} x" if solved else "neither found the optimum"
    print(f"{'the better of them':>30s} {verdict}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--highs", type=float, default=0, help="seconds for HiGHS at n >= 501")
    parser.add_argument("--quick", action="store_true", help="n = 81 alone")
    parser.add_argument("--only", nargs=3, metavar=("FAMILY", "N", "EPSILON"), help="one case")
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as many as HiGHS's simplex uses
    if options.only:
        family, n, epsilon = options.only
        beside_highs(int(n), family, float(epsilon), options.highs or 60)
        return
    for n in (81,) if options.quick else (81, 201):
        for family, epsilon in CASES:
            beside_highs(n, family, epsilon, 60)
    if options.quick:
        return
    for family, epsilon in LARGE:
        sizes = (126, 251, 501, 1001)
        seconds = [beside_highs(n, family, epsilon, options.highs * (n > 500)) for n in sizes]
        growth = np.array(seconds[1:]) / seconds[:-1]
        print(f"growth from n to 2n, {family}: " + ", ".join(f"{g:.1f} x" for g in growth))


if __name__ == "__main__":
    main()
