"""Questions about the distribution of counts."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, numbered
from holdfast.former.analysis.answer import SIMULATED, About, Answer
from holdfast.former.analysis.asking import Answers, ask_groups, ask_part
from holdfast.former.analysis.catalogue import Quantile, Question, find_question
from holdfast.former.analysis.cautions import (
    FEW_FOR_ANSWERS,
    FEW_ROWS_FOR_BUDGET,
    beside_the_top,
    cap_is_noted,
    enters_capped,
    left_out,
    or_more,
    spread_of,
)
from holdfast.former.analysis.evidence import DENSE_UP_TO, ESTIMATORS, Evidence
from holdfast.former.analysis.parts.long import straight
from holdfast.former.analysis.parts.numbers import Average
from holdfast.former.analysis.parts.part import digest
from holdfast.former.analysis.parts.totals import MEASURED_QUESTIONS
from holdfast.former.analysis.posterior import check_level
from holdfast.former.analysis.row_laws import by_columns
from holdfast.former.analysis.stage_one import has_stage_1

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

FEW_ROWS, LARGE_EPSILON = 30, 1.5


def ask(
    release: "Release",
    question: str | Callable[..., Any],
    *,
    estimator: str = "best",
    level: float = 0.9,
    where: Any = None,
    by: Any = None,
    label: str | None = None,
    **options: Any,
) -> Answer | Answers:
    """The answer to one question about the counts of all rows or of some; see `Release.ask`."""
    _check(question, estimator, level, options)
    how = {"where": where, "level": check_level(level), "label": label, "options": options}
    if where is not None or by is not None:
        _refuse(estimator, "about some of the rows")
        if by is not None:
            return ask_groups(release, question, by=by, **how)
        return ask_part(release, question, **how)
    measured = release.totals is not None and question in MEASURED_QUESTIONS
    if release.groups is not None or measured:
        of_what = "of a release by group, in which each has a z and a mechanism of its own"
        _refuse(estimator, of_what if release.groups is not None else "that was measured itself")
        return ask_part(release, question, **how)
    answer = _ask_all(release.known, question, estimator, level, options)
    missing = len(release.counts) - len(release.known.counts)
    return replace(answer, notes=answer.notes + left_out(missing))


def _refuse(estimator: str, of_what: str) -> None:
    if estimator != "best":
        raise HoldfastError(
            f"`estimator` cannot be chosen for a question {of_what}: there is one estimate. "
            "Hint: leave `estimator` out."
        )


def _ask_all(
    release: "Release",
    question: str | Callable[..., Any],
    estimator: str,
    level: float,
    options: dict[str, Any],
) -> Answer:
    kind = find_question(question)
    answer = kind.about_all(
        release.evidence, options, estimator=estimator, level=check_level(level)
    )
    weights = kind.weights(release.evidence, options)
    few = _few_rows(release.evidence, weights)
    if answer.percent and weights is not None and estimator != "target" and by_columns(release):
        answer = _beside_z(release, answer, weights)
        few += beside_the_top(release, weights, release.distribution)
    notes = answer.notes + few + _notes(release, question, kind, answer)
    return replace(
        answer,
        question=_named(release, kind, answer.question),
        notes=notes,
        about=(About(release=digest(release), marks=np.ones(len(release.counts), dtype=bool)),),
        measures=question if isinstance(question, str) else "",
        capped_at=_capped_at(release, kind),
    )


def _beside_z(release: "Release", answer: Answer, weights: Floats) -> Answer:
    """A share of a long range, as sure as what its rows may truly have: stage 1's fit is smooth,
    and where it has rows beside where they are stage 2 carries them there, which repeating stage 1
    on tables distributed as z does not show."""
    low, high = straight(release.all_rows, Average(f=weights), answer.level).interval
    ends = min(low, answer.interval[0]), max(high, answer.interval[1])
    return replace(answer, interval=ends)


def _capped_at(release: "Release", kind: Question) -> int | None:
    shares = release.target if len(release.target) <= DENSE_UP_TO else release.distribution
    noted = kind.capped is not None and cap_is_noted(shares)
    return len(release.target) - 1 if noted else None


def _named(release: "Release", kind: Question, words: str) -> str:
    """The question in words that say so where counts enter capped."""
    top = _capped_at(release, kind)
    capped = kind.capped if top is not None else None
    return words if capped is None else capped.format(f"counts capped at {top:,}")


def _check(question: Any, estimator: str, level: Any, options: dict[str, Any]) -> None:
    allowed = find_question(question).options
    if estimator not in ESTIMATORS:
        raise HoldfastError(
            f"`estimator` must be one of {', '.join(ESTIMATORS)}, got {estimator!r:.40}."
        )
    check_level(level)
    for name in options:
        if name not in allowed:
            takes = (
                f"takes {', '.join(f'`{one}`' for one in allowed)}"
                if allowed
                else "takes no such option"
            )
            raise HoldfastError(f"`{name}` does not fit this question, which {takes}.")


def _few_rows(view: Evidence, f: Floats | None) -> tuple[str, ...]:
    spread = view.largest_spread if f is None else spread_of(view, f)
    return (FEW_ROWS_FOR_BUDGET,) if spread >= FEW_FOR_ANSWERS else ()


def _notes(release: "Release", question: Any, kind: Question, answer: Answer) -> tuple[str, ...]:
    notes, top = [], len(release.target) - 1
    if _capped_at(release, kind) is not None:
        notes.append(enters_capped(top))
    if isinstance(kind, Quantile) and answer.interval[1] >= top:
        notes.append(or_more(top))
    rare = question == "share" and answer.interval[1] * release.rows < FEW_ROWS
    large = float(release.privacy.budget.unit_2) > LARGE_EPSILON
    gaps = has_stage_1(release) and bool((release.target <= 0).any())
    if rare and large and gaps and answer.estimator != "target" and answer.interval[1] > 0:
        notes.append(
            f"fewer than {FEW_ROWS} rows, and stage 1 left some counts out: at an epsilon as large "
            "as this the interval covers less often than it says (about 80% for 90%); "
            "estimator='target' keeps its level"
        )
    if release.structural_zeros and question != "total":
        notes.append(
            f"about the {numbered(release.rows, 'row')} that went through the mechanism, not the "
            f"{release.structural_zeros:,} publicly known to be zero"
        )
    if has_stage_1(release) and np.count_nonzero(release.target) == 1:
        notes.append("stage 1 could not tell counts apart with this budget")
    return (*notes, SIMULATED) if release.privacy.simulated else tuple(notes)
