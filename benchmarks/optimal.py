"""How fast the closed form is: beside HiGHS, from n = 10^3 to 10^6, and on a new machine.

PYTHONPATH=tests/helpers python benchmarks/optimal.py [--highs 60] [--only PART ...]

highs    n = 81: `Optimal` beside the better of HiGHS's two methods, which get a minute each
growth   build, certificate, draws and peak memory, a process a size, to n = 10^6
first    `holdfast privatize` of the demo table: with an empty compilation cache, and again
grid     families x n x epsilon: certified, share of epsilon used, fixed point, certified error
"""

import argparse
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import holdfast.former as holdfast
from families import binomial, hump, powerlaw, sparse
from holdfast.former.constructors import LinearProgram, Optimal

FAMILIES = {family.__name__: family for family in (binomial, hump, powerlaw, sparse)}
CASES = [("binomial", 0.5), ("hump", 0.5), ("powerlaw", 0.5), ("hump", 2)]
SIZES = (1000, 10_000, 100_000, 250_000, 500_000, 1_000_000)
DRAWS = 4_000_000


def least(work: Callable[[], Any], times: int = 5) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def in_a_process(work: Callable[..., None], *arguments: Any, limit: float = 600) -> Any:
    context = multiprocessing.get_context("spawn")
    result = context.Queue()
    process = context.Process(target=work, args=(*arguments, result))
    process.start()
    try:
        return result.get(timeout=limit)
    except Exception:
        return None
    finally:
        process.terminate()
        process.join()


def solve(method: str, family: str, n: int, epsilon: float, result: Any) -> None:
    program, z = LinearProgram(method=method), FAMILIES[family](n)
    program(binomial(12), epsilon=epsilon)
    start = time.perf_counter()
    try:
        outcome = program(z, epsilon=epsilon).count_error
    except holdfast.HoldfastError:
        outcome = None
    result.put((time.perf_counter() - start, outcome))


def beside_highs(limit: float, n: int = 81) -> None:
    print(f"n = {n}: Optimal beside HiGHS")
    for family, epsilon in CASES:
        z = FAMILIES[family](n)
        best = Optimal()(z, epsilon=epsilon)
        ours = least(lambda z=z, e=epsilon: Optimal()(z, epsilon=e), 20)
        print(f"  {family:8} ε {epsilon:<4} {best.count_error:.6f} in {1000 * ours:.2f} ms")
        solved = []
        for method in ("simplex", "interior-point"):
            found = in_a_process(solve, method, family, n, epsilon, limit=limit)
            if found is None or found[1] is None:
                print(f"    HiGHS {method:15} no answer in {limit:.0f} s")
                continue
            solved.append(found[0])
            above = found[1] / best.count_error - 1
            print(f"    HiGHS {method:15} {found[0]:8.2f} s  {above:.0e} above the closed form")
        if solved:
            print(f"    {min(solved) / ours:,.0f} times the speed of the better")


def long_range(n: int, epsilon: float, result: Any) -> None:
    Optimal()(hump(3000), epsilon=epsilon).mechanism.sample([1, 2])  # compiles
    z = hump(n)
    build = least(lambda: Optimal()(z, epsilon=epsilon), 2)
    found = Optimal()(z, epsilon=epsilon)
    start = time.perf_counter()
    mechanism = found.mechanism
    certify = time.perf_counter() - start
    counts = np.random.default_rng(1).choice(n, size=DRAWS, p=z)
    from holdfast.former.mechanism.sampling import Sampler
    from holdfast.former.privacy.randomness import SystemEntropy

    sampler = Sampler(mechanism)
    draws = DRAWS / least(lambda: sampler(counts, SystemEntropy()), 3)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    result.put((build, certify, draws, memory, found.count_error))


def growth(epsilon: float = 0.5) -> None:
    print(f"hump, ε = {epsilon}: seconds, millions of draws a second, peak memory")
    print(f"  {'n':>9} {'build':>8} {'certify':>8} {'draws':>7} {'GB':>5}  error    per doubling")
    before = None
    for n in (101, *SIZES):
        build, certify, draws, memory, error = in_a_process(long_range, n, epsilon)
        rate = ""
        if before is not None and before[0] >= 1000:
            doublings = np.log2(n / before[0])
            rate = " ".join(f"{(a / b) ** (1 / doublings):.2f}" for a, b in
                            ((build, before[1]), (certify, before[2])))  # fmt: skip
        print(
            f"  {n:>9,} {build:8.3f} {certify:8.3f} {draws / 1e6:7.1f} {memory:5.2f}  "
            f"{error:.6f} {rate}",
            flush=True,
        )
        before = n, build, certify


def first_use() -> None:
    table = Path(holdfast.__file__).parent / "data" / "county_homicides_1996.csv"
    with tempfile.TemporaryDirectory() as place:
        environment = os.environ | {"NUMBA_CACHE_DIR": f"{place}/cache"}
        for name in ("new machine", "again", "and again"):
            out = f"{place}/{name}"
            command = [sys.executable, "-m", "holdfast", "privatize", str(table), "--count",
                       "homicides", "--category", "county", "--max-count", "50", "--epsilon", "1",
                       "--keep-none", "--out", out]  # fmt: skip
            start = time.perf_counter()
            subprocess.run(command, check=True, env=environment, capture_output=True)
            print(f"  holdfast privatize, {name}: {time.perf_counter() - start:.1f} s")


def grid() -> None:
    worst = {"used": 1.0, "fixed point": 0.0, "error": 0.0, "cases": 0}
    for n in (1, 2, 3, 21, 201, 501, 2000, 20_000):
        for name, family in FAMILIES.items():
            for epsilon in ("0.01", "0.1", "0.5", "2", "5", "10"):
                found = Optimal()(family(n), epsilon=epsilon)
                mechanism, z = found.mechanism, found.target
                assert mechanism.certified_epsilon <= mechanism.epsilon, (n, name, epsilon)
                worst["cases"] += 1
                if np.count_nonzero(z) > 1:
                    used = float(mechanism.certified_epsilon / mechanism.epsilon)
                    worst["used"] = min(worst["used"], used)
                kept = np.abs(mechanism.integers.image(z) - z).max()
                worst["fixed point"] = max(worst["fixed point"], kept)
                if found.count_error > 0:
                    excess = abs(mechanism.count_error(z) / found.count_error - 1)
                    worst["error"] = max(worst["error"], excess)
        print(f"  up to n = {n:,}: " + ", ".join(f"{k} {v:.9g}" for k, v in worst.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--highs", type=float, default=60, help="seconds for each of its methods")
    parser.add_argument("--only", nargs="+", choices=("highs", "growth", "first", "grid"))
    options = parser.parse_args()
    parts = {"highs": lambda: beside_highs(options.highs), "growth": growth, "first": first_use,
             "grid": grid}  # fmt: skip
    for name, part in parts.items():
        if not options.only or name in options.only:
            part()


if __name__ == "__main__":
    main()
