"""Random exact elements of the polytopes, and the paper's worked examples."""

import random
from fractions import Fraction

import numpy as np

from holdfast.paper import theory

LN2 = theory.log(2)
THIRD = [Fraction(1, 3)] * 3
NAMES = ("F", "R_F", "U", "R_U")


def exact(rows):
    return np.array([[Fraction(value) for value in row.split()] for row in rows], dtype=object)


B1 = exact(["0 0 0", "1 0 2/3", "0 1 1/3", "0 0 0"])
B2 = exact(["0 0 14/30", "1 0 0", "0 1 2/30", "0 0 14/30"])
B3 = exact(["5/6 0 1/3", "0 0 0", "0 0 2/3", "1/6 1 0"])
B4 = exact(["7/6 0 0", "0 0 0", "2/3 0 0", "7/6 0 0"])
B5 = exact(["0 0 0", "5/3 0 0", "4/3 0 0", "0 0 0"])
B6 = exact(["7/6 0 0", "0 0 0", "0 0 2/3", "7/6 0 0"])


def random_z(rng: random.Random, n: int, zeros: bool = False) -> list[Fraction]:
    shares = [rng.randint(0 if zeros else 1, 30) for _ in range(n)]
    shares[rng.randrange(n)] += 1
    return [Fraction(share, sum(shares)) for share in shares]


def random_budget(rng: random.Random) -> theory.Log:
    return theory.log(rng.choice(["2", "3/2", "11/10", "5"]))


def peaked_extremes(rng: random.Random, n: int, epsilon) -> np.ndarray:
    """A random element of U: single-peaked scales, each split at random over the columns."""
    weights, scales = theory.peaked_weights(n, epsilon), theory.peaked_matrix(n, epsilon)
    matrix = theory.Decomposition(n=n, epsilon=epsilon, pieces=()).matrix()
    for peak in range(n):
        parts = random_z(rng, n, zeros=True)
        for j in range(n):
            matrix[:, j] += parts[j] * weights[peak] * scales[:, peak]
    return matrix


def element_of_u(rng: random.Random, n: int, epsilon) -> np.ndarray:
    """A random element of U that has scales of any pattern.

    Some of each column's random scales, and what is left of the rows as single-peaked ones:
    little enough is taken that the rest is private.
    """
    pieces = [
        (j, tuple(rng.choice((-1, 1)) for _ in range(n - 1)), Fraction(rng.randint(1, 9)))
        for j in range(n)
        for _ in range(2)
    ]
    taken = theory.Decomposition(n=n, epsilon=epsilon, pieces=tuple(pieces)).matrix()
    grow = epsilon.ratio
    # 1 - q v is private if q (grow v_high - v_low) <= grow - 1, and positive if q v < 1
    q = Fraction(1, 2) * (grow - 1) / (grow * taken.sum(axis=1).max())
    rest = 1 - q * taken.sum(axis=1)
    shares = random_z(rng, n, zeros=True)
    return q * taken + rest[:, None] * np.array(shares, dtype=object)


def mixed_with_f(rng: random.Random, extremes: list[np.ndarray], z) -> np.ndarray:
    """A random element of F: a mixture of given ones and of the matrix with all rows z."""
    parts = random_z(rng, len(extremes) + 1, zeros=True)
    constant = np.array([z] * len(z), dtype=object)
    return sum(p * t for p, t in zip(parts, [*extremes, constant], strict=True))


def error_weights(z, error):
    power = {"absolute": 1, "squared": 2}[error]
    n = len(z)
    return np.array([[z[i] * abs(i - j) ** power for j in range(n)] for i in range(n)])
