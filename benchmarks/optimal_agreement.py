"""Whether the closed form is feasible and optimal, in exact rationals and against linear programs.

PYTHONPATH=tests/helpers:tests/constructors python benchmarks/optimal_agreement.py [--cases 500]

Random z and w with zeros and ties, n <= 8, half of them with w different from z, e^-ε rational.
Feasibility is exact. Optimality is proved, for three errors a case, by a dual bound that is
evaluated in rationals (`closed_form.certified_bound`); with a delta by HiGHS alone. Each case is
also given to the code, whose matrix must be that of the theorem.
"""

import argparse
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
from test_optimal import convex_errors, random_law, weighed

from closed_form import certified_bound, dot, exact_kernel, solved
from holdfast.former.constructors import Optimal


def is_feasible(kernel: list, z: list, w: list, decay: Fraction, delta: Fraction) -> bool:
    if not all(sum(row) == 1 and min(row) >= 0 for row in kernel):
        return False
    if [dot(z, [row[j] for row in kernel]) for j in range(len(z))] != w:
        return False
    for a, b in pairwise(kernel):
        for first, second in ((a, b), (b, a)):
            excess = (x - y / decay for x, y in zip(first, second, strict=True))
            if sum(max(part, Fraction(0)) for part in excess) > delta:
                return False
    return True


def one(seed: int, with_delta: bool) -> dict[str, float]:
    rng = np.random.default_rng([2026, with_delta, seed])
    n = int(rng.integers(1 + with_delta, 9))
    z = random_law(rng, n)
    w = z if seed % 2 else random_law(rng, n)
    decay = Fraction(int(rng.integers(1, 24)), 24)
    delta = Fraction(int(rng.integers(1, 20)), 200) if with_delta else Fraction(0)
    delta = min(delta, Fraction(9, 10) * (1 / decay - 1))
    kernel = exact_kernel(z, w, decay, delta)
    gaps = {}
    for name, costs in convex_errors(n).items():
        weights = weighed(z, costs)
        cost = sum(dot(*rows) for rows in zip(weights, kernel, strict=True))
        if with_delta:
            gaps[name] = float(cost) - solved(z, w, weights, decay, delta).fun
        else:
            gaps[name] = float(cost - certified_bound(z, w, weights, decay))
    epsilon = -math.log(decay)
    found = Optimal(target=[float(share) for share in w], delta=float(delta))(
        [float(share) for share in z], epsilon=Fraction(epsilon)
    )
    apart = np.abs(found.matrix - np.array(kernel, dtype=float)).max()
    return {
        "feasible": float(is_feasible(kernel, z, w, decay, delta)),
        "gap": max(abs(gap) for gap in gaps.values()),
        "code": float(apart),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--delta-cases", type=int, default=100)
    options = parser.parse_args()
    for with_delta, number in ((False, options.cases), (True, options.delta_cases)):
        found = [one(seed, with_delta) for seed in range(number)]
        outcome = Counter(feasible=int(sum(f["feasible"] for f in found)))
        print(
            f"{'with a delta' if with_delta else 'pure'}: {number} cases, {dict(outcome)}, three "
            f"errors each within {max(f['gap'] for f in found):.1e} of the proved optimum; the "
            f"code's matrix within {max(f['code'] for f in found):.1e} of the theorem's",
            flush=True,
        )


if __name__ == "__main__":
    main()
