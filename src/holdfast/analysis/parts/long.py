"""Parts of tables whose counts run so far that nothing n by n can be held.

Stage 2 moves a count by about 1/ε2 there, so what the rows show says most of what they have, and
the likelihood would gain little: the mechanism's blur is undone round by round.
"""

from dataclasses import dataclass

import numpy as np

from holdfast.analysis.parts.part import Part, members_of
from holdfast.analysis.parts.profile import FEW, MARGIN, Asked
from holdfast.analysis.row_laws import has_columns, means_over
from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.mechanism.grouped import source_of
from holdfast.mechanism.mechanism import Mechanism
from holdfast.release.row_prior import LONG

ROUNDS = 2
WIDER = 1.2  # what measured errors are of those worked out: docs/long-ranges.md
SECONDS = 501  # counts from which on the likelihood takes them


@dataclass(frozen=True, kw_only=True)
class Straight:
    """A number that some rows have, and how far off it may be."""

    value: float
    error: float
    interval: tuple[float, float]


def is_long(part: Part, asked: Asked | None = None) -> bool:
    """Whether the counts run too far for the likelihood, or for an average so far that it takes
    seconds."""
    most = SECONDS if asked is not None and asked.straight else LONG
    return len(part.release.target) > most


def straight(part: Part, asked: Asked, level: float) -> Straight:
    r"""By weights w of the released counts with $Tw \approx f$, f being the number's slope.

    $w_0 = f$, $w_{k+1} = w_k + (f - T w_k)$: each round undoes the blur that the one before left.
    What is left of it, at the counts that the rows may truly have, widens the interval. Variance
    and Gini are taken for straight around what the released counts have.
    """
    from scipy.special import ndtri

    if not asked.by_formula:
        raise HoldfastError(
            f"with a max_count above {LONG - 1:,} parts can be asked for shares, means, totals, "
            "quantiles, variance and gini. Hint: `release.impute` gives tables for anything else."
        )
    f = _slope(part, asked)
    value = 0.0 if asked.straight else asked.value(part.histogram) - float(f @ part.histogram)
    variance = shift = left = most = 0.0
    for shown, mechanism in _drawn(part):
        found = _undone(f, mechanism, shown, 1 / float(part.release.privacy.budget.unit_1 or 1))
        value += found.value
        variance += found.variance
        shift += found.shift
        left += found.left
        most = max(most, found.most)
    wide = float(ndtri((1 + level) / 2)) * (1 + MARGIN + FEW / part.rows) ** 0.5
    wider = WIDER if len(part.release.target) > LONG else 1.0
    half = wider * (wide * variance**0.5 + wide**2 / 6 * most) + left
    low, high = asked.limits
    ends = value - half + min(shift, 0.0), value + half + max(shift, 0.0)
    return Straight(
        value=min(max(value, low), high),
        error=wider * variance**0.5 + (abs(shift) + left) / 2,
        interval=(min(max(ends[0], low), high), max(min(ends[1], high), low)),
    )


def _slope(part: Part, asked: Asked) -> Floats:
    if not asked.straight:
        return asked.slope(part.histogram)
    return asked.slope(np.ones(len(part.release.target)) * part.rows / len(part.release.target))


@dataclass(frozen=True)
class _Undone:
    """What the rows of one mechanism add."""

    value: float
    variance: float
    shift: float
    """How far the truth is expected to lie above the value."""
    left: float
    """How far it may lie on either side."""
    most: float
    """The largest standard deviation of a row."""


def _undone(f: Floats, mechanism: Mechanism, shown: Floats, scale: float) -> _Undone:
    """Undo the blur of one mechanism, and work out what is left of it.

    What a row has truly is near what it shows; how near, the mechanism says, and z. But z may have
    rows beside where they are, by what stage 1's noise moves a row that is measured alone: it is
    spread so far.
    """
    w = f
    for _ in range(ROUNDS):
        w = w + (f - mechanism.expected(w))
    mean, counts = mechanism.expected(w), np.flatnonzero(shown)
    left, own = f - mean, np.maximum(mechanism.expected(w * w) - mean * mean, 0.0)
    rows, value = shown[counts], float(shown @ w)
    if len(f) <= LONG or mechanism.target is None or not has_columns(mechanism):
        here = own[counts]
        beside = float(rows @ np.abs(left[counts]))
        return _Undone(value, float(rows @ here), 0.0, beside, float(here.max(initial=0.0)) ** 0.5)
    before = spread_out(source_of(mechanism), scale)
    values = np.stack([left, left * left, own])
    off, square, own = means_over(mechanism, before, counts, values)
    each = own + np.maximum(square - off * off, 0.0)
    return _Undone(
        value, float(rows @ each), float(rows @ off), 0.0, float(each.max(initial=0.0)) ** 0.5
    )


def spread_out(z: Floats, scale: float) -> Floats:
    """z, spread to both sides by so much; what would fall below 0 comes back.

    >>> spread_out(np.array([0.0, 1.0, 0.0, 0.0]), 1).round(3).tolist()
    [0.288, 0.485, 0.166, 0.061]
    """
    from holdfast.mechanism.curve_kernel import falling_sums

    fall = float(np.exp(-1 / scale))
    below = falling_sums(np.ascontiguousarray(z[::-1]), fall)[::-1]
    wide = falling_sums(z, fall) + below - z
    wide += fall * below[0] * fall ** np.arange(len(z))
    return np.asarray(wide / wide.sum())


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
