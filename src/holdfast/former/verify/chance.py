"""How probable the released counts are: what cannot be proved false may still be absurd.

Given the true counts, rows are drawn independently. If the true counts are distributed as z, the
number of rows at or below b is a sum of N independent draws of 0 or 1 with mean N q_b, where q is
what the mechanism makes of z. Hoeffding's bound (1963, Theorem 1) gives a share c or one further
off the probability exp(-N KL(c, q_b)) at the most, and the union over both sides of every b the
chance that any of them is as improbable as the least probable that was found.

The true counts are not distributed as z exactly: stage 1 added noise. For the warning each q_b may
be off by as much as 20 standard deviations of that noise, and what the projection moved, come to
once they went through the mechanism.
"""

import math
from typing import Any

import numpy as np

from holdfast.former.verify.mechanism import Floats, Mechanism, Sums
from holdfast.former.verify.record import read_budget
from holdfast.former.verify.report import Found
from holdfast.former.verify.stage_one import SKIPPED, cumulative_noise, find_method

ABSURD = math.log(1e-9)
DEVIATIONS = 20  # of stage 1's noise; Laplace noise goes further with a chance of e^-28


def check_chance(
    mechanism: Mechanism,
    sums: Sums,
    target: Floats,
    tally: list[int],
    record: dict[str, Any],
) -> Found:
    """The probability that z, the mechanism and N give to the released distribution."""
    if record["methods"][0] == SKIPPED:
        return Found("not stated: without a stage 1, z is the released distribution itself")
    rows = record["rows"]
    drawn = np.array([tally[0] - record["structural_zeros"], *tally[1:]], dtype=np.float64)
    shares = np.cumsum(drawn)[:-1] / rows
    expected = np.clip(sums.below[:-1], 0.0, 1.0)
    plain = log_chance(shares, expected, rows)
    said = f"by z, a distribution as far off as the released one has probability {in_words(plain)}"
    off = _stage_1_errors(record, target)
    if off is None:
        return Found(said)
    slack = mechanism.moved(off)[:-1] / rows + sums.error
    nearest = np.clip(shares, expected - slack, expected + slack)
    chance = log_chance(shares, nearest, rows)
    if chance > ABSURD:
        return Found(said)
    warning = (
        "the released counts are not what this release's z and mechanism give: whatever stage 1's "
        f"noise was, a distribution as far off has probability {in_words(chance)}."
    )
    return Found(said, warning)


def log_chance(shares: Floats, expected: Floats, rows: int) -> float:
    """The logarithm of the union bound; 0 where it says nothing."""
    distances = _part(shares, expected) + _part(1 - shares, 1 - expected)
    furthest = float(np.max(distances, initial=0.0))
    return min(0.0, math.log(2 * max(len(shares), 1)) - rows * furthest)


def _part(share: Floats, expected: Floats) -> Floats:
    """One of the two terms of the Kullback-Leibler distance; 0 log 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(share > 0, share * np.log(share / np.maximum(expected, 0.0)), 0.0)


def in_words(chance: float) -> str:
    """A logarithm as a probability.

    >>> in_words(0.0), in_words(math.log(0.02)), in_words(-500.0), in_words(-math.inf)
    ('up to 1', 'at most 0.02', 'at most 10^-217', '0')
    """
    if chance == 0:
        return "up to 1"
    if chance == -math.inf:
        return "0"
    if chance > math.log(1e-4):
        return f"at most {math.exp(chance):.2g}"
    return f"at most 10^{math.ceil(chance / math.log(10))}"


def _stage_1_errors(record: dict[str, Any], target: Floats) -> Floats | None:
    """How many rows z may be off by, up to each count; None where the noise is not known here."""
    method, budget = find_method(record), read_budget(record)
    if method is None or method.kind.sums == "regions" or not budget.stage_1:
        return None
    measured, deviation = cumulative_noise(record, method, budget)
    moved = np.abs(record["rows"] * np.cumsum(target)[:-1] - measured)
    return np.asarray(moved + DEVIATIONS * deviation)
