"""What a run would do, said to the steward before anything is paid. NOT PRIVATE."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import (
    HoldfastError,
    aligned,
    decimal_or_fraction,
    listed_names,
    numbered,
    one_line,
)
from holdfast.plan import concerns
from holdfast.privacy.budget import Budget
from holdfast.privacy.promise import PersonIn, Persons, Promise
from holdfast.release.readme import bare
from holdfast.release.record import plain_promise
from holdfast.request import Request
from holdfast.tables.formats import format_of
from holdfast.tables.leaks.search import SAME_COUNTS
from holdfast.tables.table import Table

LEVEL = 0.9
SHOWN_GROUPS = 12
PARTS = {
    "counts": "single counts", "whole": "distribution", "sums": "groups", "totals": "totals",
}  # fmt: skip
SEEN = " (NOT PRIVATE: seen in the counts)"
NEVER_COUNTED = (
    "No ledger pays for this: keep count yourself of what is released. A second run draws new "
    "noise and spends epsilon again, also after Ctrl-C once noise has been drawn."
)
COUNTED = (
    "The ledger counts the run before noise is drawn. If it is stopped before that, nothing is "
    "spent; once the release is stored, the same command writes it again unpaid; in between, the "
    "same command pays again."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Before:
    """What a run would do, and what to think about first."""

    request: Request
    table: Table
    promise: Promise
    doubts: tuple[str, ...]
    """What is probably a slip, or gives people away: to be settled before paying."""
    answers: tuple[str, ...]
    """What settles doubts if it is named as published all the same."""
    notes: tuple[str, ...]
    """What is worth knowing."""
    refused: HoldfastError | None
    """Why the ledger would refuse it."""
    file: Path | None
    """Where the table is read from, where it has a file."""

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """All of it in words."""
        return (
            self._rows,
            self._columns,
            *self._groups,
            *self._budgets,
            *self._persons,
            COUNTED if self.request.ledger is not None else NEVER_COUNTED,
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        table = self.table
        return {
            "dry_run": True,
            "rows": table.rows,
            "structural_zeros": table.structural_zeros,
            "missing": table.missing,
            "published": list(table.others),
            "withheld": list(table.withheld),
            "groups": dict(zip(table.partition.names, table.partition.sizes.tolist(), strict=True)),
            "promise": plain_promise(self.promise),
            "doubts": list(self.doubts),
            "notes": list(self.notes),
        }

    @property
    def _rows(self) -> str:
        beside = []
        if self.table.structural_zeros:
            beside.append(f"{self.table.structural_zeros:,} of them publicly known to be zero")
        for column, number in self.table.missing.items():
            if number:
                beside.append(f"{number:,} of them without a count of {column!r:.60}")
        words = "".join(f", {part}" for part in beside)
        said = f"The table is in order: {numbered(self.table.rows, 'row')}{words}."
        last = self.request.last_row
        if last is None or self.file is None:
            return said
        records = format_of(self.file).records(self.file, self.request.table_options)
        below = sum(first > last and any(map(str.strip, cells)) for first, _, cells in records)
        return f"{said} Left out, below row {last:,} of the file: {numbered(below, 'row')}."

    @property
    def _columns(self) -> str:
        others = listed_names(self.table.others, 30) or "nothing but the counts"
        published = f"Published as it is: {others}, and the order of the rows."
        if not self.table.withheld:
            return published
        return f"{published}\nWithheld: {listed_names(self.table.withheld, 30)}."

    @property
    def _groups(self) -> list[str]:
        partition = self.table.partition
        if not partition.within.parts:
            return []
        sizes = list(zip(partition.sizes.tolist(), partition.names, strict=True))
        which = "Their rows"
        if len(sizes) > SHOWN_GROUPS:
            ranked = sorted(sizes)
            sizes = [*ranked[: SHOWN_GROUPS - 2], *ranked[-2:]]
            which = "The rows of the smallest, and of the two largest"
        listed = "; ".join(f"{one_line(name)}: {size:,}" for size, name in sizes)
        return [
            f"The table has {numbered(len(partition), 'group')} ({one_line(str(partition.within))})"
            f", each with a distribution of its own. {self._cost} {which}: {listed}."
        ]

    @property
    def _cost(self) -> str:
        """What the groups cost, and whom."""
        if not any(budget.sums for budget in self.promise.budgets):
            return "They cost nothing: what is said of them is computed from the noisy counts."
        if self.request.split is not None:
            return "The share named by split is divided between the whole table and its groups."
        return (
            "That of the whole table is measured as without groups; what these cost is taken from "
            "single counts."
        )

    @property
    def _budgets(self) -> list[str]:
        """Every part of every column's budget, and what noise that makes."""
        budgets = self.promise.budgets
        shown = [part for part in PARTS if any(getattr(budget, part) for budget in budgets)]
        columns = list(zip(self.table.counts, budgets, strict=True))
        rows = [
            [column, *(decimal_or_fraction(getattr(budget, p)) for p in ("epsilon", *shown))]
            for column, budget in columns
        ]
        headings = ("column", "epsilon", *map(PARTS.__getitem__, shown))
        noises = [f"± {b.noise_of_counts.quantile(LEVEL):,} for {c!r:.60}" for c, b in columns]
        simulated = "A rehearsal: a seed is given, so nothing is spent and nobody is protected. "
        return [
            simulated * self.promise.simulated
            + f"A run would spend epsilon = {decimal_or_fraction(self.promise.epsilon)}:\n\n"
            + aligned(headings, rows),
            f"In 9 of 10 rows noise is within {', '.join(noises)}.",
        ]

    @property
    def _persons(self) -> list[str]:
        """Who is protected, and what to ask where nobody said how often one is counted."""
        persons = self.promise.persons
        words = [f"Protected is {one_line(protected(persons))}."]
        if self.request.per is not None:
            words.append(
                f"Rows with the same {self.request.per!r:.60} are taken for one person's, who is "
                "counted once, where the first of them is."
            )
        elif self.request.from_people:
            words.append(
                "Every row of the file is taken for another person: if one may have several, name "
                "the column that says whose row it is, such as per person_id."
            )
        elif persons.person_rows == 1 and set(persons.contributions) == {1}:
            words.append(
                f"If one {persons.unit} may be counted more than once in a row, as with visits, "
                "say how often at most, such as --contributions 5; if in several rows, --rows 3."
            )
        return [" ".join(words)]


def before(
    table: Table, request: Request, *, file: Path | None = None, with_ledger: bool = True
) -> Before:
    """What a run of this request on this table, of this file, would do; the first rows are looked
    at, and with the ledger all of them."""
    from holdfast.engine.run import Run

    this = Run(table=table, request=request)
    promise = this.promise
    doubts, notes = list(_doubts(table, request, promise.budgets)), list(table.notes)
    refused = None
    if with_ledger and request.ledger is not None and not promise.simulated:
        try:
            stored, twin = this.foresee()
        except HoldfastError as error:
            refused = error
        else:
            notes += ["the ledger has this release: a run writes it again, unpaid"] * stored
            unasked = SAME_COUNTS not in request.publish_anyway
            doubts += [(SAME_COUNTS, twin + SEEN)] * bool(twin and unasked)
    return Before(
        request=request,
        table=table,
        promise=promise,
        doubts=tuple(words for _, words in doubts),
        answers=tuple(dict.fromkeys(name for name, _ in doubts if name)),
        notes=(*notes, *_notes(table, promise.budgets)),
        refused=refused,
        file=file,
    )


def _doubts(
    table: Table, request: Request, budgets: tuple[Budget, ...]
) -> Iterator[tuple[str, str]]:
    """What is probably a slip, found in the first rows, each after the kept column that it is about
    or ""."""
    first = next(table.batches(published=True, withheld=True))
    asked = {*request.publish_anyway, table.category, *table.partition.within.columns}
    others = {name: first.rows.cells(name) for name in table.others if name not in asked}
    withheld = {name: first.rows.cells(name) for name in table.withheld}
    every, seen = list[str | None](), list[str | None]()
    for name, budget in zip(table.counts, budgets, strict=True):
        counts = first.counts[name][first.measured[name]]
        noise = budget.noise_of_counts.quantile(LEVEL)
        seen += [
            concerns.identifiers(name, counts),
            concerns.nines(name, counts),
            concerns.drowned(name, counts, noise, table.rows, budget.epsilon),
        ]
        every.append(None if noise else bare(f"{name!r:.60}"))
    for name, cells in others.items():
        pairs = (concerns.completed(name, cells, withheld, first.counts[c]) for c in table.counts)
        yield from ((name, words + SEEN) for words in islice(filter(None, pairs), 1))
        found = [concerns.people_beside(name, cells), concerns.rate_beside(name, cells)]
        yield from ((name, words) for words in found if words)
    if table.withheld and not table.others:
        every.append(
            "no category and no other column is published: nobody will know whose count a row is"
        )
    measured = np.logical_and.reduce(list(first.measured.values()))
    known = {name: first.counts[name][measured] for name in table.counts}
    seen.append(concerns.total_of_others(known))
    every.append(concerns.large_epsilon(request.epsilon))
    yield from (("", words + SEEN) for words in seen if words)
    yield from (("", words) for words in every if words)


def _notes(table: Table, budgets: tuple[Budget, ...]) -> Iterator[str]:
    least = min(budget.epsilon / budget.reach for budget in budgets)
    names, sizes = table.partition.names, table.partition.sizes.tolist()
    rows: Counter[str] = Counter()
    for label, size in zip(table.partition.labels, sizes, strict=True):
        rows.update(dict.fromkeys(label, size))
    small = concerns.small_groups(names, sizes, least)
    yield from filter(None, (small, concerns.near_duplicates(rows)))


def protected(persons: Persons) -> str:
    """To whom the promise is.

    >>> protected(Persons(columns=("n",), contributions=(2,)))
    'one person who adds at most 2 to one row'
    >>> both = Persons(columns=("a", "b"), contributions=(1, 2), person_rows=3, unit="firm")
    >>> protected(both)
    'one firm that adds at most 1 to a and 2 to b in each of at most 3 rows'
    """
    number, unit = persons.person_rows, persons.unit
    rows = "one row" if number == 1 else f"each of at most {number:,} rows"
    who = f"one {unit} {'who' if unit == 'person' else 'that'} adds at most"
    if len(persons.columns) == 1:
        return f"{who} {persons.contributions[0]:,} to {rows}"
    pairs = zip(persons.contributions, persons.columns, strict=True)
    joined = " or " if persons.person_in is PersonIn.ONE else " and "
    return f"{who} {joined.join(f'{most:,} to {column}' for most, column in pairs)} in {rows}"
