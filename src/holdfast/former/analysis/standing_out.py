"""Rows whose change stands out among all of them, with intervals that hold although they were
picked by looking."""

from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.former.analysis.posterior import prior
from holdfast.former.release.row_laws import SAME
from holdfast.former.release.row_prior import LONG

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


@dataclass(frozen=True, kw_only=True, eq=False)
class StandingOut:
    """The rows that are picked, and an interval for each of them."""

    rows: Marks
    low: Floats
    """Lower ends; -inf where there is none, NaN for rows that are not picked."""
    high: Floats


def standing_out(
    now: "Release", then: "Release", pairs: Integers, which: Integers, level: float
) -> StandingOut | None:
    r"""Rows that changed, at a false coverage rate of 1 - `level`; None on long ranges.

    `pairs` has the kinds of rows, now and then, and `which` says which pair each row is. For true
    counts i now and k then, the two p-values of what was released are independent and hold
    whatever i and k are; with Fisher, $F(p_i q_k)$ with $F(t) = t (1 - \ln t)$ is one for both. A
    row's p-value is the highest over all i and k that mean no rise, or no fall, whichever is lower.
    Of m rows the R are picked that Benjamini and Hochberg's rule finds at 1 - `level`, each with
    the interval of all i - k whose p-value is above R (1 - `level`) / m (Benjamini and Yekutieli
    2005). Given both distributions, rows are drawn independently, as their theorem asks for.
    """
    if max(len(now.target), len(then.target)) > LONG:
        return None
    p_now, p_then = _Chances(now), _Chances(then)
    laws = [(p_now(a), p_then(b)) for a, b in pairs.tolist()]
    p_values = np.array([_unchanged(p, q) for p, q in laws])[which]
    error = 1 - level
    picked = _false_discoveries(p_values, error)
    low, high = np.full(len(which), np.nan), np.full(len(which), np.nan)
    least = _product(error * picked.sum() / len(which)) if picked.any() else 0.0
    for pair in np.unique(which[picked]).tolist():
        rows, (p, q) = picked & (which == pair), laws[pair]
        low[rows], high[rows] = _ends(p, q, least)
    return StandingOut(rows=picked, low=low, high=high)


class _Chances:
    """How usual a released count is for every true one, by the kind of a row."""

    def __init__(self, release: "Release") -> None:
        self._release, self._held = release, dict[int, Floats]()

    def __call__(self, kind: int) -> Floats:
        n = len(self._release.target)
        group, count = divmod(kind, n + 1)
        if count == n:  # publicly known to be zero
            return np.asarray(np.eye(1, n)[0])
        if group not in self._held:
            before, mechanism = prior(self._release, group)
            if not self._release.privacy.budget.stage_1:  # what it would be comes from the counts
                before = np.full(n, 1 / n)
            self._held[group] = usual(before, np.asarray(mechanism.matrix))
        return np.asarray(self._held[group][:, count])


def usual(before: Floats, matrix: Floats) -> Floats:
    r"""For each true count i (rows) the probability of a released one that is as unusual as j, or
    more: one with $T_{ij'} / (zT)_{j'}$ not above that of j.

    >>> usual(np.array([0.5, 0.5]), np.array([[0.75, 0.25], [0.25, 0.75]]))
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """
    ratio = matrix / np.maximum(before @ matrix, 1e-300)
    found = np.empty_like(matrix)
    for i, (ratios, shares) in enumerate(zip(ratio, matrix, strict=True)):
        order = np.argsort(ratios, kind="stable")
        sums = np.cumsum(shares[order])
        found[i] = sums[np.searchsorted(ratios[order], ratios * (1 + SAME), side="right") - 1]
    return np.minimum(found, 1.0)


def _unchanged(p: Floats, q: Floats) -> float:
    """The p-value of no rise or of no fall. The highest counts stand for all above them, so that a
    row that had the highest may have risen or fallen by any number."""
    not_risen = max((q[: len(p)] * _running(p)[: len(q)]).max(), q[-1] * p.max())
    if len(q) > len(p):
        not_risen = max(not_risen, q[len(p) :].max() * p.max())
    not_fallen = max((p[: len(q)] * _running(q)[: len(p)]).max(), p[-1] * q.max())
    if len(p) > len(q):
        not_fallen = max(not_fallen, p[len(q) :].max() * q.max())
    return _together(min(not_risen, not_fallen))


def _together(product: float) -> float:
    """Fisher's p-value of two independent ones with this product."""
    return product * (1 - log(product)) if product > 0 else 0.0


def _product(p_value: float) -> float:
    """The inverse of `_together`."""
    from scipy.special import chdtri

    return float(np.exp(-chdtri(4, p_value) / 2))


def _false_discoveries(p_values: Floats, error: float) -> Marks:
    """Benjamini and Hochberg's rule."""
    order = np.sort(p_values)
    fits = np.flatnonzero(order <= error * np.arange(1, len(order) + 1) / len(order))
    return np.asarray(p_values <= order[fits[-1]]) if len(fits) else np.zeros(len(order), np.bool_)


def _ends(p: Floats, q: Floats, least: float) -> tuple[float, float]:
    """The lowest and the highest i - k with p_i q_k above `least`."""
    if p.max() * q.max() <= least:
        return -inf, inf
    steps = np.arange(len(q))
    with np.errstate(divide="ignore"):
        needed = least / q
    some = needed < p.max()
    first = np.searchsorted(_running(p), needed, side="right")
    last = len(p) - 1 - np.searchsorted(_running(p[::-1]), needed, side="right")
    low = -inf if q[-1] * p.max() > least else float((first - steps)[some].min())
    high = inf if p[-1] * q.max() > least else float((last - steps)[some].max())
    return low, high


def _running(values: Floats) -> Floats:
    return np.maximum.accumulate(values)
