"""What changed from one release of a table to the next, of all rows, of groups and of each row."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.former.analysis.answer import LOWER_BOUND, Answer, percent, plain
from holdfast.former.analysis.asking import Answers, some_of
from holdfast.former.analysis.comparisons import ends_in_words
from holdfast.former.analysis.every_count import UNSURE_NOTE
from holdfast.former.analysis.posterior import check_level, row_law, row_notes
from holdfast.former.analysis.rows import find_row, row_labels
from holdfast.former.analysis.standing_out import StandingOut, standing_out
from holdfast.former.analysis.true_difference import true_difference
from holdfast.former.ledger.periods import period_in
from holdfast.former.release.row_marks import row_kinds
from holdfast.former.release.row_prior import does_without
from holdfast.former.tables.table import labels_of

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

SAME_DATA = (
    "rows and public columns are the same in both, and they do not both say what time their "
    "counts are of: two releases of the same data are not two years, and differ by noise alone"
)
MOST_HELD = 200_000_000  # probabilities of differences that are computed
SHOWN = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class RowChanges:
    """For every row that is in both releases, what they say of its change."""

    level: float
    """Of the intervals."""
    labels: tuple[Any, ...] = field(repr=False)
    """The rows, by the label that they have in both, in the order of the later release."""
    before: Integers = field(repr=False)
    """Released counts of the earlier release."""
    after: Integers = field(repr=False)
    """Released counts of the later one."""
    expected: Floats = field(repr=False)
    """Expected true changes, later less earlier; NaN where the interval has an open end."""
    low: Floats = field(repr=False)
    """Lower ends of the intervals for the true changes; -inf where the earlier count may be any
    above the highest."""
    high: Floats = field(repr=False)
    """Upper ends; inf where the later count may be."""
    rose: Floats = field(repr=False)
    """Probability that the true count is higher now, as far as it can be told."""
    fell: Floats = field(repr=False)
    """Probability that it is lower now, as far as it can be told."""
    unknown: Floats = field(repr=False)
    """Probability that it cannot be told: both counts are the highest, or any above it."""
    picked: StandingOut | None = field(default=None, repr=False)
    """The rows that stand out among all of them, with intervals that hold although they were
    picked; None on long ranges."""
    only_after: tuple[Any, ...] = ()
    """Labels that the earlier release does not have."""
    only_before: tuple[Any, ...] = ()
    """Labels that the later release does not have."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""

    def __len__(self) -> int:
        return len(self.labels)

    def __str__(self) -> str:
        up, down = int((self.low > 0).sum()), int((self.high < 0).sum())
        lines = [
            f"change of {numbered(len(self), 'row')}: the {percent(self.level)} interval is above "
            f"0 for {up:,} and below 0 for {down:,}{self._open()}{self._missing()}",
            *(self._picked_lines() or self._surest_lines()),
        ]
        return "\n".join([*lines, *(f"  {note}." for note in self.notes)])

    def _picked_lines(self) -> list[str]:
        """The rows that stand out among all of them, where several were looked at."""
        if self.picked is None or len(self) == 1 or not self.picked.rows.any():
            return []
        rows = np.flatnonzero(self.picked.rows)
        shown = self._most_telling(rows)
        some = f", of which {len(shown)} are here" if len(shown) < len(rows) else ""
        stand = "stands" if len(rows) == 1 else "stand"
        return [
            f"{numbered(len(rows), 'row')} {stand} out among all of them{some}; the intervals hold "
            f"for {percent(self.level)} of rows that were picked so",
            "row: released before and after, expected change, interval; the surest first",
            *(self._line(row, self.picked.low[row], self.picked.high[row]) for row in shown),
        ]

    def _surest_lines(self) -> list[str]:
        shown = self._most_telling(np.arange(len(self)))
        some = f"; the {len(shown)} surest changes" if len(shown) < len(self) else "; the surest"
        none = "no row stands out: among so many, noise alone makes changes as large as these"
        return [
            *([none] if self.picked is not None and len(self) > 1 else []),
            f"row: released before and after, expected change, interval{some} first",
            *(self._line(row, self.low[row], self.high[row]) for row in shown),
        ]

    def _open(self) -> str:
        """How many rows are at the top code in both, so that nothing is known of their change."""
        untold = int((np.isinf(self.low) & np.isinf(self.high)).sum())
        return f", and for {untold:,} the change cannot be told" if untold else ""

    def _missing(self) -> str:
        """That some of many intervals miss, those that look most telling before others."""
        missed = round((1 - self.level) * len(self))
        return f"; up to {missed:,} of so many may miss their row" if missed else ""

    def _most_telling(self, among: Integers) -> list[int]:
        """The rows that changed most surely, and of those the largest changes; not more of them
        than fit on a screen."""
        least = np.maximum(self.low, -self.high)
        size = np.where(np.isnan(self.expected), least, np.abs(self.expected))
        order = np.lexsort((-size[among], -np.maximum(self.rose, self.fell)[among]))
        return [int(row) for row in among[order[:SHOWN]]]

    def _line(self, row: int, low: float, high: float) -> str:
        known = "" if np.isnan(self.expected[row]) else f"{self.expected[row]:+z,.1f}, "
        return (
            f"  {one_line(str(self.labels[row]))}: {self.before[row]:,} to {self.after[row]:,}, "
            f"{known}{ends_in_words((float(low), float(high)), '{:+z,.0f}'.format)}"
        )

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table, a row for each row, in the order of the later release."""
        return {
            "row": list(self.labels),
            "before": self.before.tolist(),
            "after": self.after.tolist(),
            "expected": np.round(self.expected, 3).tolist(),
            "low": _whole(self.low),
            "high": _whole(self.high),
            "rose": np.round(self.rose, 4).tolist(),
            "fell": np.round(self.fell, 4).tolist(),
            "unknown": np.round(self.unknown, 4).tolist(),
            **self._picked(),
        }

    def _picked(self) -> dict[str, list[Any]]:
        if self.picked is None:
            return {}
        return {
            "stands_out": self.picked.rows.tolist(),
            "picked_low": _whole(self.picked.low),
            "picked_high": _whole(self.picked.high),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; None for an open end."""
        return {
            "level": self.level,
            "rows": {name: [plain(x) for x in cells] for name, cells in self.columns().items()},
            "only_after": list(self.only_after),
            "only_before": list(self.only_before),
            "notes": list(self.notes),
        }

    def to_pandas(self) -> Any:
        """As a pandas data frame."""
        from holdfast.former.analysis.frames import pandas

        return pandas().DataFrame(self.columns())


def _whole(ends: Floats) -> list[Any]:
    return [int(end) if np.isfinite(end) else end for end in ends.tolist()]


def ask_change(
    release: "Release", earlier: "Release", question: Any, *, where: Any, by: Any, **how: Any
) -> Answer | Answers:
    """The answer of a release less that of an earlier one; see `Release.ask`."""
    notes = _check(release, earlier)
    if (by is not None and not isinstance(by, str)) or _is_mask(where):
        raise HoldfastError(
            "with `against`, `by` names a column and `where` is a condition or labels: rows stand "
            "in other places in another release."
        )
    now, then = (each.ask(question, where=where, by=by, **how) for each in (release, earlier))
    if isinstance(now, Answers) and isinstance(then, Answers):
        return _change_of_groups(now, then, notes)
    return _change(now, then, notes)


def row_changes(
    release: "Release",
    earlier: "Release",
    *,
    label: str | None = None,
    rows: Sequence[Any] | None = None,
    level: float = 0.9,
) -> RowChanges:
    """The change of every row, or of those with these labels; rows are joined by their label.

    Given both releases, the law of a true change is that of the difference of two independent true
    counts, each with its own law. That a row's counts of two years are alike is not used, which
    would make the intervals shorter; so they cover more often than they say, not less. A count
    that may be the highest may be any above it, and a change from or to one has an open end.
    """
    told = _check(release, earlier)
    now, then, level = release.known, earlier.known, check_level(level)
    names, then_names = row_labels(now, label), row_labels(then, label)
    here, there = _places(names), _places(then_names)
    common = [name for name in here if name in there]
    told += _unmatched("only in this release", [name for name in here if name not in there])
    told += _unmatched("only in the earlier one", [name for name in there if name not in here])
    if rows is not None:
        common = [str(names[find_row(now, names, row)]) for row in rows]
        for name in common:
            find_row(then, then_names, name)
    if not common:
        raise HoldfastError(
            "no row of the two releases has the same label. Hint: name the column that has the "
            "labels, as `label`."
        )
    after, before = (np.array([at[name] for name in common]) for at in (here, there))
    return RowChanges(
        level=level,
        labels=tuple(names[at] for at in after),
        before=then.counts[before],
        after=now.counts[after],
        only_after=tuple(names[at] for name, at in here.items() if name not in there),
        only_before=tuple(then_names[at] for name, at in there.items() if name not in here),
        **_laws(now, after, then, before, level, told),
    )


def _laws(
    now: "Release",
    after: Integers,
    then: "Release",
    before: Integers,
    level: float,
    told: tuple[str, ...],
) -> dict[str, Any]:
    pairs, which = np.unique(
        np.column_stack([row_kinds(now)[after], row_kinds(then)[before]]),
        axis=0,
        return_inverse=True,
    )
    if len(pairs) * (len(now.target) + len(then.target)) > MOST_HELD:
        raise HoldfastError(
            "the changes of so many rows over so long a range take too much memory. Hint: name the "
            "rows that matter."
        )
    laws_now = {kind: row_law(now, kind) for kind in np.unique(pairs[:, 0]).tolist()}
    laws_then = {kind: row_law(then, kind) for kind in np.unique(pairs[:, 1]).tolist()}
    found = [true_difference(laws_now[a], laws_then[b], level) for a, b in pairs.tolist()]
    ends = np.array([each.interval for each in found])
    notes = told
    if does_without(now) or does_without(then):
        ends, notes = _ends_without_priors(now, then, pairs, level), (*notes, UNSURE_NOTE)
    notes += row_notes(now, now.counts[after], laws_now.values())
    notes += row_notes(then, then.counts[before], laws_then.values())
    at = which.ravel()
    expected = np.array([laws_now[a].mean - laws_then[b].mean for a, b in pairs.tolist()])
    low, high = ends[at].T
    chances = np.array([(each.more, each.less, each.unknown) for each in found])[at].T
    return {
        "low": low,
        "high": high,
        "expected": np.where(np.isfinite(low) & np.isfinite(high), expected[at], np.nan),
        "notes": tuple(dict.fromkeys(notes)),
        "picked": standing_out(now, then, pairs, at, level),
        **dict(zip(("rose", "fell", "unknown"), chances, strict=True)),
    }


def _ends_without_priors(now: "Release", then: "Release", pairs: Integers, level: float) -> Floats:
    """From intervals that hold whatever the true counts are, each a little more surely; open where
    one of them ends at the highest count."""
    from holdfast.former.analysis.every_count import ends_for_every_count

    each = (1 + level) / 2
    after = ends_for_every_count(now, pairs[:, 0], each).astype(np.float64)
    before = ends_for_every_count(then, pairs[:, 1], each).astype(np.float64)
    after[after[:, 1] >= len(now.target) - 1, 1] = np.inf
    before[before[:, 1] >= len(then.target) - 1, 1] = np.inf
    return np.asarray(after - before[:, ::-1])


def _change(now: Answer, then: Answer, notes: tuple[str, ...]) -> Answer:
    """The difference of two answers to one question; the releases were drawn independently."""
    found = replace(now, about=()).difference(replace(then, about=()))
    return replace(
        found,
        question=f"change of {now.unbounded}",
        notes=tuple(dict.fromkeys((*found.notes, *notes))),
        about=now.about + then.about,
    )


def _change_of_groups(now: Answers, then: Answers, notes: tuple[str, ...]) -> Answers:
    names = {str(name): name for name in then}
    common = [name for name in now if str(name) in names]
    only_now = [str(name) for name in now if str(name) not in names]
    only_then = [name for name in names if name not in {str(each) for each in now}]
    notes += _unmatched("only in this release", only_now)
    notes += _unmatched("only in the earlier one", only_then)
    if not common:
        raise HoldfastError(f"no group of {now.by!r} is in both releases.")
    found = {name: _change(now[name], then[names[str(name)]], notes) for name in common}
    words = now.question.replace(LOWER_BOUND, "")
    return Answers(question=f"change of {words}", by=now.by, found=found)


def _check(release: "Release", earlier: "Release") -> tuple[str, ...]:
    """What to say of two releases beside each other; raises where they are the same draws."""
    receipts = release.receipt, earlier.receipt
    same = receipts[0] == receipts[1] if all(receipts) else None
    if same is None:
        same = np.array_equal(release.counts, earlier.counts)
    if same:
        raise HoldfastError(
            "the two are the same release, or one that was shown again: there is no change to tell."
        )
    notes = []
    tops = len(release.target) - 1, len(earlier.target) - 1
    if tops[0] != tops[1]:
        notes.append(
            f"counts are capped at {tops[0]:,} here, and at {tops[1]:,} in the earlier one"
        )
    if release.rows != earlier.rows:
        notes.append(f"{release.rows:,} rows here, and {earlier.rows:,} in the earlier one")
    return (*notes, *_same_data(release, earlier))


def _same_data(release: "Release", earlier: "Release") -> tuple[str, ...]:
    """What to say where the two may be of one table: its true counts did not change, and two
    releases of it are not two years."""
    periods = [period_in(each.notes) for each in (release, earlier)]
    if periods[0] != periods[1] and all(periods):
        return ()
    if all(periods):
        return (f"both are of {periods[0]}: what changed between them is noise alone, unless the "
                "data were corrected",)  # fmt: skip
    if len(release.counts) != len(earlier.counts) or not _same_cells(release, earlier):
        return ()
    return (SAME_DATA,)


def _same_cells(release: "Release", earlier: "Release") -> bool:
    """Whether all that is published beside the counts is the same."""
    names = release.unchanged_columns
    return names == earlier.unchanged_columns and all(
        list(map(str, labels_of(release.cells, name)))
        == list(map(str, labels_of(earlier.cells, name)))
        for name in names
    )


def _places(labels: Sequence[Any]) -> dict[str, int]:
    """Where each label stands; raises where one stands twice."""
    places: dict[str, int] = {}
    for place, name in enumerate(labels):
        if places.setdefault(str(name), place) != place:
            raise HoldfastError(
                f"the label {one_line(str(name))!r:.60} is on several rows, so they cannot be "
                "joined. Hint: name a column that tells all rows apart, as `label`."
            )
    return places


def _unmatched(where: str, names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"left out, because {where}: {some_of([one_line(name) for name in names])}",)


def _is_mask(where: Any) -> bool:
    if where is None or isinstance(where, str) or callable(where):
        return False
    return any(isinstance(item, bool | np.bool_) for item in where)
