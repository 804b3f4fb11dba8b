"""What a table is of: a subset of the rows, with one label in a public column; rows known to be
zero; and the time of the counts: years, quarters, months, weeks, days, or spans."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any
from unicodedata import normalize

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import label_text
from holdfast.tables.frames import as_list
from holdfast.tables.source import Rows

LONGEST_SUBSET = 200
_NUMBER = re.compile(r"[+-]?[0-9]{1,200}(\.[0-9]{0,200})?(e[+-]?[0-9]{1,3})?", re.ASCII)
_FLAGS: dict[Any, bool] = {True: True, "true": True, "1": True, "yes": True}
_FLAGS |= {False: False, "false": False, "0": False, "no": False}
FIRST_DAY, LAST_DAY = date(1500, 1, 1), date(2199, 12, 31)  # what is outside is misspelt
_DAY = timedelta(days=1)
_SPAN = re.compile(
    r"(?P<year>\d{4})(?:-(?:Q(?P<quarter>[1-4])|W(?P<week>\d\d)|(?P<month>\d\d)(?:-(?P<day>\d\d))?))?",
    re.ASCII,
)


@dataclass(frozen=True)
class Subset:
    """The rows whose label in `column` is `label`; another label of the column is another row.

    >>> Subset("fips", "01").key == Subset("fips", "1.0").key
    True
    """

    column: str
    label: str

    @property
    def key(self) -> str:
        """What is the same for all spellings of a label: two subsets of a column with different
        keys have no row in common, whether the table was read from text or not."""
        return label_key(self.label)

    def __str__(self) -> str:
        return f"{self.column}={self.label}"

    @property
    def note(self) -> str:
        """What is said of a release of these rows."""
        return f"these are the rows whose {self.column} is {self.label}"

    def marks(self, rows: Rows, before: int) -> Marks:
        """Which of some rows are in it; so many rows came before them."""
        marks, unclear = rows.marks(self.column, self._has)
        if unclear is not None:
            raise _no_label(self.column, f"; data row {before + unclear + 1} does not")
        return marks

    def _has(self, cell: Any) -> bool | None:
        text = label_text(cell)
        return None if text is None else label_key(text) == self.key


def read_subset(value: Any) -> Subset | None:
    """A subset as it was given: a mapping of one column to one label, itself, or None.

    >>> str(read_subset({"state": "NE"}))
    'state=NE'
    """
    if value is None or isinstance(value, Subset):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise HoldfastError(
            "`subset` must name one column and one label of it. "
            'Hint: subset={"state": "NE"}, --subset state=NE.'
        )
    ((column, label),) = value.items()
    if not isinstance(column, str) or not column:
        raise HoldfastError(f"`subset` must name a column, got {column!r:.40}.")
    text = label_text(label)
    if text is None:
        raise _no_label(column)
    if not 0 < len(text.strip()) <= LONGEST_SUBSET:
        raise HoldfastError(
            f"`subset` must name a label of 1 to {LONGEST_SUBSET} characters in column {column!r}. "
            "Hint: rows without a label are not a subset."
        )
    return Subset(column, text.strip())


def label_key(text: str) -> str:
    """What is the same for all spellings of a label, and for what holds or does not: true, yes, 1.

    >>> {label_key(text) for text in ("True", "yes", "1.0", "01")}, label_key("NE")
    ({'1'}, 'ne')
    """
    plain = normalize("NFKC", text).strip().casefold()
    if plain.isdigit() and plain.isascii():  # as nearly all names of persons are, and quicker
        return plain.lstrip("0") or "0"
    if plain in _FLAGS:
        return str(int(_FLAGS[plain]))
    return str(Fraction(plain)) if _NUMBER.fullmatch(plain) else plain


def _no_label(column: str, where: str = "") -> HoldfastError:
    return HoldfastError(
        f"`subset` column {column!r} must hold labels: text or whole numbers{where}. "
        "Hint: make text of other numbers and of dates."
    )


class StructuralZeros:
    """What says which rows are publicly known to be zero: a column's name, a mask with
    one boolean per row, or labels of the category column.

    >>> from holdfast.tables.source import ListRows
    >>> rows = ListRows(("place",), [["Ely", "Kent"]])
    >>> StructuralZeros(["Ely"], "place").marks(rows, 0, 0)
    array([ True, False])
    """

    def __init__(self, zeros: Any, category: str | None) -> None:
        self._column = zeros if isinstance(zeros, str) else None
        self._category = category
        items = [] if zeros is None or self._column else as_list(zeros, "structural_zero")
        masked = bool(items) and all(isinstance(item, bool | np.bool_) for item in items)
        self._mask = np.array(items, dtype=np.bool_) if masked else None
        self._labels = None if masked or not items else items
        self._unseen = set(map(str, items)) if self._labels else set()
        if self._labels and category is None:
            raise HoldfastError(
                "`structural_zero` lists labels, but no `category` column says whose. "
                "Hint: give `category=`, or a mask with one True or False per row."
            )

    def marks(self, rows: Rows, start: int, row: int) -> Marks:
        """Which of some rows they are: those from `start` on in the table, `row` in their file."""
        if self._column is not None:
            return self._flags(rows, self._column, row)
        if self._labels is not None and self._category is not None:
            return self._labelled(rows, self._category, self._labels)
        if self._mask is None:
            return np.zeros(len(rows), dtype=np.bool_)
        if len(self._mask) < start + len(rows):
            raise _wrong_length()
        return self._mask[start : start + len(rows)]

    def refuse_unseen(self, rows: int) -> None:
        """Raise if the mask is not as long as the table, or if no row has some label."""
        if self._mask is not None and len(self._mask) != rows:
            raise _wrong_length()
        unknown = next((label for label in self._labels or () if str(label) in self._unseen), None)
        if unknown is not None:
            raise HoldfastError(
                f"`structural_zero`: no row has the label {unknown!r}. "
                "Hint: labels must match the `category` column exactly, type included."
            )

    def _flags(self, rows: Rows, name: str, row: int) -> Marks:
        marks, unclear = rows.marks(
            name, lambda c: _FLAGS.get(c.strip(" \t").lower() if isinstance(c, str) else c)
        )
        if unclear is not None:
            raise HoldfastError(
                f"`structural_zero` column {name!r} must hold true or false, data row "
                f"{row + unclear + 1} does not. Hint: write true and false, yes and no, or 1 and 0."
            )
        return marks

    def _labelled(self, rows: Rows, category: str, labels: list[Any]) -> Marks:
        try:
            wanted = set(map(str, labels)) if rows.text else set(labels)
            codes, cells = rows.codes(category)
        except TypeError:
            raise HoldfastError("`structural_zero` must list labels such as text.") from None
        self._unseen -= {str(cell) for cell in cells if cell in wanted}
        return np.array([cell in wanted for cell in cells], dtype=np.bool_)[codes]


def _wrong_length() -> HoldfastError:
    return HoldfastError(
        "`structural_zero` must have one True or False per row of the table. "
        "Hint: or list the labels of the `category` column that are structurally zero."
    )


def check_marks(marks: Marks, counts: Integers, before: int = 0) -> None:
    """Refuse a count other than zero where zero is publicly known; so many rows came before."""
    wrong = marks & (counts != 0)
    if wrong.any():
        raise HoldfastError(
            f"`structural_zero`: data row {before + int(wrong.argmax()) + 1} is marked as publicly "
            "known to be zero, but its count is not. Hint: correct the count or the mark."
        )


@dataclass(frozen=True, order=True)
class Period:
    """The days that a table's counts are of, the first and the last among them.

    >>> str(read_period("2026-07-01..2026-09-30")), read_period(2026).last
    ('2026-Q3', datetime.date(2026, 12, 31))
    """

    first: date
    last: date

    def __str__(self) -> str:
        """The shortest name of these days."""
        first, last = _names(self.first), _names(self.last)
        whole = (name for name in first if _span(name) == (self.first, self.last))
        starts = (name for name in first if _span(name)[0] == self.first)
        ends = (name for name in last if _span(name)[1] == self.last)
        return next(whole, None) or f"{next(starts)}..{next(ends)}"

    @property
    def days(self) -> str:
        """The same in every spelling; what a ledger writes down."""
        return f"{self.first}..{self.last}"

    def covers(self, day: date) -> bool:
        """Whether a day is in it."""
        return self.first <= day <= self.last


def read_period(value: Any) -> Period | None:
    """A period as it was given: a year, quarter, month, week or day, or from one to another.

    >>> [read_period(text).days for text in ("2026-Q1", "2025..2026-02")]
    ['2026-01-01..2026-03-31', '2025-01-01..2026-02-28']
    """
    if value is None or isinstance(value, Period):
        return value
    text = str(value).strip().upper() if isinstance(value, str | int) else ""
    try:
        spans = [_span(part.strip()) for part in text.split("..")]
    except ValueError:
        spans = []
    if not 1 <= len(spans) <= 2 or not FIRST_DAY <= spans[0][0] <= spans[-1][1] <= LAST_DAY:
        raise HoldfastError(
            f"`period` must be a year, quarter, month, week or day, got {value!r:.40}. Hint: 2026, "
            "2026-Q1, 2026-07, 2026-W05, 2026-07-15, or from one to another: 2025-09..2026-08."
        )
    return Period(spans[0][0], spans[-1][1])


def _span(text: str) -> tuple[date, date]:
    """The first and the last day of what a text names; `ValueError` where it names nothing."""
    match = _SPAN.fullmatch(text)
    if match is None:
        raise ValueError
    year = int(match["year"])
    if match["day"]:
        day = date(year, int(match["month"]), int(match["day"]))
        return day, day
    if match["week"]:
        monday = date.fromisocalendar(year, int(match["week"]), 1)
        return monday, monday + 6 * _DAY
    if match["month"]:
        return _months(year, int(match["month"]), 1)
    if match["quarter"]:
        return _months(year, 3 * int(match["quarter"]) - 2, 3)
    return _months(year, 1, 12)


def _months(year: int, first: int, number: int) -> tuple[date, date]:
    after = first + number
    end = date(year + 1, 1, 1) if after > 12 else date(year, after, 1)
    return date(year, first, 1), end - _DAY


def _names(day: date) -> list[str]:
    """What begins or ends with a day may be called, the shortest first."""
    quarter, (year, week, _) = (day.month + 2) // 3, day.isocalendar()
    return [
        f"{day:%Y}",
        f"{day:%Y}-Q{quarter}",
        f"{day:%Y-%m}",
        f"{year}-W{week:02}",
        f"{day:%Y-%m-%d}",
    ]
