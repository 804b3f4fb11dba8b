"""The time that counts are of, and what releases of several times cost together.

Whatever happened on one day is in the tables of the periods that have this day, and in no others.
So a day pays for the releases that cover it; a release without a period covers every day. The
proof is in docs/years.md.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.ledger.subsets import Paid, charged
from holdfast.former.tables.subset import Subset

COUNTS_OF = "these are the counts of "
_DATED = re.compile(re.escape(COUNTS_OF) + r"([0-9QW.-]+)", re.ASCII)  # no name of a column
FIRST_DAY, LAST_DAY = date(1500, 1, 1), date(2199, 12, 31)  # what is outside is misspelt
_DAY = timedelta(days=1)
_SPAN = re.compile(
    r"(?P<year>\d{4})(?:-(?:Q(?P<quarter>[1-4])|W(?P<week>\d\d)|(?P<month>\d\d)(?:-(?P<day>\d\d))?))?",
    re.ASCII,
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
        names = _names(self.first), _names(self.last)
        whole = (name for name in names[0] if _span(name) == (self.first, self.last))
        starts = (name for name in names[0] if _span(name)[0] == self.first)
        ends = (name for name in names[1] if _span(name)[1] == self.last)
        return next(whole, None) or f"{next(starts)}..{next(ends)}"

    @property
    def days(self) -> str:
        """The same in every spelling; what a ledger writes down."""
        return f"{self.first}..{self.last}"

    def covers(self, day: date) -> bool:
        """Whether a day is in it."""
        return self.first <= day <= self.last


def read_period(given: Any) -> Period | None:
    """A period as it was given: a year, quarter, month, week or day, or from one to another.

    >>> [read_period(text).days for text in ("2026-Q1", "2025..2026-02")]
    ['2026-01-01..2026-03-31', '2025-01-01..2026-02-28']
    """
    if given is None or isinstance(given, Period):
        return given
    text = str(given).strip().upper() if isinstance(given, str | int) else ""
    try:
        spans = [_span(part.strip()) for part in text.split("..")]
    except ValueError:
        spans = []
    if not 1 <= len(spans) <= 2 or not FIRST_DAY <= spans[0][0] <= spans[-1][1] <= LAST_DAY:
        raise HoldfastError(
            f"`period` must be a year, quarter, month, week or day, got {given!r:.40}. Hint: 2026, "
            "2026-Q1, 2026-07, 2026-W05, 2026-07-15, or from one to another: 2025-09..2026-08."
        )
    return Period(spans[0][0], spans[-1][1])


def period_notes(period: Period | None) -> tuple[str, ...]:
    """What a release says of the time that its counts are of."""
    return () if period is None else (f"{COUNTS_OF}{period}",)


def period_in(notes: Sequence[str]) -> str | None:
    """The inverse of `period_notes`, in the words of the period.

    >>> period_in(["these are the counts of 2026"])
    '2026'
    """
    found = filter(None, map(_DATED.fullmatch, notes))
    return next((note[1] for note in found), None)


@dataclass(frozen=True, kw_only=True)
class DatedPaid:
    """What was paid, for which rows and for which days; None for all of them."""

    period: Period | None
    subset: Subset | None
    amount: Fraction

    @property
    def paid(self) -> Paid[Fraction]:
        """Without the days."""
        return self.subset, self.amount


def charged_on_a_day(
    paid: Iterable[DatedPaid], period: Period | None, subset: Subset | None = None
) -> Fraction:
    """The most that any day has paid, of those in a period where one is named; of the rows in a
    subset, where one is named.

    >>> spends = [("2025", 1), ("2026", 2), ("2026-Q1", 3), ("2026-Q2", 4)]
    >>> paid = [
    ...     DatedPaid(period=read_period(time), subset=None, amount=Fraction(amount))
    ...     for time, amount in spends
    ... ]
    >>> [str(charged_on_a_day(paid, read_period(p))) for p in (None, "2025", "2026-03", "2027")]
    ['6', '1', '5', '0']
    """
    spends = list(paid)
    return max(
        charged([each.paid for each in spends if _counts_on(each, day)], subset)
        for day in _days_to_look_at(spends, period)
    )


def _counts_on(each: DatedPaid, day: date) -> bool:
    return each.period is None or each.period.covers(day)


def _days_to_look_at(paid: list[DatedPaid], period: Period | None) -> Iterator[date]:
    """The days on which a period begins: between them nothing is added to what a day has paid."""
    yield date.min if period is None else period.first
    for each in paid:
        begins = None if each.period is None else each.period.first
        if begins is not None and (period is None or period.covers(begins)):
            yield begins


def _span(text: str) -> tuple[date, date]:
    """The first and the last day of what a text names; `ValueError` where it names nothing."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError
    year = int(found["year"])
    if found["day"]:
        day = date(year, int(found["month"]), int(found["day"]))
        return day, day
    if found["week"]:
        monday = date.fromisocalendar(year, int(found["week"]), 1)
        return monday, monday + 6 * _DAY
    if found["month"]:
        return _months(year, int(found["month"]), 1)
    if found["quarter"]:
        return _months(year, 3 * int(found["quarter"]) - 2, 3)
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
