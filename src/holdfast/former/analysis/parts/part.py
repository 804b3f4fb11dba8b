"""Some rows of a release, and what was drawn for them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, numbered
from holdfast.former.analysis.answer import About
from holdfast.former.analysis.known_zeros import known_notes, known_share
from holdfast.former.analysis.parts.measured import Measured, measured_group, measured_whole
from holdfast.former.analysis.parts.profile import Drawn
from holdfast.former.analysis.parts.tilts import Estimate, Rows, pooled
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.release.row_marks import row_kinds

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

WORTH_THE_REST = 0.05  # of the rows: for less, what stage 1 and the other rows say adds nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class Stratum:
    """The rows of a part that one mechanism drew."""

    inside: Rows
    shown: Floats = field(repr=False)
    """How many of them show each count."""
    outside: Rows | None
    """The other rows of that mechanism; None where there are none."""
    measured: Measured
    """What stage 1 says of all of them."""

    @property
    def share(self) -> float:
        """Of the mechanism's rows."""
        return self.inside.drawn.rows / self.measured.rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Rows chosen by what is public."""

    release: "Release" = field(repr=False)
    marks: Marks = field(repr=False)
    """Which rows of the release's known rows."""
    words: str = ""
    """How they were chosen."""

    @cached_property
    def rows(self) -> int:
        """How many of them went through the mechanism, as far as the bundle tells."""
        return round(float(self.histogram.sum()))

    @cached_property
    def about(self) -> About:
        """The rows, for answers to be compared."""
        return About(release=digest(self.release), marks=self.marks)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the rows."""
        known = int(self.marks.sum()) - self.rows
        told = known_notes(self.release, self.release.counts[self.marks])
        if not known or told:
            return told
        are = "is" if known == 1 else "are"
        return (f"{numbered(known, 'row')} publicly known to be zero {are} left out",)

    @cached_property
    def strata(self) -> Sequence[Stratum]:
        """By the mechanism that drew them."""
        if not self.rows:
            raise HoldfastError("no row was chosen that went through the mechanism.")
        groups = self.release.groups
        if groups is None:
            every = np.ones(len(self.marks), dtype=bool)
            return (self._stratum(every, measured_whole(self.release)),)
        members = members_of(self.release)
        return tuple(
            self._stratum(members == number, measured_group(self.release, groups, number))
            for number in np.unique(members[self.marks & (members >= 0)]).tolist()
        )

    def _stratum(self, rows: Marks, measured: Measured) -> Stratum:
        inside, outside = (self.shown(rows & marks) for marks in (self.marks, ~self.marks))
        some, others = (
            Rows(drawn=Drawn.of(histogram, measured.matrix), prior=measured.target)
            for histogram in (inside, outside)
        )
        return Stratum(
            inside=some,
            shown=inside,
            outside=others if outside.any() else None,
            measured=measured,
        )

    @cached_property
    def by_mechanism(self) -> Sequence[tuple[Mechanism, Integers, Floats]]:
        """Each mechanism that drew some of the rows, the counts that these show, and how many show
        each."""
        groups, members = self.release.groups, None
        if groups is not None:
            members = members_of(self.release)
        numbers = [0] if members is None else np.unique(members[self.marks & (members >= 0)])
        found = []
        for number in map(int, numbers):
            rows = self.marks if members is None else self.marks & (members == number)
            mechanism = self.release.mechanism if groups is None else groups.at(number).mechanism
            shown = self.shown(rows)
            counts = np.flatnonzero(shown)
            found.append((mechanism, counts, shown[counts]))
        return found

    @cached_property
    def chosen(self) -> Sequence[float]:
        """Of all rows of each of these mechanisms, the share that is in the part."""
        members = None if self.release.groups is None else members_of(self.release)
        if members is None:
            whole = [self.shown(np.ones(len(self.marks), dtype=bool)).sum()]
        else:
            numbers = np.unique(members[self.marks & (members >= 0)])
            whole = [self.shown(members == number).sum() for number in numbers]
        inside = [rows.sum() for _, _, rows in self.by_mechanism]
        return [float(some / all_) for some, all_ in zip(inside, whole, strict=True)]

    @cached_property
    def estimate(self) -> Estimate:
        """Of their true counts."""
        return Estimate(rows=[stratum.inside for stratum in self.strata])

    @cached_property
    def drawn(self) -> Drawn:
        """All of them together."""
        return pooled(self.estimate)

    @cached_property
    def rest(self) -> Estimate | None:
        """Of the true counts of the other rows of the same mechanisms."""
        found = [stratum.outside for stratum in self.strata if stratum.outside is not None]
        return Estimate(rows=found) if found else None

    @cached_property
    def histogram(self) -> Floats:
        """How many of the part's rows were drawn as each count."""
        return self.shown(self.marks)

    def shown(self, marks: Marks) -> Floats:
        """How many of these rows were drawn as each count; of those that show 0 and may be known
        to be zero, a part."""
        n = len(self.release.target)
        kinds = row_kinds(self.release)[marks] % (n + 1)
        histogram = np.bincount(kinds, minlength=n)[:n].astype(np.float64)
        histogram[0] *= 1 - known_share(self.release)
        return histogram


def digest(release: "Release") -> str:
    """Of the released counts: no two releases have the same."""
    return hashlib.sha256(release.counts.tobytes()).hexdigest()


def members_of(release: "Release") -> Integers:
    """The group of every row, by number; -1 for rows that did not go through a mechanism."""
    if release.groups is None or release.groups.members is None:
        raise HoldfastError("this release does not tell which rows are in which group.")
    return release.groups.members
