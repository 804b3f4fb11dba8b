"""For every row, what its released count says about its true one."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from holdfast.analysis.answer import percent
from holdfast.analysis.every_count import (
    UNSURE_NOTE,
    ends_for_every_count,
    rarely_covered,
)
from holdfast.analysis.posterior import Posterior, check_level, row_law, row_notes
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.release.row_marks import row_kinds
from holdfast.release.row_prior import does_without

if TYPE_CHECKING:
    from holdfast.release.release import Release

MOST_HELD = 200_000_000  # probabilities of true counts


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
    laws: tuple[Posterior, ...] = field(repr=False)
    """One for every released count that occurs, and one for rows known to be zero."""
    law_of: NDArray[np.intp] = field(repr=False)
    """Which of the laws each row has."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""

    def at_least(self, k: int) -> Floats:
        """For every row, the probability that its true count is k or more."""
        return np.array([law.at_least(k) for law in self.laws])[self.law_of]

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
    if len(seen) * len(release.target) > MOST_HELD:
        raise HoldfastError(
            "intervals for every row of so long a range take too much memory. "
            "Hint: ask about the rows that matter, one by one."
        )
    laws = [row_law(release, kind) for kind in seen]
    if chosen:
        ends = ends_for_every_count(release, seen, level)
    else:
        ends = np.array([law.interval(level) for law in laws], dtype=np.int64)
    held = [law.probabilities[a : b + 1].sum() for law, (a, b) in zip(laws, ends, strict=True)]
    notes = (UNSURE_NOTE,) * (unsure and chosen) or rarely_covered(release, level) * (not chosen)
    return Intervals(
        level=level,
        low=ends[where, 0],
        high=ends[where, 1],
        probability=np.array(held)[where],
        mean=np.array([law.mean for law in laws])[where],
        median=np.array([law.median for law in laws], dtype=np.int64)[where],
        zero=np.array([law.equal(0) for law in laws])[where],
        laws=tuple(laws),
        law_of=where,
        notes=notes + row_notes(release, release.counts, laws),
    )
