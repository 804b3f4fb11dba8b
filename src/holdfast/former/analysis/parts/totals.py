"""Totals that were measured as such, and means by them: of all rows, and of whole groups."""

from collections.abc import Sequence
from math import hypot
from typing import Any

import numpy as np

from holdfast.errors import numbered
from holdfast.former.analysis.answer import Answer
from holdfast.former.analysis.catalogue import find_question
from holdfast.former.analysis.one_row import answer_one
from holdfast.former.analysis.parts.part import Part, members_of
from holdfast.former.privatizers.totals import Totals

ESTIMATOR = "measured"
MEASURED_QUESTIONS = ("total", "mean")
MEASURED = "measured as a total, with counts above max_count in full"
TOGETHER = (
    "from the measured total and from the counts of these rows, of which none is above max_count"
)
BY_CHANCE = 0.001
"""How likely a row at max_count or above may be to show no more than the highest count that a part
shows, where all its counts are taken to be below: then they add up to the total."""


def measured_answer(part: Part, question: Any, level: float) -> Answer | None:
    """A total, or a mean as the total over its rows, of a part that consists of all rows or of
    whole groups of a release with measured totals; None for others."""
    if part.release.totals is None or question not in MEASURED_QUESTIONS:
        return None
    groups = _whole_groups(part)
    if groups is None:
        return None
    totals, over = part.release.totals, part.rows if question == "mean" else 1
    if len(groups) == 1 and _at_the_top(part) < BY_CHANCE:
        value, error, ends = _with_the_counts(part, totals, groups, level)
        how = TOGETHER
    else:
        found = totals.of(groups, level)
        value, error, ends = found.value, totals.error(len(groups)), (found.low, found.high)
        how = MEASURED
    return Answer(
        question="mean count" if question == "mean" else f"total of {numbered(part.rows, 'row')}",
        estimate=value / over,
        standard_error=error / over,
        interval=(ends[0] / over, ends[1] / over),
        level=level,
        estimator=ESTIMATOR,
        method="formula",
        notes=(*part.notes, how),
        about=(part.about,),
        measured=True,
    )


def _at_the_top(part: Part) -> float:
    """How likely a row with the highest count, or any above it, would show as little as these rows
    do. What z has there is not asked: it hardly tells one row of a group, and none on long ranges.
    """
    highest = 0.0
    for mechanism, counts, _ in part.by_mechanism:
        shown = np.zeros(len(part.release.target))
        shown[: int(counts.max(initial=-1)) + 1] = 1.0
        highest = max(highest, float(mechanism.expected(shown)[-1]))
    return highest


def _with_the_counts(
    part: Part, totals: Totals, groups: Sequence[int], level: float
) -> tuple[float, float, tuple[float, float]]:
    """The total, its standard error and its interval, from the measured total and from the counts,
    whose errors are independent: each weighed by what it knows, for the estimate by their standard
    errors and for the interval by their intervals, whose sides add up as those of a difference."""
    counts = _by_the_counts(part, level)
    measured, its = totals.unbiased(groups), totals.error(len(groups))
    own = max(counts.standard_error or 0.0, 1e-9)
    weight = its**2 / (its**2 + own**2)
    low, high = counts.interval
    reach, middle = totals.reach(len(groups), level), min(max(counts.estimate, low), high)
    share = reach**2 / (reach**2 + ((high - low) / 2) ** 2)
    centre, other = share * middle + (1 - share) * measured, (1 - share) * reach
    least = max(centre - hypot(share * (middle - low), other), 0.0)
    most = max(centre + hypot(share * (high - middle), other), least)
    value = weight * counts.estimate + (1 - weight) * measured
    error = hypot(weight * own, (1 - weight) * its)
    return min(max(value, least), most), error, (least, most)


def _by_the_counts(part: Part, level: float) -> Answer:
    return answer_one(part, "total", level, {}) or find_question("total").about_part(
        part, {}, level=level
    )


def _whole_groups(part: Part) -> Sequence[int] | None:
    """The numbers of the groups that the part consists of; None where it has a part of one."""
    release = part.release
    if release.groups is None:
        return [0] if part.rows == release.rows else None
    members = members_of(release)
    inside = part.marks & (members >= 0)
    chosen = np.unique(members[inside])
    whole = np.isin(members, chosen).sum() == inside.sum()
    return [int(number) for number in chosen] if whole else None
