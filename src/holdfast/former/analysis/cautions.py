"""When an answer must say that its interval may cover less than stated, or that its counts are
capped."""

from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import numbered, roughly
from holdfast.former.analysis.evidence import Evidence
from holdfast.former.release.row_prior import LONG

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

NOTED_TOP_SHARE = 0.001
FEW_FOR_ANSWERS = 0.2
FEW_ROWS_FOR_BUDGET = (
    "too few rows for this budget: the interval may cover less than stated; stage 1's noise is a "
    "fifth of the answer's range or more"
)


def spread_of(view: Evidence, f: Floats) -> float:
    """Stage 1's standard deviation of the answer f · ζ, in parts of the answer's range."""
    wide = float(f.max() - f.min())
    if view.first.skipped or wide <= 0:
        return 0.0
    loads = view.first.loads(f)
    return float(np.sqrt(view.first.variance * loads @ loads)) / wide


def high_is_noted(share: float) -> bool:
    """Whether so large a share of rows has the highest count that answers say it is capped."""
    return bool(share > NOTED_TOP_SHARE)


def cap_is_noted(shares: Floats) -> bool:
    """The same of a distribution, of a long range the released one: there few rows at the highest
    count may be much of the total.

    >>> long = np.eye(1, 100_001, 30)[0] * 0.9999
    >>> cap_is_noted(long), cap_is_noted(long + np.eye(1, 100_001, 100_000)[0] * 0.0001)
    (False, True)
    """
    top, last = len(shares) - 1, float(shares[-1]) / float(shares.sum())
    if high_is_noted(last) or len(shares) <= LONG:
        return high_is_noted(last)
    mean = float(shares @ np.arange(top + 1)) / float(shares.sum())
    return last * top > NOTED_TOP_SHARE * mean


def beside_the_top(release: "Release", f: Floats, shown: Floats) -> tuple[str, ...]:
    """What to say of a share f of a long range, where it tells the highest count from the one below
    it; so many rows show each count."""
    if len(f) <= LONG or f[-1] == f[-2] or not shown[-1] or not release.privacy.budget.stage_1:
        return ()
    top, near = len(f) - 1, roughly(1 / float(release.privacy.budget.unit_1))
    return (
        f"rows that show {top:,} may truly have a little less, by about {near}: stage 1 places a "
        "row no better, and the interval allows for all of them; what is said of one such row "
        "takes stage 1 for right",
    )


def left_out(missing: int) -> tuple[str, ...]:
    """What to say where the counts of so many rows are not known."""
    return (f"{numbered(missing, 'row')} without a count left out",) if missing else ()


def enters_capped(top: int) -> str:
    """What to say of a number into which counts enter capped."""
    return f"counts above {top:,} were published as {top:,} and enter as {top:,}"


def or_more(top: int) -> str:
    """What to say of an answer that is or may be the highest count."""
    return f"counts above {top:,}, if any, were published as {top:,}: {top:,} means {top:,} or more"
