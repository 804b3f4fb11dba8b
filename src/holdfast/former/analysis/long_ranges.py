"""What a release says where counts run so far that nothing n by n can be held.

Stage 2 moves a count by about 1/ε2 there, so the released counts say most, and any multiple of what
they say beyond stage 1 may be added to stage 1's answer: docs/long-ranges.md.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.analysis.evidence import DENSE_UP_TO, Evidence, evidence
from holdfast.former.analysis.stage_one import stage_one
from holdfast.former.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

WIDER = 1.2  # what measured errors are of those worked out: docs/long-ranges.md
FEW = 30  # rows around a count from which on its own noise does not decide a quantile


@dataclass(frozen=True, kw_only=True, eq=False)
class LongEvidence(Evidence):
    """The same two views, with the mechanism in place of its matrix: O(n log n) a question."""

    mechanism: Mechanism = field(repr=False)
    seen: list[tuple[Floats, Floats, Floats]] = field(default_factory=list, repr=False)
    """The last two weights that were asked for, each with its moments: an answer asks often."""

    @cached_property
    def residual(self) -> Floats:
        """What the released distribution says beyond stage 1; mean 0."""
        return np.asarray(self.released - self.mechanism.image(self.first.shares))

    def weights(self, f: Floats, estimator: str) -> Floats:
        """The best multiple of f."""
        if self.first.skipped:
            raise HoldfastError(
                "this release has no stage 1, and its mechanism is too large to be inverted. "
                "Hint: the plain estimates are in release.distribution."
            )
        if estimator == "target":
            return np.zeros_like(f)
        return f if estimator == "released" else self._best_multiple(f)

    def error_loads(self, f: Floats, w: Floats) -> Floats:
        """How stage 1's noise enters the error of the answer."""
        return WIDER * self.first.loads(f - self._moments(w)[0])

    def sampling_variances(self, w: Floats) -> Floats:
        """Per count, what a row with it adds to the sampling variance, times N / N^2."""
        mean, square = self._moments(w)
        return np.asarray(WIDER**2 * np.maximum(square - mean * mean, 0) / self.rows)

    def reach(self, count: int, level: float) -> int:
        """How far the count of one row is moved, at this level, where rows are few around it."""
        away = np.abs(np.arange(len(self.target)) - count)
        row = self.mechanism.row(count) / float(self.mechanism.total)
        moved = np.cumsum(np.bincount(away, row))
        far = int(np.searchsorted(moved, level))
        near = self.released[max(count - far, 0) : count + far + 1].sum() * self.rows
        return far if near < FEW else 0

    @property
    def combined(self) -> Floats:
        """The released distribution: no better one can be had share by share."""
        return self.released

    @property
    def best(self) -> Floats:
        """The released distribution, which stands for the best estimate too."""
        return self.released

    def _best_multiple(self, f: Floats) -> Floats:
        mean, square = self._moments(f)
        seen = self.first.loads(mean)
        total = self.sampling_variance(f) / WIDER**2 + self.first.variance * seen @ seen
        gain = self.first.variance * seen @ self.first.loads(f)
        part = float(gain / total) if total > 0 else 0.0
        return self._note(part * f, part * mean, part * part * square)[0]

    def _moments(self, w: Floats) -> tuple[Floats, Floats]:
        """By true count, the expected w and w^2 of the released one."""
        for known, mean, square in self.seen:
            if known is w:
                return mean, square
        mean, whole = self.mechanism.expected(w), np.array_equal(w, w * w)
        return self._note(w, mean, mean if whole else self.mechanism.expected(w * w))[1:]

    def _note(self, w: Floats, mean: Floats, square: Floats) -> tuple[Floats, Floats, Floats]:
        self.seen[:] = [*self.seen[-1:], (w, mean, square)]
        return self.seen[-1]


def find_evidence(release: "Release") -> Evidence:
    """What a release says about its true distribution, whatever its range."""
    mechanism = release.mechanism
    if len(release.target) <= DENSE_UP_TO or mechanism.curves is None or release.rows == 0:
        return evidence(release)
    return LongEvidence(
        first=stage_one(release),
        released=release.distribution,
        target=release.target,
        matrix=np.empty((0, 0)),
        rows=release.rows,
        again=lambda: np.empty((0, 0)),
        mechanism=mechanism,
    )
