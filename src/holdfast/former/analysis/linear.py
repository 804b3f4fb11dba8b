"""Questions that are sums over the distribution: shares, mean, total. Answered by formula."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, whole_number
from holdfast.former.analysis.answer import STRETCHED, Answer
from holdfast.former.analysis.error_law import error_density, shortest_interval
from holdfast.former.analysis.evidence import DENSE_UP_TO, Evidence


@dataclass(frozen=True, kw_only=True, eq=False)
class Linear:
    """The question f · ζ."""

    words: str
    """The question as people ask it."""
    f: Floats = field(repr=False)
    """What each count contributes."""
    percent: bool = False
    """Whether the answer is a share."""
    scale: float = 1.0
    """The answer is scale * f · ζ."""

    def answer(self, view: Evidence, *, estimator: str, level: float) -> Answer:
        """Estimate, standard error and interval."""
        w = view.weights(self.f, estimator)
        centre = view.estimate(self.f, w)
        low, high = self._interval(view, w, level, (float(self.f.min()), float(self.f.max())))
        if self.percent and estimator == "best" and len(self.f) <= DENSE_UP_TO:
            least, most = _between_others(view, self.f)
            if not least <= centre <= most:  # what is left of it would say too much
                low, high = self._interval(view, w, level, (least, most))
            low, high = max(low, least), min(high, most)
        plain = {"released": view.released, "target": view.target}.get(estimator)
        notes: tuple[str, ...] = () if view.first.exact else (REPEATED,)
        if plain is None:
            dense = len(self.f) <= DENSE_UP_TO
            estimate = float(self.f @ view.best) if dense else min(max(centre, low), high)
            error = view.best_error(self.f) if dense else view.standard_error(self.f, w)
            notes += () if low <= estimate <= high else (STRETCHED,)
        else:
            estimate, error = float(self.f @ plain), view.standard_error(self.f, w)
        low, high = min(low, estimate), max(high, estimate)
        return Answer(
            question=self.words,
            estimate=self.scale * estimate,
            standard_error=self.scale * error,
            interval=(self.scale * low, self.scale * high),
            level=level,
            estimator=estimator,
            method="formula" if view.first.exact else "bootstrap",
            notes=notes,
            percent=self.percent,
        )

    def _interval(
        self, view: Evidence, w: Floats, level: float, limits: tuple[float, float]
    ) -> tuple[float, float]:
        """Around the unbiased answer, from the law of its error."""
        loads, spread = view.error_loads(self.f, w), view.sampling_variances(w)
        law = error_density(view.first, loads, float(view.middle @ spread), 1 / view.rows)
        stretch = self._stretch(view, view.first.variance * float(loads @ loads), spread)
        return shortest_interval(view.estimate(self.f, w), law, level, limits, stretch)

    def _stretch(
        self, view: Evidence, fixed: float, spread: Floats
    ) -> Callable[[Floats], Floats] | None:
        """How the standard error depends on the true share: as in Wilson's interval."""
        inside = float(view.middle @ self.f)
        if not self.percent or not 0 < inside < 1:
            return None
        within = float(view.middle @ (self.f * spread)) / inside
        outside = float(view.middle @ ((1 - self.f) * spread)) / (1 - inside)
        usual = fixed + float(view.middle @ spread)
        if usual <= 0:
            return None
        return lambda share: np.sqrt(
            np.maximum(fixed + share * within + (1 - share) * outside, 1e-3 * usual) / usual
        )


def _between_others(view: Evidence, f: Floats) -> tuple[float, float]:
    """What a share of rows must lie between: it is no more than the share with some more counts,
    and no less than that with fewer, and those may be known far better.

    The highest count is known apart from its neighbours by stage 1 alone, and all of them
    together by the released counts as well.
    """
    more, fewer = _neighbours(f)
    low = max((_surely(view, other)[0] for other in _best(view, fewer, -1.0)), default=0.0)
    high = min((_surely(view, other)[1] for other in _best(view, more, 1.0)), default=1.0)
    return (low, high) if low < high else (0.0, 1.0)


def _neighbours(f: Floats) -> tuple[list[Floats], list[Floats]]:
    """Shares with some more counts at either end than this one, and with some fewer."""
    inside, counts = np.flatnonzero(f), np.arange(len(f))
    first, last, top = int(inside[0]), int(inside[-1]), len(f) - 1
    if last - first >= len(inside):
        return [], []  # counts are left out between them: nothing is known to have more or fewer
    more, fewer = [], []
    for step in WIDENED_BY:
        more.append((counts >= first - step) & (counts <= last + step))
        start, end = first + step * (first > 0), last - step * (last < top)
        fewer.append((counts >= start) & (counts <= end))
    kept = [[g.astype(np.float64) for g in some if 0 < g.sum() < len(f)] for some in (more, fewer)]
    return kept[0], kept[1]


def _best(view: Evidence, others: list[Floats], sign: float) -> list[Floats]:
    """That of the others which says most, if there is one."""
    if not others:
        return []
    ends = []
    for g in others:
        w = view.weights(g, "best")
        ends.append(sign * view.estimate(g, w) + 3 * view.standard_error(g, w))
    return [others[int(np.argmin(ends))]]


def _surely(view: Evidence, f: Floats) -> tuple[float, float]:
    return Linear(words="", f=f, percent=True)._interval(
        view, view.weights(f, "best"), NEARLY_SURE, (0.0, 1.0)
    )


WIDENED_BY = (1, 2, 3, 5, 8, 13)  # counts that a share is compared with more or fewer of
NEARLY_SURE = 0.998  # the level of what a share must lie between
REPEATED = "stage 1's noise was estimated by repeating it: the interval is approximate"


def share(
    n: int,
    *,
    equal: int | None = None,
    at_least: int | None = None,
    at_most: int | None = None,
    between: tuple[int, int] | None = None,
) -> Linear:
    """The share of rows whose count is `equal` to, `at_least`, `at_most` or `between` (both in).

    >>> share(5, at_least=3).f
    array([0., 0., 0., 1., 1.])
    """
    given = [x for x in (equal, at_least, at_most, between) if x is not None]
    if len(given) != 1:
        raise HoldfastError(
            "`share` needs exactly one of equal, at_least, at_most, between. "
            'Hint: ask("share", at_least=3).'
        )
    top = n - 1
    if equal is not None:
        first, last, words = _count(equal, "equal", top), equal, f"equal to {equal:,}"
    elif at_least is not None:
        first, last, words = _count(at_least, "at_least", top), top, f"with {at_least:,} or more"
    elif at_most is not None:
        first, last, words = 0, _count(at_most, "at_most", top), f"with {at_most:,} or less"
    else:
        first, last = _pair(between, top)
        words = f"between {first:,} and {last:,}"
    f = np.zeros(n)
    f[first : last + 1] = 1
    return Linear(words=f"share of rows {words}", f=f, percent=True)


def mean(n: int) -> Linear:
    """The mean count."""
    return Linear(words="mean count", f=np.arange(n, dtype=np.float64))


def total(n: int, rows: int) -> Linear:
    """The sum of all counts."""
    return Linear(words="total of all counts", f=np.arange(n, dtype=np.float64), scale=rows)


def _pair(between: Any, top: int) -> tuple[int, int]:
    try:
        first, last = between
    except (TypeError, ValueError):
        raise HoldfastError("`between` must be two counts, such as (2, 5).") from None
    first, last = (_count(end, "between", top) for end in (first, last))
    if first > last:
        raise HoldfastError(f"`between` must go upwards, got {first:,} and {last:,}.")
    return first, last


def _count(value: Any, name: str, top: int) -> int:
    hint = f"counts above {top:,} were published as {top:,}."
    return whole_number(value, name, most=top, hint=hint)
