"""`release.derive`: a column that follows from the released ones, with its intervals.

All of it is computed from the release, so it spends nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats, Marks
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.former.analysis.answer import LOWER_BOUND, Answer
from holdfast.former.analysis.asking import Answers
from holdfast.former.analysis.conditions import as_numbers
from holdfast.former.analysis.derived.formula import DerivedFormula, parse_derived
from holdfast.former.analysis.derived.sums import row_sums
from holdfast.former.analysis.posterior import check_level
from holdfast.former.analysis.regression.formula import texts_of
from holdfast.former.analysis.selection import chosen_rows, groups_of, published

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


@dataclass(frozen=True, kw_only=True, eq=False)
class Derived:
    """A sum of released counts, or a rate, of every row; NaN where it is not known."""

    formula: DerivedFormula
    level: float
    """Of the intervals."""
    values: Floats = field(repr=False)
    """From the released counts: in every row what their columns add up to."""
    expected: Floats = field(repr=False)
    """From what is expected of the true counts."""
    low: Floats = field(repr=False)
    """Lower ends for the true value of each row."""
    high: Floats = field(repr=False)
    """Upper ends; inf where a count may be any above the highest."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    _columns: Mapping[str, "Release"] = field(repr=False)
    _scale: Floats | None = field(repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def ask(
        self, *, where: Any = None, by: str | None = None, level: float | None = None
    ) -> Answer | Answers:
        """The sum of all rows, or of those that `where` chooses, or of each group of a column; for
        a rate the sum over the sum of the public number."""
        level = check_level(self.level if level is None else level)
        parts = [
            self._columns[name].ask("total", where=where, by=by, level=level)
            for name in self.formula.parts
        ]
        marks = self._rows(where)
        if by is None:
            found: list[Answer] = [part for part in parts if isinstance(part, Answer)]
            return self._added(found, marks, _where_words(where, marks))
        groups = groups_of(self._first, by)
        answers = {
            name: self._added(
                [part[name] for part in parts if isinstance(part, Answers)],
                marks & rows,
                f", {by} {one_line(str(name))}",
            )
            for name, rows in groups.items()
            if all(isinstance(part, Answers) and name in part for part in parts)
        }
        return Answers(question=str(self.formula), by=by, found=answers)

    def columns(self) -> dict[str, list[Any]]:
        """As columns to stand beside the table."""
        name = self.formula.name
        places = 0 if self._scale is None else 6
        named = {"": self.values, "_low": self.low, "_high": self.high}
        return {name + end: _cells(values, places) for end, values in named.items()}

    def to_pandas(self) -> Any:
        """The released table with these columns, as a pandas data frame."""
        from holdfast.former.analysis.frames import pandas

        return pandas().DataFrame(self.table_columns())

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the released table, and these."""
        from holdfast.former.analysis.frames import as_columns

        released: dict[str, list[Any]] = {}
        for one in self._columns.values():
            released |= as_columns(one, False, self.level)
        return released | self.columns()

    @property
    def _first(self) -> "Release":
        return self._columns[self.formula.parts[0]]

    def _rows(self, where: Any) -> Marks:
        known = np.all([self._columns[name].counts >= 0 for name in self.formula.parts], axis=0)
        return np.asarray(known if where is None else known & chosen_rows(self._first, where))

    def _added(self, answers: list[Answer], marks: Marks, words: str) -> Answer:
        """The sum of the answers about single columns, drawn independently."""
        factor = 1.0
        if self.formula.column is not None:
            below = np.nansum(_numbers(self._first, self.formula.column)[marks])
            factor = self.formula.per / below if below > 0 else float("nan")
        total = sum(each.estimate for each in answers)
        down = hypot(*(each.estimate - each.interval[0] for each in answers))
        up = hypot(*(each.true_ends[1] - each.estimate for each in answers))
        errors = [each.standard_error for each in answers]
        known = [error for error in errors if error is not None]
        tops = self._caps(answers)
        capped = "" if tops is None else f", counts capped at {tops}{LOWER_BOUND}"
        return replace(
            answers[0],
            question=f"{self.formula}{capped}{words}",
            measures=str(self.formula),
            measured=all(each.measured for each in answers),
            capped_at=tops,
            estimate=factor * total,
            interval=(factor * max(total - down, 0.0), factor * (total + up)),
            standard_error=factor * hypot(*known) if len(known) == len(errors) else None,
            notes=tuple(dict.fromkeys(note for each in answers for note in each.notes)),
            whole=answers[0].whole and self.formula.column is None,
            whole_ends=answers[0].whole_ends and self.formula.column is None,
            top_code=None,
        )

    def _caps(self, answers: list[Answer]) -> int | str | None:
        """The highest count, where all columns have the same one; of each that is capped otherwise,
        since a sum is not capped at any one of them."""
        tops = [each.capped_at for each in answers]
        if len(set(tops)) == 1:
            return tops[0]
        named = zip(self.formula.parts, tops, strict=True)
        return " and ".join(f"{top:,} ({one_line(name)})" for name, top in named if top is not None)


def _where_words(where: Any, marks: Marks) -> str:
    if where is None:
        return ""
    if isinstance(where, str):
        return f", where {one_line(where)}"
    return f", of {numbered(int(marks.sum()), 'row')} chosen"


def derive(columns: Mapping[str, "Release"], text: str, level: float) -> Derived:
    """What a formula makes of the columns of a release; see `Release.derive`."""
    formula, level = parse_derived(text, columns), check_level(level)
    parts = [columns[name] for name in columns if name in formula.parts]  # as they were drawn
    names = {*columns, *parts[0].unchanged_columns}
    if {formula.name, f"{formula.name}_low", f"{formula.name}_high"} & names:
        raise HoldfastError(
            f"the table already has a column {formula.name!r:.60}. Hint: choose another name."
        )
    known = np.all([one.counts >= 0 for one in parts], axis=0)
    scale, notes = None, tuple[str, ...]()
    if formula.column is not None:
        scale, notes = _scale(parts[0], formula)
    released = sum(one.counts for one in parts)
    # rows in which a count is missing in some columns only cannot be set beside each other
    alike = all((one.counts >= 0).sum() == known.sum() for one in parts)
    if not alike:
        raise HoldfastError(
            "counts are missing in some of these columns and not in others. Hint: derive from "
            "columns that are known in the same rows."
        )
    expected, low, high, more = row_sums([one.known for one in parts], level)
    numbers = {
        "values": np.asarray(released)[known],
        "expected": expected,
        "low": low,
        "high": high,
    }
    return Derived(
        formula=formula,
        level=level,
        notes=(*notes, *more),
        _columns=columns,
        _scale=scale,
        **{name: _spread(found, known, scale) for name, found in numbers.items()},
    )


def _scale(release: "Release", formula: DerivedFormula) -> tuple[Floats, tuple[str, ...]]:
    """By what the sum of each row is multiplied; NaN where the public number is not above 0."""
    below = _numbers(release, formula.column or "")
    with np.errstate(divide="ignore"):
        scale = np.where(below > 0, formula.per / below, np.nan)
    without = int(np.isnan(scale).sum())
    note = f"{numbered(without, 'row')} without {one_line(formula.column or '')} above 0 left empty"
    return scale, (note,) * bool(without)


def _numbers(release: "Release", column: str) -> Floats:
    numbers = as_numbers(texts_of(published(release, column)))
    if numbers is None:
        raise HoldfastError(f"the column {column!r:.60} holds texts, and numbers are needed.")
    return np.asarray(numbers, dtype=np.float64)


def _spread(found: Any, known: Marks, scale: Floats | None) -> Floats:
    full = np.full(len(known), np.nan)
    full[known] = found
    return full if scale is None else full * scale


def _cells(values: Floats, places: int) -> list[Any]:
    if places:
        return [None if np.isnan(x) else float(f"{x:.{places}g}") for x in values.tolist()]
    return [None if np.isnan(x) else x if np.isinf(x) else int(x) for x in values.tolist()]
