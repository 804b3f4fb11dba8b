"""The two passes: a histogram of the counts, then a draw for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks, exact_sum
from holdfast.errors import HoldfastError
from holdfast.former.engines.rehearsal import rehearse
from holdfast.former.engines.several import refuse_apart
from holdfast.former.engines.stages import Read, Staged, Stages
from holdfast.former.engines.steps import histogram_by, totals_by
from holdfast.former.engines.stream.stored_counts import (
    StoredCounts,
    column_file,
    read_stored,
    stored_bundle,
    write_lines,
)
from holdfast.former.ledger.corrections import Labels, labels_of_stream
from holdfast.former.ledger.recognition import Content
from holdfast.former.ledger.request import TableDigest, condensed_groups
from holdfast.former.ledger.spending import Run
from holdfast.former.mechanism.grouped import RowSampler
from holdfast.former.release.bundle import complete, new_bundle, writing
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.release import StreamedRelease
from holdfast.former.release.row_marks import MOST_ROWS
from holdfast.former.privacy.randomness import THREADS
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.count_values import MISSING
from holdfast.former.tables.group_rows import GroupReader
from holdfast.former.tables.histogram import histogram_of_counts, top_code
from holdfast.former.tables.stream.lookout import Lookout, drawn_rows
from holdfast.former.tables.stream.source import Cells, Draw, Part, Source
from holdfast.former.tables.table import check_known, no_rows

Progress = Callable[[str, float | None], None]
READING, DRAWING = "Reading", "Drawing and writing"


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What the first pass found. Not for release."""

    histogram: Integers = field(repr=False)
    structural_zeros: int
    structural_zero_rows: Marks | None = field(repr=False)
    missing: int
    missing_rows: Marks | None = field(repr=False)
    digest: TableDigest | None = field(repr=False)
    """The counts condensed, where a ledger is to know them again."""
    notes: tuple[str, ...] = ()
    total: int = field(default=0, repr=False)
    """Of all counts, not capped."""
    groups: GroupReader | None = field(default=None, repr=False)
    """What has seen which group each row is in."""
    open_counts: Integers | None = field(default=None, repr=False)
    """The counts of all rows that go through a mechanism, where these are in groups, or where the
    relation between several counts is kept."""

    @property
    def rows(self) -> int:
        """Rows that go through the mechanism."""
        return int(self.histogram.sum())

    @property
    def settle(self) -> Read | None:
        """What finds the groups, where rows are in groups."""
        return None if self.groups is None else self.groups.settle


def tally(
    table: Source, highest: int, say: Callable[[float | None], None], *, condense: bool = False
) -> Tally:
    """The histogram of all counts that go through the mechanism; a copy of them is refused."""
    return tallies(table, [highest], say, condense=condense)[0]


def tallies(
    table: Source,
    highest: Sequence[int],
    say: Callable[[float | None], None],
    *,
    condense: bool = False,
    keep: bool = False,
) -> tuple[Tally, ...]:
    """The same for each of several columns of counts, in one pass; where that is said the counts
    are kept, and must be known in all columns or in none."""
    lookout, wanted = Lookout(table.roles), table.roles.wanted
    columns = [_Tallying(top, wanted, condense=condense, keep=keep) for top in highest]
    rows = 0
    for part in table.read(lookout):
        for column, counts in zip(columns, (part.counts, *part.others), strict=True):
            column.see(counts, part.marks, part.cells)
        if keep:
            gaps = [counts == MISSING for counts in (part.counts, *part.others)]
            refuse_apart((table.roles.count, *wanted.other_counts), gaps, rows)
        rows += len(part.counts)
        say(part.done)
    if not rows and wanted.subset is not None:
        raise wanted.subset.nowhere()
    for column in columns:
        column.refuse_nothing()
    lookout.refuse()
    return tuple(column.found(lookout.notes) for column in columns)


class _Tallying:
    """The first pass over one column of counts."""

    def __init__(self, highest: int, wanted: Wanted, *, condense: bool, keep: bool) -> None:
        self._highest, self._codes = highest, bool(wanted.missing)
        self._histogram = np.zeros(highest + 1, dtype=np.int64)
        self._digest = TableDigest() if condense else None
        self._rows, self._zeros, self._total = 0, 0, 0
        self._marks, self._gaps, self._kept = list[Marks](), list[Marks](), list[Integers]()
        self._groups = None if wanted.within is None else GroupReader(wanted.within)
        self._keep = keep or self._groups is not None

    def see(self, counts: Integers, marks: Marks | None, cells: Cells) -> None:
        """Take in the next rows."""
        if self._digest is not None:
            self._digest.add(counts, marks)
        self._zeros += 0 if marks is None else int(marks.sum())
        self._rows += len(counts)
        drawn = drawn_rows(counts, marks)
        known = counts if drawn.all() else counts[drawn]
        self._histogram += histogram_of_counts(known, self._highest)
        self._total += exact_sum(known)
        if self._groups is not None:
            self._groups.see(cells, drawn)
        if self._keep:
            self._kept.append(counts[drawn])
        if self._rows <= MOST_ROWS:
            self._marks += [] if marks is None else [marks]
            self._gaps += [counts == MISSING] if self._codes else []

    def refuse_nothing(self) -> None:
        """Raise if no count can be drawn."""
        if not self._rows:
            raise no_rows()
        check_known(self._histogram > 0, all_zero=self._zeros == self._rows)

    def found(self, notes: tuple[str, ...]) -> Tally:
        """What was found, when all rows were seen."""
        missing = self._rows - self._zeros - int(self._histogram.sum())
        told = self._rows <= MOST_ROWS
        return Tally(
            histogram=self._histogram,
            structural_zeros=self._zeros,
            structural_zero_rows=np.concatenate(self._marks) if self._zeros and told else None,
            missing=missing,
            missing_rows=np.concatenate(self._gaps) if missing and told else None,
            digest=self._digest,
            notes=notes,
            total=self._total,
            groups=self._groups,
            open_counts=np.concatenate(self._kept) if self._keep else None,
        )


@dataclass(frozen=True, kw_only=True)
class Streaming(Run[StreamedRelease]):
    """A stream between its two passes."""

    table: Source
    sink: Path
    stages: Stages
    seen: Tally
    say: Progress
    members: Integers | None = None
    """The group of each row that goes through a mechanism, where rows are in groups."""
    digest: bytes | None
    """Of the table, where a ledger is to know it again; None for a query too, which may give its
    rows in another order the next time."""

    def content(self, words: str) -> Content | None:
        """The parameters and the table."""
        if self.digest is None or self.seen.digest is None:
            return None
        groups = condensed_groups(self.stages.groups, self.members)
        return self.seen.digest.content(words, self.digest, self.table.roles.count, groups=groups)

    def labels(self) -> Labels | None:
        """The labels of the rows, read once more."""
        return labels_of_stream(self.table)

    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> StreamedRelease:
        """The second pass, into a bundle that is there when all of it is, and a second bundle of
        the counts alone where that is said."""
        self.say("Building the mechanism", None)
        staged = self.staged()
        threads = 1 if self.stages.source.simulated else THREADS  # seeded draws go by row order
        with new_bundle(self.sink) as folder, stored_bundle(store) as bare:
            draw = Drawing(staged, self.seen.groups)
            released = self.rewrite(draw, folder, bare, threads, staged.top)
            drawn = released.copy()
            drawn[0] -= self.seen.structural_zeros
            facts = staged.facts(drawn)
            told = self.seen.notes + facts["notes"] + notes
            facts |= {"notes": told, "receipt": receipt}
            release = self.made(released, facts)
            _complete(release, folder, list(self.table.roles.published))
            if bare is not None:
                names = self.stored_names
                alone = replace(
                    release,
                    count_column=names[-1] if len(names) > 1 else None,
                    unchanged_columns=names[:-1],
                    category=None,
                    structural_zero_rows=self.seen.structural_zero_rows,  # as they were drawn,
                    missing_rows=self.seen.missing_rows,  # whatever order they are published in
                )
                _complete(alone, bare, list(names))
        return release

    def prepare(self) -> None:
        """Load what drawing and writing need."""
        rehearse(self.stages)
        write_lines([np.zeros(1, dtype=np.int64)], BytesIO())

    @property
    def stored_names(self) -> tuple[str, ...]:
        """The columns of a table of counts alone, and of what says which group a row is in."""
        roles = self.table.roles
        return (*roles.grouping, roles.count) if roles.grouping else ("count",)

    def staged(self) -> Staged:
        """Steps 1 to 3."""
        seen, members, budget = self.seen, self.members, self.stages.budget
        if members is None or seen.open_counts is None:
            return self.stages(seen.histogram, [seen.total] if budget.totals else ())
        histograms = histogram_by(members, seen.open_counts, self.stages)
        return self.stages(histograms, totals_by(members, seen.open_counts, self.stages))

    def show_again(
        self, folder: Path, check: Callable[[ReleaseFacts], None], notes: tuple[str, ...] = ()
    ) -> StreamedRelease:
        """The stored counts in the table with all its columns; draws nothing."""
        facts = read_stored(folder, check)
        top = facts["drawn_with"].max_count
        with new_bundle(self.sink) as bundle:
            count = self.stored_names[-1] if self.seen.groups is not None else None
            released = self.rewrite(StoredCounts(folder, count), bundle, None, 1, top)
            release = self.made(
                released, facts | {"repeated": True, "notes": facts["notes"] + notes}
            )
            _complete(release, bundle, list(self.table.roles.published))
        return release

    def rewrite(
        self, draw: Draw, folder: Path, bare: Path | None, threads: int, top: int
    ) -> Integers:
        """Write the table with other counts; the histogram of those."""
        again = np.zeros_like(self.seen.histogram)
        released, missing = np.zeros(top + 1, dtype=np.int64), 0
        parts = self.table.rewrite(draw, folder / f"table.{self.table.suffix}", threads)
        with writing(self.sink.parent), column_file(bare, self.stored_names) as write:
            for part in parts:
                again += open_histogram(part.counts, part.marks, self.stages.highest)
                shifted = np.bincount(part.released - MISSING, minlength=top + 2)
                released += shifted[1:]
                missing += int(shifted[0])
                write([part.released], self.texts(part, bare))
                self.say(DRAWING, part.done)
        self.check_unchanged(again, int(released.sum()) + missing)
        return released

    def texts(self, part: Part, bare: Path | None) -> list[list[str]]:
        """What says which group rows are in, as text; none where nothing is stored."""
        if bare is None or self.seen.groups is None:
            return []
        return self.seen.groups.texts(part.cells, drawn_rows(part.counts, part.marks))

    def check_unchanged(self, again: Integers, rows: int) -> None:
        """Raise if the second pass met another table than the first."""
        before = self.seen.rows + self.seen.structural_zeros + self.seen.missing
        same = self.digest is None or self.digest == self.table.digest()
        if same and rows == before and (again == self.seen.histogram).all():
            return
        number = "" if rows == before else f" (it had {before:,} rows, then {rows:,})"
        raise HoldfastError(
            f"`{self.table.name}` changed while it was read{number}; nothing was released. "
            "Hint: copy it to a place where nobody writes to it, and start again."
        )

    def made(self, released: Integers, facts: dict[str, Any]) -> StreamedRelease:
        """The release, from the histogram of what was drawn."""
        table, seen = self.table, self.seen
        named = {
            "histogram": released,
            "folder": self.sink,
            "structural_zeros": seen.structural_zeros,
            "structural_zero_rows": self._as_written(seen.structural_zero_rows),
            "missing": seen.missing,
            "missing_rows": self._as_written(seen.missing_rows),
            "count_column": table.roles.count,
            "unchanged_columns": table.roles.others,
            "category": table.roles.wanted.category,
        }
        return StreamedRelease(**facts | named)

    def _as_written(self, marks: Marks | None) -> Marks | None:
        """Marks of rows in the order in which those were written."""
        return marks if marks is None or self.table.order is None else marks[self.table.order]


class Drawing:
    """Step 4 for a batch: rows publicly known to be zero, and missing ones, pass through."""

    def __init__(self, staged: Staged, groups: GroupReader | None = None) -> None:
        self._sampler, self._groups = RowSampler(staged.mechanism), groups
        self._top, self._source = staged.top, staged.stages.source

    def __call__(self, counts: Integers, marks: Marks | None, cells: Cells) -> Integers:
        """The released counts of a batch."""
        drawn = drawn_rows(counts, marks)
        if self._groups is None and drawn.all():
            return self._sampler(top_code(counts, self._top), None, self._source)
        released = np.where(counts == MISSING, MISSING, 0)
        capped = top_code(counts[drawn], self._top)
        members = None if self._groups is None else self._groups.place(cells, drawn)
        released[drawn] = self._sampler(capped, members, self._source)
        return released


def _complete(release: StreamedRelease, folder: Path, columns: list[str]) -> None:
    with writing(folder.parent):
        complete(release, folder, columns)


def open_histogram(counts: Integers, marks: Marks | None, highest: int) -> Integers:
    """The histogram of the rows that go through the mechanism."""
    drawn = drawn_rows(counts, marks)
    return histogram_of_counts(counts if drawn.all() else counts[drawn], highest)
