"""The baselines' analytic matrices against draws of independent samplers, by chi-square.

The geometric and the Gaussian noise come from OpenDP, the staircase from the algorithm that Geng
et al. give for sampling it. Every row of the matrix is compared with the same noise, added and
clamped; the smallest p-value is multiplied by the number of rows. A wrong matrix (its noise 1 %
wider) is compared as well, and must fail. Prints one line a baseline and budget.

    python benchmarks/baseline_laws.py [DRAWS]
"""

import math
import sys
import time
from fractions import Fraction

import numpy as np
from scipy.stats import chi2

from holdfast.paper.constructors.baselines import (
    DiscreteGaussian,
    Staircase,
    TruncatedGeometric,
    clamped_noise,
)
from holdfast.paper.constructors.baselines import _gaussian as gaussian_noise
from holdfast.paper.privatizers.gaussian import smallest_scale

N, DELTA = 21, Fraction(1, 2198)


def p_value(observed: np.ndarray, law: np.ndarray) -> float:
    """Pearson's chi-square, with outputs expected below 20 times joined."""
    expected = law / law.sum() * observed.sum()
    order = np.argsort(expected)
    _, group = np.unique(np.cumsum(expected[order]) // 20, return_inverse=True)
    o, e = np.bincount(group, observed[order]), np.bincount(group, expected[order])
    return float(chi2.sf(((o - e) ** 2 / e).sum(), max(len(o) - 1, 1)))


def worst_p(matrix: np.ndarray, noise: np.ndarray) -> float:
    """The smallest p-value over the rows, times their number."""
    n = len(matrix)
    rows = (
        p_value(np.bincount(np.clip(i + noise, 0, n - 1), minlength=n).astype(float), matrix[i])
        for i in range(n)
    )
    return min(1.0, n * min(rows))


def opendp_laplace(epsilon: float, draws: int) -> np.ndarray:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return np.array(dp.m.make_laplace(*space, scale=1 / epsilon)([0] * draws))


def opendp_gaussian(sigma: float, draws: int) -> np.ndarray:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    return np.array(dp.m.make_gaussian(*space, scale=sigma)([0] * draws))


def geng_staircase(epsilon: float, gamma: float, draws: int, seed: int = 1) -> np.ndarray:
    """S ((1 - B)(G + γU) + B(G + γ + (1 - γ)U)), rounded to the nearest whole number."""
    rng, b = np.random.default_rng(seed), math.exp(-epsilon)
    sign = rng.choice([-1, 1], draws)
    step = rng.geometric(1 - b, draws) - 1
    inside = rng.random(draws)
    outer = rng.random(draws) < (1 - gamma) * b / (gamma + (1 - gamma) * b)
    amount = np.where(outer, gamma + (1 - gamma) * inside, gamma * inside)
    return np.rint(sign * (step + amount)).astype(np.int64)


def cases(epsilon: float, draws: int):
    """(name, matrix, the same 1 % wider, noise)."""
    z = np.full(N, 1 / N)
    yield (
        "TruncatedGeometric, OpenDP",
        TruncatedGeometric()(z, epsilon=epsilon).matrix,
        TruncatedGeometric()(z, epsilon=epsilon / 1.01).matrix,
        opendp_laplace(epsilon, draws),
    )
    gamma = 1 / (1 + math.exp(epsilon / 2))
    yield (
        "Staircase, Geng et al.",
        Staircase()(z, epsilon=epsilon).matrix,
        Staircase(gamma=gamma)(z, epsilon=epsilon / 1.01).matrix,
        geng_staircase(epsilon, gamma, draws),
    )
    sigma = smallest_scale(Fraction(repr(epsilon)), DELTA)
    yield (
        "DiscreteGaussian, OpenDP",
        DiscreteGaussian(rows=2197)(z, epsilon=epsilon).matrix,
        clamped_noise(*gaussian_noise(1.01 * sigma, N)),
        opendp_gaussian(sigma, draws),
    )


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{draws:,} draws, n = {N}, delta = 1/2198")
    print(f"{'baseline, sampler':30} {'epsilon':>8} {'p':>10} {'p if 1 % off':>13} {'seconds':>8}")
    for epsilon in (0.1, 0.5, 2.0):
        start = time.perf_counter()
        for name, matrix, wrong, noise in cases(epsilon, draws):
            p, q = worst_p(matrix, noise), worst_p(wrong, noise)
            took = time.perf_counter() - start
            print(f"{name:30} {epsilon:8} {p:10.3g} {q:13.3g} {took:8.1f}", flush=True)
            start = time.perf_counter()


if __name__ == "__main__":
    main()
