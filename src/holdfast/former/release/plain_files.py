"""The files for people without holdfast: `intervals.csv` and `mechanism.csv`.

docs/bundle.md is their specification; `holdfast.verify` computes them again by code of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.release import Release
from holdfast.former.release.row_laws import row_ends
from holdfast.former.release.row_marks import row_kinds
from holdfast.former.release.row_prior import LONG, does_without, mixed_in, row_prior
from holdfast.former.tables.csv import csv_text
from holdfast.former.tables.table import labels_of, read_file

INTERVALS, MECHANISM = "intervals.csv", "mechanism.csv"
WORDS = 2  # what README.md and codebook.md say of rows; bundles without it have the first words
LEVEL = Fraction(9, 10)
ROWS, COUNTS = "rows", "counts"  # what has a line
MOST_LINES = 1 << 17  # rows of a table that get a line each
MOST_SHARES = 100_000_000  # looked at for the laws of all lines
MOST_LONG_SHARES = 2_000_000  # where they are worked out anew for each line: seconds


def intervals_record(facts: ReleaseFacts) -> dict[str, Any] | None:
    """What release.json says of intervals.csv; None for a release that has none."""
    n, groups = len(facts.target), facts.groups
    told = facts.structural_zero_rows is not None or not facts.structural_zeros
    if groups is not None and (not told or n > LONG or n * n * len(groups) > MOST_SHARES):
        return None
    most = MOST_SHARES if n <= LONG else MOST_LONG_SHARES
    if not facts.privacy.budget.stage_1 or n * len(_counts(facts)) > most:
        return None
    return {
        "level": str(LEVEL),
        "lines": ROWS if _by_row(facts) else COUNTS,
        "every": does_without(facts),
        "mixed": mixed_in(facts),
        "words": WORDS,
    }


def write_intervals(facts: ReleaseFacts, record: dict[str, Any], folder: Path, table: Path) -> None:
    """Write intervals.csv, whose lines stand in the order of the table where each row has one."""
    said = _Lines(facts, record["intervals"])
    lines = _rows(facts, said, table) if isinstance(facts, Release) and said.by_row else said.all()
    with (folder / INTERVALS).open("w", encoding="utf-8", newline="") as file:
        file.write(csv_text(lines))


def mechanism_csv(facts: ReleaseFacts) -> str:
    """A line for each true count, of each group: what was known of it, and the probability of each
    released one."""
    n = len(facts.target)
    names: Sequence[str | None] = [None] if facts.groups is None else facts.groups.names
    head = [] if facts.groups is None else ["group"]
    lines: list[list[Any]] = [[*head, "true", "prior", *range(n)]]
    for number, name in enumerate(names):
        before, mechanism = row_prior(facts, number)
        for i, shares in enumerate(mechanism.matrix):
            cells = [f"{share:.12g}" for share in (before[i], *shares)]
            lines.append([*([] if name is None else [name]), i, *cells])
    return csv_text(lines)


class _Lines:
    """What intervals.csv says of each group and released count."""

    def __init__(self, facts: ReleaseFacts, stated: dict[str, Any]) -> None:
        self.facts, self.by_row = facts, stated["lines"] == ROWS
        counts, n = _counts(facts), len(facts.target)
        self._cells: dict[int, tuple[str, ...]] = {n: ("0", "0.000", "0", "0")}
        known = 0.0
        if facts.structural_zero_rows is None and facts.structural_zeros:
            known = facts.structural_zeros / int(facts.released_histogram[0])
        numbers = np.arange(2 if facts.groups is None else len(facts.groups) + 1)
        for group, (first, end) in enumerate(pairwise(np.searchsorted(counts, numbers * (n + 1)))):
            own = counts[first:end]
            before, mechanism = row_prior(facts, group)
            how = {"level": float(LEVEL), "every": stated["every"], "known": known}
            means, ends = row_ends(before, mechanism, own % (n + 1), **how)
            for kind, mean, (low, high) in zip(own.tolist(), means, ends.tolist(), strict=True):
                said = str(kind % (n + 1)), f"{mean:.3f}", str(low), str(high)
                self._cells[kind] = said

    def of(self, kind: int) -> tuple[str, ...]:
        """Released, expected, low, high."""
        return self._cells[kind]

    def all(self) -> Iterator[Sequence[str]]:
        """A line for each group and count."""
        groups, n = self.facts.groups, len(self.facts.target)
        yield (*(() if groups is None else ("group",)), "released", "expected", "low", "high")
        for kind, cells in sorted(self._cells.items()):
            if kind != n:
                yield (*(() if groups is None else (groups.names[kind // (n + 1)],)), *cells)


def _rows(release: Release, said: _Lines, table: Path) -> Iterator[Sequence[str]]:
    """A line for each row of the table."""
    groups = release.groups
    labels = _labels(release, table)
    yield (
        "row" if labels is None else "label",
        *(() if groups is None else ("group",)),
        *("released", "expected", "low", "high"),
    )
    names = None if groups is None else (*groups.names, "")
    members = None if groups is None else groups.members
    first: Iterable[Any] = range(1, len(release.counts) + 1) if labels is None else labels
    for place, (label, kind) in enumerate(zip(first, row_kinds(release).tolist(), strict=True)):
        group = () if names is None or members is None else (names[int(members[place])],)
        yield (str(label), *group, *(("",) * 4 if kind < 0 else said.of(kind)))


def _labels(release: Release, table: Path) -> list[Any] | None:
    """The texts of the category's cells as the table was written; None where it has none."""
    if release.category is None or table.suffix != ".csv":
        return None
    return labels_of(read_file(table), release.category)


def _by_row(facts: ReleaseFacts) -> bool:
    return isinstance(facts, Release) and len(facts.counts) <= MOST_LINES


def _counts(facts: ReleaseFacts) -> Integers:
    """Which counts of which groups have a line, or are on one: those that occur. Where the rows are
    not at hand, all that occur anywhere, in each group that they can be of."""
    n = len(facts.target)
    if isinstance(facts, Release) and _by_row(facts):
        found = np.unique(row_kinds(facts))
        return np.asarray(found[(found >= 0) & (found != n)], dtype=np.int64)
    drawn = facts.released_histogram.copy()
    drawn[0] -= 0 if facts.structural_zero_rows is None else facts.structural_zeros
    counts = np.flatnonzero(drawn)
    if facts.groups is None:
        return counts
    mechanisms = [facts.groups.at(number).mechanism for number in range(len(facts.groups))]
    return np.concatenate(
        [
            counts[mechanism.matrix[:, counts].any(axis=0)] + number * (n + 1)
            for number, mechanism in enumerate(mechanisms)
        ]
    )
