"""Totals that were measured as such, and means by them: of all rows, and of whole groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.analysis.answer import Answer
from holdfast.analysis.parts.part import Part, members_of
from holdfast.errors import numbered

ESTIMATOR = "measured"
MEASURED_QUESTIONS = ("total", "mean")
MEASURED = "measured as a total, with counts above max_count in full"


def measured_answer(part: Part, question: Any, level: float) -> Answer | None:
    """A total, or a mean as the total over its rows, of a part that consists of all rows or of
    whole groups of a release with measured totals; None for others."""
    if part.release.totals is None or question not in MEASURED_QUESTIONS:
        return None
    groups = _whole_groups(part)
    if groups is None:
        return None
    totals, over = part.release.totals, part.rows if question == "mean" else 1
    found = totals.of(groups, level)
    return Answer(
        question="mean count" if question == "mean" else f"total of {numbered(part.rows, 'row')}",
        estimate=found.value / over,
        standard_error=totals.error(len(groups)) / over,
        interval=(found.low / over, found.high / over),
        level=level,
        estimator=ESTIMATOR,
        method="formula",
        notes=(*part.notes, MEASURED),
        about=(part.about,),
        measured=True,
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
