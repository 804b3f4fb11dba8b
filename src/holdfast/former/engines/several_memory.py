"""Several columns of counts in memory: one table, one payment, one promise."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.former.engines.chain import Chain
from holdfast.former.engines.rehearsal import rehearse
from holdfast.former.engines.several import (
    SeveralParameters,
    SeveralStages,
    check_several,
    refuse_apart,
)
from holdfast.former.engines.steps import content_of, five_steps
from holdfast.former.ledger.corrections import Labels
from holdfast.former.ledger.periods import period_notes, read_period
from holdfast.former.ledger.recognition import Content, joined
from holdfast.former.ledger.spending import Made, Run, find_account, pay_and_draw
from holdfast.former.release.release import Release
from holdfast.former.release.several import TableRelease, visible
from holdfast.former.release.several_bundle import load_table
from holdfast.former.privacy.persons import PersonIn
from holdfast.former.tables.count_values import check_codes
from holdfast.former.tables.table import CountTable, read_tables


def privatize_several(
    table: Any,
    count: Sequence[str],
    names: dict[str, Any],
    options: dict[str, Any],
    payer: dict[str, Any],
    told: dict[str, Any],
) -> TableRelease:
    """`holdfast.privatize` for several columns of counts: `names` is what `read_table` takes,
    `options` what `check_several` does, `payer` and `told` are for the ledger."""
    parameters = check_several(count, **options)
    account = find_account(**payer, source=table, column=count)
    span = read_period(told.get("period"))
    tables = tuple(
        replace(one, notes=(*period_notes(span), *one.notes))
        for one in read_several(table, count, names, parameters)
    )
    stages, members = settle(tables, parameters)
    run = SeveralInMemory(tables=tables, stages=stages, members=members)
    zeros = int(tables[0].structural_zero.sum())
    request = stages.request(zeros, **told | tables[0].for_ledger | {"period": span})
    return pay_and_draw(run, request, account)


def read_several(
    table: Any, count: Sequence[str], names: dict[str, Any], parameters: SeveralParameters
) -> tuple[CountTable, ...]:
    """The table, read once and checked for each column of counts, and for what they add up to."""
    for one in parameters.columns:
        check_codes(names.get("missing", ()), one.highest)
    within = parameters.columns[0].within
    apart = parameters.persons.person_in is PersonIn.ONE
    tables = read_tables(table, count, **names | {"within": within, "apart": apart})
    _sum_of(tables).checked()
    found = tuple(one.checked() for one in tables)
    if parameters.joint:
        gaps = [one.missing for one in found]
        refuse_apart(count, gaps, moved=names.get("order_by") or names.get("subset"))
    return found


def settle(
    tables: Sequence[CountTable], parameters: SeveralParameters
) -> tuple[SeveralStages, tuple[Integers | None, ...]]:
    """The stages of each column, and the group of each row; nothing is drawn."""
    rows = [int(one.drawn.sum()) for one in tables]
    grouped = [
        one.groups_for(n, table.groups)
        for one, n, table in zip(parameters.columns, rows, tables, strict=True)
    ]
    stages = parameters.for_rows(rows, [groups for groups, _ in grouped])
    return stages, tuple(members for _, members in grouped)


def _sum_of(tables: Sequence[CountTable]) -> CountTable:
    """The sum of all counts, as a column: what is kept beside them may be a copy of it."""
    total = np.sum([np.maximum(one.counts, 0) for one in tables], axis=0)
    known = ~np.any([one.missing for one in tables], axis=0)
    return tables[0].with_counts(np.where(known, total, -1), ~known)


@dataclass(frozen=True, kw_only=True)
class SeveralInMemory(Run[TableRelease]):
    """The five steps for each column in turn, as a ledger sees them."""

    tables: tuple[CountTable, ...]
    stages: SeveralStages
    members: tuple[Integers | None, ...]

    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> TableRelease:
        """All columns; the counts alone are stored as well, where that is said, with the columns
        that say which group a row is in."""
        columns = self._columns()
        release = self._release(columns, self.tables[0].others, receipt)
        if store is not None:
            within = self.stages.columns[0].within
            kept = () if within is None else within.columns
            only = [name for name in self.tables[0].others if name in set(kept)]
            self._release(columns, only, receipt).save(store)
        return replace(release, notes=(*release.notes, *notes))

    def _columns(self) -> dict[str, Release]:
        """Every column in turn; where relations are kept each is given those before it."""
        groups, found = self.stages.columns[0].groups, dict[str, Release]()
        chain = Chain(self.stages.classes, None if groups is None else groups.within)
        joint, drawn = self.stages.parameters.joint, self.tables[0].drawn
        for k, (name, rows) in enumerate(zip(self.stages.names, self.tables, strict=True)):
            stages, members = self.stages.columns[k], self.members[k]
            if joint and k:
                inside = np.zeros(len(drawn), dtype=np.int64) if members is None else members
                before = [found[one].counts[drawn] for one in chain.before]
                stages, cells = chain.next(stages, groups, inside[drawn], before)
                members = np.full(len(drawn), -1, dtype=np.int64)
                members[drawn] = cells
            one, staged = five_steps(rows, stages, members)
            chain.add(name, staged)
            found[name] = replace(one, **self.stages.among_others(k, stages))
        return found

    def _release(
        self, columns: dict[str, Release], only: Collection[str], receipt: str | None
    ) -> TableRelease:
        table = self.tables[0].replace_all({n: one.counts for n, one in columns.items()}, only)
        category = self.tables[0].category
        shown = category if category in only else None
        columns = {
            name: replace(one, unchanged_columns=tuple(only), category=shown)
            for name, one in columns.items()
        }
        return TableRelease(
            columns=visible(columns, table),
            cells=table,
            privacy=self.stages.privacy(columns),
            joint=self.stages.parameters.joint,
            notes=self.tables[0].notes,
            receipt=receipt,
        )

    def prepare(self) -> None:
        """Load what drawing needs."""
        for one in self.stages.columns:
            rehearse(one)

    def content(self, words: str) -> Content:
        """The parameters, the counts of all columns, and whose they are."""
        parts = zip(self.tables, self.stages.columns, self.members, strict=True)
        return joined(
            [content_of(one, words, stages.groups, members) for one, stages, members in parts]
        )

    def labels(self) -> Labels | None:
        """The labels of the rows."""
        return self.tables[0].labels()

    def show_again(
        self, folder: Path, check: Callable[[Made], None], notes: tuple[str, ...] = ()
    ) -> TableRelease:
        """The stored counts in the table that was given."""
        stored = load_table(folder)
        check(stored)
        return replace(
            self._release(stored.columns, self.tables[0].others, stored.receipt),
            repeated=True,
            notes=(*stored.notes, *notes),
        )
