"""Target distributions that the tests share."""

import numpy as np
from scipy.stats import binom

SELECTORS = ("max", "min", "sandwich")


def binomial(n: int) -> np.ndarray:
    z = 0.999 * binom.pmf(np.arange(n), n - 1, 0.5) + 0.001 / n
    return z / z.sum()


def hump(n: int) -> np.ndarray:
    z = np.exp(-0.5 * ((np.log(1 + np.arange(n)) - np.log(n / 3)) / 0.7) ** 2) + 1e-4
    return z / z.sum()


def powerlaw(n: int) -> np.ndarray:
    z = (1.0 + np.arange(n)) ** -1.6 + 1e-4
    return z / z.sum()


def sparse(n: int, seed: int = 0) -> np.ndarray:
    """A Dirichlet(0.1) draw in which about a third of the entries are exactly zero."""
    rng = np.random.default_rng([n, seed])
    z = rng.dirichlet(np.full(n, 0.1)) * (rng.random(n) > 0.3)
    z[rng.integers(n)] += 1e-3
    return z / z.sum()


def plateaus(n: int) -> np.ndarray:
    """Long runs of equal shares, as isotonic regression makes them; ties up to one ulp."""
    z = np.repeat(np.random.default_rng(n).dirichlet(np.ones(n // 10 + 1)), 10)[:n]
    z = z / z.sum()
    return z / z.sum()


FAMILIES = {f.__name__: f for f in (binomial, hump, powerlaw, sparse, plateaus)}
