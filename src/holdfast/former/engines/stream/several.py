"""Several columns of counts in one stream: one pass that counts all of them, one that draws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.engines.chain import Chain
from holdfast.former.engines.several import SeveralStages, check_several
from holdfast.former.engines.stages import Staged
from holdfast.former.engines.steps import histogram_by, totals_by
from holdfast.former.engines.stream.passes import (
    DRAWING,
    READING,
    Drawing,
    Progress,
    Streaming,
    open_histogram,
    tallies,
)
from holdfast.former.engines.stream.stored_counts import (
    StoredCounts,
    column_file,
    read_stored_columns,
    stored_bundle,
)
from holdfast.former.ledger.corrections import Labels
from holdfast.former.ledger.periods import period_notes, read_period
from holdfast.former.ledger.recognition import Content, joined
from holdfast.former.ledger.request import condensed_groups
from holdfast.former.ledger.spending import Run, find_account, pay_and_draw
from holdfast.former.mechanism.grouped import RowSampler
from holdfast.former.release.bundle import new_bundle, new_folder, writing
from holdfast.former.release.release import StreamedRelease
from holdfast.former.release.several import SeveralFacts, StreamedTableRelease
from holdfast.former.release.several_bundle import complete_several
from holdfast.former.privacy.persons import PersonIn
from holdfast.former.privacy.randomness import THREADS
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.count_values import MISSING, check_codes
from holdfast.former.tables.histogram import top_code
from holdfast.former.tables.stream.lookout import drawn_rows
from holdfast.former.tables.stream.open import open_source
from holdfast.former.tables.stream.source import Cells, Draw


def stream_several(
    source: Any,
    sink: Path,
    count: Sequence[str],
    names: dict[str, Any],
    options: dict[str, Any],
    payer: dict[str, Any],
    told: dict[str, Any],
    say: Progress,
) -> StreamedTableRelease:
    """`holdfast.privatize_stream` for several columns of counts."""
    parameters = check_several(count, **options)
    for one in parameters.columns:
        check_codes(names.get("missing", ()), one.highest)
    account = find_account(**payer, source=source, column=count, folder=sink)
    new_folder(sink)
    within, others = parameters.columns[0].within, tuple(count)[1:]
    apart = parameters.persons.person_in is PersonIn.ONE
    wanted = Wanted(count=count[0], other_counts=others, within=within, apart=apart, **names)
    table, span = open_source(source, wanted), read_period(told.get("period"))
    highest = [one.highest for one in parameters.columns]
    recognised = account is not None and not parameters.columns[0].source.simulated
    seen = tallies(
        table, highest, lambda d: say(READING, d), condense=recognised, keep=parameters.joint
    )
    pairs = zip(parameters.columns, seen, strict=True)
    grouped = [one.groups_for(own.rows, own.settle) for one, own in pairs]
    stages = parameters.for_rows([own.rows for own in seen], [groups for groups, _ in grouped])
    columns = tuple(
        Streaming(
            table=table,
            sink=sink,
            stages=one,
            seen=replace(own, notes=(*period_notes(span), *own.notes)),
            say=say,
            members=members,
            digest=None,
        )
        for one, own, (_, members) in zip(stages.columns, seen, grouped, strict=True)
    )
    first = replace(columns[0], digest=table.digest() if recognised else None)
    run = SeveralStreaming(columns=(first, *columns[1:]), stages=stages)
    told |= wanted.for_ledger | {"period": span}
    return pay_and_draw(run, stages.request(seen[0].structural_zeros, **told), account)


@dataclass(frozen=True, kw_only=True)
class SeveralStreaming(Run[StreamedTableRelease]):
    """A stream of several columns between its two passes."""

    columns: tuple[Streaming, ...]
    """The first has the digest of the table, where a ledger is to know it again."""
    stages: SeveralStages

    @property
    def first(self) -> Streaming:
        """The first column of counts."""
        return self.columns[0]

    def prepare(self) -> None:
        """Load what drawing and writing need."""
        for one in self.columns:
            one.prepare()

    def content(self, words: str) -> Content | None:
        """The parameters and the table."""
        digest, known = self.first.digest, list[Content]()
        for name, one in zip(self.stages.names, self.columns, strict=True):
            if digest is None or one.seen.digest is None:
                return None
            groups = condensed_groups(one.stages.groups, one.members)
            known.append(one.seen.digest.content(words, digest, name, groups=groups))
        return joined(known)

    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> StreamedTableRelease:
        """The second pass, into a bundle that is there when all of it is, and a second bundle of
        the counts alone where that is said."""
        first = self.first
        first.say("Building the mechanism", None)
        staged, draws = self._in_turn() if self.stages.parameters.joint else self._apart()
        in_order = self.stages.parameters.joint or first.stages.source.simulated
        with new_bundle(first.sink) as folder, stored_bundle(store) as bare:
            tops = [one.top for one in staged]
            released = self._rewrite(draws, tops, folder, bare, 1 if in_order else THREADS)
            facts = [self._facts(k, made, released[k]) for k, made in enumerate(staged)]
            release = self._release(facts, released, notes=notes, receipt=receipt)
            with writing(folder.parent):
                complete_several(release, folder, list(first.table.roles.written))
            if bare is not None:
                with writing(bare.parent):
                    complete_several(self._bare(release), bare, list(self._stored_names))
        return release

    def labels(self) -> Labels | None:
        """The labels of the rows, read once more."""
        return self.first.labels()

    def show_again(
        self,
        folder: Path,
        check: Callable[[SeveralFacts[Any]], None],
        notes: tuple[str, ...] = (),
    ) -> StreamedTableRelease:
        """The stored counts in the table with all its columns; draws nothing."""
        stored, facts = read_stored_columns(folder, check)
        draws = [StoredCounts(folder, name) for name in self.stages.names]
        tops = [own["drawn_with"].max_count for own in facts.values()]
        with new_bundle(self.first.sink) as bundle:
            released = self._rewrite(draws, tops, bundle, None, 1)
            release = replace(
                self._release(list(facts.values()), released, receipt=stored.receipt),
                repeated=True,
                notes=(*stored.notes, *notes),
            )
            with writing(bundle.parent):
                complete_several(release, bundle, list(self.first.table.roles.written))
        return release

    def _apart(self) -> tuple[list[Staged], list[Draw]]:
        staged = [one.staged() for one in self.columns]
        pairs = zip(staged, self.columns, strict=True)
        return staged, [Drawing(made, one.seen.groups) for made, one in pairs]

    def _in_turn(self) -> tuple[list[Staged], list[Draw]]:
        """Every column given those before it, drawn before the second pass, which writes them."""
        groups, inside = self.first.stages.groups, self.first.members
        chain = Chain(self.stages.classes, None if groups is None else groups.within)
        cells, staged, released = inside, list[Staged](), dict[str, Integers]()
        for name, one in zip(self.stages.names, self.columns, strict=True):
            stages, counts = one.stages, one.seen.open_counts
            if counts is None:
                raise HoldfastError("the counts of the first pass are not there.")
            if released:
                whole = np.zeros(len(counts), dtype=np.int64) if inside is None else inside
                before = [released[other] for other in chain.before]
                stages, cells = chain.next(stages, groups, whole, before)
            totals = totals_by(cells, counts, stages)
            made = stages(histogram_by(cells, counts, stages), totals)
            capped = top_code(counts, made.top)
            released[name] = RowSampler(made.mechanism)(capped, cells, stages.source)
            chain.add(name, made)
            staged.append(made)
        return staged, [_Drawn(own) for own in released.values()]

    @property
    def _stored_names(self) -> tuple[str, ...]:
        """The columns of a table of counts alone, and of what says which group a row is in."""
        return (*self.first.table.roles.grouping, *self.stages.names)

    def _rewrite(
        self,
        draws: Sequence[Draw],
        tops: Sequence[int],
        folder: Path,
        bare: Path | None,
        threads: int,
    ) -> list[Integers]:
        """Write the table with other counts; the histograms of those."""
        first, rows = self.first, 0
        again = [np.zeros_like(one.seen.histogram) for one in self.columns]
        found = [np.zeros(top + 1, dtype=np.int64) for top in tops]
        path = folder / f"table.{first.table.suffix}"
        with writing(first.sink.parent), column_file(bare, self._stored_names) as write:
            for part in first.table.rewrite(draws[0], path, threads, draws[1:]):
                true, new = (part.counts, *part.others), (part.released, *part.other_released)
                for k, one in enumerate(self.columns):
                    again[k] += open_histogram(true[k], part.marks, one.stages.highest)
                    known = new[k][new[k] != MISSING]
                    found[k] += np.bincount(known, minlength=len(found[k]))
                write(new, first.texts(part, bare))
                rows += len(part.counts)
                first.say(DRAWING, part.done)
        for one, histogram in zip(self.columns, again, strict=True):
            one.check_unchanged(histogram, rows)
        return found

    def _facts(self, k: int, staged: Staged, released: Integers) -> dict[str, Any]:
        """What is to be said of a column that was drawn."""
        drawn, own = released.copy(), self.columns[k].seen
        drawn[0] -= own.structural_zeros
        facts = staged.facts(drawn)
        told = {"notes": own.notes + facts["notes"]}
        return facts | told | self.stages.among_others(k, staged.stages)

    def _release(
        self,
        facts: Sequence[dict[str, Any]],
        released: Sequence[Integers],
        *,
        receipt: str | None,
        notes: tuple[str, ...] = (),
    ) -> StreamedTableRelease:
        columns = {
            name: replace(one.made(histogram, own | {"receipt": receipt}), count_column=name)
            for name, one, own, histogram in zip(
                self.stages.names, self.columns, facts, released, strict=True
            )
        }
        return StreamedTableRelease(
            columns=columns,
            privacy=self.stages.privacy(columns),
            joint=self.stages.parameters.joint,
            receipt=receipt,
            notes=(*self.first.seen.notes, *notes),
            folder=self.first.sink,
        )

    def _bare(self, release: StreamedTableRelease) -> StreamedTableRelease:
        """The release with nothing beside its counts but what says which group a row is in."""
        columns = dict[str, StreamedRelease]()
        for (name, one), own in zip(release.columns.items(), self.columns, strict=True):
            columns[name] = replace(
                one,
                unchanged_columns=self.first.table.roles.grouping,
                category=None,
                structural_zero_rows=own.seen.structural_zero_rows,  # as they were drawn,
                missing_rows=own.seen.missing_rows,  # whatever order they are published in
            )
        return replace(release, columns=columns)


class _Drawn:
    """Counts that were drawn before the second pass, in the order of the rows."""

    def __init__(self, released: Integers) -> None:
        self._left = released

    def __call__(self, counts: Integers, marks: Marks | None, cells: Cells) -> Integers:
        """Those of the next batch; rows known to be zero, and missing ones, pass through."""
        drawn = drawn_rows(counts, marks)
        size, released = int(drawn.sum()), np.where(counts == MISSING, MISSING, 0)
        if size > len(self._left):
            raise HoldfastError("the table has more rows than when it was first read.")
        released[drawn], self._left = self._left[:size], self._left[size:]
        return released
