"""The exact certificate again: the worst ratio of the weights against e^ε, in integers."""

import math
import secrets
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.former.verify.exact import (
    NEARLY,
    PLACES,
    Words,
    above,
    exceeds,
    exp_from_below,
    from_limbs,
    ratios,
    sums_by_row,
)
from holdfast.former.verify.mechanism import TOTAL, Mechanism, Pairs
from holdfast.former.verify.record import Budget
from holdfast.former.verify.report import Damage

Limbs = NDArray[np.float64]
Place = tuple[Fraction, int, int, int]  # ratio, input, next input, output


def check_certificate(mechanism: Mechanism, record: dict[str, Any], budget: Budget) -> str:
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
        return _check_delta(mechanism, epsilon, delta, budget)
    return _check_pure(mechanism, claim, epsilon, certified)


def _check_pure(
    mechanism: Mechanism, claim: dict[str, Any], epsilon: Fraction, certified: Fraction
) -> str:
    ratio, i, k, j = worst_ratio(mechanism)
    if ratio > exp_from_below(epsilon):
        raise Damage(
            f"the certificate fails: output {j} tells inputs {min(i, k)} and {max(i, k)} apart "
            f"by more than epsilon = {epsilon}."
        )
    if ratio > exp_from_below(certified):
        raise Damage("the weights prove less than the certificate's certified_epsilon says.")
    if float(certified) - _log(ratio) > 1e-12:
        raise Damage("the certificate's certified_epsilon is not what these weights prove.")
    _check_place(mechanism, claim, ratio)
    return f"every ratio is at most e^{float(certified):.9g}, for a change of one"


def _check_no_ratio(claim: dict[str, Any], epsilon: Fraction, certified: Fraction) -> None:
    if certified != epsilon:
        raise Damage("with a delta the certificate's certified_epsilon must be its epsilon.")
    if any(claim[key] is not None for key in ("worst_ratio", "inputs", "output")):
        raise Damage("with a delta the certificate has no worst ratio.")


def _check_place(mechanism: Mechanism, claim: dict[str, Any], ratio: Fraction) -> None:
    inputs, j, n = claim["inputs"], claim["output"], len(mechanism)
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
    top, bottom = (mechanism.weight(i, j) for i in inputs)
    if claim["worst_ratio"] != f"{top}/{bottom}" or Fraction(top, bottom) != ratio:
        raise Damage("the certificate's worst_ratio is not the worst ratio of these weights.")


def worst_ratio(mechanism: Mechanism) -> Place:
    """The largest ratio of two neighbours in a column, exactly, and where it is.

    >>> from holdfast.former.verify.mechanism import WeightTable
    >>> worst_ratio(WeightTable(np.array([[6, 3, 4]], dtype=np.uint64)))
    (Fraction(2, 1), 0, 1, 0)
    """
    worst: Place = (Fraction(1), 0, 0, 0)

    def so_far() -> Fraction:
        return worst[0]

    for pairs in mechanism.pairs(so_far):
        top = np.maximum(pairs.upper, pairs.lower)
        bottom = np.minimum(pairs.upper, pairs.lower)
        _check_zeros(pairs, top, bottom)
        at = _largest(top, bottom, worst[0])
        if at is not None:
            i, j = int(pairs.rows[at]), int(pairs.outputs[at])
            inputs = (i, i + 1) if pairs.upper[at] >= pairs.lower[at] else (i + 1, i)
            worst = (Fraction(int(top[at]), int(bottom[at])), *inputs, j)
    return worst


def _check_zeros(pairs: Pairs, top: Words, bottom: Words) -> None:
    """A column is zero in all rows or in none: then no zero has a neighbour above it."""
    found = np.flatnonzero((bottom == 0) & (top > 0))
    if len(found):
        i, j = int(pairs.rows[found[0]]), int(pairs.outputs[found[0]])
        able, unable = (i + 1, i) if pairs.upper[found[0]] == 0 else (i, i + 1)
        raise Damage(
            f"the certificate fails: output {j} is possible for input {able} "
            f"and impossible for input {unable}."
        )


def _largest(top: Words, bottom: Words, limit: Fraction) -> int | None:
    """Where top / bottom is largest, if above the limit anywhere; 0 / 0 counts as nothing.

    Doubles leave those that are nearly the largest. Of these, whatever exceeds the best so far is
    kept and one of it, at random, becomes the next best: what is left about halves every time,
    however a forger ordered the weights. All these comparisons are exact, of 128-bit products.
    """
    nearly = ratios(top, bottom)
    highest = max(float(nearly.max(initial=0.0)), float(limit))
    places = np.flatnonzero(nearly >= highest * (1 - NEARLY))
    p, q = limit.numerator, limit.denominator
    best = None
    while True:
        places = places[exceeds(top[places], bottom[places], p, q)]
        if not len(places):
            return best
        best = int(places[secrets.randbelow(len(places))])
        p, q = int(top[best]), int(bottom[best])


def _check_delta(mechanism: Mechanism, epsilon: Fraction, delta: Fraction, budget: Budget) -> str:
    factor = math.floor(exp_from_below(epsilon) * (1 << PLACES))  # cut off: asks for more
    limit = math.floor(delta * TOTAL * (1 << PLACES))
    tops, bottoms = _excesses(mechanism, factor)
    for k, (a, b) in enumerate(((0, 1), (1, 0))):
        sums = zip(from_limbs(tops[k]), from_limbs(bottoms[k]), strict=True)
        for i, (top, bottom) in enumerate(sums):
            if (top << PLACES) - bottom * factor > limit:
                raise Damage(
                    f"the certificate fails: input {i + a} exceeds input {i + b} by more than "
                    f"delta = {delta} at epsilon = {epsilon}."
                )
    # group privacy: delta (e^(k epsilon) - 1) / (e^epsilon - 1), to a part in 2^200
    step, all_steps = exp_from_below(epsilon), exp_from_below(budget.steps * epsilon)
    if delta * (all_steps - 1) / (step - 1) * (1 - Fraction(1, 1 << 200)) > budget.delta:
        raise Damage("delta is less than what the certificate's delta comes to in all its steps.")
    return f"adjacent inputs are within epsilon = {epsilon} and delta = {delta}"


def _excesses(mechanism: Mechanism, factor: int) -> tuple[Limbs, Limbs]:
    """For each pair of rows the sums of both, over the columns where one exceeds e^ε the other.

    The sum of max(0, K_aj - e^ε K_bj) is the first less e^ε times the second. In limbs, for a row
    against the next and the next against it.
    """
    n = len(mechanism)
    tops, bottoms = np.zeros((2, 3, n)), np.zeros((2, 3, n))
    for pairs in mechanism.pairs():
        sides = (pairs.upper, pairs.lower), (pairs.lower, pairs.upper)
        for k, (a, b) in enumerate(sides):
            exceeding = above(a, b, factor)
            tops[k] += sums_by_row(pairs.rows[exceeding], a[exceeding], n)
            bottoms[k] += sums_by_row(pairs.rows[exceeding], b[exceeding], n)
    return tops, bottoms


def _log(ratio: Fraction) -> float:
    if ratio < 2:
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)
