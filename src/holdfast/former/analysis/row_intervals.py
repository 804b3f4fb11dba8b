"""For every row, what its released count says about its true one."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Floats, Integers
from holdfast.former.analysis.answer import percent
from holdfast.former.analysis.every_count import (
    UNSURE_NOTE,
    ends_for_every_count,
    rarely_covered,
)
from holdfast.former.analysis.posterior import check_level, rows_notes, top_note
from holdfast.former.analysis.row_laws import Laws, laws_of
from holdfast.former.release.row_marks import row_kinds
from holdfast.former.release.row_prior import does_without

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """For every row of the table, what its released count says about its true count."""

    level: float
    """Asked for; discrete intervals hold at least this probability, and often more."""
    low: Integers = field(repr=False)
    """Lower ends, in row order."""
    high: Integers = field(repr=False)
    """Upper ends."""
    probability: Floats = field(repr=False)
    """What the intervals really hold."""
    mean: Floats = field(repr=False)
    """Expected true counts."""
    median: Integers = field(repr=False)
    """Medians of the true counts."""
    zero: Floats = field(repr=False)
    """Probability that the true count is 0."""
    laws: Laws = field(repr=False)
    """One for every released count that occurs, and one for rows known to be zero; where counts run
    far, worked out when one is asked for."""
    law_of: NDArray[np.intp] = field(repr=False)
    """Which of the laws each row has."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""

    def at_least(self, k: int) -> Floats:
        """For every row, the probability that its true count is k or more."""
        return self.laws.at_least(k)[self.law_of]

    def columns(self) -> dict[str, list[Any]]:
        """As columns to stand beside the table."""
        ends = percent(self.level).removesuffix("%")
        return {
            f"low_{ends}": self.low.tolist(),
            f"high_{ends}": self.high.tolist(),
            "expected": np.round(self.mean, 3).tolist(),
            "median": self.median.tolist(),
            "probability_zero": np.round(self.zero, 4).tolist(),
        }


def intervals(release: "Release", level: float, every: bool | None = None) -> Intervals:
    """Intervals for every row; rows of the same kind have the same."""
    level = check_level(level)
    unsure = does_without(release)
    chosen = unsure if every is None else every
    seen, where = np.unique(row_kinds(release), return_inverse=True)
    laws, top = laws_of(release, seen), len(release.target) - 1
    found = laws.summary(level)
    ends, held = found.ends, found.held
    if chosen:
        ends = ends_for_every_count(release, seen, level)
        runs = zip(laws, ends, strict=True)
        held = np.array([law.probabilities[a : b + 1].sum() for law, (a, b) in runs])
    notes = (UNSURE_NOTE,) * (unsure and chosen) or rarely_covered(release, level) * (not chosen)
    of_the_top = top_note(top) if found.reaches else ()
    return Intervals(
        level=level,
        low=ends[where, 0],
        high=ends[where, 1],
        probability=held[where],
        mean=found.mean[where],
        median=found.median[where],
        zero=found.zero[where],
        laws=laws,
        law_of=where,
        notes=notes + rows_notes(release, release.counts, of_the_top),
    )
