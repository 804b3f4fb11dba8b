"""Some rows of a release, and what was drawn for them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from holdfast.analysis.answer import About
from holdfast.analysis.known_zeros import known_notes, known_share, row_kinds
from holdfast.analysis.parts.profile import Drawn
from holdfast.analysis.parts.tilts import Estimate
from holdfast.arrays import Floats, Marks
from holdfast.errors import HoldfastError, numbered

if TYPE_CHECKING:
    from holdfast.analysis.evidence import Evidence
    from holdfast.release.release import Release

WORTH_THE_REST = 0.05  # of the rows: for less, what stage 1 and the other rows say adds nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class Stratum:
    """The rows of a part that one mechanism drew."""

    drawn: Drawn
    estimate: Estimate
    rest: Estimate | None
    """The other rows of that mechanism; None where there are none."""
    evidence: "Evidence"
    """What both stages say of all of them."""

    @property
    def share(self) -> float:
        """Of the mechanism's rows."""
        return self.drawn.rows / self.evidence.rows


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
        return round(float(self._histogram(self.marks).sum()))

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
        inside, outside = self._histogram(self.marks), self._histogram(~self.marks)
        return (stratum(inside, outside, self.release.mechanism.matrix, self.release.evidence),)

    def _histogram(self, marks: Marks) -> Floats:
        """How many of these rows were drawn as each count; of those that show 0 and may be known
        to be zero, a part."""
        n = len(self.release.target)
        kinds = row_kinds(self.release)[marks]
        histogram = np.bincount(kinds, minlength=n)[:n].astype(np.float64)
        histogram[0] *= 1 - known_share(self.release)
        return histogram


def digest(release: "Release") -> str:
    """Of the released counts: no two releases have the same."""
    return hashlib.sha256(release.counts.tobytes()).hexdigest()


def stratum(inside: Floats, outside: Floats, matrix: Floats, evidence: "Evidence") -> Stratum:
    """From the released histograms of a part and of the other rows of the same mechanism."""
    drawn, prior = Drawn.of(inside, matrix), prior_of(evidence)
    others = Estimate(drawn=Drawn.of(outside, matrix), prior=prior) if outside.sum() else None
    return Stratum(
        drawn=drawn,
        estimate=Estimate(drawn=drawn, prior=prior),
        rest=others,
        evidence=evidence,
    )


def prior_of(evidence: "Evidence") -> Floats:
    """What is known of a row before its count is looked at."""
    return evidence.best if evidence.first.skipped else evidence.target
