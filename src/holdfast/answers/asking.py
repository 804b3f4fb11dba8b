"""`release.ask`: a question about all rows, about some of them, about every group of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.answers.answer import (
    LEVEL,
    SIMULATED,
    About,
    Answer,
    Answers,
    Unit,
    check_level,
)
from holdfast.answers.laws import likely_interval
from holdfast.answers.parts import DRAWS, Part
from holdfast.answers.questions import Question, find_question, quantile
from holdfast.answers.selection import Groups, chosen_rows, where_words
from holdfast.arrays import Floats, Marks
from holdfast.errors import HoldfastError, numbered, one_line

if TYPE_CHECKING:
    from holdfast.release.release import Column, Release

WIDE_SHARE = 0.5  # width of an interval for a share that is too wide to tell much
TELLS_LITTLE = 4.0  # upper end over lower end of such an interval for a total or mean
OF_ONE_ROW = ("mean", "total", "median", "quantile", "maximum")  # are its count
LITTLE = "so few rows say little at this epsilon"
HIDDEN = "no row stands so far above the others that noise leaves the highest count to be told"
YES_OR_NO = "a share of one row is 0% or 100%: the estimate is the probability that it is 100%"


def ask(
    release: "Release",
    question: str | Callable[..., Any],
    *,
    of: str | None = None,
    where: Any = None,
    by: Any = None,
    less: Any = None,
    label: str | None = None,
    level: float = LEVEL,
    words: str | None = None,
    **options: Any,
) -> Answer | Answers:
    """The answer to one question about a column of counts; see `Release.ask`.

    `words` name the rows that `where` chooses, where it does not do so itself.
    """
    column = release[of]
    level = check_level(level)
    if isinstance(options.get("at"), list | tuple):
        return _quantiles(release, question, options.pop("at"), of, where, label, level, by, less)
    asked = find_question(question, options)
    marks = chosen_rows(release, where, label)
    words = where_words(release, where, marks) if words is None else words
    if by is not None:
        if less is not None:
            raise HoldfastError("`less` does not go with `by`.")
        return _by_groups(release, column, asked, Groups.of(release, by), marks, words, level)
    answer = answer_about(Part(release=release, column=column, marks=marks), asked, words, level)
    if less is None:
        return answer
    others = chosen_rows(release, less, label)
    named = where_words(release, less, others)
    other = Part(release=release, column=column, marks=others)
    return answer.difference(answer_about(other, asked, named, level))


def answer_about(part: Part, asked: Question, words: str, level: float) -> Answer:
    """The answer about the rows of a part."""
    if not part.size:
        raise HoldfastError(
            "none of these rows has a count: all are missing. Hint: choose other rows."
        )
    estimate, draws = found_about(part, asked)
    answer = Answer.of(
        _named(asked, part, words),
        estimate,
        draws,
        level=level,
        unit=asked.unit,
        rows=part.size,
        about=(About(release=part.column, marks=part.marks),),
    )
    if part.law is not None and asked.name in OF_ONE_ROW:
        low, high = likely_interval(part.column, int(part.measured[0]), level)
        answer = replace(answer, interval=(float(low), float(high)))
    shown = _in_table(part, asked, answer)
    return replace(answer, in_table=shown, notes=_notes(part, asked, answer))


def found_about(part: Part, asked: Question) -> tuple[float, Floats]:
    """The estimate, and values that the truth may have, as likely as each other."""
    law = part.law
    if law is not None:
        rows = np.eye(len(law.values))
        each = np.asarray(asked.functional(law.values, rows), dtype=np.float64)
        places = np.searchsorted(law.values, law.draws(DRAWS))
        if asked.unit is Unit.COUNT and not asked.linear and asked.name != "rows":
            return float(law.median), each[places]
        return float(each @ law.probabilities), each[places]
    histogram, draws = part.histogram, part.draws
    estimate = float(asked.functional(histogram.values, histogram.rows.astype(np.float64)))
    return estimate, np.asarray(asked.functional(draws.support, draws.rows), dtype=np.float64)


def _named(asked: Question, part: Part, words: str) -> str:
    rows = f" of {numbered(part.size, 'row')}" if asked.name == "total" and not words else ""
    return f"{asked.words}{rows}{words}"


def _in_table(part: Part, asked: Question, answer: Answer) -> float | None:
    """What counting in the released table gives, where that is another number."""
    if part.declared is not None or part.law is not None:
        return None
    table = part.in_table
    shown = float(asked.functional(table.values, table.rows.astype(np.float64)))
    return None if answer.in_words(shown) == answer.in_words(answer.estimate) else shown


def _notes(part: Part, asked: Question, answer: Answer) -> tuple[str, ...]:
    notes = []
    low, high = answer.interval
    if part.law is not None and asked.unit is Unit.SHARE:
        notes.append(YES_OR_NO)
    elif _tells_little(asked, low, high):
        notes.append(LITTLE)
    if asked.name == "maximum" and part.column.estimate.cells.inside(np.array([int(high)]))[0]:
        notes.append(HIDDEN)
    if part.zeros and len(part.measured):
        notes.append(f"{numbered(part.zeros, 'row')} publicly known to be zero included")
    if part.missing:
        notes.append(f"{numbered(part.missing, 'row')} without a count left out")
    if part.release.promise.simulated:
        notes.append(SIMULATED)
    return tuple(notes)


def _tells_little(asked: Question, low: float, high: float) -> bool:
    if asked.unit is Unit.SHARE:
        return high - low >= WIDE_SHARE
    return asked.linear and high > TELLS_LITTLE * max(low, 0.0) and high > 0


def _by_groups(
    release: "Release",
    column: "Column",
    asked: Question,
    groups: Groups,
    inside: Marks,
    words: str,
    level: float,
) -> Answers:
    answers: dict[Any, Answer] = {}
    for name, marks in groups.within(inside):
        part = Part(release=release, column=column, marks=marks)
        if part.size:
            named = f", {groups.column} {one_line(str(name))}"
            answers[name] = answer_about(part, asked, named, level)
    if not answers:
        raise HoldfastError("none of these rows has a count: all are missing.")
    return Answers(question=f"{asked.words}{words}", by=groups.column, answers=answers)


def _quantiles(
    release: "Release", question: Any, levels: Any, of: Any, where: Any, label: Any, level: float,
    by: Any, less: Any,
) -> Answers:  # fmt: skip
    """Several quantiles of the same rows."""
    if by is not None or less is not None:
        raise HoldfastError("a list of quantiles does not go with `by` or `less`.")
    column = release[of]
    marks = chosen_rows(release, where, label)
    words = where_words(release, where, marks)
    part = Part(release=release, column=column, marks=marks)
    find_question(question, {"at": 0.5})  # refuses what takes no `at`
    answers = {at: answer_about(part, quantile(at=at), words, level) for at in levels}
    return Answers(question=f"quantiles of the counts{words}", by="quantile", answers=answers)
