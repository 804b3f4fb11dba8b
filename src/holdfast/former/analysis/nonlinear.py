"""Questions that are not sums over the distribution: quantiles, variance, Gini, any function."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.analysis.answer import STRETCHED, Answer
from holdfast.former.analysis.evidence import DENSE_UP_TO, Evidence
from holdfast.former.analysis.linear import Linear, share
from holdfast.former.analysis.long_ranges import LongEvidence
from holdfast.former.analysis.stage_one import SEED
from holdfast.former.privatizers.projection import isotonic

DRAWS = 2000

WHOLE = (
    "a quantile of counts is a whole number, so its interval covers at least, and often more "
    "than, its level"
)
FUNCTION = (
    "a function of your own: its interval is a parametric bootstrap, whose coverage was not "
    "measured"
)


def quantile(view: Evidence, probability: Any, *, estimator: str, level: float) -> Answer:
    """The smallest count that at least this share of rows does not exceed."""
    n = len(view.target)

    def cdf(k: int) -> tuple[float, float]:
        return share(n, at_most=k).answer(view, estimator=estimator, level=level).interval

    found = quantile_among(view.distribution(estimator), cdf, probability, level)
    if isinstance(view, LongEvidence):
        low, high = (int(end) for end in found.interval)
        ends = max(low - view.reach(low, level), 0), min(high + view.reach(high, level), n - 1)
        interval = float(ends[0]), float(ends[1])
        return replace(found, interval=interval, estimator=estimator, method="bootstrap")
    draws = _errors(view, estimator, DRAWS // 4) + view.unbiased(estimator)
    p = _probability(probability)
    reached = np.maximum.accumulate(np.cumsum(draws, axis=1), axis=1) >= p
    return replace(
        found,
        standard_error=float((n - 1 - reached[:, :-1].sum(axis=1)).std()),
        estimator=estimator,
        method="formula" if view.first.exact else "bootstrap",
    )


def quantile_among(
    shares: Floats, cdf: Callable[[int], tuple[float, float]], probability: Any, level: float
) -> Answer:
    """The quantile of these shares; `cdf` has an interval for the share of rows with k or less.

    k can be the quantile as long as the intervals of F(k) and F(k-1) allow F(k-1) < p <= F(k).
    """
    p, n = _probability(probability), len(shares)
    found = _first(shares, p)
    low = _furthest(found, 0, lambda k: cdf(k)[1] >= p)
    high = _furthest(found, n - 1, lambda k: cdf(k - 1)[0] < p)
    return Answer(
        question=quantile_words(p),
        estimate=float(found),
        standard_error=None,
        interval=(float(low), float(high)),
        level=level,
        estimator="",
        method="",
        notes=(WHOLE,),
        whole=True,
        top_code=n - 1,
    )


def quantile_words(probability: Any) -> str:
    """The question in words.

    >>> quantile_words(0.5), quantile_words("0.90")
    ('median count', 'count at quantile 0.9')
    """
    p = _probability(probability)
    return "median count" if p == 0.5 else f"count at quantile {p:g}"


def _furthest(start: int, limit: int, allowed: Callable[[int], bool]) -> int:
    """The last count from `start` towards `limit` that is allowed, where none beyond it is: by
    steps that double, then by halving."""
    way = 1 if limit >= start else -1
    good, bad, step = start, limit + way, 1
    while good != limit and abs(bad - good) > 1:
        ahead = good + way * min(step, abs(bad - good) - 1)
        if allowed(ahead):
            good, step = ahead, 2 * step
        else:
            bad, step = ahead, max((abs(ahead - good)) // 2, 1)
    return good


def variance(shares: Floats) -> Floats:
    """Of the counts, for one distribution or one per row; shares may be negative as well.

    >>> float(variance(np.array([0.5, 0, 0.5])))
    1.0
    """
    steps = np.arange(shares.shape[-1])
    return np.asarray(shares @ steps**2 - (shares @ steps) ** 2)


def gini(shares: Floats) -> Floats:
    """The Gini coefficient of the counts: 0 when all are equal, near 1 when one row has all.

    >>> float(gini(np.array([0.5, 0, 0.5])))
    0.5
    """
    below = np.cumsum(shares, axis=-1)[..., :-1]
    mean = shares @ np.arange(shares.shape[-1])
    spread = (below * (1 - below)).sum(axis=-1)
    return np.asarray(np.divide(spread, mean, out=np.zeros_like(spread), where=mean > 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Curved:
    """Any function of the shares, with its derivative."""

    g: Callable[[Floats], Any]
    derivative: Callable[[Floats], Floats]
    """How it answers to a little more of each share."""
    limits: tuple[float, float]
    straight: bool = False
    by_formula: bool = True
    """Whether the derivative is a formula, which serves long ranges too."""

    def value(self, histogram: Floats) -> float:
        """The number."""
        return float(self.g(histogram / histogram.sum()))

    def slope(self, histogram: Floats) -> Floats:
        """By one more row of each count, the number of rows being fixed."""
        rows = float(histogram.sum())
        return np.asarray(self.derivative(histogram / rows) / rows)


def smooth(view: Evidence, words: str, asked: Curved, *, estimator: str, level: float) -> Answer:
    """A smooth function of the shares, by bootstrap around the unbiased shares.

    g of unbiased shares is biased as far as g is curved; the draws show by how much, and the
    interval is turned around (the basic bootstrap), so that it is not counted twice.
    """
    if len(view.target) > DENSE_UP_TO:
        return _by_slope(view, words, asked, estimator, level)
    centre = view.unbiased(estimator)
    here = float(asked.g(centre))
    errors = asked.g(centre + _errors(view, estimator, DRAWS)) - here
    plain = float(asked.g(view.distribution(estimator)))
    return _turned(words, plain, here, errors, asked.limits, estimator, level)


def _by_slope(view: Evidence, words: str, asked: Curved, estimator: str, level: float) -> Answer:
    """The same on a long range: g is taken for straight around its answer."""
    shares, (least, most) = view.distribution(estimator), asked.limits
    f, here = asked.derivative(shares), float(asked.g(shares))
    straight = Linear(words=words, f=f).answer(view, estimator=estimator, level=level)
    shift = here - float(f @ shares)
    low, high = (min(max(end + shift, least), most) for end in straight.interval)
    estimate = min(max(straight.estimate + shift, least), most)
    return replace(straight, estimate=estimate, interval=(low, high))


def function(view: Evidence, g: Callable[[Floats], Any], *, estimator: str, level: float) -> Answer:
    """Any function of a distribution of counts; it is only called with distributions."""
    centre = view.matched if estimator == "best" else view.distribution(estimator)
    here, plain = own_value(g, centre), own_value(g, view.distribution(estimator))
    draws = _errors(view, estimator, DRAWS // 4) + centre
    errors = np.array([own_value(g, isotonic(draw)) for draw in draws]) - here
    name = own_name(g)
    limits = (-math.inf, math.inf)
    return _turned(name, plain, here, errors, limits, estimator, level, (FUNCTION,))


def _turned(
    words: str,
    estimate: float,
    centre: float,
    errors: Floats,
    limits: tuple[float, float],
    estimator: str,
    level: float,
    notes: tuple[str, ...] = (),
) -> Answer:
    low, high = _ends(centre, errors, limits, level)
    if estimator == "best" and not low <= estimate <= high:
        notes = (*notes, STRETCHED)
    return Answer(
        question=words,
        estimate=estimate,
        standard_error=float(errors.std()),
        interval=(min(low, estimate), max(high, estimate)),
        level=level,
        estimator=estimator,
        method="bootstrap",
        notes=notes,
    )


def _ends(
    centre: float, errors: Floats, limits: tuple[float, float], level: float
) -> tuple[float, float]:
    upper, lower = np.quantile(errors, [(1 + level) / 2, (1 - level) / 2])
    low, high = (min(max(float(centre - e), limits[0]), limits[1]) for e in (upper, lower))
    return low, high


def _errors(view: Evidence, estimator: str, size: int) -> Floats:
    if len(view.target) > DENSE_UP_TO:
        raise HoldfastError(
            f"this question needs max_count below {DENSE_UP_TO}. Hint: shares, mean and total "
            "are answered at any size."
        )
    return view.draw_errors(estimator, size, np.random.default_rng(SEED))


def _first(shares: Floats, p: float) -> int:
    reached = np.cumsum(shares) >= p - 1e-12
    return int(np.argmax(reached)) if reached.any() else len(shares) - 1


def _probability(value: Any) -> float:
    try:
        p = float(value)
    except (TypeError, ValueError):
        p = -1.0
    if not 0 < p < 1:
        raise HoldfastError(
            f"a quantile must lie between 0 and 1, got {value!r:.40}. Hint: 0.5 is the median."
        )
    return p


def own_name(g: Callable[..., Any]) -> str:
    """What a function of one's own is called."""
    return g.__name__ if isinstance(g, FunctionType) else "function"


def own_value(g: Callable[[Floats], Any], shares: Floats) -> float:
    """Its value for one distribution; raises unless that is a finite number."""
    try:
        value = float(g(shares))
    except (TypeError, ValueError):
        value = math.nan
    except (ArithmeticError, AttributeError, LookupError, NameError) as error:
        raise HoldfastError(
            f"the function failed on a distribution of counts ({type(error).__name__}). Hint: it "
            f"gets an array of {len(shares)} shares, of which any may be 0."
        ) from error
    if not math.isfinite(value):
        raise HoldfastError(
            "the function must return a finite number for every distribution of counts, which it "
            "gets as an array of shares."
        )
    return value
