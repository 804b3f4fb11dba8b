"""The time that the counts of a table are of: years, quarters, months, weeks, days, or spans."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from holdfast.errors import HoldfastError

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
