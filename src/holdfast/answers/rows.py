"""Questions about single rows: one of them, the highest ones, one against another, all of them."""

from bisect import bisect
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from holdfast.answers.answer import SIMULATED, Answer, check_level, percent, unsigned_zero
from holdfast.answers.asking import DRAWS
from holdfast.answers.labels import Labels
from holdfast.answers.laws import RowLaw, laws_of, likely_count, row_law
from holdfast.answers.result import Cells, QuestionResult, joined
from holdfast.answers.selection import RowGroups, chosen_rows
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, numbered, one_line, whole_number
from holdfast.fit.histogram import LEVEL
from holdfast.release.release import Column, Release
from holdfast.request.questions import Unit

SEED = 20_261  # public: everybody finds the same chances
MOST_DRAWN = 20_000_000  # true counts that are drawn to see which rows are on top
FEWEST_TABLES, MOST_TABLES = 100, 2000
SAMPLING_ERROR = 0.02  # of a chance found by so many tables


def ask_row(
    release: Release, row: Any, *, of: str | None = None, label: str | None = None,
    level: float = LEVEL,
) -> Answer:  # fmt: skip
    """The true count that a row may have; see `Release.row`."""
    column, labels, level = release[of], Labels(release, label), check_level(level)
    place = labels.find(row)
    name = one_line(labels.title(place))
    if release.structural_zero[place] and not column.measured[place]:
        return Answer(
            question=f"true count of {name}",
            estimate=0.0,
            interval=(0.0, 0.0),
            level=level,
            unit=Unit.COUNT,
            rows=1,
            notes=("publicly known to be zero",),
        )
    law = _law(column, place, name)
    expected, (low, high) = likely_count(column, place, level, law.mean)
    reach = column.measurement.noise.quantile(level)
    noisy = int(column.noisy[place])
    plain = max(noisy - reach, 0), max(noisy + reach, 0)
    marks = np.zeros(release.rows, dtype=bool)
    marks[place] = True
    zero = law.equal(0)
    chances = f"0 with a probability of {f'{zero:.0%}' if zero >= 0.005 else 'less than 1%'}"
    return Answer(
        question=f"true count of {name}, released as {int(column.counts[place]):,}",
        estimate=expected,
        interval=(float(low), float(high)),
        level=level,
        standard_error=sqrt(law.variance),
        rows=1,
        notes=(
            f"by its own noise alone, whatever the other rows have: {plain[0]:,} to {plain[1]:,} "
            f"({percent(level)} interval; it measured {noisy:,}, within {reach:,})",
            chances,
            *((SIMULATED,) if release.promise.simulated else ()),
        ),
        draws=law.draws(DRAWS),
        about=((column, marks),),
    )


def _law(column: Column, row: int, name: str) -> RowLaw:
    if not column.measured[row]:
        raise HoldfastError(f"the count of {name!r:.60} is missing: it was not known.")
    return row_law(column, row)


@dataclass(frozen=True, kw_only=True)
class TopRow:
    """A row that may be among the highest.

    >>> import holdfast
    >>> release = holdfast.privatize([0, 5, 1, 0, 30, 2], epsilon=8, seed=1)
    >>> release.top(1)[0].label, release.top(1)[0].interval
    ('4', (30, 30))
    """

    row: int
    """Its number in the table, from 0."""
    label: str
    """Its label, with what tells it apart where others have the same."""
    released: int
    expected: float
    """Its expected true count."""
    interval: tuple[int, int]
    """For its true count."""
    probability: float
    """That it is truly among the k highest; ties are broken at random. By simulation."""
    highest: float
    """That it is truly the highest of all, found in the same way."""


@dataclass(frozen=True, kw_only=True)
class TopRows(QuestionResult):
    """The rows that are most likely among the k highest.

    >>> import holdfast
    >>> release = holdfast.privatize([0, 5, 1, 0, 30, 2], epsilon=8, seed=1)
    >>> [row.released for row in release.top(2)]
    [30, 5]
    """

    rows: tuple[TopRow, ...]
    level: float
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> TopRow:
        return self.rows[place]

    def cells(self) -> Cells:
        """A line for each row."""
        interval, among = f"{percent(self.level)} interval", f"among the {len(self)} highest"
        return ("row", "released", "expected", interval, among, "highest"), [
            (
                one_line(row.label), f"{row.released:,}", f"{row.expected:,.1f}",
                f"{row.interval[0]:,} to {row.interval[1]:,}",
                f"{row.probability:.0%}", f"{row.highest:.0%}",
            )
            for row in self.rows
        ]  # fmt: skip

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table, a row for each row."""
        return {
            "row": [row.label for row in self.rows],
            "released": [row.released for row in self.rows],
            "expected": [round(row.expected, 1) for row in self.rows],
            "low": [row.interval[0] for row in self.rows],
            "high": [row.interval[1] for row in self.rows],
            "probability": [round(row.probability, 3) for row in self.rows],
            "highest": [round(row.highest, 3) for row in self.rows],
        }


class TopByGroup(QuestionResult, dict[Any, TopRows]):
    """The rows on top of each group, by its name.

    >>> import holdfast, pandas
    >>> table = pandas.DataFrame({"state": ["NE", "KS"] * 3, "n": [0, 5, 1, 0, 30, 2]})
    >>> release = holdfast.privatize(table, epsilon=8, count="n", within="state", seed=1)
    >>> {state: top[0].released for state, top in release.top(1, by="state").items()}
    {'KS': 5, 'NE': 30}
    """

    def cells(self) -> Cells:
        """A line for each row of each group."""
        tables = {one_line(str(name)): rows.cells() for name, rows in self.items()}
        (head, _), *_ = tables.values()
        return ("group", *head), [
            (name, *row) for name, (_, rows) in tables.items() for row in rows
        ]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know of any group, each thing once."""
        return tuple(dict.fromkeys(note for rows in self.values() for note in rows.notes))

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table, a row for each row of each group."""
        groups = [name for name, rows in self.items() for _ in range(len(rows))]
        return {"group": groups} | joined(rows.columns() for rows in self.values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {"groups": {str(name): rows.to_dict() for name, rows in self.items()}}


def top(
    release: Release, k: int, *, of: str | None = None, where: Any = None, by: Any = None,
    label: str | None = None, level: float = LEVEL,
) -> TopRows | TopByGroup:  # fmt: skip
    """The k rows that are most likely among the k highest, of all or some; see `Release.top`."""
    column, labels, level = release[of], Labels(release, label), check_level(level)
    inside = chosen_rows(release, where, label)
    k = whole_number(k, "k", least=1)
    if by is None:
        rows = np.flatnonzero(inside & column.measured)
        k = whole_number(k, "k", most=len(rows), hint="there cannot be more of them than rows.")
        return _top_of(release, column, labels, rows, k, level)
    groups = RowGroups.of(release, by).within(inside & column.measured)
    highest = TopByGroup()
    for name, marks in groups:
        rows = np.flatnonzero(marks)
        fewer = min(k, len(rows))
        highest[name] = _top_of(release, column, labels, rows, fewer, level, len(groups))
    return highest


def _top_of(
    release: Release, column: Column, labels: Labels, rows: Integers, k: int, level: float,
    times: int = 1,
) -> TopRows:  # fmt: skip
    rows, laws, kinds = _candidates(column, rows, k)
    among, highest = chances_on_top(laws, kinds, k, MOST_DRAWN // times)
    means = np.array([law.mean for law in laws])[kinds]
    noisy = column.noisy[rows]
    order = np.lexsort((rows, -noisy, -means, -among))[:k]
    names = labels.names(rows[order].tolist())
    last = float(among[order[-1]])
    near = last - min(SAMPLING_ERROR, 0.1 * last)
    tied = int((among >= near).sum() - (among[order] >= near).sum())
    notes = []
    if tied:
        notes.append(
            f"{numbered(tied, 'other row')} {'is' if tied == 1 else 'are'} as likely as "
            f"{one_line(names[-1])}, the last one shown: which of them are shown means nothing"
        )
    if release.promise.simulated:
        notes.append(SIMULATED)
    top_rows = []
    for at, name in zip(order, names, strict=True):
        row = int(rows[at])
        expected, interval = likely_count(column, row, level, float(means[at]))
        top_rows.append(
            TopRow(
                row=row,
                label=name,
                released=int(column.counts[row]),
                expected=expected,
                interval=interval,
                probability=float(among[at]),
                highest=float(highest[at]),
            )
        )
    return TopRows(rows=tuple(top_rows), level=level, notes=tuple(notes))


def _candidates(column: Column, rows: Integers, k: int) -> tuple[Integers, list[RowLaw], Integers]:
    """The rows that have any chance to be among the k highest, the laws of their kinds, and the
    kind of each.

    The k highest noisy counts are of k rows whose true counts are hardly `reach` lower: what is
    lower by twice that stays below them.
    """
    reach = column.measurement.noise.quantile(1 - 1e-6)
    noisy = column.noisy[rows]
    kth = np.partition(noisy, len(noisy) - k)[len(noisy) - k]
    rows = rows[noisy >= kth - 2 * reach]
    laws, kinds = laws_of(column, rows)
    low = _lowest_on_top(laws, np.bincount(kinds), k)
    hopeful = np.array([law.values[-1] >= low for law in laws])
    kept, number = hopeful[kinds], np.cumsum(hopeful) - 1
    chosen = [law for law, keep in zip(laws, hopeful, strict=True) if keep]
    return rows[kept], chosen, number[kinds[kept]]


def _lowest_on_top(laws: list[RowLaw], rows: Integers, k: int) -> int:
    """A count that more than k rows reach for sure: what stays below it has no chance."""
    enough = k + 10 * sqrt(k) + 30

    def too_few(count: int) -> bool:
        chances = np.array([1 - law.at_most(count - 1) for law in laws])
        return bool(chances @ rows < enough)

    top = max(int(law.values[-1]) for law in laws)
    return bisect(range(1, top + 1), False, key=too_few)


def chances_on_top(
    laws: list[RowLaw], kinds: Integers, k: int, most: int = MOST_DRAWN
) -> tuple[Floats, Floats]:
    """For every row the probability to be among the k highest, and to be the highest, by drawing
    tables of true counts; that of rows of one kind is the same."""
    number = int(np.clip(most // max(len(kinds), 1), FEWEST_TABLES, MOST_TABLES))
    generator = np.random.default_rng(SEED)
    sizes = np.bincount(kinds, minlength=len(laws))
    among, highest = np.zeros(len(laws)), np.zeros(len(laws))
    starts = np.cumsum(sizes) - sizes
    at_once = max(MOST_DRAWN // 10 // max(len(kinds), 1), 1)
    for first in range(0, number, at_once):
        tables = min(at_once, number - first)
        drawn = np.empty((tables, len(kinds)))
        for law, start, size in zip(laws, starts, sizes, strict=True):
            drawn[:, start : start + size] = law.quantiles(generator.random((tables, size)))
        for chances, places in ((among, k), (highest, 1)):
            chances += np.add.reduceat(_on_top(drawn, places).sum(axis=0), starts)
    each = np.maximum(sizes, 1) * number
    return (among / each)[kinds], (highest / each)[kinds]


def _on_top(drawn: Floats, k: int) -> Floats:
    """Which rows of each table are among its k highest; ties share the places that are left."""
    size = drawn.shape[1]
    if k >= size:
        return np.ones_like(drawn)
    limit = np.partition(drawn, size - k, axis=1)[:, size - k, None]
    above, tied = drawn > limit, drawn == limit
    left = k - above.sum(axis=1, keepdims=True)
    return np.asarray(above + tied * (left / tied.sum(axis=1, keepdims=True)))


@dataclass(frozen=True, kw_only=True)
class RowComparison(QuestionResult):
    """Which of two rows truly has more.

    >>> import holdfast
    >>> release = holdfast.privatize([0, 5, 1, 0, 30, 2], epsilon=8, seed=1)
    >>> compared = release.compare(4, 1)
    >>> compared.first_more > 0.99, compared.interval
    (True, (25, 25))
    """

    first: str
    second: str
    first_more: float
    """Probability that the first has more."""
    equal: float
    second_more: float
    difference: float
    """Expected true difference, first less second."""
    interval: tuple[int, int]
    """For the true difference."""
    level: float
    notes: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """The answer in a sentence."""
        low, high = (unsigned_zero(f"{end:,}") for end in self.interval)
        return (
            f"{one_line(self.first)} has more than {one_line(self.second)} with probability "
            f"{self.first_more:.0%}, the same with {self.equal:.0%}, less with "
            f"{self.second_more:.0%}; difference {self.difference:,.1f} "
            f"({percent(self.level)} interval {low} to {high})"
        )

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table with one row."""
        low, high = self.interval
        cells = {name: value for name, value in vars(self).items() if name not in _NOT_CELLS}
        return {name: [value] for name, value in (cells | {"low": low, "high": high}).items()}


_NOT_CELLS = ("interval", "level", "notes")


def compare(
    release: Release, first: Any, second: Any, *, of: str | None = None,
    label: str | None = None, level: float = LEVEL,
) -> RowComparison:  # fmt: skip
    """Which of two rows has more; see `Release.compare`."""
    column, labels, level = release[of], Labels(release, label), check_level(level)
    places = [labels.find(row) for row in (first, second)]
    if places[0] == places[1]:
        raise HoldfastError("a row cannot be compared with itself. Hint: name two rows.")
    names = [labels.title(place) for place in places]
    laws = [_law(column, row, name) for row, name in zip(places, names, strict=True)]
    law = laws[0].less(laws[1])
    return RowComparison(
        first=names[0],
        second=names[1],
        first_more=1 - law.at_most(0),
        equal=law.equal(0),
        second_more=law.at_most(-1),
        difference=law.mean,
        interval=law.interval(level),
        level=level,
        notes=(SIMULATED,) if release.promise.simulated else (),
    )
