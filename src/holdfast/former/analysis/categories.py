"""Questions about single rows, which say less than the distribution does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, numbered, one_line, whole_number
from holdfast.former.analysis.answer import percent
from holdfast.former.analysis.comparisons import ends_in_words
from holdfast.former.analysis.evidence import DENSE_UP_TO
from holdfast.former.analysis.long_rows import Standings, long_standings
from holdfast.former.analysis.posterior import (
    Posterior,
    check_level,
    row_law,
    row_notes,
    top_notes,
)
from holdfast.former.analysis.rows import find_row, row_labels, row_names
from holdfast.former.analysis.selection import groups_of
from holdfast.former.analysis.stage_one import SEED
from holdfast.former.analysis.true_difference import true_difference
from holdfast.former.release.row_marks import row_kinds

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

DRAWS, DRAWN_AT_ONCE = 2000, 50
SAMPLING_ERROR = 0.02  # of a probability found by so many draws


@dataclass(frozen=True, kw_only=True)
class TopRow:
    """A row that may be among the highest."""

    row: int
    """Its number in the table, from 0."""
    label: Any
    """Its label; its number where the table has none."""
    name: str
    """Its label, with what tells it apart where others have the same."""
    released: int
    """Its released count."""
    expected: float
    """Its expected true count."""
    interval: tuple[int, int]
    """For its true count."""
    probability: float
    """That it is truly among the k highest; ties are broken at random. By simulation: ±2 %."""
    highest: float
    """That it is truly the highest of all, found in the same way."""
    tied: int = 0
    """How many rows that are not among these are as likely as the last of them."""
    notes: tuple[str, ...] = field(default=(), repr=False)
    """What a reader should know."""


@dataclass(frozen=True, kw_only=True)
class RowComparison:
    """Which of two rows truly has more."""

    first: Any
    """Label of the first row."""
    second: Any
    """Label of the second row."""
    first_more: float
    """Probability that the first has more, as far as it can be told."""
    equal: float
    """Probability that they have the same, likewise."""
    second_more: float
    """Probability that the second has more, likewise."""
    unknown: float
    """Probability that it cannot be told: both have the highest count, or any above it."""
    difference: float
    """Expected true difference, first minus second; NaN where the interval has an open end."""
    interval: tuple[float, float]
    """For the true difference; infinite on a side where a row may have any count above the
    highest."""
    level: float
    """Of the interval."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""

    def __str__(self) -> str:
        untold = f", and with {self.unknown:.0%} it cannot be told" if self.unknown >= 0.005 else ""
        text = (
            f"{one_line(str(self.first))} has more than {one_line(str(self.second))} with "
            f"probability {self.first_more:.0%}, "
            f"the same with {self.equal:.0%}, less with {self.second_more:.0%}{untold}; "
            f"difference {self._difference}"
        )
        return "\n".join([text, *(f"  {note}." for note in self.notes)])

    @property
    def _difference(self) -> str:
        level, ends = percent(self.level), ends_in_words(self.interval, "{:,.0f}".format)
        if isnan(self.difference):
            return f"{ends} (at {level})"
        return f"{self.difference:,.1f} ({level} interval {ends})"


def top(
    release: "Release", k: int, *, label: str | None, level: float, inside: Integers | None = None
) -> tuple[TopRow, ...]:
    """The k rows with the highest probability of being among the k highest true counts, of all or
    of the rows `inside`.

    Given z and T the true counts of the rows are independent, and rows with the same released
    count alike. So only tables of (released, true) counts are drawn, 2,000 of them: how many rows
    each true count has settles who is on top, at a cost that does not depend on the number of rows.
    """
    hint = "there cannot be more of them than rows."
    inside = np.arange(len(release.counts)) if inside is None else inside
    k = whole_number(k, "k", least=1, most=len(inside), hint=hint)
    level = check_level(level)
    kinds = row_kinds(release)
    long = len(release.target) > DENSE_UP_TO
    found = long_standings(release, inside, k) if long else _standings(release, inside, k)
    order = np.lexsort((-release.counts[found.rows], -found.means, -found.chances))[:k]
    laws = {kind: row_law(release, kind) for kind in set(kinds[found.rows[order]].tolist())}
    labels = row_labels(release, label)
    names = row_names(release, labels)
    tied = _tied(found, order)
    notes = [row_notes(release, count) for count in (0, 1)]  # rows that show 0 may be known
    return tuple(
        TopRow(
            row=int(row),
            label=labels[row],
            name=names[row],
            released=int(release.counts[row]),
            expected=float(found.means[at]),
            interval=laws[int(kinds[row])].interval(level),
            probability=float(found.chances[at]),
            highest=float(found.highest[at]),
            tied=tied,
            notes=(
                *_others(tied, one_line(names[found.rows[order[-1]]])),
                *_undecided(laws[int(kinds[row])]),
                *notes[min(release.counts[row], 1)],
            ),
        )
        for at, row in zip(order, found.rows[order], strict=True)
    )


def _tied(found: Standings, order: Integers) -> int:
    """How many rows that are not shown are as likely as the last one, within the draws' error."""
    last = float(found.chances[order[-1]])
    near = last - min(SAMPLING_ERROR, 0.1 * last)
    return int((found.chances >= near).sum() - (found.chances[order] >= near).sum())


def _others(tied: int, last: str) -> tuple[str, ...]:
    if not tied:
        return ()
    rows = f"{numbered(tied, 'row')} not shown {'is' if tied == 1 else 'are'} as likely as {last}"
    return (
        f"{rows}, the last one shown: which of them are shown, and in what order, means nothing",
    )


def top_by_group(
    release: "Release", k: int, by: Any, *, label: str | None, level: float, inside: Marks
) -> "TopByGroup":
    """The same for each group of a public column, of those of its rows that are `inside`."""
    groups = {
        name: np.flatnonzero(marks & inside) for name, marks in groups_of(release, by).items()
    }
    return TopByGroup(
        (name, top(release, min(k, len(rows)), label=label, level=level, inside=rows))
        for name, rows in groups.items()
        if len(rows)
    )


class TopByGroup(dict[Any, tuple[TopRow, ...]]):
    """The rows on top of each group, by its name."""


def _standings(release: "Release", rows: Integers, k: int) -> Standings:
    seen, kinds = np.unique(row_kinds(release)[rows], return_inverse=True)
    laws = [row_law(release, kind) for kind in seen]
    highest, chances = _chances_on_top(laws, np.bincount(kinds), (1, k))
    means = np.array([law.mean for law in laws])
    return Standings(rows, highest[kinds], chances[kinds], means[kinds])


def compare(
    release: "Release", first: Any, second: Any, *, label: str | None, level: float
) -> RowComparison:
    """The law of the difference of two rows' true counts; rows are numbered as the table has
    them."""
    labels = row_labels(release, label)
    rows = [find_row(release, labels, row) for row in (first, second)]
    if rows[0] == rows[1]:
        raise HoldfastError("a row cannot be compared with itself. Hint: name two rows.")
    names = row_names(release, labels)
    missing = [one_line(names[row]) for row in rows if release.counts[row] < 0]
    if missing:
        raise HoldfastError(f"the count of {missing[0]!r:.60} is missing: it was not known.")
    first, second = (labels[row] if names[row] == str(labels[row]) else names[row] for row in rows)
    one, other = (row_law(release, row_kinds(release)[row]) for row in rows)
    level = check_level(level)
    found = true_difference(one, other, level)
    return RowComparison(
        first=first,
        second=second,
        first_more=found.more,
        equal=found.equal,
        second_more=found.less,
        unknown=found.unknown,
        difference=found.expected,
        interval=found.interval,
        level=level,
        notes=_same_at_the_top(one, other) + row_notes(release, release.counts[rows], (one, other)),
    )


def _undecided(law: Posterior) -> tuple[str, ...]:
    """What to say of a row on top whose true count may be the highest there is."""
    notes = top_notes([law])
    if not notes:
        return ()
    top = len(law.probabilities) - 1
    return (
        *notes,
        f"which of the rows with a true count of {top:,} or more is the highest cannot be told "
        "from this release: they are taken as tied, and ties are broken at random",
    )


def _same_at_the_top(one: Posterior, other: Posterior) -> tuple[str, ...]:
    if not (top_notes([one]) and top_notes([other])):
        return ()
    top = len(one.probabilities) - 1
    return (f"which of two rows with {top:,} or more each has more cannot be told",)


def _chances_on_top(laws: Sequence[Posterior], rows: Integers, places: tuple[int, ...]) -> Floats:
    """For every kind of row, the probability that such a row is among the k highest, for each k.

    The last k is the largest. True counts that k rows or more exceed for sure are drawn as one.
    """
    generator = np.random.default_rng(SEED)
    shares = np.array([law.probabilities / law.probabilities.sum() for law in laws])
    low = _lowest_on_top(shares.T @ rows, places[-1])
    shares = np.column_stack([shares[:, :low].sum(axis=1), shares[:, low:]])
    shares /= shares.sum(axis=1, keepdims=True) * (1 + 1e-12)  # never above 1 by rounding
    chances = np.zeros((len(places), len(laws)))
    for _ in range(DRAWS // DRAWN_AT_ONCE):
        tables = generator.multinomial(rows, shares, size=(DRAWN_AT_ONCE, len(laws)))
        totals = tables.sum(axis=1)
        above = np.cumsum(totals[:, ::-1], axis=1)[:, ::-1] - totals
        for at, k in enumerate(places):
            part = np.clip((k - above) / np.maximum(totals, 1), 0, 1)
            chances[at] += np.einsum("dlc,dc->l", tables, part)
    return chances / rows / DRAWS


def _lowest_on_top(expected: Floats, k: int) -> int:
    """The lowest true count that may be among the k highest, given how many rows to expect of
    each: below it, so many more rows are expected above that fewer than k have no chance."""
    above = np.cumsum(expected[::-1])[::-1]
    enough = np.flatnonzero(above >= k + 10 * np.sqrt(k) + 30)
    return int(enough[-1]) if len(enough) else 0
