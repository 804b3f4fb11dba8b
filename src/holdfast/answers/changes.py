"""What changed from an earlier release of a table to a later one: of all rows, of groups, of rows.

A change is the later number less the earlier one. The noise of the two is independent and its law
is known, so the difference of two noisy counts of a row has an exact interval, whatever the counts
are. Rows that stand out are found from it by Benjamini and Hochberg's rule, so that of those that
are named hardly more than one in ten did not change. The change of any other row has a shorter
interval, by the law that its count has in each release; that the two counts of a row are alike is
not used, which would make it shorter still.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.answers.answer import (
    SIMULATED,
    Answer,
    Answers,
    check_level,
    percent,
    some_of,
    unsigned_zero,
)
from holdfast.answers.labels import Labels
from holdfast.answers.laws import CombinedNoise, RowLaw, difference_intervals, laws_of
from holdfast.answers.result import Cells, QuestionResult
from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.fit.histogram import LEVEL
from holdfast.release.release import Column, Release

NEWER_LESS_OLDER = "a change is the later release less the earlier one"
SAME_DATA = (
    "rows and public columns are the same in both, and {} has no period that says what time its "
    "counts are of: two releases of the same data are not two years, and differ by noise alone"
)
SHOWN = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class RowChanges(QuestionResult):
    """For every row that is in both releases, what they say of its change.

    >>> import holdfast
    >>> release = holdfast.privatize([0, 5, 1, 0, 30, 2], epsilon=8, seed=1)
    >>> earlier = holdfast.privatize([0, 5, 1, 0, 2, 2], epsilon=8, seed=2)
    >>> changes = release.changes(earlier)
    >>> changes.noisy.tolist(), changes.stands_out.tolist()
    ([0, 0, 0, 0, 28, 0], [False, False, False, False, True, False])
    """

    level: float
    labels: tuple[str, ...] = field(repr=False)
    """The rows, by the label that they have in both, in the order of the later release."""
    before: Integers = field(repr=False)
    """Noisy counts of the earlier release."""
    after: Integers = field(repr=False)
    expected: Floats = field(repr=False)
    """Expected true changes, by what is known of the counts of each release."""
    low: Integers = field(repr=False)
    """Lower ends of intervals for the true changes: of a row that stands out by the noise alone,
    and so wide that they hold for rows that were picked so; of others by what is likely of the
    counts of each release."""
    high: Integers = field(repr=False)
    """Upper ends."""
    p_values: Floats = field(repr=False)
    """Of no change at all."""
    stands_out: Marks = field(repr=False)
    """Rows whose change is more than noise makes among so many."""
    named: bool = False
    """Whether rows were named: then each is told of as if it were the only one."""
    only_after: tuple[str, ...] = ()
    only_before: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def noisy(self) -> Integers:
        """Differences of noisy counts, which are the true changes on average."""
        return self.after - self.before

    @property
    def title(self) -> str:
        """How many changes are more than noise."""
        if len(self) == 1:
            return f"change of {one_line(self.labels[0])}"
        number = int(self.stands_out.sum())
        if self.named:
            return f"change of {numbered(len(self), 'row')}, each by itself"
        if not number:
            return (
                f"change of {numbered(len(self), 'row')}: no row stands out; among so many, noise "
                "alone makes changes as large as the largest, which are"
            )
        some = f", of which {SHOWN} are here" if number > SHOWN else ""
        return (
            f"change of {numbered(len(self), 'row')}: {number:,} "
            f"{'stands' if number == 1 else 'stand'} out among all of them{some}; intervals hold "
            f"for {percent(self.level)} of rows that were picked so"
        )

    def cells(self) -> Cells:
        """A line for each of the largest changes, of those that stand out where some do."""
        picked = not self.named and len(self) > 1 and self.stands_out.any()
        rows = np.flatnonzero(self.stands_out) if picked else np.arange(len(self))
        order = np.lexsort((rows, -np.abs(self.noisy[rows])))
        order = order if self.named else order[:SHOWN]
        return ("row", "expected change", f"{percent(self.level)} interval"), [
            (
                one_line(self.labels[row]), unsigned_zero(f"{self.expected[row]:+,.1f}"),
                " to ".join(unsigned_zero(f"{end:+,}") for end in (self.low[row], self.high[row])),
            )
            for row in rows[order]
        ]  # fmt: skip

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table, a row for each row, in the order of the later release."""
        return {
            "row": list(self.labels),
            "noisy_before": self.before.tolist(),
            "noisy_after": self.after.tolist(),
            "expected": np.round(self.expected, 2).tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "p_value": [float(f"{p:.3g}") for p in self.p_values],
            "stands_out": self.stands_out.tolist(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return super().to_dict() | {"rows": self.columns()}


def row_changes(
    release: Release, earlier: Release, rows: Sequence[Any] | None = None, *,
    of: str | None = None, label: str | None = None, level: float = LEVEL,
) -> RowChanges:  # fmt: skip
    """The change of every row, or of those with these labels; rows are joined by their label."""
    notes = (*_check(release, earlier), *_sizes(release.rows, earlier.rows))
    level = check_level(level)
    now, then = release[of], earlier[of]
    here, there = _places(release, now, label), _places(earlier, then, label)
    both = [name for name in here if name in there]
    common = [name for name in both if here[name] >= 0 <= there[name]]
    only_after = tuple(name for name in here if here[name] >= 0 and name not in there)
    only_before = tuple(name for name in there if there[name] >= 0 and name not in here)
    notes += _unmatched("only in this release", only_after)
    notes += _unmatched("only in the earlier one", only_before)
    without = [name for name in both if (here[name] < 0) != (there[name] < 0)]
    notes += _unmatched("their count was not measured in one of the two", without)
    if rows is not None:
        labels = Labels(release, label)
        common = [labels.texts[row] for row in labels.find_all(rows).tolist()]
        for name in common:
            if min(here.get(name, -1), there.get(name, -1)) < 0:
                raise HoldfastError(f"{name!r:.60} has no count in both releases.")
    if not common:
        raise HoldfastError(
            "no row of the two releases has the same label. Hint: name the column that has the "
            "labels, as `label`."
        )
    after, before = (np.array([at[name] for name in common]) for at in (here, there))
    difference = now.noisy[after] - then.noisy[before]
    law = CombinedNoise([now, then])
    p_values = law.p_values(difference)
    stands_out, picked = p_values <= 1 - level, 1.0
    if rows is None:
        stands_out = _false_discoveries(p_values, 1 - level)
        picked = max(int(stands_out.sum()), 1) / len(common)
    reach = law.reach(1 - (1 - level) * picked)
    expected, likely = _likely_changes(laws_of(now, after), laws_of(then, before), level)
    low, high = np.where(stands_out, [difference - reach, difference + reach], likely)
    return RowChanges(
        level=level,
        labels=tuple(common),
        before=then.noisy[before],
        after=now.noisy[after],
        expected=expected,
        low=low,
        high=high,
        p_values=p_values,
        stands_out=stands_out,
        named=rows is not None,
        only_after=only_after,
        only_before=only_before,
        notes=notes,
    )


def _likely_changes(
    after: tuple[list[RowLaw], Integers], before: tuple[list[RowLaw], Integers], level: float
) -> tuple[Floats, tuple[Integers, Integers]]:
    """Expected changes and their intervals, from the laws of rows in each release."""
    (laws, kinds), (earlier, earlier_kinds) = after, before
    pairs, place = np.unique(kinds * len(earlier) + earlier_kinds, return_inverse=True)
    of_now = [laws[pair // len(earlier)] for pair in pairs.tolist()]
    of_then = [earlier[pair % len(earlier)] for pair in pairs.tolist()]
    expected = [now.mean - then.mean for now, then in zip(of_now, of_then, strict=True)]
    low, high = difference_intervals(of_now, of_then, level)
    return np.array(expected)[place], (low[place], high[place])


def _false_discoveries(p_values: Floats, error: float) -> Marks:
    """Benjamini and Hochberg's rule."""
    order = np.sort(p_values)
    fits = np.flatnonzero(order <= error * np.arange(1, len(order) + 1) / len(order))
    return np.asarray(p_values <= order[fits[-1]]) if len(fits) else np.zeros(len(order), np.bool_)


def ask_change(
    release: Release, earlier: Release, answer: Callable[[Release], Any], *,
    where: Any = None, by: Any = None,
) -> Answer | Answers:  # fmt: skip
    """The answer of a release less that of an earlier one; see `Release.ask`."""
    notes = _check(release, earlier)
    if (by is not None and not isinstance(by, str)) or _is_mask(where):
        raise HoldfastError(
            "with `against`, `by` names a column and `where` is a condition or labels: rows stand "
            "in other places in another release."
        )
    now = answer(release)
    try:
        then = answer(earlier)
    except HoldfastError as error:
        raise HoldfastError(f"of the earlier release: {error}") from None
    if isinstance(now, Answers) and isinstance(then, Answers):
        return _by_groups(now, then, notes)
    assert isinstance(now, Answer) and isinstance(then, Answer)
    return _change(now, then, notes)


def _change(now: Answer, then: Answer, notes: tuple[str, ...]) -> Answer:
    """The difference of two answers to one question; the releases' noises are independent."""
    change = now.difference(then)
    words = f"change of {now.question}"
    notes = (*change.notes, *notes, *_sizes(now.rows, then.rows))
    return replace(change, question=words, notes=tuple(dict.fromkeys(notes)))


def _sizes(now: int | None, then: int | None) -> tuple[str, ...]:
    """What to say where there are other numbers of rows."""
    return () if now == then else (f"{now:,} rows here, and {then:,} in the earlier one",)


def _by_groups(now: Answers, then: Answers, notes: tuple[str, ...]) -> Answers:
    names = {str(name): name for name in then}
    here = {str(name) for name in now}
    notes += _unmatched("only in this release", [name for name in here if name not in names])
    notes += _unmatched("only in the earlier one", [name for name in names if name not in here])
    changes = {
        name: _change(now[name], then[names[str(name)]], notes)
        for name in now
        if str(name) in names
    }
    if not changes:
        raise HoldfastError(f"no group of {now.by!r:.60} is in both releases.")
    return Answers(question=f"change of {now.question}", by=now.by, answers=changes)


def _check(release: Release, earlier: Release) -> tuple[str, ...]:
    """What to say of two releases beside each other; raises where they are the same."""
    receipts = release.receipt, earlier.receipt
    columns = zip(release.columns, earlier.columns, strict=False)
    same = (
        receipts[0] == receipts[1]
        if all(receipts)
        else all(np.array_equal(now.noisy, then.noisy) for now, then in columns)
    )
    if same:
        raise HoldfastError(
            "the two are the same release, or one that was shown again: there is no change to tell."
        )
    notes = [NEWER_LESS_OLDER]
    notes += _same_data(release, earlier)
    if release.promise.simulated or earlier.promise.simulated:
        notes.append(SIMULATED)
    return tuple(notes)


def _same_data(release: Release, earlier: Release) -> list[str]:
    """What to say where the two may be of one table, whose true counts did not change."""
    periods = [release.period, earlier.period]
    if periods[0] != periods[1] and all(period is not None for period in periods):
        return []
    if all(period is not None for period in periods):
        return [
            f"both are of {periods[0]}: what changed between them is noise alone, unless the data "
            "were corrected"
        ]
    same = release.published == earlier.published and release.cells == earlier.cells
    silent = "the earlier one" if periods[0] else "this one" if periods[1] else "neither"
    return [SAME_DATA.format(silent)] if same else []


def _places(release: Release, column: Column, label: str | None) -> dict[str, int]:
    """Where each label stands, of rows that have a noisy count, and -1 for labels of others; raises
    where one of the former stands twice."""
    texts = Labels(release, label).texts
    places = dict.fromkeys(texts, -1)
    for row in np.flatnonzero(column.measured).tolist():
        if places[texts[row]] >= 0:
            raise HoldfastError(
                f"the label {one_line(texts[row])!r:.60} is on several rows, so they cannot be "
                "joined. Hint: name a column that tells all rows apart, as `label`."
            )
        places[texts[row]] = row
    return places


def _unmatched(where: str, names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"left out, because {where}: {some_of([one_line(name) for name in names])}",)


def _is_mask(where: Any) -> bool:
    if where is None or isinstance(where, str) or callable(where):
        return False
    return any(isinstance(item, bool | np.bool_) for item in where)
