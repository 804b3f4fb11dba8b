"""Questions about a part of the rows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.analysis import linear, nonlinear
from holdfast.analysis.answer import Answer
from holdfast.analysis.parts import numbers
from holdfast.analysis.parts.part import WORTH_THE_REST, Part, Stratum
from holdfast.analysis.parts.profile import Asked, Profile, Told
from holdfast.arrays import Floats
from holdfast.errors import numbered

USUAL = 1.645  # standard errors on each side of a 90 % interval
WIDE = 1.7  # times the usual width: then an interval owes it to what it does not assume
CAUTIOUS = (
    "the interval assumes nothing about how the counts of these rows are distributed, and mostly "
    "covers more often than it says; the estimate takes them to be a tilt of the whole table's"
)


def answer(
    part: Part, question: str | Callable[..., Any], *, level: float, **options: Any
) -> Answer:
    """The answer to a checked question about a part."""
    n, rows = len(part.release.target), part.rows
    if question in ("quantile", "median"):
        at = 0.5 if question == "median" else options.get("at")
        return _quantile(part, at, level)
    if question == "share":
        asked = linear.share(n, **options)
        return _smooth(part, numbers.Average(f=asked.f), asked.words, level, percent=True)
    counts = np.arange(n, dtype=np.float64)
    if question == "mean":
        return _smooth(part, numbers.Average(f=counts), "mean count", level)
    if question == "total":
        total = numbers.Average(f=counts, scale=float(rows))
        return _smooth(part, total, f"total of {numbered(rows, 'row')}", level)
    if question == "variance":
        return _smooth(part, numbers.variance(n), "variance of the counts", level)
    if question == "gini":
        return _smooth(part, numbers.gini(n), "Gini coefficient of the counts", level)
    own = _smooth(part, numbers.own(question), nonlinear.own_name(question), level)  # type: ignore[arg-type]
    return replace(own, notes=(*own.notes, nonlinear.FUNCTION))


def _smooth(part: Part, asked: Asked, words: str, level: float, percent: bool = False) -> Answer:
    told = _told(part, asked) if asked.straight else None
    profile = Profile(drawn=[s.drawn for s in part.strata], asked=asked, told=told)
    low, high = profile.interval(level)
    estimate, error = _estimate(part, asked)
    notes = part.notes
    width = (high - low) / (2 * USUAL * error) if error > 0 else 1.0
    if width > WIDE:
        notes = (*notes, CAUTIOUS)
    return Answer(
        question=words,
        estimate=estimate,
        standard_error=error,
        interval=(low, high),
        level=level,
        estimator="part",
        method="likelihood",
        notes=notes,
        percent=percent,
        about=(part.about,),
    )


def _estimate(part: Part, asked: Asked) -> tuple[float, float]:
    """The estimate and its standard error: by tilts, and by what all rows and the others tell."""
    histogram = np.sum([s.estimate.histogram for s in part.strata], axis=0)
    slope = asked.slope(histogram)
    value = asked.value(histogram)
    variance = sum(s.estimate.variance(slope) for s in part.strata)
    told = _told_smoothly(part, slope) if asked.straight else None
    if told is None or variance <= 0:
        return value, float(variance**0.5)
    weight = variance / (variance + told.variance)
    low, high = asked.limits
    value = min(max(value + weight * (told.mean - value), low), high)
    return value, float((weight * told.variance) ** 0.5)


def _told(part: Part, asked: Asked) -> Told | None:
    """What all rows of the mechanism by stage 1, less the others by their own counts, say."""
    if not _worth(part):
        return None
    slope = asked.slope(np.sum([s.estimate.histogram for s in part.strata], axis=0))
    return _added(part, slope, _by_profile)


def _told_smoothly(part: Part, slope: Floats) -> Told | None:
    def by_tilts(stratum: Stratum, f: Floats) -> tuple[float, float]:
        if stratum.rest is None:
            return 0.0, 0.0
        return float(f @ stratum.rest.histogram), stratum.rest.variance(f)

    return _added(part, slope, by_tilts) if _worth(part) else None


def _worth(part: Part) -> bool:
    return all(s.share >= WORTH_THE_REST and not s.evidence.first.skipped for s in part.strata)


def _added(part: Part, f: Floats, others: Callable[[Stratum, Floats], tuple[float, float]]) -> Told:
    mean = variance = 0.0
    for stratum in part.strata:
        view, (less, spread) = stratum.evidence, others(stratum, f)
        loads = view.first.loads(f)
        noise = view.first.variance * float(loads @ loads) * view.rows**2
        mean += view.rows * float(f @ view.first.shares) - less
        variance += noise + spread
    return Told(mean=mean, variance=max(variance, 1e-300))


def _by_profile(stratum: Stratum, f: Floats) -> tuple[float, float]:
    """The others' part of the number, and how sure: from their own interval."""
    if stratum.rest is None:
        return 0.0, 0.0
    asked = numbers.Average(f=f, scale=stratum.rest.drawn.rows)
    low, high = Profile(drawn=[stratum.rest.drawn], asked=asked).interval(0.9)
    return (low + high) / 2, ((high - low) / (2 * USUAL)) ** 2


def _quantile(part: Part, probability: Any, level: float) -> Answer:
    n = len(part.release.target)
    histogram = np.sum([s.estimate.histogram for s in part.strata], axis=0)

    def cdf(k: int) -> tuple[float, float]:
        asked = numbers.Average(f=linear.share(n, at_most=k).f)
        told = _told(part, asked)
        return Profile(drawn=[s.drawn for s in part.strata], asked=asked, told=told).interval(level)

    found = nonlinear.quantile_among(histogram / histogram.sum(), cdf, probability, level)
    return replace(
        found,
        estimator="part",
        method="likelihood",
        notes=(*part.notes, *found.notes),
        about=(part.about,),
    )
