"""Questions about a part of the rows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.analysis import linear, nonlinear
from holdfast.former.analysis.answer import Answer
from holdfast.former.analysis.parts import numbers
from holdfast.former.analysis.parts.long import is_long, straight
from holdfast.former.analysis.parts.part import WORTH_THE_REST, Part
from holdfast.former.analysis.parts.profile import Asked, Profile, Told
from holdfast.former.analysis.parts.tilts import pooled
from holdfast.former.analysis.parts.unbiased import unbiased

USUAL = 1.645  # standard errors on each side of a 90 % interval
WIDE = 1.7  # times the usual width: then an interval owes it to what it does not assume
CAUTIOUS = (
    "the interval assumes nothing about how the counts of these rows are distributed, and mostly "
    "covers more often than it says; the estimate takes them to be like the whole table's, with "
    "more of the low or of the high counts as these rows ask for"
)
FREE = (
    "the interval assumes nothing about how the counts of these rows are distributed, and mostly "
    "covers more often than it says"
)
STRETCHED = (
    "the interval was stretched to reach the estimate, which leans on the distribution of the "
    "whole table: by the counts of these rows alone it would end before"
)


def own(part: Part, g: Callable[..., Any], level: float) -> Answer:
    """A function of one's own."""
    found = smooth(part, numbers.own(g), nonlinear.own_name(g), level)
    return replace(found, notes=(*found.notes, nonlinear.FUNCTION))


def smooth(part: Part, asked: Asked, words: str, level: float, percent: bool = False) -> Answer:
    """A number that a little more of each count changes a little."""
    notes, method = part.notes, "likelihood"
    if is_long(part, asked):
        found, method = straight(part, asked, level), "formula"
        estimate, error, ends = found.value, found.error, found.interval
        notes += (FREE,) if found.free else ()
    else:
        low, high = interval(part, asked, level)
        estimate, error = _estimate(part, asked)
        ends = min(low, estimate), max(high, estimate)
        width = (high - low) / (2 * USUAL * error) if error > 0 else 1.0
        notes += (CAUTIOUS,) if width > WIDE else ()
        notes += () if low <= estimate <= high else (STRETCHED,)
    return Answer(
        question=words,
        estimate=estimate,
        standard_error=error,
        interval=ends,
        level=level,
        estimator="part",
        method=method,
        notes=notes,
        percent=percent,
        about=(part.about,),
    )


def interval(part: Part, asked: Asked, level: float) -> tuple[float, float]:
    """By the likelihood of the part's counts and what else is told; no model of their law. Where
    several mechanisms drew them, that takes their rows for alike: an interval without this is
    beside it, and the answer reaches over both."""
    told = _told(part, asked) if asked.straight else None
    low, high = Profile(drawn=part.drawn, asked=asked, told=told).interval(level)
    if not asked.straight or len(part.strata) == 1:
        return low, high
    free = unbiased(part, _slope(part, asked), level)
    least, most = asked.limits
    ends = [(low, high), *([] if free is None else [free])]
    return max(min(a for a, _ in ends), least), min(max(b for _, b in ends), most)


def _slope(part: Part, asked: Asked) -> Floats:
    """Of a straight question: the same for every histogram of as many rows."""
    n = len(part.release.target)
    return asked.slope(np.full(n, part.rows / n))


def _estimate(part: Part, asked: Asked) -> tuple[float, float]:
    """The estimate and its standard error: by tilts, and by what all rows and the others tell."""
    histogram = part.estimate.histogram
    slope, value = asked.slope(histogram), asked.value(histogram)
    variance = part.estimate.variance(slope)
    told = _told_smoothly(part, slope) if asked.straight else None
    if told is None or variance <= 0:
        return value, float(max(variance, 0.0) ** 0.5)
    weight = variance / (variance + told.variance)
    low, high = asked.limits
    value = min(max(value + weight * (told.mean - value), low), high)
    return value, float((weight * told.variance) ** 0.5)


def _told(part: Part, asked: Asked) -> Told | None:
    """What all rows of the mechanisms by stage 1, less the others by their own counts, say."""
    slope = _slope(part, asked)
    measured = _measured(part, slope)
    if measured is None or part.rest is None:
        return measured
    others = numbers.Average(f=slope, scale=sum(r.drawn.rows for r in part.rest.rows))
    low, high = Profile(drawn=pooled(part.rest), asked=others).interval(0.9)
    spread = ((high - low) / (2 * USUAL)) ** 2
    return Told(mean=measured.mean - (low + high) / 2, variance=measured.variance + spread)


def _told_smoothly(part: Part, slope: Floats) -> Told | None:
    measured = _measured(part, slope)
    if measured is None or part.rest is None:
        return measured
    mean = measured.mean - float(slope @ part.rest.histogram)
    return Told(mean=mean, variance=measured.variance + part.rest.variance(slope))


def _measured(part: Part, f: Floats) -> Told | None:
    """f · h of all rows of the part's mechanisms, where the part is enough of them."""
    if any(stratum.share < WORTH_THE_REST for stratum in part.strata):
        return None
    found = [stratum.measured.tell(f) for stratum in part.strata]
    told = [pair for pair in found if pair is not None]
    if len(told) < len(found):
        return None
    mean, variance = np.sum(told, axis=0)
    return Told(mean=float(mean), variance=max(float(variance), 1e-300))


def quantile(part: Part, probability: Any, level: float) -> Answer:
    """The smallest count that at least this share of the part's rows does not exceed."""
    n = len(part.release.target)
    long = is_long(part, numbers.Average(f=linear.share(n, at_most=0).f))
    histogram = part.histogram if long else part.estimate.histogram

    def cdf(k: int) -> tuple[float, float]:
        asked = numbers.Average(f=linear.share(n, at_most=k).f)
        if long:
            return straight(part, asked, level).interval
        return interval(part, asked, level)

    found = nonlinear.quantile_among(histogram / histogram.sum(), cdf, probability, level)
    return replace(
        found,
        estimator="part",
        method="likelihood",
        notes=(*part.notes, *found.notes),
        about=(part.about,),
    )
