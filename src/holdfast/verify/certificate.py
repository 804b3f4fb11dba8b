"""The exact certificate again: the worst ratio of the weights against e^ε, in integers."""

import math
import secrets
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.verify.record import Budget
from holdfast.verify.report import Damage
from holdfast.verify.weights import TOTAL, Columns

_BITS = 320
_BLOCK = 1 << 20  # weights looked at in one go
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
Place = tuple[Fraction, int, int, int]  # ratio, input, next input, output


def exp_from_below(x: Fraction) -> Fraction:
    """At most e^x, and closer to it than a part in 2^250, for 0 <= x <= 10.

    >>> 0 < Fraction(math.e) - exp_from_below(Fraction(1)) < Fraction(1, 2**51)
    False
    >>> abs(float(exp_from_below(Fraction(1))) - math.e) < 1e-15
    True
    """
    if not 0 <= x <= 10:
        raise ValueError("exp_from_below takes 0 <= x <= 10")
    one = 1 << _BITS
    term, total, k = one, one, 1
    while term:
        term = term * x.numerator // (x.denominator * k)  # cut off, so never above
        total += term
        k += 1
    return Fraction(total, one)


def check_certificate(columns: Columns, record: dict[str, Any], budget: Budget) -> str:
    """What the weights prove, against what the record says that they prove."""
    claim = record["certificate"]
    epsilon, delta = Fraction(claim["epsilon"]), Fraction(claim["delta"])
    certified = Fraction(claim["certified_epsilon"])
    if not epsilon > 0 or epsilon * budget.steps > budget.stage_2:
        raise Damage("the certificate's epsilon times steps is more than stage_2 was given.")
    if claim["row_total"] != str(TOTAL):
        raise Damage("the certificate's row_total is not 2^62.")
    if certified * budget.steps != budget.stage_2_certified:
        raise Damage("stage_2_certified is not the certificate's certified_epsilon times steps.")
    if Fraction(record.get("mechanism_delta", delta)) != delta:
        raise Damage("mechanism_delta is not the certificate's delta.")
    if certified > epsilon:
        raise Damage("the certificate's certified_epsilon is above its epsilon.")
    if delta:
        _check_no_ratio(claim, epsilon, certified)
        return _check_delta(columns, epsilon, delta, budget)
    return _check_pure(columns, claim, epsilon, certified)


def _check_pure(
    columns: Columns, claim: dict[str, Any], epsilon: Fraction, certified: Fraction
) -> str:
    _check_zeros(columns)
    ratio, i, k, j = worst_ratio(columns)
    if ratio > exp_from_below(epsilon):
        raise Damage(
            f"the certificate fails: output {j} tells inputs {min(i, k)} and {max(i, k)} apart "
            f"by more than epsilon = {epsilon}."
        )
    if ratio > exp_from_below(certified):
        raise Damage("the weights prove less than the certificate's certified_epsilon says.")
    if float(certified) - _log(ratio) > 1e-12:
        raise Damage("the certificate's certified_epsilon is not what these weights prove.")
    _check_place(columns, claim, ratio)
    return f"every ratio is at most e^{float(certified):.9g}, for a change of one"


def _check_no_ratio(claim: dict[str, Any], epsilon: Fraction, certified: Fraction) -> None:
    if certified != epsilon:
        raise Damage("with a delta the certificate's certified_epsilon must be its epsilon.")
    if any(claim[key] is not None for key in ("worst_ratio", "inputs", "output")):
        raise Damage("with a delta the certificate has no worst ratio.")


def _check_zeros(columns: Columns) -> None:
    for j, column in enumerate(columns):
        zero = column == 0
        if zero.any() and not zero.all():
            i = int(np.flatnonzero(zero[1:] != zero[:-1])[0])
            able, unable = (i + 1, i) if zero[i] else (i, i + 1)
            raise Damage(
                f"the certificate fails: output {j} is possible for input {able} "
                f"and impossible for input {unable}."
            )


def _check_place(columns: Columns, claim: dict[str, Any], ratio: Fraction) -> None:
    inputs, j, n = claim["inputs"], claim["output"], len(columns)
    if ratio == 1 and inputs is None and j is None and claim["worst_ratio"] == "1/1":
        return
    named = (
        type(j) is int
        and isinstance(inputs, list)
        and len(inputs) == 2
        and all(type(i) is int and 0 <= i < n for i in inputs)
        and 0 <= j < n
        and abs(inputs[0] - inputs[1]) == 1
    )
    if not named:
        raise Damage("the certificate does not name the inputs and the output of its worst ratio.")
    top, bottom = int(columns[j, inputs[0]]), int(columns[j, inputs[1]])
    if claim["worst_ratio"] != f"{top}/{bottom}" or Fraction(top, bottom) != ratio:
        raise Damage("the certificate's worst_ratio is not the worst ratio of these weights.")


def worst_ratio(columns: Columns) -> Place:
    """The largest ratio of two neighbours in a column, exactly, and where it is.

    >>> worst_ratio(np.array([[6, 3, 4]], dtype=np.uint64))
    (Fraction(2, 1), 0, 1, 0)
    """
    worst: Place = (Fraction(1), 0, 0, 0)
    rows = max(1, _BLOCK // columns.shape[1])
    for start in range(0, len(columns), rows):
        block = columns[start : start + rows]
        upper, lower = block[:, :-1], block[:, 1:]
        top, bottom = np.maximum(upper, lower).ravel(), np.minimum(upper, lower).ravel()
        at = _largest(top, bottom, worst[0])
        if at is not None:
            j, i = divmod(at, columns.shape[1] - 1)
            pair = (i, i + 1) if upper[j, i] >= lower[j, i] else (i + 1, i)
            worst = (Fraction(int(top[at]), int(bottom[at])), *pair, start + j)
    return worst


def _largest(top: Columns, bottom: Columns, limit: Fraction) -> int | None:
    """Where top / bottom is largest, if above the limit anywhere; 0 / 0 counts as nothing.

    Whatever exceeds the best so far is kept and one of it, at random, becomes the next best: what
    is left about halves every time, however a forger ordered the weights. All comparisons are
    exact, of 128-bit products.
    """
    places = np.flatnonzero(bottom)
    p, q = limit.numerator, limit.denominator
    best = None
    while True:
        above = _exceeds(top[places], bottom[places], p, q)
        places = places[above]
        if not len(places):
            return best
        best = int(places[secrets.randbelow(len(places))])
        p, q = int(top[best]), int(bottom[best])


def _exceeds(top: Columns, bottom: Columns, p: int, q: int) -> NDArray[np.bool_]:
    """Whether top / bottom > p / q, entry by entry; everything is at most 2^62."""
    high_1, low_1 = product(top, q)
    high_2, low_2 = product(bottom, p)
    return np.asarray((high_1 > high_2) | ((high_1 == high_2) & (low_1 > low_2)))


def product(a: Columns, number: int) -> tuple[Columns, Columns]:
    """The product of 64-bit integers as (high, low) words of 64 bits."""
    b0, b1 = np.uint64(number & 0xFFFFFFFF), np.uint64(number >> 32)
    a0, a1 = a & _LOW, a >> _HALF
    low, middle_1, middle_2 = a0 * b0, a1 * b0, a0 * b1
    carry = (low >> _HALF) + (middle_1 & _LOW) + (middle_2 & _LOW)
    high = a1 * b1 + (middle_1 >> _HALF) + (middle_2 >> _HALF) + (carry >> _HALF)
    return high, (carry << _HALF) | (low & _LOW)


def _check_delta(columns: Columns, epsilon: Fraction, delta: Fraction, budget: Budget) -> str:
    factor = exp_from_below(epsilon)
    for i in range(len(columns) - 1):
        for a, b in ((i, i + 1), (i + 1, i)):
            if _excess(columns[:, a], columns[:, b], factor) > delta * TOTAL:
                raise Damage(
                    f"the certificate fails: input {a} exceeds input {b} by more than "
                    f"delta = {delta} at epsilon = {epsilon}."
                )
    # group privacy: delta (e^(k epsilon) - 1) / (e^epsilon - 1), to a part in 2^200
    in_all = delta * (exp_from_below(budget.steps * epsilon) - 1) / (factor - 1)
    if in_all * (1 - Fraction(1, 1 << 200)) > budget.delta:
        raise Damage("delta is less than what the certificate's delta comes to in all its steps.")
    return f"adjacent inputs are within epsilon = {epsilon} and delta = {delta}"


def _excess(above: Columns, below: Columns, factor: Fraction) -> Fraction:
    """The sum of max(0, above - factor * below), exactly."""
    near = above.astype(np.float64) >= below.astype(np.float64) * (float(factor) * (1 - 1e-12))
    tops, bottoms = above[near].astype(object), below[near].astype(object)
    parts = tops * factor.denominator - bottoms * factor.numerator
    return Fraction(sum(part for part in parts if part > 0), factor.denominator)


def _log(ratio: Fraction) -> float:
    if ratio < 2:
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)
