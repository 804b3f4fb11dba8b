"""Questions about some of the rows, and about every group of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Marks
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.former.analysis.answer import SIMULATED, Answer, percent
from holdfast.former.analysis.catalogue import Quantile, Question, Sum, find_question
from holdfast.former.analysis.cautions import (
    beside_the_top,
    cap_is_noted,
    enters_capped,
    left_out,
    or_more,
)
from holdfast.former.analysis.linear import share
from holdfast.former.analysis.markup import small, table
from holdfast.former.analysis.one_row import ESTIMATOR as ONE_ROW
from holdfast.former.analysis.one_row import answer_one
from holdfast.former.analysis.parts.long import is_long
from holdfast.former.analysis.parts.part import Part
from holdfast.former.analysis.parts.totals import ESTIMATOR as MEASURED
from holdfast.former.analysis.parts.totals import measured_answer
from holdfast.former.analysis.selection import BY_COUNTS, chosen_by_counts, chosen_rows, groups_of

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

TELLS_LITTLE = 4.0  # upper end over lower end of an interval that is too wide to tell much
WIDE_SHARE = 0.5  # width of such an interval for a share
NAMED = 5  # groups that a note lists


@dataclass(frozen=True, kw_only=True)
class Answers(Mapping[Any, Answer]):
    """One answer for every group of rows, by the group's name.

    >>> from holdfast import privatize
    >>> release = privatize([0] * 300 + [4] * 300, epsilon=2, max_count=6, seed=1)
    >>> answers = release.ask("mean", by=["a"] * 300 + ["b"] * 300)
    >>> answers["a"].interval[1] < answers["b"].interval[0]
    True
    """

    question: str
    """What was asked of each."""
    by: str
    """What the groups are."""
    found: dict[Any, Answer] = field(repr=False)

    def __getitem__(self, name: Any) -> Answer:
        if name not in self.found:
            raise KeyError(name)
        return self.found[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, each thing once, with the groups that it is about."""
        about: dict[str, list[str]] = {}
        for name, found in self.items():
            for note in dict.fromkeys(found.notes):
                about.setdefault(note, []).append(one_line(str(name)))
        return tuple(
            note if len(names) == len(self) else f"{some_of(names)}: {note}"
            for note, names in sorted(about.items(), key=lambda found: len(found[1]) == len(self))
        )

    def __str__(self) -> str:
        first = next(iter(self.values()))
        lines = [f"{self.question}, by {self.by} ({percent(first.level)} interval)"]
        wide = max(len(one_line(str(name))) for name in self)
        for name, found in self.items():
            value = found.in_words(found.estimate)
            line = f"  {one_line(str(name)):{wide}}  {value}  ({found.interval_words})"
            lines.append(
                line + f"  {found.counts_words}" * (self.mixed and found.counts_words != "")
            )
        return "\n".join([*lines, *(f"  {note}." for note in self.notes)])

    @property
    def mixed(self) -> bool:
        """Whether some answers were measured, and others add up counts."""
        return len({found.measured for found in self.values()}) > 1

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table, a row for each group."""
        every = list(self.values())
        return {
            self.by: list(self),
            "rows": [int(found.about[0].marks.sum()) for found in every],
            "estimate": [found.estimate for found in every],
            "standard_error": [found.standard_error for found in every],
            "low": [found.interval[0] for found in every],
            "high": [found.interval[1] for found in every],
        } | ({"counts": [found.counts_words for found in every]} if self.mixed else {})

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "question": self.question,
            "by": self.by,
            "groups": {str(k): v.to_dict() for k, v in self.items()},
        }

    def to_pandas(self) -> Any:
        """As a pandas data frame."""
        from holdfast.former.analysis.frames import pandas

        return pandas().DataFrame(self.columns())

    def _repr_html_(self) -> str:
        first = next(iter(self.values()))
        rows = []
        for name, found in self.items():
            words = [found.in_words(found.estimate), found.interval_words]
            rows.append([name, *words, *([found.counts_words] if self.mixed else [])])
        header = [self.by, "estimate", f"{percent(first.level)} interval"]
        return table(header + ["counts"] * self.mixed, rows) + small(self.notes)


def some_of(names: list[str]) -> str:
    """The first of many names, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def ask_part(
    release: "Release",
    question: str | Callable[..., Any],
    *,
    where: Any,
    level: float,
    label: str | None,
    options: dict[str, Any],
) -> Answer:
    """The answer about the rows that `where` chooses, or about all of them by what is known of
    parts."""
    if where is None:
        every = np.ones(len(release.counts), dtype=bool)
        return _about(release, every, "", question, level, options)
    marks = chosen_rows(release, where, label)
    if not marks.any():
        raise HoldfastError(
            "`where` chooses no row. Hint: look at release.table; texts are compared exactly."
        )
    if isinstance(where, str):
        words = f"where {one_line(where)}"
    else:
        words = "" if question == "total" else f"of {numbered(int(marks.sum()), 'row')} chosen"
    found = _about(release, marks, words, question, level, options)
    drawn = chosen_by_counts(release, marks)
    return replace(found, notes=(*found.notes, BY_COUNTS)) if drawn else found


def ask_groups(
    release: "Release",
    question: str | Callable[..., Any],
    *,
    by: Any,
    where: Any,
    level: float,
    label: str | None,
    options: dict[str, Any],
) -> Answers:
    """The answer about every group, of all rows or of those that `where` chooses."""
    inside = np.ones(len(release.counts), dtype=bool)
    if where is not None:
        inside = chosen_rows(release, where, label)
    name, found = by if isinstance(by, str) else "group", {}
    for group, marks in groups_of(release, by).items():
        if (marks & inside).any() and _drawn(release, marks & inside):
            words = f"{name} {one_line(str(group))}"
            found[group] = _about(release, marks & inside, words, question, level, options, True)
    if not found:
        raise HoldfastError("`where` chooses no row. Hint: look at release.table.")
    # each group's total is "of so many rows", of its own; of some groups counts may be capped
    asked = [
        each.question.removesuffix(f", {name} {one_line(str(group))}")
        for group, each in found.items()
    ]
    words = "total" if question == "total" else min(asked, key=len)
    return Answers(question=words, by=name, found=found)


def _drawn(release: "Release", marks: Marks) -> bool:
    """Whether any of these rows went through the mechanism and is not missing."""
    return Part(release=release.known, marks=_known(release, marks)).rows > 0


def _known(release: "Release", marks: Marks) -> Marks:
    return marks if release.missing_rows is None else marks[~release.missing_rows]


def _about(
    release: "Release",
    marks: Marks,
    words: str,
    question: str | Callable[..., Any],
    level: float,
    options: dict[str, Any],
    grouped: bool = False,
) -> Answer:
    known, kind = release.known, find_question(question)
    inside = _known(release, marks)
    part = known.all_rows if inside.all() else Part(release=known, marks=inside)
    missing = int(marks.sum()) - int(part.marks.sum())
    if not part.rows and question == "total" and part.marks.any():
        found = _nothing(part, level)
    else:
        found = answer_about(part, question, level, options)
    notes = _notes(part, kind, found, grouped)
    if question == "share" and found.estimator != ONE_ROW:
        f = share(len(known.target), **options).f
        notes += beside_the_top(known, f, part.histogram)
    notes += left_out(missing)
    if known.privacy.simulated:
        notes = (*notes, SIMULATED)
    named, top = found.question, None
    if _is_capped(part, kind, found):
        top = len(known.target) - 1
        named = kind.capped_part.format(named, f"counts capped at {top:,}")
    named = f"{named}, {words}" if words else named
    asked = question if isinstance(question, str) else ""
    return replace(
        found, question=named, notes=(*found.notes, *notes), measures=asked, capped_at=top
    )


def answer_about(
    part: Part, question: str | Callable[..., Any], level: float, options: dict[str, Any]
) -> Answer:
    """The answer as it was measured, of one row by its law, or else by the likelihood of the part's
    counts."""
    known = measured_answer(part, question, level) or answer_one(part, question, level, options)
    return known or find_question(question).about_part(part, options, level=level)


def _nothing(part: Part, level: float) -> Answer:
    return Answer(
        question=f"total of {numbered(int(part.marks.sum()), 'row')}",
        estimate=0.0,
        standard_error=0.0,
        interval=(0.0, 0.0),
        level=level,
        estimator="part",
        method="likelihood",
        about=(part.about,),
    )


def _is_capped(part: Part, kind: Question, found: Answer) -> bool:
    """Whether counts above max_count enter as max_count, and there are some."""
    if kind.capped is None or not part.rows or found.estimator in (MEASURED, ONE_ROW):
        return False
    shares = part.histogram if is_long(part) else part.estimate.histogram
    return cap_is_noted(shares)


def _notes(part: Part, kind: Question, found: Answer, grouped: bool) -> tuple[str, ...]:
    low, high = found.interval
    top = len(part.release.target) - 1
    notes = []
    little = high - low >= WIDE_SHARE if found.percent else high > TELLS_LITTLE * max(low, 0.0)
    if little and high > 0 and isinstance(kind, Sum):
        epsilon = f"{float(part.release.privacy.epsilon):g}"
        rows = "this row says" if part.rows == 1 else f"these {part.rows:,} rows say"
        ends = f"{found.in_words(low)} to {found.in_words(high)}"
        words = "its rows say little" if grouped else f"{rows} little: {ends}"
        notes.append(f"with ε = {epsilon} {words}")
    if _is_capped(part, kind, found):
        notes.append(enters_capped(top))
    if isinstance(kind, Quantile) and high >= top:
        notes.append(or_more(top))
    return tuple(notes)
