"""The optimum in exact rational arithmetic, written from the theorem and not from the code."""

from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
from scipy.optimize import linprog

Law = list[Fraction]


def exact_kernel(z: Law, w: Law, decay: Fraction, delta: Fraction = Fraction(0)) -> list[Law]:
    """T with zT = w: the differences of the curves through the cumulative sums of w."""
    curves = [[Fraction(0)] * len(z)]
    for b in range(len(w)):
        curves.append(curve_through(z, sum(w[: b + 1], Fraction(0)), decay, delta))
    return [[later[i] - before[i] for before, later in pairwise(curves)] for i in range(len(z))]


def steepest_fall(s: Fraction, decay: Fraction, delta: Fraction) -> Fraction:
    """F(s): the least that P(A | i+1) can be where P(A | i) is s."""
    return max(Fraction(0), decay * (s - delta), 1 - delta - (1 - s) / decay)


def curve_through(z: Law, level: Fraction, decay: Fraction, delta: Fraction) -> Law:
    """The one curve S with z·S = level."""
    if level in (0, 1):
        return [level] * len(z)
    for low, high in pairwise(knots(len(z), decay, delta)):
        below, above = [dot(z, curve(*knot, len(z), decay, delta)) for knot in (low, high)]
        if below <= level <= above and below < above:
            part = (level - below) / (above - below)
            ends = [curve(*knot, len(z), decay, delta) for knot in (low, high)]
            return [a + part * (b - a) for a, b in zip(*ends, strict=True)]
    return [Fraction(0)] * len(z)


@cache
def knots(n: int, decay: Fraction, delta: Fraction) -> list[tuple[int, Fraction]]:
    """Curves (m, S(m)) in their order, such that between two of them S is linear.

    A curve starts at 1, falls to S(m) < 1 at row m, and from there as F says. It bends where a
    later row meets a kink of F, so all heights are listed that lead to one.
    """
    kinks = {
        (1 + decay * delta) / (1 + decay),
        delta,
        Fraction(1) - delta,
        Fraction(0),
        Fraction(1),
    }
    heights = set(kinks)
    for _ in range(n):
        heights |= {h for s in heights for h in inverses(s, decay, delta)}
    found, ordered = [], sorted(heights)
    for m in range(n):
        least = Fraction(0) if m == 0 else 1 - delta
        found += [(m, h) for h in ordered if least <= h <= 1]
    return found


def inverses(s: Fraction, decay: Fraction, delta: Fraction) -> list[Fraction]:
    candidates = [s / decay + delta, 1 - (1 - delta - s) * decay]
    return [c for c in candidates if 0 <= c <= 1 and steepest_fall(c, decay, delta) == s]


def curve(m: int, height: Fraction, n: int, decay: Fraction, delta: Fraction) -> Law:
    values = [Fraction(1)] * m + [height]
    while len(values) < n:
        values.append(steepest_fall(values[-1], decay, delta))
    return values


def dot(a: Law, b: Law) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def certified_bound(z: Law, w: Law, costs: list[Law], decay: Fraction) -> Fraction:
    """A number that no ε-private kernel from z to w costs less than, proved in rationals.

    For multipliers y of the rows and v of the columns, any T in F costs at least
    y·1 + v·w + Σ_j min over t of (W_j - y - v_j z)·t, and a column t with entries up to 1 is a sum
    of scales with weights up to n in all. HiGHS only proposes y and v.
    """
    n = len(z)
    y, v = proposed_multipliers(z, w, costs, decay)
    total = sum(y, Fraction(0)) + dot(v, w)
    for j in range(n):
        reduced = [costs[i][j] - y[i] - v[j] * z[i] for i in range(n)]
        total += n * min(Fraction(0), min(dot(reduced, s) for s in scales(n, decay)))
    return total


@cache
def scales(n: int, decay: Fraction) -> list[Law]:
    """All 2^(n-1) scales: columns in which every step is as steep as privacy allows."""
    found = [[Fraction(1)]]
    for _ in range(n - 1):
        found = [[*s, s[-1] * step] for s in found for step in (decay, 1 / decay)]
    return [[value / max(s) for value in s] for s in found]


def proposed_multipliers(z: Law, w: Law, costs: list[Law], decay: Fraction) -> tuple[Law, Law]:
    found = solved(z, w, costs, decay)
    y = [Fraction(float(m)).limit_denominator(10**12) for m in found.eqlin.marginals]
    return y[: len(z)], y[len(z) :]


def solved(z: Law, w: Law, costs: list[Law], decay: Fraction, delta: Fraction = Fraction(0)):
    """HiGHS's solution of the linear program, with the hockey-stick constraints for a delta."""
    n = len(z)
    pairs = [(i, k) for i in range(n) for k in (i - 1, i + 1) if 0 <= k < n]
    width = n * n + (len(pairs) * n if delta else 0)  # and max(T_ij - e^ε T_kj, 0) of every pair
    rows, limits = [], []
    for p, (i, k) in enumerate(pairs):
        for j in range(n):
            row = np.zeros(width)
            row[i * n + j], row[k * n + j] = 1, -1 / float(decay)
            if delta:
                row[n * n + p * n + j] = -1
            rows.append(row)
            limits.append(0.0)
        if delta:
            row = np.zeros(width)
            row[n * n + p * n : n * n + (p + 1) * n] = 1
            rows.append(row)
            limits.append(float(delta))
    sums = np.zeros((2 * n, width))
    for i in range(n):
        sums[i, i * n : (i + 1) * n] = 1
        sums[n + i, i : n * n : n] = np.array(z, dtype=float)
    cost = np.zeros(width)
    cost[: n * n] = np.array(costs, dtype=float).ravel()
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(
        cost,
        A_ub=np.array(rows) if rows else None,
        b_ub=limits or None,
        A_eq=sums,
        b_eq=np.array([1.0] * n + [float(share) for share in w]),
        method="highs-ds",
        options=options,
    )
