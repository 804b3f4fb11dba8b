"""One run: a checked table and a request become a release, once that is paid for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.engine.measuring import Progress, measure, silent
from holdfast.errors import HoldfastError, Spent, spending
from holdfast.fit.cells import choose_blocks
from holdfast.ledger.entries import Correction, Labels, Payment, Purpose
from holdfast.ledger.ledger import open_ledger
from holdfast.ledger.pay import pay_and_measure
from holdfast.ledger.recognition import Content, TableDigest
from holdfast.ledger.recorder import check_name
from holdfast.ledger.stored import foreseen
from holdfast.measure.room import FEW_GROUPS, Room
from holdfast.privacy.budget import Budget
from holdfast.privacy.promise import Promise, charges_of
from holdfast.privacy.randomness import Randomness, randomness
from holdfast.release.bundle import bundle_size, check_disk_room, check_place, write
from holdfast.release.csv_files import NEWLINES, Dialect
from holdfast.release.load import load
from holdfast.release.record import check_digits, check_size
from holdfast.release.release import Release
from holdfast.request import Request
from holdfast.tables.arrow_files import ParquetFiles
from holdfast.tables.cell_text import cell_text
from holdfast.tables.formats import format_of
from holdfast.tables.leaks.search import SAME_COUNTS
from holdfast.tables.table import Table, whose

WRITING, VERSION = "Writing", version("holdfast")


def run(
    table: Table, request: Request, *, file: Any = None, progress: Progress = silent
) -> Release:
    """The release of a checked table: paid for first where a ledger is named, and written to
    `request.out` where that is. `file` is what the table was read from, for the ledger's history.

    What can be known to fail fails before anything is paid.
    """
    this = Run(table=table, request=request, file=file, progress=progress)
    this.check()
    payment = this.payment()
    release = pay_and_measure(this, payment, request.ledger, request.dataset)
    if request.out is not None:
        progress(WRITING, None)
        counted = Spent.UNCOUNTED if request.ledger is None else Spent.YES
        with spending(Spent.NO if request.simulated else counted):
            write(release, release.batches(), request.out)
    return release


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A table about to be measured, as a ledger sees it."""

    table: Table
    request: Request
    file: Any = None
    progress: Progress = field(default=silent, repr=False)

    @cached_property
    def promise(self) -> Promise:
        """What will be promised, with the exact budget of every column of counts."""
        measured = {name: int(rows.sum()) for name, rows in self.table.measured.items()}
        return self.request.promise(measured, len(self.table.partition))

    @property
    def _published(self) -> tuple[str, ...]:
        """Columns published as they are, the category first."""
        names = (self.table.category, *self.table.others)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def check(self) -> None:
        """Raise, before anything is paid, where the release could not be written or read again."""
        table = self.table
        names = (*self._published, *table.counts)
        check_size(table.rows, len(table.counts), table.partition.labels, names)
        check_digits(self.promise)
        if self.request.table_format == "parquet" and find_spec("pyarrow") is None:
            raise HoldfastError("`table_format` needs pyarrow. Hint: pip install pyarrow.")
        for budget in self.promise.budgets:
            rehearse(budget, len(table.partition), randomness(0))
        if self.request.out is not None:
            place = check_place(self.request.out)
            check_disk_room(place.parent, self._bytes)

    @property
    def _bytes(self) -> int:
        cells = 16 * self.table.rows * (len(self._published) + len(self.table.counts))
        return bundle_size(cells, self.table.rows, len(self.table.counts))

    def payment(self) -> Payment:
        """What a ledger is asked to pay for."""
        request, table = self.request, self.table
        details = {
            "file": self.file if isinstance(self.file, str | Path) else None,
            "column": ", ".join(table.counts),
            "folder": request.out,
            "purpose": request.purpose,
        }
        return Payment(
            rows=max(int(rows.sum()) for rows in table.measured.values()) + table.structural_zeros,
            charges=charges_of(self.promise),
            simulated=request.simulated,
            request=request.words(),
            subset=request.subset,
            period=request.period,
            corrects=self._correction(),
            same_counts=SAME_COUNTS in request.publish_anyway,
            purpose=Purpose(**{name: str(value) for name, value in details.items() if value}),
            stored_bytes=self._bytes,
        )

    def foresee(self) -> tuple[bool, str]:
        """Whether the ledger has this release already, and what else it says of it; raises what it
        would refuse. Nothing is spent."""
        ledger, dataset = open_ledger(self.request.ledger), check_name(self.request.dataset)
        payment = self.payment()
        content = self.content(payment.words)
        _, stored, twin = foreseen(ledger, dataset, payment, content, self.labels)
        return stored is not None, twin

    def _correction(self) -> Correction | None:
        corrects = self.request.corrects
        if corrects is None:
            return None
        earlier = corrects if isinstance(corrects, Release) else load(corrects)
        labels = (
            None if earlier.category is None else map(cell_text, earlier.cells[earlier.category])
        )
        return Correction(receipt=earlier.receipt, labels=labels)

    def prepare(self) -> None:
        """Load what draws noise: it must fail unpaid."""
        for budget in self.promise.budgets:
            rehearse(budget, len(self.table.partition), randomness(self.request.seed))

    def content(self, words: str) -> Content | None:
        """What tells this release from any other: counts, and whose they are."""
        table, known = self.table, whose(self.table)
        if known is None:
            return None
        digest = TableDigest(table.counts)
        for batch in table.batches():
            digest.add(batch.counts, batch.structural_zero, batch.group)
        unique = table.category is not None and not self.request.repeated_categories
        return digest.content(
            words,
            rows=known.rows,
            groups=table.partition.labels,
            category=known.columns.get(table.category or "") if unique else None,
            columns=tuple(known.columns.values()),
        )

    def labels(self) -> Labels | None:
        """The category of each row, where it tells every row from every other."""
        category = self.table.category
        if category is None or self.request.repeated_categories:
            return None
        batches = self.table.batches(published=True)
        return chain.from_iterable(map(cell_text, batch.rows.cells(category)) for batch in batches)

    def measure(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> Release:
        """Measure and release. The stored copy has noisy counts and the columns that say which
        group a row is in, and no others."""
        source = randomness(self.request.seed)
        release = self._release(
            promise=self.promise,
            made_with=VERSION,
            columns=measure(self.table, self.promise, source, self.progress),
            structural_zero=self.table.kept.structural_zero,
            receipt=receipt,
            notes=(*self.table.notes, *notes),
        )
        if store is not None:
            grouping = set(self.table.partition.within.columns)
            kept = tuple(name for name in release.published if name in grouping)
            stored = replace(release, published=kept, category=None, table_format="csv")
            stored.save(store)
        return self._shown(release)

    def show_again(
        self, folder: Path, *, check: Callable[[str | None], None], notes: tuple[str, ...] = ()
    ) -> Release:
        """The stored measurement, in the table that was given."""
        stored = load(folder)
        check(stored.receipt)
        release = self._release(
            promise=stored.promise,
            made_with=stored.made_with,
            columns=stored.columns,
            structural_zero=stored.structural_zero,
            receipt=stored.receipt,
            notes=(*stored.notes, *notes),
            repeated=True,
        )
        return self._shown(release)

    def _shown(self, release: Release) -> Release:
        """The release with relations in its table, where they were asked for."""
        return release.related() if self.request.relations else release

    def _release(self, **known: Any) -> Release:
        table, request = self.table, self.request
        return Release(
            partition=table.partition,
            rows=table.rows,
            category=table.category,
            published=self._published,
            top_code=request.top,
            period=None if request.period is None else str(request.period),
            request=request.to_dict(),
            dialect=dialect_of(table, self.file),
            table_format=request.table_format or self._format,
            _cells=self._cells,
            _replace=table.replace,
            **known,
        )

    @property
    def _format(self) -> str:
        folder = isinstance(self.table.source, ParquetFiles)
        return "parquet" if folder else format_of(self.file).table_format

    def _cells(self) -> Iterator[dict[str, Any]]:
        for batch in self.table.batches(published=True):
            yield {name: batch.rows.column(name) for name in self._published}


def rehearse(budget: Budget, groups: int, source: Randomness) -> None:
    """Measure a table of one zero: what cannot be done with this budget, or on this machine, fails
    here. From some number of groups on, totals are divided; more groups change nothing."""
    room = Room(budget.noise_of_counts, source=source, groups=min(groups, FEW_GROUPS + 1))
    room.noisy(np.zeros(1, dtype=np.int64))
    room.finish(choose_blocks, **budget.noises)


def dialect_of(table: Table, file: Any) -> Dialect:
    """How the CSV files of a release are written: as the table was, and readable for Excel where
    it came from there."""
    head = table.source.style
    newline = head.newline if head.newline in NEWLINES else "\n"
    bom = bool(head.bom) or format_of(file).from_excel
    return Dialect(delimiter=head.delimiter, newline=newline, bom=bom)
