"""How probable the released counts of all groups are, given what stage 1 measured of each.

Of blocks of counts stage 1 measured sums of the cumulative histogram. That rises, from 0 to the
rows of the group, so each sum bounds every number of its block from both sides; for single counts
the bounds are those of `chance`.
"""

import math

import numpy as np

from holdfast.former.verify.chance import ABSURD, DEVIATIONS, in_words, log_chance
from holdfast.former.verify.groups import GroupTables, Measured
from holdfast.former.verify.mechanism import Floats, Integers, Sums
from holdfast.former.verify.report import Found


def check_chances(
    tables: GroupTables, sums: list[Sums], tallies: Integers, measured: Measured
) -> Found:
    """The probability that z of the groups and their mechanisms give to what was released."""
    plain, allowed = [], []
    noise = DEVIATIONS * math.sqrt(2) / float(measured.epsilon)
    for number, k in enumerate(tables.index.tolist()):
        rows, found = int(tallies[number].sum()), sums[k]
        shares = np.cumsum(tallies[number])[:-1] / rows
        expected = np.clip(found.below[:-1], 0.0, 1.0)
        part = measured.groups[number]
        widths = [1] * len(shares) if len(part) == len(shares) else measured.widths
        low, high = cumulative_bounds(part, widths, rows, noise)
        stated = rows * np.cumsum(tables.sources[k])[:-1]
        off = np.maximum(np.maximum(stated - low, high - stated), 0.0)
        slack = tables.parts[k].moved(off)[:-1] / rows + found.error
        nearest = np.clip(shares, expected - slack, expected + slack)
        plain.append(log_chance(shares, expected, rows))
        allowed.append(log_chance(shares, nearest, rows))
    said = (
        f"by z, distributions as far off as those of the {len(plain):,} groups have probability "
        f"{in_words(joint_chance(plain))}"
    )
    chance = joint_chance(allowed)
    if chance > ABSURD:
        return Found(said)
    warning = (
        "the released counts are not what z and the mechanisms of the groups give: whatever stage "
        f"1's noise was, distributions as far off have probability {in_words(chance)}; group "
        f"{int(np.argmin(allowed))} is the least probable."
    )
    return Found(said, warning)


def cumulative_bounds(
    sums: Integers, widths: list[int], rows: int, noise: float
) -> tuple[Floats, Floats]:
    """Between which numbers the cumulative histogram lies, if no sum is off by more than `noise`.

    >>> [side.tolist() for side in cumulative_bounds(np.array([3, 14]), [1, 2], 10, 0.0)]
    [[3.0, 4.0, 7.0], [3.0, 7.0, 10.0]]
    """
    at = np.concatenate([np.arange(width) for width in widths])
    width, total = np.repeat(widths, widths), np.repeat(sums.astype(np.float64), widths)
    low = (total - noise - (width - 1 - at) * rows) / (at + 1)
    high = (total + noise) / (width - at)
    low = np.maximum.accumulate(np.clip(low, 0, rows))
    return low, np.minimum.accumulate(np.clip(high, 0, rows)[::-1])[::-1]


def joint_chance(chances: list[float]) -> float:
    """The logarithm of a bound for all groups, which are drawn independently.

    Twice the smaller of two: the least chance times the number of groups G, and what Fisher's
    product has: the sum t of -log p has the tail of G exponential variables at most, which is
    below e^-t (e t / G)^G.

    >>> joint_chance([-30.0]), round(joint_chance([-5.0] * 20), 1), joint_chance([-1.0, -1.0])
    (-30.0, -47.1, 0.0)
    """
    groups, t = len(chances), -sum(chances)
    if groups == 1:
        return chances[0]
    least = min(chances) + math.log(groups)
    if t == math.inf:
        return -math.inf
    product = groups - t + groups * math.log(t / groups) if t > groups else 0.0
    return min(0.0, math.log(2) + min(least, product))
