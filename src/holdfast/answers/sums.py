"""Sums of columns of counts, and rates per public number: of every row, of groups, of all."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from holdfast.answers.answer import SIMULATED, Answer, Answers, apart, check_level, percent
from holdfast.answers.asking import ChosenRows, answer_about, answer_by
from holdfast.answers.formula import Factor, numbers_of
from holdfast.answers.labels import Labels, published
from holdfast.answers.laws import CombinedNoise, laws_of
from holdfast.answers.result import QuestionResult
from holdfast.answers.selection import chosen_rows, where_words
from holdfast.arrays import Floats, Marks
from holdfast.errors import HoldfastError, listed_names, numbered, one_line
from holdfast.fit.histogram import LEVEL
from holdfast.release.release import Column, Release
from holdfast.request.questions import QUESTIONS, Unit

_PER = re.compile(r"(?P<sum>.+?)\s+per\s+(?:(?P<number>\d[\d,_]*)\s+)?(?:of\s+)?(?P<column>\S.*)")
LONGEST_FORMULA = 1000
SHOWN = 10  # rows that are printed
ROWS_RATES = "such rates are not to be averaged or ranked: ask for that of many rows together"


@dataclass(frozen=True, kw_only=True)
class SumFormula:
    """A sum of columns of counts, or so many of it for each so many of a public number."""

    name: str
    parts: tuple[str, ...]
    """The columns of counts that are added up."""
    per: int = 1
    column: str | None = None
    """The public number; None for a sum."""

    def __str__(self) -> str:
        sum_of = " + ".join(self.parts)
        if self.column is None:
            return sum_of
        number = "" if self.per == 1 else f"{self.per:,} of "
        return f"{sum_of} per {number}{self.column}"


def parse_sum(text: str, counts: Collection[str]) -> SumFormula:
    """What a text asks for, of these columns of counts.

    >>> parse_sum("violent = murder + rape per 100,000 of population", ["murder", "rape"])
    SumFormula(name='violent', parts=('murder', 'rape'), per=100000, column='population')
    >>> str(parse_sum("murder + rape", ["murder", "rape"]))
    'murder + rape'
    """
    name, equals, rest = (term.strip() for term in text[:LONGEST_FORMULA].partition("="))
    if not equals:
        name, rest = "", name
    rate = _PER.fullmatch(rest)
    parts = tuple(_plain(term) for term in (rest if rate is None else rate["sum"]).split("+"))
    if not all(parts):
        raise HoldfastError(
            f"{text!r:.80} does not say what to add up. Hint: 'violent = murder + rape', or "
            "'rate = murder per 100,000 of population'."
        )
    for term in parts:
        if term not in counts:
            raise HoldfastError(
                f"this release has no column of counts {term!r:.60}. Hint: {listed_names(counts)}."
            )
    if len(set(parts)) < len(parts):
        raise HoldfastError("a column of counts can enter a sum once.")
    name = _plain(name) or ("rate" if rate else "sum")
    if rate is None:
        return SumFormula(name=name, parts=parts)
    per = int(re.sub(r"[,_]", "", rate["number"] or "1"))
    return SumFormula(name=name, parts=parts, per=max(per, 1), column=_plain(rate["column"]))


def _plain(name: str) -> str:
    """A name without the quotes that may stand around it."""
    name = name.strip()
    quoted = len(name) > 1 and name[0] == name[-1] and name[0] in "\"'`"
    return name[1:-1] if quoted else name


@dataclass(frozen=True, kw_only=True, eq=False)
class Derived(QuestionResult):
    """A sum of columns or a rate: of every row with an interval, and by `ask` of rows together.

    >>> import holdfast
    >>> import pandas
    >>> table = pandas.DataFrame({"n": [0, 5, 1, 0, 30, 2], "people": [9, 8, 3, 4, 5, 6]})
    >>> release = holdfast.privatize(table, count="n", keep=["people"], epsilon=8, seed=1)
    >>> rates = release.derive("rate = n per 10 of people")
    >>> rates.released.round(1).tolist(), round(rates.ask().estimate, 1)
    ([0.0, 6.2, 3.3, 0.0, 60.0, 3.3], 10.9)
    """

    release: Release = field(repr=False)
    formula: SumFormula
    level: float
    released: Floats = field(repr=False)
    """From released counts; NaN in rows without a count or without the public number."""
    expected: Floats = field(repr=False)
    """From the expected true counts."""
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    """Ends of intervals that hold whatever the counts are: noisy counts and their noise."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.released)

    def ask(self, *, where: Any = None, by: Any = None) -> Answer | Answers:
        """The sum of all rows, of those that `where` chooses, or of each group; for a rate the sum
        over the sum of the public number."""
        inside = chosen_rows(self.release, where)
        which = where_words(self.release, where, inside)
        return answer_by(self.release, by, inside, which, str(self.formula), self._answer)

    def _answer(self, marks: Marks, which: str) -> Answer:
        factor, unit = 1.0, Unit.COUNT
        if self.formula.column is not None:
            scale = _numbers(self.release, self.formula.column)
            marks = marks & (scale > 0)
            below, unit = float(scale[marks].sum()), Unit.NUMBER
            if not below > 0:
                raise HoldfastError(
                    f"{self.formula.column!r:.60} adds up to nothing in these rows."
                )
            factor = self.formula.per / below
        columns = _columns(self.release, self.formula)
        chosen = [ChosenRows(release=self.release, column=c, marks=marks) for c in columns]
        answers = [answer_about(each, QUESTIONS["total"], "", self.level) for each in chosen]
        draws = reduce(lambda a, b: np.add(*apart(a, b)), [each.draws for each in answers])
        return Answer.of(
            f"{self.formula}{which}",
            factor * sum(each.estimate for each in answers),
            factor * draws,
            level=self.level,
            unit=unit,
            rows=answers[0].rows,
            notes=tuple(dict.fromkeys(note for each in answers for note in each.notes)),
            about=answers[0].about,
        )

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table, a row for each row."""
        name, places = self.formula.name, 0 if self.formula.column is None else 6
        named = {"": self.released, "_expected": self.expected, "_low": self.low,
                 "_high": self.high}  # fmt: skip
        labels = Labels(self.release).texts
        cells = {name + end: _cells(values, places) for end, values in named.items()}
        return {"row": list(labels), **cells}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {"formula": str(self.formula), "level": self.level, "rows": self.columns(),
                "notes": list(self.notes)}  # fmt: skip

    def __str__(self) -> str:
        cells = list(zip(*self.columns().values(), strict=True))
        lines = [f"{one_line(str(row))}: {value}, {expected} expected, {low} to {high}"
                 for row, value, expected, low, high in cells[:SHOWN]]  # fmt: skip
        more = [f"… and {len(cells) - SHOWN:,} more rows"] if len(cells) > SHOWN else []
        head = f"{self.formula} of each row: released, expected, {percent(self.level)} interval"
        return "\n".join([head, *lines, *more, *(f"  {note}." for note in self.notes)])


def derive(release: Release, text: str, *, level: float = LEVEL) -> Derived:
    """What a formula makes of the columns of a release; see `Release.derive`."""
    level = check_level(level)
    formula = parse_sum(text, [column.name for column in release.columns])
    columns = _columns(release, formula)
    missing = np.any([column.missing for column in columns], axis=0)
    released = np.sum([column.counts for column in columns], axis=0).astype(np.float64)
    expected = np.sum([_expected(column) for column in columns], axis=0)
    noisy = np.sum([column.noisy for column in columns], axis=0).astype(np.float64)
    measured = np.sum([column.measured for column in columns], axis=0) > 0
    reach = np.where(measured, CombinedNoise(columns).reach(level), 0.0)
    scale, notes = np.ones(release.rows), tuple[str, ...]()
    if formula.column is not None:
        below = _numbers(release, formula.column)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(below > 0, formula.per / below, np.nan)
        without = int(np.isnan(scale).sum())
        if without:
            notes = (f"{numbered(without, 'row')} without {formula.column} above 0 left empty",)
        notes = (*notes, ROWS_RATES)
    if release.promise.simulated:
        notes = (*notes, SIMULATED)
    scale = np.where(missing, np.nan, scale)
    return Derived(
        release=release,
        formula=formula,
        level=level,
        released=released * scale,
        expected=expected * scale,
        low=np.maximum(noisy - reach, 0.0) * scale,
        high=np.maximum(noisy + reach, 0.0) * scale,
        notes=notes,
    )


def ask_derived(
    release: Release, text: str, *, level: float = LEVEL, **rows: Any
) -> Answer | Answers:
    """The answer about the rows of a sum or a rate together; see `Derived.ask`."""
    return derive(release, text, level=level).ask(**rows)


def _columns(release: Release, formula: SumFormula) -> list[Column]:
    if len(release.columns) == 1:
        return [release.only]
    return [release[name] for name in formula.parts]


def _expected(column: Column) -> Floats:
    """The expected true count of every row; 0 where none was measured."""
    counts, rows = np.zeros(len(column.noisy)), np.flatnonzero(column.measured)
    laws, kinds = laws_of(column, rows)
    counts[rows] = np.array([law.mean for law in laws])[kinds]
    return counts


def _numbers(release: Release, column: str) -> Floats:
    if column in (each.name for each in release.columns):
        raise HoldfastError(
            f"{column!r:.60} is a count, no public number. Hint: 'ratio of A and {column:.60}' has "
            "one total over another."
        )
    return np.nan_to_num(numbers_of(Factor(column), published(release, column, "per")))


def _cells(values: Floats, places: int) -> list[Any]:
    if places:
        return [None if np.isnan(x) else float(f"{x:.{places}g}") for x in values.tolist()]
    return [None if np.isnan(x) else round(x) for x in values.tolist()]
