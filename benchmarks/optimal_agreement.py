"""How often `Optimal` reaches its gap, and whether it agrees with the linear program.

python benchmarks/optimal_agreement.py              200 random instances, n <= 25
python benchmarks/optimal_agreement.py 51 81 201    the families at these n, all ε, both errors
"""

import sys
import time
from collections import Counter

import numpy as np
from test_optimal import random_error, random_target

from families import binomial, hump, powerlaw
from holdfast.constructors import LinearProgram, Optimal
from holdfast.errors import HoldfastError

EPSILONS = (0.05, 0.1, 0.5, 1, 2, 5)


def random_instances(number: int = 200) -> None:
    outcome = Counter()
    for seed in range(number):
        rng = np.random.default_rng([25, seed])
        z = random_target(rng, int(rng.integers(2, 26)))
        error, epsilon = random_error(rng, z), float(rng.choice(EPSILONS))
        found = Optimal(error=error)(z, epsilon=epsilon)
        try:
            solved = LinearProgram(error=error)(z, epsilon=epsilon)
        except HoldfastError:
            outcome["HiGHS failed"] += 1
            continue
        size = abs(solved.count_error) + 1e-9
        difference = (found.count_error - solved.count_error) / size
        outcome["agree to 1e-6"] += abs(difference) <= 1e-6
        outcome["the linear program is worse by more"] += difference < -1e-6
        outcome["Optimal is worse by more"] += difference > 1e-6
        outcome["gap not reached"] += found.gap > 1e-6
        outcome["bound above the linear program"] += found.lower_bound > solved.count_error
        # what is sampled: the certified integers
        excess = found.mechanism.count_error(z, error) - found.count_error
        outcome["certified within 0.1 %"] += excess <= 1e-3 * abs(found.count_error) + 1e-9
    print(f"{number} random instances:", dict(outcome))


def families(n: int) -> None:
    reached, cases, start, worst = 0, 0, time.perf_counter(), 0.0
    for family in (binomial, hump, powerlaw):
        for epsilon in EPSILONS:
            for error in ("absolute", "squared"):
                found = Optimal(error=error)(family(n), epsilon=epsilon)
                cases, reached = cases + 1, reached + (found.gap <= 1e-6)
                sampled = found.mechanism.count_error(found.target, error)
                worst = max(worst, sampled / found.count_error - 1)
    seconds = time.perf_counter() - start
    print(
        f"n {n}: gap <= 1e-6 in {reached} of {cases}, {seconds / cases:.2f} s each with the "
        f"certificate; certified count error at most {worst:.1e} higher",
        flush=True,
    )


if __name__ == "__main__":
    sizes = [int(n) for n in sys.argv[1:]]
    if not sizes:
        random_instances()
    for n in sizes:
        families(n)
