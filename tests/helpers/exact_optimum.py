"""The optimum over F in exact rational arithmetic, by the simplex method over scales."""

from fractions import Fraction
from itertools import product

import numpy as np

from holdfast.privacy.rational import exp_below


def scales(n: int, growth: Fraction) -> list[list[Fraction]]:
    """All 2^(n-1) scales, with entry 0 equal to 1."""
    found = []
    for steps in product((growth, 1 / growth), repeat=n - 1):
        scale = [Fraction(1)]
        for step in steps:
            scale.append(scale[-1] * step)
        found.append(scale)
    return found


def exact_optimum(weights: np.ndarray, z: np.ndarray, epsilon: Fraction) -> Fraction:
    """The least <W, T> over F, not below the true one and within about 1e-60 of it.

    F is taken for a rational just below e^ε, so it is very slightly too small.
    """
    n, live = len(z), np.flatnonzero(z)
    share = [Fraction(float(v)) for v in z]
    cost = [[Fraction(float(v)) for v in row] for row in weights]
    columns, costs = [], []
    for s in scales(n, exp_below(epsilon)):
        size = sum(a * b for a, b in zip(share, s, strict=True))
        for c, j in enumerate(live):
            # the last column constraint follows from the others
            columns.append(s + [size if d == c else Fraction(0) for d in range(len(live) - 1)])
            costs.append(sum(cost[i][j] * s[i] for i in range(n)))
    # z as floats need not sum to 1: the row sums follow from the columns only if it does
    right = [Fraction(1)] * n + [share[j] for j in live[:-1]]
    return simplex(columns, right, costs)


def simplex(
    columns: list[list[Fraction]], right: list[Fraction], costs: list[Fraction]
) -> Fraction:
    """min costs · b over columns b = right, b >= 0, with Bland's rule; right must be >= 0."""
    m = len(right)
    units = [[Fraction(int(i == k)) for i in range(m)] for k in range(m)]
    rows = [[c[i] for c in columns + units] + [right[i]] for i in range(m)]
    basis = list(range(len(columns), len(columns) + m))
    first = [Fraction(0)] * len(columns) + [Fraction(1)] * m
    rest = _improve(rows, basis, first, len(columns) + m)
    assert rest == 0, "the exact linear program has no solution"
    second = costs + [Fraction(0)] * m
    return _improve(rows, basis, second, len(columns))


def _improve(
    rows: list[list[Fraction]], basis: list[int], costs: list[Fraction], usable: int
) -> Fraction:
    while True:
        entering = next(
            (
                j
                for j in range(usable)
                if j not in basis
                and costs[j] < sum(costs[b] * row[j] for b, row in zip(basis, rows, strict=True))
            ),
            None,
        )
        if entering is None:
            return sum(
                (costs[b] * row[-1] for b, row in zip(basis, rows, strict=True)), Fraction(0)
            )
        ratios = [
            (row[-1] / row[entering], basis[i], i)
            for i, row in enumerate(rows)
            if row[entering] > 0
        ]
        leaving = min(ratios)[2]
        pivot = rows[leaving][entering]
        rows[leaving] = [v / pivot for v in rows[leaving]]
        for i, row in enumerate(rows):
            if i != leaving and row[entering] != 0:
                factor = row[entering]
                rows[i] = [a - factor * b for a, b in zip(row, rows[leaving], strict=True)]
        basis[leaving] = entering
