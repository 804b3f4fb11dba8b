"""What a release says of one row: the same wherever it is asked."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.errors import HoldfastError, one_line
from holdfast.former.analysis.answer import About, Answer
from holdfast.former.analysis.every_count import UNSURE_NOTE, ends_for_every_count, rarely_covered
from holdfast.former.analysis.linear import Linear, share
from holdfast.former.analysis.nonlinear import quantile_words
from holdfast.former.analysis.parts.part import Part, digest
from holdfast.former.analysis.posterior import Posterior, check_level, row_law, row_notes
from holdfast.former.analysis.rows import find_row, row_labels
from holdfast.former.release.row_marks import row_kinds
from holdfast.former.release.row_prior import LONG, does_without

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

ESTIMATOR = "row"
COUNTS = {"mean": "mean count", "total": "total of 1 row", "median": "median count"}
"""Questions whose answer is the count of the row itself, with their words."""
ALIKE = {"variance": "variance of the counts", "gini": "Gini coefficient of the counts"}
ONE = "one row does not differ from itself"
LIKE_ANY = (
    "by its released count and the released distribution, as intervals.csv has it: what else is "
    "known of the row is not in it"
)
YES_OR_NO = "a share of one row is 0% or 100%: the estimate is the probability that it is 100%"
LEFT_OUT = (
    "the released count is not in the interval: few rows have that many, so it was more probably "
    "drawn for one that has another"
)


def ask_row(release: "Release", row: Any, *, label: str | None, level: float) -> Answer:
    """What the row with this label, or of this number, may truly have; see `Release.row`."""
    labels = row_labels(release, label)
    place = find_row(release, labels, row)
    name, count = one_line(str(labels[place])), int(release.counts[place])
    if count < 0:
        raise HoldfastError(f"the count of {name!r:.60} is missing: it was not known.")
    found = _answer(release, place, f"true count of {name}, released as {count:,}", level)
    law = row_law(release, row_kinds(release)[place])
    chances = f"unchanged with probability {law.equal(count):.0%}, 0 with {law.equal(0):.0%}"
    notes = (*found.notes, chances, *row_notes(release, [count], [law]))
    return _with(found, notes)


def answer_one(
    part: Part, question: str | Callable[..., Any], level: float, options: dict[str, Any]
) -> Answer | None:
    """What one row has, by its own law; None for other parts, and functions of one's own."""
    if not isinstance(question, str):
        return None
    n = len(part.release.target)
    drawn = np.flatnonzero(part.marks & (row_kinds(part.release) % (n + 1) < n))
    if len(drawn) != 1 or part.rows != 1:
        return None
    row = int(drawn[0])
    law = row_law(part.release, row_kinds(part.release)[row])
    found = _answer(part.release, row, COUNTS.get(question, ""), level)
    if question in ALIKE:
        return _with(_nothing(found, ALIKE[question]), (*part.notes, ONE))
    if question == "share":
        found = _share(law, found, share(n, **options))
    elif question in ("median", "quantile"):
        words = found.question or quantile_words(options.get("at"))
        found = replace(found, question=words, estimate=float(law.median), whole=True)
    told = LIKE_ANY if n <= LONG else LIKE_ANY.replace(", as intervals.csv has it", "")
    return _with(found, (*part.notes, told, *found.notes))


def _nothing(found: Answer, words: str) -> Answer:
    """One row does not differ from itself."""
    return replace(
        found,
        question=words,
        estimate=0.0,
        standard_error=0.0,
        interval=(0.0, 0.0),
        whole_ends=False,
        top_code=None,
    )


def _share(law: Posterior, count: Answer, asked: Linear) -> Answer:
    """Whether the row is among those asked for: as sure as the interval of its count is."""
    low, high = map(int, count.interval)
    held, chance = asked.f[low : high + 1], float(asked.f @ law.probabilities)
    return replace(
        count,
        question=asked.words,
        estimate=chance,
        standard_error=(chance * (1 - chance)) ** 0.5,
        interval=(float(held.min()), float(held.max())),
        notes=(YES_OR_NO, *count.notes),
        percent=True,
        whole_ends=False,
        top_code=None,
    )


def _answer(release: "Release", row: int, words: str, level: float) -> Answer:
    level, kind = check_level(level), int(row_kinds(release)[row])
    law = row_law(release, kind)
    low, high = _ends(release, kind, law, level)
    unsure = does_without(release)
    notes = (UNSURE_NOTE,) if unsure else rarely_covered(release, level)
    outside = not low <= int(release.counts[row]) <= high
    marks = np.zeros(len(release.counts), dtype=bool)
    marks[row] = True
    return Answer(
        question=words,
        estimate=law.mean,
        standard_error=law.variance**0.5,
        interval=(float(low), float(high)),
        level=level,
        estimator=ESTIMATOR,
        method="posterior",
        notes=((LEFT_OUT,) if outside else ()) + notes,
        about=(About(release=digest(release), marks=marks),),
        whole_ends=True,
        top_code=len(release.target) - 1,
    )


def _ends(release: "Release", kind: int, law: Posterior, level: float) -> tuple[int, int]:
    if not does_without(release):
        return law.interval(level)
    low, high = ends_for_every_count(release, [kind], level)[0].tolist()
    return low, high


def _with(answer: Answer, notes: tuple[str, ...]) -> Answer:
    return replace(answer, notes=tuple(dict.fromkeys(notes)))
