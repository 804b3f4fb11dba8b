"""Approximate privacy: delta as an exact number, and the exact certificate of (ε, δ)."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Integers, exact_sum
from holdfast.errors import CertificateError, HoldfastError
from holdfast.privacy.rational import exact_fraction, exp_below

SMALLEST_DELTA = Fraction(1, 10**12)
SURE = 2.0**-40  # floats of two weights and of e^ε decide a sign beyond this, and never wrongly


def exact_delta(delta: Any, *, least: Fraction | int = SMALLEST_DELTA) -> Fraction:
    """Delta as a Fraction, 0 for pure privacy; a float means the decimal that it prints as.

    `least` is the smallest that the arithmetic of a caller can tell from 0, here that of integer
    weights; with 0 every delta will do.

    >>> exact_delta("1e-6"), exact_delta(0)
    (Fraction(1, 1000000), Fraction(0, 1))
    """
    value = exact_fraction(delta, "delta")
    if value != 0 and not least <= value < 1:
        allowed = f"0, or from {float(least):g} to below 1" if least else "0 or more and below 1"
        raise HoldfastError(
            f"`delta` must be {allowed}, got {delta!s:.40}. "
            "Hint: well below one over the number of people; 1e-6 is usual."
        )
    return value


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


def certify_delta(
    neighbours: Iterable[tuple[Integers, Integers]],
    epsilon: Fraction,
    delta: Fraction,
    *,
    total: int,
) -> Fraction:
    """The smallest delta that these weights prove at `epsilon`; raises if above `delta`."""
    proved, row = hockey_stick(neighbours, epsilon, total=total)
    if proved > delta:
        raise CertificateError(
            f"inputs {row} and {row + 1} are told apart by more than epsilon = {epsilon} with a "
            f"probability above delta = {delta}."
        )
    return proved


def _excess(first: Integers, second: Integers, bound: Fraction) -> Fraction:
    """Σ max(first - bound · second, 0), exactly."""
    a, b = first.astype(np.float64), float(bound) * second.astype(np.float64)
    sure = a - b > SURE * a
    unsure = np.flatnonzero(~sure & (a - b >= -SURE * a) & (first > 0))
    excess = exact_sum(first[sure]) - bound * exact_sum(second[sure])
    for j in unsure:
        excess += max(int(first[j]) - bound * int(second[j]), Fraction(0))
    return excess
