"""Questions about the distribution of counts."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.analysis import linear, nonlinear
from holdfast.analysis.answer import SIMULATED, About, Answer
from holdfast.analysis.asking import Answers, ask_everything, ask_groups, ask_part
from holdfast.analysis.cautions import (
    FEW_FOR_ANSWERS,
    FEW_ROWS_FOR_BUDGET,
    spread_of,
)
from holdfast.analysis.evidence import ESTIMATORS, Evidence
from holdfast.analysis.parts.part import digest
from holdfast.analysis.posterior import check_level
from holdfast.analysis.stage_one import has_stage_1
from holdfast.errors import HoldfastError, numbered

if TYPE_CHECKING:
    from holdfast.release.release import Release

QUESTIONS = ("share", "mean", "total", "quantile", "median", "variance", "gini")
OPTIONS = {"share": ("equal", "at_least", "at_most", "between"), "quantile": ("at",)}
CAPPED = {
    "mean": "mean of {}, a lower bound",
    "total": "total of {}, a lower bound",
    "variance": "variance of {}",
    "gini": "Gini coefficient of {}",
}
NOTED_TOP_SHARE, FEW_ROWS, LARGE_EPSILON = 0.001, 30, 1.5


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
    if where is not None or by is not None:
        _refuse(estimator)
        how = {"where": where, "level": check_level(level), "label": label, "options": options}
        if by is not None:
            return ask_groups(release, question, by=by, **how)
        return ask_part(release, question, **how)
    if release.groups is not None or (question == "total" and release.totals is not None):
        _refuse(estimator)
        level = check_level(level)
        return ask_everything(release, question, level=level, options=options)
    return _ask_all(release.known, question, estimator, level, options)


def _refuse(estimator: str) -> None:
    if estimator != "best":
        raise HoldfastError(
            "`estimator` does not fit a question about some of the rows, a release by group, or a "
            "measured total."
        )


def _ask_all(
    release: "Release",
    question: str | Callable[..., Any],
    estimator: str,
    level: float,
    options: dict[str, Any],
) -> Answer:
    answer = _answer(release.evidence, question, estimator, check_level(level), options)
    few = _few_rows(release.evidence, question, options)
    notes = answer.notes + few + _notes(release, question, answer)
    named = _named(release, question, answer.question)
    return replace(
        answer,
        question=named,
        notes=notes,
        about=(About(release=digest(release), marks=np.ones(len(release.counts), dtype=bool)),),
    )


def _named(release: "Release", question: Any, words: str) -> str:
    """The question in words that say so where counts enter capped."""
    top = len(release.target) - 1
    capped = CAPPED.get(question) if isinstance(question, str) else None
    if capped is None or release.target[-1] <= NOTED_TOP_SHARE:
        return words
    return capped.format(f"counts capped at {top}")


def _answer(
    view: Evidence,
    question: str | Callable[..., Any],
    estimator: str,
    level: float,
    options: dict[str, Any],
) -> Answer:
    n = len(view.target)
    if callable(question):
        return nonlinear.function(view, question, estimator=estimator, level=level)
    sum_over_counts = _linear(view, question, options)
    if sum_over_counts is not None:
        return sum_over_counts.answer(view, estimator=estimator, level=level)
    if question in ("quantile", "median"):
        at = 0.5 if question == "median" else options.get("at")
        return nonlinear.quantile(view, at, estimator=estimator, level=level)
    if question == "variance":
        words, g, limits = "variance of the counts", nonlinear.variance, (0.0, (n - 1) ** 2 / 4)
    else:
        words, g, limits = "Gini coefficient of the counts", nonlinear.gini, (0.0, 1.0)
    return nonlinear.smooth(view, words, g, limits, estimator=estimator, level=level)


def _check(question: Any, estimator: str, level: Any, options: dict[str, Any]) -> None:
    if not callable(question) and question not in QUESTIONS:
        raise HoldfastError(
            f"`question` must be a function of the distribution or one of {', '.join(QUESTIONS)}, "
            f"got {question!r:.40}.{_closest(question)}"
        )
    if estimator not in ESTIMATORS:
        raise HoldfastError(
            f"`estimator` must be one of {', '.join(ESTIMATORS)}, got {estimator!r:.40}."
        )
    check_level(level)
    allowed = OPTIONS.get(question, ()) if isinstance(question, str) else ()
    for name in options:
        if name not in allowed:
            takes = f"takes {', '.join(allowed)}" if allowed else "takes no such option"
            raise HoldfastError(f"`{name}` does not fit this question, which {takes}.")


def _closest(question: Any) -> str:
    import difflib

    near = difflib.get_close_matches(str(question), QUESTIONS, n=1)
    return f" Hint: did you mean {near[0]!r}?" if near else ""


def _linear(view: Evidence, question: Any, options: dict[str, Any]) -> linear.Linear | None:
    """The question as a sum over the distribution, where it is one."""
    n = len(view.target)
    if question == "share":
        return linear.share(n, **options)
    if question == "mean":
        return linear.mean(n)
    return linear.total(n, view.rows) if question == "total" else None


def _few_rows(view: Evidence, question: Any, options: dict[str, Any]) -> tuple[str, ...]:
    sum_over_counts = _linear(view, question, options)
    f = None if sum_over_counts is None else sum_over_counts.f
    spread = view.largest_spread if f is None else spread_of(view, f)
    return (FEW_ROWS_FOR_BUDGET,) if spread >= FEW_FOR_ANSWERS else ()


def _notes(release: "Release", question: Any, answer: Answer) -> tuple[str, ...]:
    notes, top = [], len(release.target) - 1
    if question in ("mean", "total", "variance", "gini") and release.target[-1] > NOTED_TOP_SHARE:
        notes.append(f"counts above {top} were published as {top} and enter as {top}")
    if question in ("median", "quantile") and answer.interval[1] >= top:
        notes.append(
            f"counts above {top}, if any, were published as {top}: {top} means {top} or more"
        )
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
