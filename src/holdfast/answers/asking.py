"""`release.ask`: a question about all rows, about some of them, about every group of them.

It is answered from what is known of their counts: draws of their histogram, and noisy counts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.answers.answer import SIMULATED, Answer, Answers, check_level
from holdfast.answers.laws import RowLaw, likely_count, row_law
from holdfast.answers.selection import RowGroups, chosen_rows, picked_notes, where_words
from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, listed_names, numbered, one_line
from holdfast.fit.histogram import LEVEL, Draws, Histogram, added, collected, together, with_zeros
from holdfast.release.release import Column, Release
from holdfast.request.questions import Question, Unit, find_question

DRAWS = 400  # of what is known by a law instead of by draws
WIDE_SHARE = 0.5  # width of an interval for a share that is too wide to tell much
TELLS_LITTLE = 4.0  # upper end over lower end of such an interval for a total or mean
LITTLE = "these rows say little at this epsilon"
YES_OR_NO = "a share of one row is 0% or 100%: the estimate is the probability that it is 100%"


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenRows:
    """Some rows of a column of counts, all of them as a case.

    Rows publicly known to be zero are zeros for sure; rows whose count is missing are left out.
    Of rows that are whole declared groups, the answer is what the released table has; of others it
    follows from draws that are fitted to their own noisy counts.
    """

    release: Release = field(repr=False)
    column: Column = field(repr=False)
    marks: Marks = field(repr=False)
    """Which rows of the table were chosen."""

    @cached_property
    def measured(self) -> Integers:
        """The numbers of the rows that have a noisy count."""
        return np.flatnonzero(self.marks & self.column.measured)

    @cached_property
    def zeros(self) -> int:
        """How many rows are publicly known to be zero."""
        zero = self.marks & self.release.structural_zero & ~self.column.missing
        return int(np.count_nonzero(zero & ~self.column.measured))

    @cached_property
    def missing(self) -> int:
        """How many rows have no count."""
        return int(np.count_nonzero(self.marks & self.column.missing))

    @property
    def size(self) -> int:
        """How many rows are answered about."""
        return len(self.measured) + self.zeros

    @cached_property
    def noisy(self) -> Integers:
        """Noisy counts of the measured rows."""
        return self.column.noisy[self.measured]

    @cached_property
    def declared(self) -> tuple[int, ...] | None:
        """The groups that the rows are, where they are whole declared groups; else None."""
        groups = self.column.measurement.groups
        rows = np.bincount(self.column.group[self.measured], minlength=groups)
        sizes = self.column.measurement.tally.rows_by_group()
        chosen = np.flatnonzero(rows)
        return tuple(chosen.tolist()) if (rows[chosen] == sizes[chosen]).all() else None

    @cached_property
    def draws(self) -> tuple[Draws, Draws]:
        """Draws of how many rows have each count: for intervals, and for estimates where these do
        not count in the released table."""
        estimate = self.column.estimate
        if self.declared is None:
            values, rows = np.unique(self.noisy, return_counts=True)
            of_ends, of_estimates = estimate.draws_of_part(values, rows.astype(np.int64))
        elif not len(self.measured):
            nothing = np.zeros(0, dtype=np.int64)
            of_ends = of_estimates = Draws(support=nothing, rows=np.zeros((DRAWS, 0)))
        elif len(self.declared) == self.column.measurement.groups:
            of_ends = of_estimates = estimate.draws(None)
        else:
            of_ends = of_estimates = together([estimate.draws(group) for group in self.declared])
        return with_zeros(of_ends, self.zeros), with_zeros(of_estimates, self.zeros)

    @cached_property
    def in_table(self) -> Histogram:
        """How many rows have each count in the released table."""
        groups = self.declared
        if groups and len(groups) == self.column.measurement.groups:
            return self._with_zeros(self.column.distribution)
        if groups:
            return self._with_zeros(added([self.column.histograms[group] for group in groups]))
        values, rows = np.unique(self.column.counts[self.measured], return_counts=True)
        return self._with_zeros(Histogram(values=values, rows=rows))

    @property
    def law(self) -> RowLaw | None:
        """What is known of the only row, where it is only one and no declared group."""
        if self.size == 1 == len(self.measured) and self.declared is None:
            return row_law(self.column, int(self.measured[0]))
        return None

    def _with_zeros(self, histogram: Histogram) -> Histogram:
        if not self.zeros:
            return histogram
        return collected(np.append(histogram.values, 0), np.append(histogram.rows, self.zeros))


def ask(
    release: Release,
    question: str | Callable[..., Any],
    *,
    of: str | None = None,
    where: Any = None,
    by: Any = None,
    less: Any = None,
    label: str | None = None,
    level: float = LEVEL,
    which: str | None = None,
    **options: Any,
) -> Answer | Answers:
    """The answer to one question about a column of counts; see `Release.ask`.

    `which` names the rows that `where` chooses, where it does not do so itself.
    """
    column, level = release[of], check_level(level)
    marks = chosen_rows(release, where, label)
    which = where_words(release, where, marks) if which is None else which

    def answer(marks: Marks, which: str) -> Answer:
        return answer_about(
            ChosenRows(release=release, column=column, marks=marks), asked, which, level
        )

    if isinstance(options.get("at"), list | tuple):
        if by is not None or less is not None:
            raise HoldfastError("a list of quantiles does not go with `by` or `less`.")
        chosen = ChosenRows(release=release, column=column, marks=marks)
        asked = find_question(question, options | {"at": 1})  # refuses what takes no `at`
        answers = {
            at: answer_about(chosen, find_question(question, {"at": at}), which, level)
            for at in options["at"]
        }
        counts = one_line(column.name) if len(release.columns) > 1 else "the counts"
        title = f"{asked.name}s of {counts}{which}"
        return Answers(question=title, by=asked.name, answers=answers)
    asked = find_question(question, options)
    if len(release.columns) > 1:
        asked = asked.of(one_line(column.name))
    if less is None:
        return answer_by(release, by, marks, which, asked.words, answer)
    if by is not None:
        raise HoldfastError("`less` does not go with `by`.")
    others = chosen_rows(release, less, label)
    return answer(marks, which).difference(answer(others, where_words(release, less, others)))


def answer_by(
    release: Release, by: Any, inside: Marks, which: str, question: str,
    answer: Callable[[Marks, str], Answer],
) -> Answer | Answers:  # fmt: skip
    """The answer about the rows inside, or about those of each group where `by` makes groups.

    Groups that cannot be answered about are named in a note; where none can, the first of the
    errors is raised.
    """
    if by is None:
        return answer(inside, which)
    groups, answers, refused = RowGroups.of(release, by), {}, dict[str, HoldfastError]()
    for name, marks in groups.within(inside):
        group = one_line(str(name))
        try:
            answers[name] = answer(marks, f", {groups.column} {group}")
        except HoldfastError as error:
            refused[group] = error
    if not answers:
        raise next(iter(refused.values()))
    if refused:
        note = f"it cannot be told of {listed_names(refused, 5)}"
        answers = {name: replace(each, notes=(*each.notes, note)) for name, each in answers.items()}
    return Answers(question=f"{question}{which}", by=groups.column, answers=answers)


def answer_about(chosen: ChosenRows, asked: Question, which: str, level: float) -> Answer:
    """The answer about these rows."""
    if not chosen.size:
        raise HoldfastError(
            "none of these rows has a count: all are missing. Hint: choose other rows."
        )
    estimate, draws = estimate_and_draws(chosen, asked)
    answer = Answer.of(
        _named(asked, chosen, which),
        estimate,
        draws,
        whole=asked.of_one_row and chosen.size == 1,
        level=level,
        unit=asked.unit,
        rows=chosen.size,
        about=((chosen.column, chosen.marks),),
    )
    if chosen.law is not None and asked.of_one_row:
        row = int(chosen.measured[0])
        estimate, (low, high) = likely_count(chosen.column, row, level, answer.estimate)
        answer = replace(answer, estimate=estimate, interval=(float(low), float(high)))
    shown = _in_table(chosen, asked, answer)
    return replace(answer, in_table=shown, notes=_notes(chosen, asked, answer))


def estimate_and_draws(chosen: ChosenRows, asked: Question) -> tuple[float, Floats]:
    """The estimate, and values that the truth may have, as likely as each other."""
    law = chosen.law
    if law is not None:
        rows = np.eye(len(law.values))
        each = np.asarray(asked.functional(law.values, rows), dtype=np.float64)
        places = np.searchsorted(law.values, law.draws(DRAWS))
        if asked.of_one_row and not asked.linear:
            return float(law.quantile(0.5)), each[places]
        return float(each @ law.probabilities), each[places]
    of_ends, of_estimates = chosen.draws
    values = asked.of_draws(of_ends)
    if chosen.declared is not None:
        return asked.of_histogram(chosen.in_table), values
    drawn = asked.of_draws(of_estimates)
    return float(drawn.mean() if asked.linear or asked.averaged else np.median(drawn)), values


def _named(asked: Question, chosen: ChosenRows, which: str) -> str:
    sums = asked.linear and asked.unit is Unit.COUNT and not which
    rows = f" of {numbered(chosen.size, 'row')}" if sums else ""
    return f"{asked.words}{rows}{which}"


def _in_table(chosen: ChosenRows, asked: Question, answer: Answer) -> float | None:
    """What counting in the released table gives, where that is another number."""
    if chosen.declared is not None or chosen.law is not None:
        return None
    shown = asked.of_histogram(chosen.in_table)
    return None if answer.in_words(shown) == answer.in_words(answer.estimate) else shown


def _notes(chosen: ChosenRows, asked: Question, answer: Answer) -> tuple[str, ...]:
    notes = [] if chosen.declared else list(picked_notes(chosen.column, chosen.marks))
    low, high = answer.interval
    if chosen.law is not None and asked.unit is Unit.SHARE:
        notes.append(YES_OR_NO)
    elif _tells_little(asked, low, high, chosen.size):
        notes.append(LITTLE)
    if asked.hidden and chosen.column.estimate.cells.inside(np.array([int(high)]))[0]:
        notes.append(asked.hidden)
    if chosen.zeros and len(chosen.measured):
        notes.append(f"{numbered(chosen.zeros, 'row')} publicly known to be zero included")
    if chosen.missing:
        notes.append(f"{numbered(chosen.missing, 'row')} without a count left out")
    if chosen.release.promise.simulated:
        notes.append(SIMULATED)
    return tuple(notes)


def _tells_little(asked: Question, low: float, high: float, rows: int) -> bool:
    if asked.unit is Unit.SHARE:
        return high - low >= WIDE_SHARE
    total = high * (1 if asked.unit is Unit.COUNT else rows)
    return asked.linear and high > TELLS_LITTLE * max(low, 0.0) and total >= 1
