"""Parts of tables whose counts run so far that nothing n by n can be held.

Stage 2 moves a count by about 1/ε2 there, so what the rows show says most of what they have, and
the likelihood would gain little: the mechanism's blur is undone round by round.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast.analysis.parts.part import Part, members_of
from holdfast.analysis.parts.profile import FEW, MARGIN, Asked
from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.mechanism.mechanism import Mechanism
from holdfast.release.row_prior import LONG

ROUNDS = 2
SECONDS = 501  # counts from which on the likelihood takes them


@dataclass(frozen=True, kw_only=True)
class Straight:
    """An average of f over some rows, and how far off it may be."""

    value: float
    error: float
    interval: tuple[float, float]


def is_long(part: Part, asked: Asked | None = None) -> bool:
    """Whether the counts run too far for the likelihood, or for an average so far that it takes
    seconds."""
    most = SECONDS if asked is not None and asked.straight else LONG
    return len(part.release.target) > most


def straight(part: Part, asked: Asked, level: float) -> Straight:
    r"""By weights w of the released counts with $Tw \approx f$.

    $w_0 = f$, $w_{k+1} = w_k + (f - T w_k)$: each round undoes the blur that the one before left.
    What is left of it, at the counts that the rows show, widens the interval.
    """
    from scipy.special import ndtri

    if not asked.straight:
        raise HoldfastError(
            f"with a max_count above {LONG - 1:,} parts can be asked for shares, means, totals and "
            "quantiles. Hint: `release.impute` gives tables for anything else."
        )
    value = variance = left = most = 0.0
    f = asked.slope(np.ones(len(part.release.target)) * part.rows / len(part.release.target))
    for shown, mechanism in _drawn(part):
        blur = _Undone(f=f, mechanism=mechanism)
        value += float(shown @ blur.w)
        variance += float(shown @ blur.variances)
        left += float(shown @ blur.left)
        most = max(most, float(blur.variances[shown > 0].max(initial=0.0)) ** 0.5)
    wide = float(ndtri((1 + level) / 2)) * (1 + MARGIN + FEW / part.rows) ** 0.5
    half = wide * variance**0.5 + wide**2 / 6 * most + left
    low, high = asked.limits
    return Straight(
        value=min(max(value, low), high),
        error=variance**0.5 + left / 2,
        interval=(max(value - half, low), min(value + half, high)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Undone:
    f: Floats
    mechanism: Mechanism

    @cached_property
    def w(self) -> Floats:
        w = self.f
        for _ in range(ROUNDS):
            w = w + (self.f - self.mechanism.expected(w))
        return w

    @cached_property
    def left(self) -> Floats:
        """For each count, the bias that is left."""
        return np.abs(self.f - self.mechanism.expected(self.w))

    @cached_property
    def variances(self) -> Floats:
        """For each count, what a row with it adds to the variance."""
        mean = self.mechanism.expected(self.w)
        return np.maximum(self.mechanism.expected(self.w * self.w) - mean * mean, 0.0)


def _drawn(part: Part) -> list[tuple[Floats, Mechanism]]:
    """How many of the part's rows show each count, for each mechanism."""
    groups = part.release.groups
    if groups is None:
        return [(part.histogram, part.release.mechanism)]
    members = members_of(part.release)
    numbers = np.unique(members[part.marks & (members >= 0)]).tolist()
    return [
        (part.shown(part.marks & (members == number)), groups.at(number).mechanism)
        for number in numbers
    ]
