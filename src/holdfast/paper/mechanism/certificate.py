"""What integer weights prove of their privacy: exact comparisons of all adjacent rows.

Two counts i and k > i are k - i neighbouring steps apart, so what is proved of adjacent rows holds
with (k - i) ε for every pair.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, exact_sum
from holdfast.errors import CertificateError
from holdfast.privacy.rational import exp_below

TOTAL = 1 << 62
"""What every row of weights adds up to."""
BLOCK = 1 << 19  # pairs that are compared at once
ROUNDING = 1e-14  # relative; two floats further apart are in the order of the ratios they stand for
SURE = 2.0**-40  # floats of two weights and of e^ε decide a sign beyond this, and never wrongly
Words = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What the weights of a mechanism prove, and where."""

    epsilon: Fraction
    """Proved, rounded up; never above what was declared."""
    delta: Fraction = Fraction(0)
    """Proved at the declared epsilon, rounded up; never above what was declared."""
    worst: tuple[int, int, int, int] | None = None
    """The largest ratio as (numerator, denominator, row, column), the other row being the next;
    row and column are -1 where all rows are alike. None with a delta, where no ratio decides."""


def certify(weights: Integers, epsilon: Fraction, delta: Fraction) -> Certificate:
    """The certificate of these weights for (ε, δ); raises where they prove less.

    With p/q the largest ratio of two weights of a column in adjacent rows, p/q <= e^ε is checked
    against a rational lower bound of e^ε. With a δ it is the hockey-stick divergence of adjacent
    rows, both ways. No float decides anything.
    """
    if (weights < 0).any():
        raise CertificateError("a weight is negative.")
    # a row of corrupt 64-bit weights could wrap around, which the sum of floats tells
    fits = weights.sum(axis=1, dtype=np.float64) < 2.0 * TOTAL
    wrong = np.flatnonzero(~fits | (weights.sum(axis=1) != TOTAL))
    if len(wrong):
        raise CertificateError(f"the weights of row {wrong[0]} do not add up to 2^62.")
    if delta:
        proved, row = hockey_stick(pairwise(weights), epsilon, total=TOTAL)
        if proved > delta:
            raise CertificateError(
                f"inputs {row} and {row + 1} are told apart by more than epsilon = {epsilon} with "
                f"a probability above delta = {delta}."
            )
        return Certificate(epsilon=epsilon, delta=proved)
    worst = top, bottom, row, column = worst_ratio(weights)
    if bottom == 0:
        held, lost = (row, row + 1) if weights[row, column] else (row + 1, row)
        raise CertificateError(
            f"output {column} is possible for input {held} and impossible for input {lost}."
        )
    ratio = Fraction(top, bottom)
    if ratio > exp_below(epsilon):
        raise CertificateError(
            f"output {column} tells inputs {row} and {row + 1} apart by more than "
            f"epsilon = {epsilon}."
        )
    return Certificate(epsilon=min(log_above(ratio), epsilon), worst=worst)


def worst_ratio(weights: Integers) -> tuple[int, int, int, int]:
    """The largest ratio of two vertical neighbours, exactly: (numerator, denominator, row, column).

    The denominator is 0 where a positive weight meets a zero. Floats only leave out what is smaller
    beyond their rounding; the rest is compared in products of 128 bits.

    >>> worst_ratio(np.array([[3, 1], [2, 2]]))
    (2, 1, 0, 1)
    """
    n = weights.shape[1]
    best, place = (1, 1), (-1, -1)
    for first in range(0, len(weights) - 1, max(BLOCK // n, 1)):
        part = weights[first : first + max(BLOCK // n, 1) + 1]
        upper, lower = part[:-1].ravel(), part[1:].ravel()
        a = np.maximum(upper, lower).view(np.uint64)
        b = np.minimum(upper, lower).view(np.uint64)
        lost = np.flatnonzero((b == 0) & (a > 0))
        if len(lost):
            row, column = divmod(int(lost[0]), n)
            return int(a[lost[0]]), 0, first + row, column
        nearly = best[0] / best[1] * (1 - ROUNDING)
        at = np.flatnonzero(a.astype(np.float64) > nearly * b.astype(np.float64))
        at = at[_above(a[at], b[at], best)]
        while len(at):
            k = at[len(at) // 2]
            best, (row, column) = (int(a[k]), int(b[k])), divmod(int(k), n)
            place = first + row, column
            at = at[_above(a[at], b[at], best)]
    return *best, *place


def _above(a: Words, b: Words, ratio: tuple[int, int]) -> NDArray[np.bool_]:
    """Whether a/b > p/q, exactly, entry by entry."""
    p, q = (np.uint64(part) for part in ratio)
    (high, low), (other_high, other_low) = _product(a, q), _product(b, p)
    return np.asarray((high > other_high) | ((high == other_high) & (low > other_low)))


def _product(a: Words, b: np.uint64) -> tuple[Words, Words]:
    """The 128-bit products of 64-bit integers, as (high, low)."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & mask, a >> half, b & mask, b >> half
    low = a0 * b0
    middle = a1 * b0 + (low >> half)
    other = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> half) + (other >> half), (other << half) | (low & mask)


def hockey_stick(
    neighbours: Iterable[tuple[Integers, Integers]], epsilon: Fraction, *, total: int
) -> tuple[Fraction, int]:
    r"""The smallest delta for which these weights prove (ε, δ), and the row it is met at.

    The largest $\sum_j \max(K_{ij} - e^\epsilon K_{i'j}, 0) / M$ over adjacent rows i, i' in
    both orders, with a rational lower bound in place of $e^\epsilon$, so that it is rounded up.
    Floats only tell the sign of terms that they cannot get wrong; every sum is of integers.
    `neighbours` are rows 0 and 1, 1 and 2, ...; columns in which both have the same weight may be
    left out, since they add nothing. Every row must add up to M, the `total`.

    >>> hockey_stick([(np.array([6, 2]), np.array([2, 6]))], Fraction(0), total=8)
    (Fraction(1, 2), 0)
    """
    bound = exp_below(epsilon)
    worst, at = Fraction(0), 0
    for row, (upper, lower) in enumerate(neighbours):
        found = max(_excess(upper, lower, bound), _excess(lower, upper, bound))
        if found > worst:
            worst, at = found, row
    return worst / total, at


def _excess(first: Integers, second: Integers, bound: Fraction) -> Fraction:
    """Σ max(first - bound · second, 0), exactly."""
    a, b = first.astype(np.float64), float(bound) * second.astype(np.float64)
    sure = a - b > SURE * a
    unsure = np.flatnonzero(~sure & (a - b >= -SURE * a) & (first > 0))
    excess = exact_sum(first[sure]) - bound * exact_sum(second[sure])
    for j in unsure:
        excess += max(int(first[j]) - bound * int(second[j]), Fraction(0))
    return excess


@lru_cache(maxsize=1 << 14)  # a certificate is repeated for every sampler
def log_above(ratio: Fraction) -> Fraction:
    """A rational not below ln(ratio), for ratio >= 1, and close to it.

    >>> log_above(Fraction(1))
    Fraction(0, 1)
    >>> bound = log_above(Fraction(2))
    >>> exp_below(bound) >= 2, float(bound) - 0.6931471805599453 < 1e-15
    (True, True)
    """
    if ratio < 1:
        raise ValueError("log_above takes a ratio of at least 1")
    if ratio == 1:
        return Fraction(0)
    guess = (
        math.log(ratio.numerator) - math.log(ratio.denominator)
        if ratio > 2
        else (math.log1p(float(ratio - 1)))
    )
    bound = max(guess, 0.0)
    while exp_below(Fraction(bound)) < ratio:
        bound = math.nextafter(bound, math.inf)
    return Fraction(bound)
