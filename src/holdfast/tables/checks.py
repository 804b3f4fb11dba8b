"""What is looked for in a table before anything is paid: one pass over its batches."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from holdfast.arrays import Growing, Integers, Marks, narrowed
from holdfast.errors import HoldfastError
from holdfast.tables.counts import MISSING, BadCount
from holdfast.tables.leaks.search import Leak
from holdfast.tables.leaks.totals import NAMED_TOTAL, TOTAL_LABELS, any_total
from holdfast.tables.leaks.watch import LOOKED_AT, Watch
from holdfast.tables.options import Roles, refuse_leaks
from holdfast.tables.partition import GroupReader, Partition, changed, sortable
from holdfast.tables.source import Batch, Kept, Piece, Rows, Source
from holdfast.tables.spans import (
    LABELS,
    Keys,
    Repeats,
    any_among,
    joined_keys,
    numbered,
    text_keys,
)
from holdfast.tables.subset import StructuralZeros, check_marks

MOST_BESIDE = 40
"""Withheld columns that kept ones are compared with."""


class Reading:
    """How the rows of a source are read and checked, as often as asked."""

    def __init__(self, source: Source, roles: Roles) -> None:
        self.source, self.roles = source, roles

    def rows(self, names: Sequence[str]) -> Iterator[Batch]:
        """All rows, with these columns beside the counts."""
        options, marker, subset = self.roles.options, self.roles.marker, self.roles.options.subset
        zeros, before = StructuralZeros(options.structural_zero, options.category), 0
        labelled = options.structural_zero is not None and marker is None
        others = (marker, subset.column if subset else None, options.category if labelled else None)
        needed = dict.fromkeys([*self.roles.counts, *names, *filter(None, others)])
        for piece in self.source.read(list(needed)):
            try:
                batch = self._checked(piece, zeros, before)
            except BadCount as bad:
                raise bad.after(piece.row, piece.file) from None
            except HoldfastError as error:
                raise (HoldfastError(f"`{piece.file}`: {error}") if piece.file else error) from None
            yield batch
            before += len(piece.rows)
        zeros.refuse_unseen(before)

    def again(self, names: Sequence[str], kept: Kept) -> Iterator[Batch]:
        """The rows that are kept, with the cells of these columns; they must be as they were."""
        start = 0
        for batch in self.rows(names):
            wanted = batch.wanted()
            some = slice(start, start + len(wanted))
            if not kept.holds(wanted, some):
                raise changed()
            if len(wanted):
                yield kept.batch(some, wanted.rows)
            start = some.stop
        if start != len(kept.group):
            raise changed()

    def _checked(self, piece: Piece, zeros: StructuralZeros, before: int) -> Batch:
        where, missing = self.roles.where, self.roles.options.missing
        counts = {name: piece.rows.counts(name, where[name], missing) for name in self.roles.counts}
        marks = zeros.marks(piece.rows, before, piece.row)
        for column in counts.values():
            check_marks(marks, column, piece.row)
        subset = self.roles.options.subset
        return Batch(
            rows=piece.rows,
            counts=counts,
            structural_zero=marks,
            inside=None if subset is None else subset.marks(piece.rows, piece.row),
            start=before,
            done=piece.done,
        )


class FirstPass:
    """What gives the counts away, which is refused; labels that repeat; groups; how many rows."""

    def __init__(self, reading: Reading, *, sorting: bool) -> None:
        """`sorting` says that rows are put in order when they are written."""
        roles = self.roles = reading.roles
        roles.refuse_header()
        options = roles.options
        beside = roles.watched
        alone = [name for name in roles.withheld if roles.withheld.count(name) == 1]
        withheld = alone[:MOST_BESIDE] if set(beside) - {options.category} else []
        marked = options.thousands is not None or options.decimal is not None
        self._watches = [
            _Watches(roles, beside, withheld, numbers, subset)
            for subset in (False, *[True] * (options.subset is not None))
            for numbers in (False, *[True] * marked)
        ]
        self._repeats, self._named = Repeats(), False
        self._totals = text_keys(TOTAL_LABELS)
        once = {options.category, *(() if options.subset is None else (options.subset.column,))}
        self._labelled = [name for name in roles.others if name not in once]
        self._groups, self._rows = GroupReader(options.within), 0
        self._counts = {name: Growing(np.int32) for name in roles.counts}
        self._zero = Growing(np.bool_)
        self.as_text = [False] * (len(roles.ordering) if sorting else 0)
        """Whether the cells of columns that rows are put in order by are text."""
        self.names = tuple(dict.fromkeys([*roles.others, *withheld]))

    def see(self, batch: Batch) -> None:
        """Take in the next rows."""
        self._labels(batch.rows)
        for name in self.roles.others:
            batch.rows.refuse_unwritable(name)
        wanted = batch.wanted()
        for watches in self._watches:
            watches.see(wanted if watches.subset else batch)
        for name in filter(wanted.rows.may_be_text, self._labelled):
            with suppress(TypeError):  # lists are no labels
                self._see_totals(wanted.rows, name, wanted.rows.keys(name))
        within = self.roles.options.within
        columns = [
            wanted.rows.order_codes(name) if name in within.numbers else wanted.rows.codes(name)
            for name in within.columns
        ]
        if len(wanted.rows):
            used = np.logical_or.reduce(list(wanted.measured.values()))
            self._groups.see(columns, used, self._rows)
        for at, name in enumerate(self.roles.ordering[: len(self.as_text)]):
            cells = [] if self.as_text[at] else wanted.rows.order_codes(name)[1]
            self.as_text[at] |= any(isinstance(sortable(cell), str) for cell in cells)
        self._rows += len(wanted.rows)
        for name, column in wanted.counts.items():
            self._counts[name].append(narrowed(column))
        self._zero.append(wanted.structural_zero)

    def finish(self) -> tuple[Partition, Kept, tuple[str, ...]]:
        """Raise if something is not in order; else the groups, what is kept of all rows, and what a
        reader should know, without counts."""
        self._refuse_no_rows()
        counts = {name: column.values for name, column in self._counts.items()}
        zero = self._zero.values
        _refuse_nothing(counts, zero)
        named = [NAMED_TOTAL][: self._named]
        notes, self._repeats = self._repeated_notes(), Repeats()  # and its memory is free
        for watches in self._watches:
            for leaks, apart in watches.leaks():
                refuse_leaks([*leaks, *named], self.roles, apart=apart)
        subset = self.roles.options.subset
        partition, group = self._groups.settle()
        kept = Kept(counts=counts, structural_zero=zero, group=group)
        said = [] if subset is None else [subset.note]
        return partition, kept, (*said, *notes)

    def _labels(self, rows: Rows) -> None:
        category = self.roles.options.category
        if category is None or not len(rows):
            return
        try:
            keys = rows.keys(category)
        except TypeError:
            raise HoldfastError(
                f"`category` column {category!r} must hold labels such as text. "
                "Hint: name another column, or leave `category` out."
            ) from None
        self._repeats.see(keys)
        self._see_totals(rows, category, keys)

    def _see_totals(self, rows: Rows, name: str, keys: Keys) -> None:
        """Note labels of a column that are named like totals of others."""
        if not self._named:
            labels = rows.cells(name, numbered(keys)[1]) if self._rows < LOOKED_AT else []
            self._named = any_among(keys, self._totals) or any_total(labels)

    def _refuse_no_rows(self) -> None:
        subset, seen = self.roles.options.subset, self._rows
        if not seen and subset is not None:
            raise HoldfastError(
                f"`subset`: no row has the label {subset.label!r} in column {subset.column!r}. "
                "Hint: check the spelling."
            )
        if not seen:
            raise HoldfastError(
                "`table` has no rows. Hint: give one row per category, zeros included."
            )

    def _repeated_notes(self) -> tuple[str, ...]:
        """What is said of a category in which a label comes twice; an error unless meant."""
        options = self.roles.options
        if not self._repeats.repeated:
            if self._repeats.full:
                return (
                    f"repeated values were looked for among the first {LABELS:,} categories only",
                )
            return ()
        if not options.repeated_categories:
            raise HoldfastError(
                f"`category` column {options.category!r} has repeated values. Hint: name a column "
                "that tells all rows apart, or make one, such as county and state together: "
                "readers join years by it. If every row is a person, count people first, with "
                "`holdfast count` or `holdfast.count_by`; if several rows of a category are meant, "
                "say so: repeated_categories=True, --repeated-categories."
            )
        return (
            f"{options.category} has repeated values; every row is treated as a category of its "
            "own",
        )


def _refuse_nothing(counts: dict[str, Integers], zero: Marks) -> None:
    """Raise if a column has no count that is measured."""
    if zero.all():
        raise HoldfastError(
            "`structural_zero` marks every row, so there is nothing to release. "
            "Hint: mark only rows that are publicly known to be zero."
        )
    if any(((column == MISSING) | zero).all() for column in counts.values()):
        raise HoldfastError("`table` has no count that is known, so there is nothing to release.")


class _Watches:
    """What looks at each column of counts: of several beside the others, and at their sum."""

    def __init__(
        self, roles: Roles, beside: Sequence[str], withheld: list[str], numbers: bool, subset: bool
    ) -> None:
        """`numbers` says that cells are looked at without the marks in numbers, `subset` that the
        rows of the subset are looked at alone."""
        names, options, self.subset = roles.counts, roles.options, subset
        self._names, self._columns = names, [*beside, *withheld]
        self._numbers, self._seen = numbers, 0
        repeated = options.category is None or options.repeated_categories
        self._ties = [*beside] if roles.ordering and repeated else []
        """Columns in which rows are the same whose order is not that of public cells."""
        self._labelled = [] if roles.ordering else [*beside]
        if not repeated and options.category in self._labelled:
            self._labelled.remove(options.category)
        looked: list[str | None] = [*names, None] if len(names) > 1 else [*names]
        self._apart = [options.apart and name is not None for name in looked]
        self._watches = [
            Watch(
                [*self._columns, *(other for other in names if other != name)],
                () if apart else names,
                withheld,
                in_order=bool(roles.ordering),
            )
            for name, apart in zip(looked, self._apart, strict=True)
        ]

    def see(self, batch: Batch) -> None:
        """Take in the next rows."""
        columns = [batch.counts[name] for name in self._names]
        every, labels = columns, self._keys(batch.rows)
        if len(columns) > 1:
            known = np.logical_and.reduce([column != MISSING for column in columns])
            every = [*columns, np.where(known, np.sum(columns, axis=0), MISSING)]
        for at, (watch, column) in enumerate(zip(self._watches, every, strict=True)):
            others = [other for k, other in enumerate(columns) if k != at]
            shown = np.flatnonzero((column != MISSING) & ~batch.structural_zero)
            cells = partial(self._cells, batch.rows, shown, others)
            watch.see(column[shown], cells, {name: keys[shown] for name, keys in labels.items()})

    def _cells(
        self, rows: Rows, shown: Integers, others: Sequence[Integers], chosen: Integers
    ) -> list[list[Any]]:
        """The cells of some of the rows that are shown, and the counts of other columns."""
        at, read = shown[chosen], rows.numbers if self._numbers else rows.cells
        cells = [read(name, at) for name in self._columns]
        return [*cells, *(column[at].tolist() for column in others)]

    def _keys(self, rows: Rows) -> dict[str | None, Keys]:
        """Keys of labels, whose rows are looked at by themselves; only of the first rows."""
        if self._numbers or self._seen > LOOKED_AT:
            return {}
        self._seen += len(rows)
        labels: dict[str | None, Keys] = {}
        with suppress(TypeError):  # lists are no labels
            labels |= {name: rows.keys(name) for name in self._labelled}
            if self._ties:
                labels[None] = joined_keys([rows.keys(name) for name in self._ties])
        return labels

    def leaks(self) -> Iterator[tuple[list[Leak], bool]]:
        """What was found of each, and whether columns of counts may not follow from each other."""
        for watch, apart in zip(self._watches, self._apart, strict=True):
            yield watch.leaks(), apart
