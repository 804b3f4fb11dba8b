"""Totals: from what was measured to what is stated, again, in fractions."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from holdfast.former.verify.members import Listed
from holdfast.former.verify.record import Budget
from holdfast.former.verify.report import Damage

LEVEL = Fraction(9, 10)
LARGEST = 1 << 54
Numbers = tuple[tuple[float, int], ...]


def check_totals(record: dict[str, Any], listed: Listed | None, budget: Budget) -> str:
    """What is stated follows from what was measured; groups add up to the table."""
    if "totals" not in record:
        return "none were measured"
    stated, groups = record["totals"], 1 if listed is None else len(listed.sizes)
    share = Fraction(1, 5) if groups > 30 else Fraction(0)
    if Fraction(stated["level"]) != LEVEL:
        raise Damage("totals.level must be 9/10.")
    parts = [budget.totals * part for part in (1 - share, share) if part]
    if sum(_certified(part, budget.moved) for part in parts) != budget.totals_certified:
        raise Damage(
            "the budget: totals_certified is not what the noise of totals is certified for."
        )
    alone = listed is None or bool(share)
    if (stated["measured"] is not None) is not alone:
        raise Damage("totals.measured must be there where the table's total was measured.")
    noisy = [stated["measured"]] if listed is None else [line[3] for line in listed.totals]
    whole = stated["measured"] if share else None
    if any(abs(number) > LARGEST + 200 / budget.totals * budget.moved for number in noisy):
        raise Damage("totals: a number is further off than noise goes.")
    weight = ((1 - share) / share) ** 2 if share else Fraction(0)
    fitted = _fitted(noisy, whole, weight)
    off = (sum(noisy) - whole) / (groups + weight) if whole is not None else Fraction(0)
    scale = float(budget.moved / (budget.totals * (1 - share)))
    own, table = map(_half, _noises(groups, weight, scale))
    lines = [] if listed is None else list(listed.totals)
    for number, (line, value) in enumerate(zip(lines, fitted, strict=False)):
        _check(line[:3], value, noisy[number] - off, own, f"group {number}")
    shown = (stated["total"], stated["low"], stated["high"])
    _check(shown, sum(fitted), sum(noisy) - groups * off, table, "the table")
    return f"{groups:,} follow from what was measured" + (", and add up" if listed else "")


def _certified(epsilon: Fraction, contributions: int) -> Fraction:
    """contributions / scale rounded up to a float, for the first scale that keeps within epsilon.

    >>> _certified(Fraction(1, 4), 2), _certified(Fraction(1, 3), 1) < Fraction(1, 3)
    (Fraction(1, 4), True)
    """
    scale = float(contributions / epsilon)
    while True:
        exact = contributions / Fraction(scale)
        stated = float(exact)
        if stated < exact:
            stated = math.nextafter(stated, math.inf)
        if stated <= epsilon:
            return Fraction(stated)
        scale = math.nextafter(scale, math.inf)


def _check(
    stated: tuple[int, int, int], value: int, line: Fraction, half: float, whose: str
) -> None:
    """The total exactly; the ends of its interval to 1, for a sum of floats rounds them."""
    total, low, high = stated
    if total != value:
        raise Damage(f"totals: that of {whose} does not follow from what was measured.")
    lowest = max(min(math.floor(float(line) - half), value), 0)
    highest = max(math.ceil(float(line) + half), value)  # in early releases also below 0
    open_to = max(math.ceil(max(float(line), 0.0) + half), value)
    slack = 1 + abs(float(line)) * 2.0**-50
    away = min(abs(high - highest), abs(high - open_to))
    if abs(low - lowest) > slack or away > slack or not 0 <= low <= total <= high:
        raise Damage(f"totals: the interval of {whose} is not that of its noise.")


@lru_cache(maxsize=16)
def _half(noises: Numbers) -> float:
    """How far the noise goes with the level, by bisection."""
    chance = _chances(noises)
    low, high = 0.0, 40 * math.sqrt(sum(2 * m * s**2 for s, m in noises))
    for _ in range(48):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) < LEVEL else (low, middle)
    return high


def _noises(groups: int, weight: Fraction, scale: float) -> tuple[Numbers, Numbers]:
    """The Laplace noises in a group's total and in the table's: scales, and how many of each."""
    if not weight:
        return ((scale, 1),), ((scale, groups),)
    part, other = 1 / (groups + float(weight)), scale * math.sqrt(weight)
    own = ((scale * (1 - part), 1), (scale * part, groups - 1), (other * part, 1))
    return own, ((scale * (1 - groups * part), groups), (other * groups * part, 1))


def _chances(noises: Numbers) -> Callable[[float], float]:
    """P(|sum of Laplace noises| <= reach): a sum over the odd multiples of a small frequency.

    The sum, were it to repeat every 4 L, is a square wave's mean: a Fourier series (Davies 1973).
    """
    deviation = math.sqrt(sum(2 * m * s**2 for s, m in noises))
    if len(noises) == 1 and noises[0][1] == 1:
        return lambda reach: 1 - math.exp(-reach / noises[0][0])
    t = (2 * np.arange(40_000) + 1) * 0.01 / deviation
    law = np.prod([(1 + (s * t) ** 2) ** -float(m) for s, m in noises], axis=0)
    return lambda reach: float((np.sin(t * reach) / t * law).sum() * 0.02 / deviation * 2 / math.pi)


def _fitted(noisy: list[int], whole: int | None, weight: Fraction) -> list[int]:
    """The nearest whole numbers of 0 or more that add up."""
    wanted = max(sum(noisy), 0) if whole is None else whole
    ordered = sorted(noisy, reverse=True)
    sums = list(accumulate(ordered, initial=0))
    off = None
    for kept in range(len(ordered), 0, -1):
        trial = (sums[kept] - wanted) / (kept + weight)
        if ordered[kept - 1] > trial:
            off = trial
            break
    if off is None:
        return [0] * len(noisy)
    exact = [max(number - off, Fraction(0)) for number in noisy]
    floors = [math.floor(number) for number in exact]
    rest = [number - floor for number, floor in zip(exact, floors, strict=True)]
    extra = math.floor(sum(rest, Fraction(0)) + Fraction(1, 2))
    for at in sorted(range(len(rest)), key=lambda g: (-rest[g], g))[:extra]:
        floors[at] += 1
    return floors
