"""Questions about two counts of the same rows: both zero, correlation, a line through them.

Correlation and line come from moments of the true counts (`moments`); their error is that of the
noise alone, because the answers are about these very rows: what the draws do to a row's
contribution, averaged over the law of true pairs. That law is the one that makes the released pairs
likely (`joint_law`). The share of rows with neither is read from it, with an error from weighing
the rows anew and fitting again, which is a little more than the noise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.former.analysis.answer import SIMULATED, About, Answer
from holdfast.former.analysis.asking import Answers
from holdfast.former.analysis.pairs.joint_law import (
    Channel,
    Pairs,
    channel_of,
    check_room_for_pairs,
)
from holdfast.former.analysis.pairs.moments import (
    Deviations,
    Moments,
    Powers,
    moments_of,
    noise_of,
    powers_of,
)
from holdfast.former.analysis.parts.part import digest
from holdfast.former.analysis.posterior import check_level
from holdfast.former.analysis.selection import chosen_rows, groups_of
from holdfast.former.analysis.stage_one import SEED

if TYPE_CHECKING:
    from holdfast.former.release.release import Release
    from holdfast.former.release.several import TableRelease

REFITS = 20  # of reweighted rows, for a standard error
FEWEST = 20  # rows that are answered about
WIDER = 1.2  # what measured errors are of those worked out, of few rows and of a fitted law
HELD = 5.0  # rows that the law of the whole table is worth beside those of a group
BOTH_ZERO, ZEROS_IN_WORDS = "both zero", "share of rows with no {0} and no {1}"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A number that follows from the moments of two counts."""

    words: str
    of: Callable[[Moments], float]
    contribution: Callable[[Deviations, Moments], Floats]
    """How much a row adds to it, apart from a constant."""
    ends: tuple[float, float] = (-np.inf, np.inf)


def _of_correlation(d: Deviations, m: Moments) -> Floats:
    squares = d.square / m.variance + d.other_square / m.other_variance
    scale = np.sqrt(m.variance * m.other_variance)
    return np.asarray(d.product / scale - m.correlation / 2 * squares)


def _of_slope(d: Deviations, m: Moments) -> Floats:
    return np.asarray((d.product - m.slope * d.square) / m.variance)


def _of_intercept(d: Deviations, m: Moments) -> Floats:
    return np.asarray(d.other - m.slope * d.one - m.mean * _of_slope(d, m))


LINES = {
    "correlation": Line(
        words="correlation of {0} and {1}",
        of=lambda m: m.correlation,
        contribution=_of_correlation,
        ends=(-1.0, 1.0),
    ),
    "slope": Line(
        words="slope of the line of {1} on {0}", of=lambda m: m.slope, contribution=_of_slope
    ),
    "intercept": Line(
        words="intercept of the line of {1} on {0}",
        of=lambda m: m.intercept,
        contribution=_of_intercept,
    ),
}
QUESTIONS = (BOTH_ZERO, *LINES)


def ask_pair(
    release: "TableRelease",
    question: str,
    of: Sequence[str],
    *,
    where: Any = None,
    by: Any = None,
    level: float = 0.9,
) -> Answer | Answers:
    """The answer to a question about two columns of counts; see `TableRelease.ask`."""
    columns, level = _two_columns(release, question, of), check_level(level)
    drawn = np.all([one.counts >= 0 for one in columns], axis=0)
    inside = drawn if where is None else drawn & chosen_rows(columns[0], where)
    beside = Beside(columns=columns, drawn=drawn, turned=list(of) != _in_turn(release, of))
    asked = ZEROS_IN_WORDS if question == BOTH_ZERO else LINES[question].words
    words = asked.format(*map(one_line, of))
    notes = _notes(release, of, len(drawn) - int(drawn.sum()))

    def answered(marks: Marks, named: str) -> Answer:
        found = beside.answer(question, marks, level)
        return replace(
            found,
            question=f"{words}, {named}" if named else words,
            notes=notes,
            about=(About(release=digest(columns[0]), marks=marks),),
        )

    if by is None:
        return answered(inside, f"where {one_line(where)}" if isinstance(where, str) else "")
    name = by if isinstance(by, str) else "group"
    groups = {group: marks & inside for group, marks in groups_of(columns[0], by).items()}
    found = {
        group: answered(marks, f"{name} {one_line(str(group))}")
        for group, marks in groups.items()
        if int(marks.sum()) >= FEWEST
    }
    if not found:
        raise HoldfastError(f"no group has {FEWEST} rows. Hint: ask about larger ones.")
    left = sum(1 for marks in groups.values() if marks.any()) - len(found)
    if left:
        few = f"{numbered(left, 'group')} of fewer than {FEWEST} rows left out"
        found = {group: replace(each, notes=(*each.notes, few)) for group, each in found.items()}
    return Answers(question=words, by=name, found=found)


def _in_turn(release: "TableRelease", of: Sequence[str]) -> list[str]:
    """The columns in the order in which they were drawn."""
    return [name for name in release.columns if name in of]


def _two_columns(
    release: "TableRelease", question: str, of: Sequence[str]
) -> "tuple[Release, Release]":
    if not isinstance(release, Mapping):
        raise HoldfastError("this release has one column of counts, and the question is of two.")
    if question not in QUESTIONS:
        raise HoldfastError(
            f"a question about two counts is one of {', '.join(QUESTIONS)}, got {question!r:.40}."
        )
    if len(of) != 2 or of[0] == of[1]:
        raise HoldfastError("`of` must name two columns of counts.")
    for name in of:
        release[name]  # raises where there is none
    one, other = (release[name] for name in _in_turn(release, of))
    return one, other


@dataclass(frozen=True, kw_only=True, eq=False)
class Beside:
    """Two columns of a release, in the order in which they were drawn."""

    columns: "tuple[Release, Release]"
    drawn: Marks
    """Rows in which both are known."""
    turned: bool
    """Whether the question names the column first that was drawn second."""

    def answer(self, question: str, marks: Marks, level: float) -> Answer:
        """About these rows."""
        if int(marks.sum()) < FEWEST:
            raise HoldfastError(f"`where` chooses fewer than {FEWEST} rows. Hint: choose more.")
        if question == BOTH_ZERO:
            return self._both_zero(marks, level)
        return self._line(LINES[question], marks, level)

    def _line(self, asked: Line, marks: Marks, level: float) -> Answer:
        law, pairs, _ = self._law(marks)
        channels = pairs.one, pairs.other
        one, other = (
            powers_of(column.known, channel)
            for column, channel in zip(self.columns, channels, strict=True)
        )
        m = self._moments(one.at(channels[0].kinds), other.at(channels[1].kinds))

        def adds(first: Integers, second: Integers) -> Floats:
            a, b = one.at(first[:, None]), other.at(second[None, :])
            a, b = (b, a) if self.turned else (a, b)
            return asked.contribution(Deviations.of_powers(a, b, m), m)

        error = float(np.sqrt(noise_of(pairs, law, adds) / int(marks.sum())))
        error *= WIDER if int(marks.sum()) < int(self.drawn.sum()) else 1.0
        return _answer(asked.of(m), error, asked.ends, level, "moments")

    def _moments(self, one: Powers, other: Powers) -> Moments:
        return moments_of(other, one) if self.turned else moments_of(one, other)

    def _both_zero(self, marks: Marks, level: float) -> Answer:
        law, pairs, (start, held) = self._law(marks)
        chance, rows = np.random.default_rng(SEED), int(marks.sum())
        weights = chance.multinomial(rows, pairs.rows / rows, size=REFITS).astype(np.float64)
        again = pairs.fits(weights, start, held=held)[:, 0, 0]
        error = WIDER * float(again.std(ddof=1))
        found = _answer(float(law[0, 0]), error, (0.0, 1.0), level, "likelihood")
        return replace(found, percent=True)

    def _law(self, marks: Marks) -> tuple[Floats, Pairs, tuple[Floats, float]]:
        """The law of these rows' pairs, and from where it was fitted; that of all rows is a start
        for some of them, and worth a few rows."""
        pairs = self._pairs(marks)
        start, held = pairs.start, 0.0
        if int(marks.sum()) < int(self.drawn.sum()):
            every = self._pairs(self.drawn)
            start, held = every.fit(every.start), HELD
        return pairs.fit(start, held=held), pairs, (start, held)

    def _pairs(self, marks: Marks) -> Pairs:
        check_room_for_pairs(*(len(column.target) for column in self.columns))
        channels: list[Channel] = [
            channel_of(column.known).of(at)
            for column, at in zip(self.columns, self._places(marks), strict=True)
        ]
        return Pairs.of(*channels)

    def _places(self, marks: Marks) -> list[Any]:
        """Where rows stand among those of each column whose count is not missing."""
        return [np.flatnonzero(marks[column.counts >= 0]) for column in self.columns]


def _answer(
    estimate: float, error: float, ends: tuple[float, float], level: float, method: str
) -> Answer:
    from scipy.special import ndtri

    reach = float(ndtri((1 + level) / 2)) * error
    low, high = ends
    return Answer(
        question="",
        estimate=min(max(estimate, low), high),
        standard_error=error,
        interval=(max(estimate - reach, low), min(estimate + reach, high)),
        level=level,
        estimator="pairs",
        method=method,
    )


def _notes(release: "TableRelease", of: Sequence[str], missing: int) -> tuple[str, ...]:
    notes = []
    capped = [
        f"{one_line(name)} at {release[name].drawn_with.max_count:,}"
        for name in of
        if release[name].target[-1] > 0.001
    ]
    if capped:
        notes.append(f"counts are capped: {', '.join(capped)}")
    if missing:
        notes.append(f"{numbered(missing, 'row')} without both counts left out")
    return (*notes, SIMULATED) if release.privacy.simulated else tuple(notes)
