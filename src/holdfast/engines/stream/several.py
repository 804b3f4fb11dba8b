"""Several columns of counts in one stream: one pass that counts all of them, one that draws."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.engines.several import SeveralStages, check_several
from holdfast.engines.stages import Staged
from holdfast.engines.stream.passes import (
    DRAWING,
    READING,
    Drawing,
    Progress,
    Streaming,
    open_histogram,
    tallies,
)
from holdfast.errors import HoldfastError
from holdfast.ledger.periods import period_notes, read_period
from holdfast.ledger.spending import Run, find_account, pay_and_draw
from holdfast.privacy.persons import PersonIn
from holdfast.privacy.randomness import THREADS
from holdfast.release.bundle import new_bundle, new_folder, writing
from holdfast.release.release import StreamedRelease
from holdfast.release.several import SharedPrivacy, StreamedTableRelease
from holdfast.release.several_bundle import complete_several
from holdfast.tables.columns import Wanted
from holdfast.tables.count_values import MISSING, check_codes
from holdfast.tables.stream.open import open_source


def stream_several(
    source: Any,
    sink: Path,
    *,
    count: Sequence[str],
    names: dict[str, Any],
    options: dict[str, Any],
    say: Progress,
    ledger: Any = None,
    dataset: str | None = None,
    period: Any = None,
) -> StreamedTableRelease:
    """`holdfast.privatize_stream` for several columns of counts."""
    parameters = check_several(count, **options)
    if parameters.joint or names.get("subset") is not None:
        raise HoldfastError(
            "`joint` and `subset` of several counts are for tables in memory. Nothing was drawn or "
            "spent. Hint: holdfast.privatize, or joint=False."
        )
    for one in parameters.columns:
        check_codes(names.get("missing", ()), one.highest)
    account = find_account(ledger, dataset, source=source, column=count, folder=sink)
    new_folder(sink)
    within, others = parameters.columns[0].within, tuple(count)[1:]
    apart = parameters.persons.person_in is PersonIn.ONE
    wanted = Wanted(count=count[0], other_counts=others, within=within, apart=apart, **names)
    table, span = open_source(source, wanted), read_period(period)
    seen = tallies(table, [one.highest for one in parameters.columns], lambda d: say(READING, d))
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
    request = replace(stages.request(seen[0].structural_zeros), period=span)
    return pay_and_draw(SeveralStreaming(columns=columns, stages=stages), request, account)


@dataclass(frozen=True, kw_only=True)
class SeveralStreaming(Run[StreamedTableRelease]):
    """A stream of several columns between its two passes. A ledger does not know it again: it is
    drawn and paid for whenever it is run."""

    columns: tuple[Streaming, ...]
    stages: SeveralStages

    def prepare(self) -> None:
        """Load what drawing and writing need."""
        for one in self.columns:
            one.prepare()

    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> StreamedTableRelease:
        """The second pass, into a bundle that is there when all of it is."""
        first = self.columns[0]
        first.say("Building the mechanism", None)
        staged = [one.staged() for one in self.columns]
        with new_bundle(first.sink) as folder:
            released = self._rewrite(staged, folder)
            release = self._release(staged, released, receipt, notes)
            with writing(folder.parent):
                complete_several(release, folder, list(first.table.roles.written))
        return release

    def _rewrite(self, staged: Sequence[Staged], folder: Path) -> list[Integers]:
        """Write the table with other counts; the histograms of those."""
        first, rows = self.columns[0], 0
        again = [np.zeros_like(one.seen.histogram) for one in self.columns]
        found = [np.zeros(one.top + 1, dtype=np.int64) for one in staged]
        draws = [Drawing(s, c.seen.groups) for s, c in zip(staged, self.columns, strict=True)]
        threads = 1 if first.stages.source.simulated else THREADS  # seeded draws go by row order
        path = folder / f"table.{first.table.suffix}"
        with writing(first.sink.parent):
            for part in first.table.rewrite(draws[0], path, threads, draws[1:]):
                true, new = (part.counts, *part.others), (part.released, *part.other_released)
                for k, one in enumerate(self.columns):
                    again[k] += open_histogram(true[k], part.marks, one.stages.highest)
                    known = new[k][new[k] != MISSING]
                    found[k] += np.bincount(known, minlength=len(found[k]))
                rows += len(part.counts)
                first.say(DRAWING, part.done)
        for one, histogram in zip(self.columns, again, strict=True):
            one.check_unchanged(histogram, rows)
        return found

    def _release(
        self,
        staged: Sequence[Staged],
        released: Sequence[Integers],
        receipt: str | None,
        notes: tuple[str, ...],
    ) -> StreamedTableRelease:
        names, columns = self.stages.names, dict[str, StreamedRelease]()
        parts = zip(names, self.columns, staged, released, strict=True)
        for name, one, made, histogram in parts:
            drawn = histogram.copy()
            drawn[0] -= one.seen.structural_zeros
            facts = made.facts(drawn)
            facts |= {"notes": one.seen.notes + facts["notes"], "receipt": receipt}
            columns[name] = replace(
                one.made(histogram, facts),
                count_column=name,
                other_counts=tuple(other for other in names if other != name),
            )
        parameters = self.stages.parameters
        privacy = SharedPrivacy(
            epsilon=parameters.epsilon,
            persons=parameters.persons,
            columns=tuple(one.privacy for one in columns.values()),
        )
        return StreamedTableRelease(
            columns=columns,
            privacy=privacy,
            joint=False,
            receipt=receipt,
            notes=notes,
            folder=self.columns[0].sink,
        )
