"""Totals that were measured as such: of all rows, and of whole groups of them."""

from typing import TYPE_CHECKING

import numpy as np

from holdfast.analysis.answer import Answer
from holdfast.analysis.parts.part import Part, members_of
from holdfast.errors import numbered

if TYPE_CHECKING:
    from holdfast.privatizers.totals import Total, Totals
    from holdfast.release.release import Release

ESTIMATOR = "measured"
MEASURED = "measured as a total, with counts above max_count in full"


def measured_total(part: Part, level: float) -> Answer | None:
    """The total of a part whose rows are all rows, or those of whole groups; None for others."""
    release, totals = part.release, part.release.totals
    if totals is None:
        return None
    found = _found(release, totals, part, level)
    if found is None:
        return None
    value, low, high, error = found
    return Answer(
        question=f"total of {numbered(part.rows, 'row')}",
        estimate=value,
        standard_error=error,
        interval=(low, high),
        level=level,
        estimator=ESTIMATOR,
        method="formula",
        notes=(*part.notes, MEASURED),
        about=(part.about,),
    )


def _found(
    release: "Release", totals: "Totals", part: Part, level: float
) -> tuple[float, float, float, float] | None:
    whole, groups = totals.at(level)
    unit = float(totals.unit)
    if part.rows == release.rows:
        own = [stratum.measured for stratum in part.strata]
        return _plain(whole, len(own) if release.groups is not None else 1, unit)
    if release.groups is None or any(s.outside is not None for s in part.strata):
        return None
    chosen = np.unique(members_of(release)[part.marks])
    some = [groups[number] for number in chosen.tolist() if number >= 0]
    if len(some) == 1:
        return _plain(some[0], 1, unit)
    value = float(sum(total.value for total in some))
    sides = [[(t.value - t.low) ** 2 for t in some], [(t.high - t.value) ** 2 for t in some]]
    below, above = (float(np.sqrt(np.sum(side))) for side in sides)
    return value, max(value - below, 0.0), value + above, _error(len(some), unit)


def _plain(total: "Total", groups: int, unit: float) -> tuple[float, float, float, float]:
    return float(total.value), float(total.low), float(total.high), _error(groups, unit)


def _error(groups: int, unit: float) -> float:
    """Of the sum of so many totals, each with discrete Laplace noise of this epsilon."""
    alpha = float(np.exp(-unit))
    return float(np.sqrt(groups * 2 * alpha)) / (1 - alpha)
