"""Says when a release tells little, from what is public and private already: costs nothing."""

import math
from fractions import Fraction

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import numbered
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privatizers import Privatizer
from holdfast.former.privatizers.groups import group_epsilon
from holdfast.former.privatizers.max_count import FoundMaxCount
from holdfast.former.release.text import rows_at_the_top
from holdfast.former.privacy.budget import Budget
from holdfast.former.tables.groups import Partition

MOSTLY_NOISE = 0.8
UNSURE_SHARE = 0.05
LITTLE = 3  # rows times stage 1's epsilon: noise of half the rows
MANY_AT_THE_TOP, MOST_AT_THE_TOP = 0.02, 0.5
UNSURE_QUANTILE = 0.1  # epsilon times the rows above the quantile: benchmarks/private_quantile.py


def expected_change(mechanism: Mechanism, target: Floats) -> float | None:
    """How far a released count is from the true one on average, if counts are distributed as z.

    None where z has a single value: it then says nothing about the true counts.
    """
    if np.count_nonzero(target) == 1:
        return None
    return mechanism.count_error(target)


def share_uncertainty(privatizer: Privatizer, budget: Budget, rows: int, bins: int) -> float:
    """Standard deviation that stage 1's noise gives to the share of rows up to a count.

    The largest over the counts, before the projection, which mostly lowers it.
    """
    if bins < 2 or not budget.stage_1:
        return 0.0
    variance = privatizer.cumulative_variance(bins, budget.unit_1)
    return math.sqrt(float(np.max(variance))) / rows


def max_count_notes(found: FoundMaxCount | None, rows: int) -> tuple[str, ...]:
    """Notes on a `max_count` that came from the data."""
    if found is None:
        return ()
    words = (
        f"max_count = {found.max_count:,} came from the data: a private estimate of the "
        f"{float(found.q):g} quantile of the counts, for epsilon = {float(found.epsilon):g}"
    )
    notes = [words]
    if found.epsilon * (1 - found.q) * rows < UNSURE_QUANTILE:
        notes.append(
            f"with {numbered(rows, 'row')} and this budget max_count may be far from the "
            f"{float(found.q):g} quantile; a smaller quantile or a larger epsilon would help"
        )
    if found.max_count == found.highest:
        notes.append(
            "max_count is as high as it may be: more counts than the quantile says may be top-coded"
        )
    return tuple(notes)


def is_mostly_capped(target: Floats) -> bool:
    """Whether most rows are at the highest count, by z alone: it was chosen far too low."""
    return float(target[-1]) > MOST_AT_THE_TOP


def top_notes(target: Floats, rows: int, *, totals: bool) -> list[str]:
    """How many rows are at the highest count, where they are many; by z alone."""
    if target[-1] < MANY_AT_THE_TOP:
        return []
    top, begin, end = len(target) - 1, "", "a larger max_count would tell more"
    if is_mostly_capped(target):
        begin = "most rows are at or above max_count: "
        end = "choose a higher max_count next time"
    capped = "means and totals are those of capped counts"
    if totals:
        capped = "sums of released counts leave out what is above it; the measured totals do not"
    return [
        f"{begin}about {numbered(rows_at_the_top(target, rows), 'row')} ({float(target[-1]):.0%}) "
        f"have a count of {top:,}, which stands for {top:,} or more: what they truly have is not "
        f"told, and {capped}; {end}"
    ]


def says_little(rows: int, unit: Fraction) -> bool:
    """Whether a group of so many rows is lost in stage 1's noise, and follows the other groups."""
    return unit * rows < LITTLE


def group_notes(groups: Partition, budget: Budget, target: Floats) -> tuple[str, ...]:
    """Notes for a release by group."""
    small, rows = small_group_notes(groups, budget, len(target)), int(groups.sizes.sum())
    top = top_notes(target, rows, totals=bool(budget.totals))
    return (*top, *small) if is_mostly_capped(target) else (*small, *top)


def small_group_notes(groups: Partition, budget: Budget, bins: int) -> tuple[str, ...]:
    """Whether groups are too small for the budget to say anything of them; known beforehand."""
    unit = group_epsilon(budget.unit_1, len(groups), bins)
    small = sum(says_little(int(rows), unit) for rows in groups.sizes)
    if not small:
        return ()
    rows = int(groups.sizes.sum())
    bearable = max(int(rows * budget.unit_1 / LITTLE), 1)
    advice = f"; {numbered(bearable, 'class', 'classes')} of equal size would do"
    whom = "is too small for this budget to say much of it: its distribution follows"
    if small > 1:
        whom = "are too small for this budget to say much of them: their distributions follow"
    return (
        f"{numbered(small, 'group')} of {len(groups):,} {whom} those of the other groups"
        + (advice if bearable < len(groups) else ""),
    )


def usefulness_notes(
    mechanism: Mechanism,
    target: Floats,
    privatizer: Privatizer,
    budget: Budget,
    rows: int,
) -> tuple[str, ...]:
    """Notes for a release that is worth less than it looks."""
    top, first = top_notes(target, rows, totals=bool(budget.totals)), is_mostly_capped(target)
    notes = [*top] if first else []
    if not budget.stage_1:
        notes.append(
            "all of the budget went to the counts, with a mechanism that keeps no distribution: "
            "the distribution stated is that of the released counts"
        )
    unsure = share_uncertainty(privatizer, budget, rows, len(target))
    if unsure > UNSURE_SHARE:
        notes.append(
            f"with {numbered(rows, 'row')} and this budget the noise on the distribution of "
            f"counts has a standard deviation of {min(unsure, 1):.0%} of the rows; more rows, a "
            "larger epsilon or a larger split would help"
        )
    notes += [] if first else top
    change = expected_change(mechanism, target)
    if change is None:
        notes.append("every row was given the same count: this budget could not tell rows apart")
        return tuple(notes)
    below = np.cumsum(target)
    blind = 2 * float(below @ (1 - below))  # of two counts drawn independently from z
    if change > MOSTLY_NOISE * blind:
        notes.append(
            "a released count says little about its own row: it is nearly as far from the truth "
            "as a count drawn at random from the distribution"
        )
    return tuple(notes)
