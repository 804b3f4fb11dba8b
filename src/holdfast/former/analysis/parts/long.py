"""Parts of tables whose counts run so far that nothing n by n can be held.

Stage 2 moves a count by about 1/ε2 there, so what the rows show says most of what they have, and
the likelihood would gain little: the mechanism's blur is undone round by round.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.analysis.parts.part import Part
from holdfast.former.analysis.parts.profile import FEW, MARGIN, Asked
from holdfast.former.analysis.parts.steps import NearSteps
from holdfast.former.analysis.row_laws import has_columns, means_over
from holdfast.former.mechanism.grouped import source_of
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.release.row_prior import LONG

ROUNDS = 2
MANY_ROUNDS = (2, 4, 8, 16, 32)  # of which rows that may be unlike z take the best
NEARLY_ALL = 0.9  # of a mechanism's rows: z is their law too
REACH = 6.0  # times 1/ε: how far from what it shows, or from where that turns, a row may be
FAR = 38.0  # times 1/ε: e^-38 is nothing beside 1
MOST_STEPS = 4
WIDER = 1.2  # what measured errors are of those worked out: docs/long-ranges.md
SECONDS = 501  # counts from which on the likelihood takes them


@dataclass(frozen=True, kw_only=True)
class Straight:
    """A number that some rows have, and how far off it may be."""

    value: float
    error: float
    interval: tuple[float, float]
    free: bool = False
    """Whether nothing is assumed of the counts of some of the rows."""


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
    total = _Undone(value, 0.0, 0.0, 0.0, 0.0)
    below = above = 0.0
    scale = 1 / float(part.release.privacy.budget.unit_1 or 1)
    wide = float(ndtri((1 + level) / 2)) * (1 + MARGIN + FEW / part.rows) ** 0.5
    free = [len(f) > LONG and share < NEARLY_ALL for share in part.chosen]
    for (mechanism, counts, rows), unlike in zip(part.by_mechanism, free, strict=True):
        if unlike and asked.straight and _has_few_steps(f, mechanism):
            near = NearSteps.of(f, mechanism, counts, rows)
            (low, high), estimate = near.interval(level), near.estimate
            estimate = min(max(estimate, low), high)
            total += _Undone(estimate, 0.0, 0.0, 0.0, 0.0)
            below, above = below + estimate - low, above + high - estimate
        elif unlike:
            total += _undone_freely(f, mechanism, counts, rows, wide)
        else:
            total += _undone(f, mechanism, counts, rows, scale)
    wider = WIDER if len(part.release.target) > LONG else 1.0
    half = wider * (wide * total.variance**0.5 + wide**2 / 6 * total.most) + total.left
    low, high = asked.limits
    ends = (
        total.value - half - below + min(total.shift, 0.0),
        total.value + half + above + max(total.shift, 0.0),
    )
    beside = (abs(total.shift) + total.left) / 2 + (below + above) / (2 * wide)
    return Straight(
        value=min(max(total.value, low), high),
        error=wider * total.variance**0.5 + beside,
        interval=(min(max(ends[0], low), high), max(min(ends[1], high), low)),
        free=any(free),
    )


def _has_few_steps(f: Floats, mechanism: Mechanism) -> bool:
    steps = int(np.count_nonzero(np.diff(f)))
    return mechanism.target is not None and has_columns(mechanism) and 0 < steps <= MOST_STEPS


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

    def __add__(self, other: "_Undone") -> "_Undone":
        return _Undone(
            self.value + other.value,
            self.variance + other.variance,
            self.shift + other.shift,
            self.left + other.left,
            max(self.most, other.most),
        )


def _undone(
    f: Floats, mechanism: Mechanism, counts: Integers, rows: Floats, scale: float
) -> _Undone:
    """Undo the blur of one mechanism, and work out what is left of it.

    What a row has truly is near what it shows; how near, the mechanism says, and z. But z may have
    rows beside where they are, by what stage 1's noise moves a row that is measured alone: it is
    spread so far.
    """
    if len(f) <= LONG or mechanism.target is None or not has_columns(mechanism):
        w, left, own = _blur(f, mechanism.expected, f, ROUNDS)
        here = own[counts]
        value, beside = float(rows @ w[counts]), float(rows @ np.abs(left[counts]))
        return _Undone(value, float(rows @ here), 0.0, beside, float(here.max(initial=0.0)) ** 0.5)
    value = float(rows @ f[counts])
    variance = shift = most = 0.0
    for first, last in _windows(f, mechanism):
        some = (counts >= first) & (counts <= last)
        if not some.any():
            continue
        added, off, each = _in_window(f, mechanism, first, last, counts[some], scale)
        value += float(rows[some] @ added)
        variance += float(rows[some] @ each)
        shift += float(rows[some] @ off)
        most = max(most, float(each.max()))
    return _Undone(value, variance, shift, 0.0, most**0.5)


def _undone_freely(
    f: Floats, mechanism: Mechanism, counts: Integers, rows: Floats, wide: float
) -> _Undone:
    """The same of rows that may be unlike z: what is left of the blur is the most that any counts
    that they may truly have leave, after as many rounds as make the interval the narrowest."""
    turns = counts if mechanism.curves is None else mechanism.curves.turns[counts]
    reach = int(REACH / float(mechanism.epsilon)) + 1
    firsts = np.maximum(np.minimum(counts, turns) - reach, 0)
    ends = np.minimum(np.maximum(counts, turns) + reach + 1, len(f))
    best, least, w, done = None, np.inf, f, 0
    for rounds in MANY_ROUNDS:
        w, left, own = _blur(f, mechanism.expected, w, rounds - done)
        done = rounds
        apart = np.abs(left)
        most = [apart[first:end].max() for first, end in zip(firsts, ends, strict=True)]
        beside, here = float(rows @ np.array(most)), own[counts]
        variance = float(rows @ here)
        half = wide * variance**0.5 + beside
        if half >= least:
            break
        least = half
        best = _Undone(float(rows @ w[counts]), variance, 0.0, beside, float(here.max()) ** 0.5)
    assert best is not None  # the first is narrower than no end
    return best


def _blur(
    f: Floats, expected: Callable[[Floats], Floats], w: Floats, rounds: int
) -> tuple[Floats, Floats, Floats]:
    """w after more rounds, and for each true count what is left of the blur and the variance of one
    row."""
    for _ in range(rounds):
        w = w + (f - expected(w))
    mean = expected(w)
    return w, f - mean, np.maximum(expected(w * w) - mean * mean, 0.0)


def _windows(f: Floats, mechanism: Mechanism) -> list[tuple[int, int]]:
    """The counts outside of which f stays as it is, where it has but a few steps: from each step as
    far as a count is moved in all rounds."""
    steps, curves, n = np.flatnonzero(np.diff(f)), mechanism.curves, len(f)
    if len(steps) > MOST_STEPS or curves is None:
        return [(0, n - 1)]
    reach, found = int(FAR / float(mechanism.epsilon)) + 1, list[tuple[int, int]]()
    for step in steps.tolist():
        low, high = step, step + 1
        for _ in range(ROUNDS + 1):
            low = max(min(low, int(curves.turns[low])) - reach, 0)
            high = min(max(high, int(curves.turns[high])) + reach, n - 1)
        if found and low <= found[-1][1]:
            low, high = found[-1][0], max(high, found.pop()[1])
        found.append((low, high))
    return found


def _in_window(
    f: Floats, mechanism: Mechanism, first: int, last: int, counts: Integers, scale: float
) -> tuple[Floats, Floats, Floats]:
    """For each of these counts, w beyond f, how far the truth is expected above, the variance."""
    curves, n = mechanism.curves, len(f)
    assert curves is not None  # `has_columns` of it
    near, inside, total = curves.near(first, last), slice(first, last + 1), float(mechanism.total)
    beyond = float(f[min(last + 1, n - 1)])
    floors = {power: float(curves.floors @ f**power) / total for power in (1, 2)}
    values = np.zeros((3, n))
    w = f[inside]
    for _ in range(ROUNDS):
        w = w + (f[inside] - near.expected(w, beyond, floors[1]))
    mean = near.expected(w, beyond, floors[1])
    left = f[inside] - mean
    values[0, inside], values[1, inside] = left, left * left
    square = near.expected(w * w, beyond**2, floors[2])
    values[2, inside] = np.maximum(square - mean * mean, 0.0)
    wide = slice(max(first - int(FAR * scale), 0), min(last + int(FAR * scale), n - 1) + 1)
    before = np.zeros(n)
    before[wide] = spread_out(source_of(mechanism)[wide], scale, wide.start == 0)
    off, apart, own = means_over(mechanism, before, counts, values)
    added = w[counts - first] - f[counts]
    return added, off, own + np.maximum(apart - off * off, 0.0)


def spread_out(z: Floats, scale: float, from_zero: bool = True) -> Floats:
    """z, spread to both sides by so much; what would fall below 0 comes back.

    >>> spread_out(np.array([0.0, 1.0, 0.0, 0.0]), 1).round(3).tolist()
    [0.242, 0.504, 0.186, 0.068]
    """
    from holdfast.former.mechanism.curve_kernel import falling_sums

    fall = float(np.exp(-1 / scale))
    below = falling_sums(np.ascontiguousarray(z[::-1]), fall)[::-1]
    wide = falling_sums(np.ascontiguousarray(z), fall) + below - z
    if from_zero:
        wide = wide + fall * below[0] * fall ** np.arange(len(z))
    return np.asarray(wide / max(float(wide.sum()), 1e-300))
