"""What is known of the counts of some rows: draws of their histogram, and their noisy counts."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from holdfast.answers.laws import RowLaw, row_law
from holdfast.arrays import Floats, Integers, Marks
from holdfast.fit.histogram import Draws, Histogram, added, collected

if TYPE_CHECKING:
    from holdfast.release.release import Column, Release

DRAWS = 400  # of what is known by a law instead of by draws


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenRows:
    """Some rows of a column of counts, all of them as a case.

    Rows publicly known to be zero are zeros for sure; rows whose count is missing are left out.
    Of rows that are whole declared groups, the answer is what the released table has; of others it
    follows from draws that are fitted to their own noisy counts.
    """

    release: "Release" = field(repr=False)
    column: "Column" = field(repr=False)
    marks: Marks = field(repr=False)
    """Which rows of the table were chosen."""

    @cached_property
    def measured(self) -> Integers:
        """The numbers of the rows that have a noisy count."""
        return np.flatnonzero(self.marks & self.column.measured)

    @cached_property
    def zeros(self) -> int:
        """How many rows are publicly known to be zero."""
        zero = self.marks & self.release.structural_zero & ~self.column.missing
        return int(np.count_nonzero(zero & ~self.column.measured))

    @cached_property
    def missing(self) -> int:
        """How many rows have no count."""
        return int(np.count_nonzero(self.marks & self.column.missing))

    @property
    def size(self) -> int:
        """How many rows are answered about."""
        return len(self.measured) + self.zeros

    @cached_property
    def noisy(self) -> Integers:
        """Noisy counts of the measured rows."""
        return self.column.noisy[self.measured]

    @cached_property
    def declared(self) -> tuple[int, ...] | None:
        """The groups that the rows are, where they are whole declared groups; else None."""
        groups = self.column.measurement.groups
        rows = np.bincount(self.column.group[self.measured], minlength=groups)
        sizes = self.column.measurement.tally.rows_by_group()
        chosen = np.flatnonzero(rows)
        return tuple(chosen.tolist()) if (rows[chosen] == sizes[chosen]).all() else None

    @property
    def draws(self) -> Draws:
        """Draws of how many rows have each count, for intervals."""
        return self._draws[0]

    @property
    def draws_of_estimates(self) -> Draws:
        """The same for estimates, where these do not count in the released table."""
        return self._draws[1]

    @cached_property
    def _draws(self) -> tuple[Draws, Draws]:
        """Both: those of the measured rows, and the rows that are zero."""
        estimate = self.column.estimate
        if self.declared is None:
            values, rows = np.unique(self.noisy, return_counts=True)
            of_ends, of_estimates = estimate.draws_of_part(values, rows.astype(np.int64))
        elif not len(self.measured):
            nothing = np.zeros(0, dtype=np.int64)
            of_ends = of_estimates = Draws(support=nothing, rows=np.zeros((DRAWS, 0)))
        elif len(self.declared) == self.column.measurement.groups:
            of_ends = of_estimates = estimate.draws(None)
        else:
            of_ends = of_estimates = _sum([estimate.draws(group) for group in self.declared])
        if not self.zeros:
            return of_ends, of_estimates
        zeros = Draws(support=np.zeros(1, dtype=np.int64), rows=np.full((1, 1), float(self.zeros)))
        return _sum([of_ends, zeros]), _sum([of_estimates, zeros])

    @cached_property
    def in_table(self) -> Histogram:
        """How many rows have each count in the released table."""
        groups = self.declared
        if groups and len(groups) == self.column.measurement.groups:
            return self._with_zeros(self.column.distribution)
        if groups:
            return self._with_zeros(added([self.column.histograms[group] for group in groups]))
        values, rows = np.unique(self.column.counts[self.measured], return_counts=True)
        return self._with_zeros(Histogram(values=values, rows=rows))

    @property
    def law(self) -> RowLaw | None:
        """What is known of the only row, where it is only one and no declared group."""
        if self.size == 1 == len(self.measured) and self.declared is None:
            return row_law(self.column, int(self.measured[0]))
        return None

    def _with_zeros(self, histogram: Histogram) -> Histogram:
        if not self.zeros:
            return histogram
        return collected(np.append(histogram.values, 0), np.append(histogram.rows, self.zeros))


def _sum(several: list[Draws]) -> Draws:
    """Draws of several groups of rows together."""
    if len(several) == 1:
        return several[0]
    support = np.unique(np.concatenate([draws.support for draws in several]))
    rows: Floats = np.zeros((max(len(draws.rows) for draws in several), len(support)))
    for draws in several:
        place = np.searchsorted(support, draws.support)
        rows[:, place] += np.resize(draws.rows, (len(rows), len(draws.support)))
    return Draws(support=support, rows=rows)
