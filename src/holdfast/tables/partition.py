"""Which row is in which group: rows are seen batch by batch, then groups are settled. Rows in the
order of public columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import is_missing, label_text
from holdfast.tables.groups import Within, classes_rule

ALL_ROWS, MISSING_LABEL = "all rows", "(missing)"
Label = tuple[str, ...]
Coded = tuple[Integers, list[Any]]
"""A column: for each row the number of its cell, and the different cells."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """The groups of a table, one at least; public, as the columns are that they follow from."""

    within: Within
    labels: tuple[Label, ...]
    """A text for each part of `within`: what the column holds, "" where it holds nothing, or the
    lowest and the highest number of a class."""
    sizes: Integers = field(repr=False)
    """Rows of each group that are measured in a column of counts or more."""

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each group, all of them different.

        >>> labels = (("a, b", "c"), ("a", "b, c"), ("", "x"))
        >>> Partition(within=Within(("k", "l")), labels=labels, sizes=np.ones(3, int)).names
        ('a, b, c', 'a, b, c (2)', '(missing), x')
        """
        if not self.within.parts:
            return (ALL_ROWS,)
        names, last = dict[str, None](), dict[str, int]()
        for name in map(name_of, self.labels):
            unique, number = name, last.get(name, 1)
            while unique in names or unique == ALL_ROWS:
                number += 1
                unique = f"{name} ({number})"
            names[unique], last[name] = None, number
        return tuple(names)


def name_of(label: Label) -> str:
    """A label in a line.

    >>> name_of(("NE", "")), name_of(("4 to 70",))
    ('NE, (missing)', '4 to 70')
    """
    return ", ".join(text or MISSING_LABEL for text in label)


class GroupReader:
    """The groups of a table whose rows come in batches.

    First all rows are seen, then the groups are settled, and each row has its own. Rows without a
    label are a group of their own; rows without a number cannot be in a class, and are refused.

    >>> reader = GroupReader(Within(("state",)))
    >>> reader.see([(np.array([0, 1, 0, 2]), ["NE", "KS", ""])], np.ones(4, bool), 0)
    >>> groups, inside = reader.settle()
    >>> groups.names, groups.sizes.tolist(), inside.tolist()
    (('(missing)', 'KS', 'NE'), [1, 1, 2], [2, 1, 2, 0])
    """

    def __init__(self, within: Within) -> None:
        self._within = within
        self._parts: list[_LabelColumn | _ClassColumn] = [
            _LabelColumn(part) if isinstance(part, str) else _ClassColumn(part.column)
            for part in within.parts
        ]
        self._rows: list[tuple[Marks, Integers, Integers]] = []
        """Of each batch which rows are measured, the combination of identifiers that each of these
        has, and the combinations, a line each."""

    def see(self, columns: Sequence[Coded], measured: Marks, before: int) -> None:
        """Take in the next rows: the cells of each column of `within`, and which rows are measured
        in a column of counts or more; so many rows came before."""
        used = np.flatnonzero(measured)
        lines, inside = combinations(columns, used)
        ids = self._ids(columns, lines, used, before)
        self._rows.append((measured, inside.astype(np.min_scalar_type(len(ids))), ids))

    def settle(self) -> tuple[Partition, Integers]:
        """The groups, and the group of each row, -1 for those that are not measured."""
        every = np.concatenate([ids for _, _, ids in self._rows])
        weights = np.concatenate([np.bincount(n, minlength=len(ids)) for _, n, ids in self._rows])
        within = self._within.settled(classes_rule(int(weights.sum())))
        labels, group = [()], np.zeros(len(every), dtype=np.int64)  # type: list[Label], Integers
        for part, asked, own in zip(self._parts, within.parts, every.T, strict=True):
            number = 1 if isinstance(asked, str) else asked.number or 1
            codes, texts = part.settle(own, weights, number)
            keys, group = np.unique(group * len(texts) + codes, return_inverse=True)
            pairs = (divmod(key, len(texts)) for key in keys.tolist())
            labels = [(*labels[place], texts[code]) for place, code in pairs]
        rows: Integers = np.full(sum(len(each) for each, _, _ in self._rows), -1, dtype=np.int32)
        start, at = 0, 0
        for measured, inside, ids in self._rows:
            rows[start : start + len(measured)][measured] = group[at : at + len(ids)][inside]
            start, at = start + len(measured), at + len(ids)
        sizes = np.bincount(group, weights, minlength=len(labels)).astype(np.int64)
        partition = Partition(within=within, labels=tuple(labels), sizes=sizes)
        return partition, rows

    def _ids(
        self, columns: Sequence[Coded], lines: Integers, used: Integers, before: int
    ) -> Integers:
        """Combinations of cells of a batch as combinations of identifiers."""
        ids = np.empty(lines.shape, dtype=np.int64)
        for k, (part, (codes, cells)) in enumerate(zip(self._parts, columns, strict=True)):
            local, back = np.unique(lines[:, k], return_inverse=True)
            values = part.values([cells[code] for code in local.tolist()])
            if None in values:
                odd = local[[value is None for value in values]]
                raise part.refusal(before + int(used[np.isin(codes[used], odd).argmax()]))
            ids[:, k] = part.ids(values)[back]
        return ids


def combinations(columns: Sequence[Coded], used: Integers) -> tuple[Integers, Integers]:
    """The combinations of numbers of cells that some rows have, and which of them each has."""
    if len(columns) == 1:  # nearly always, and quicker
        own = columns[0][0][used]
        there = np.flatnonzero(np.bincount(own, minlength=len(columns[0][1])))
        place = np.empty(len(columns[0][1]), dtype=np.int64)
        place[there] = np.arange(len(there))
        return there[:, None], place[own]
    lines = np.empty((len(used), len(columns)), dtype=np.int64)
    for k, (codes, _) in enumerate(columns):
        lines[:, k] = codes[used]
    first, inside = _unique_lines(lines)
    return lines[first], inside


def _unique_lines(lines: Integers) -> tuple[Integers, Integers]:
    """Where each different line comes first, in their order, and which of them each is."""
    inside = np.zeros(len(lines), dtype=np.int64)
    first = np.zeros(min(len(lines), 1), dtype=np.int64)
    for column in lines.T:
        values, codes = np.unique(column, return_inverse=True)
        _, first, inside = np.unique(
            inside * len(values) + codes, return_index=True, return_inverse=True
        )
    return first, inside


class _LabelColumn:
    """A column of labels."""

    def __init__(self, name: str) -> None:
        self._name, self._known = name, dict[str, int]()

    def values(self, cells: list[Any]) -> list[Any]:
        """The text of each cell; None where it is no label."""
        return list(map(label_text, cells))

    def refusal(self, row: int) -> HoldfastError:
        return HoldfastError(
            f"`within` column {self._name!r} must hold labels: text or whole numbers; data row "
            f"{row + 1} does not. Hint: for other numbers name classes of them, "
            "holdfast.classes(column, 8) or --within COLUMN:8; make text of dates."
        )

    def ids(self, values: list[str]) -> Integers:
        known = self._known
        return np.array([known.setdefault(text, len(known)) for text in values], dtype=np.int64)

    def settle(self, ids: Integers, weights: Integers, number: int) -> tuple[Integers, list[str]]:
        texts = list(self._known)
        labels = sorted(texts, key=label_order)
        rank = {text: k for k, text in enumerate(labels)}
        return np.array([rank[text] for text in texts], dtype=np.int64)[ids], labels


class _ClassColumn:
    """A column of numbers, for classes; the identifier of a number is its bits."""

    def __init__(self, name: str) -> None:
        self._name = name

    def values(self, cells: list[Any]) -> list[Any]:
        """The finite number in each cell; None where there is none."""
        return list(map(_number, cells))

    def refusal(self, row: int) -> HoldfastError:
        return HoldfastError(
            f"`within` column {self._name!r} must hold a number in every row to have classes; data "
            f"row {row + 1} holds no number as it is written. Hint: fill it in, write numbers "
            "without units, and name the marks that a CSV file has in them: `thousands`, "
            "--thousands and `decimal`, --decimal; in a workbook make such text numbers."
        )

    def ids(self, values: list[float]) -> Integers:
        return (np.array(values) + 0.0).view(np.int64)  # no -0.0

    def settle(self, ids: Integers, weights: Integers, number: int) -> tuple[Integers, list[str]]:
        values, which = np.unique(ids.view(np.float64), return_inverse=True)
        rows = np.zeros(len(values), dtype=np.int64)
        np.add.at(rows, which, weights)
        below = np.cumsum(rows) - rows  # rows with a smaller number
        codes = np.unique(number * below // max(int(rows.sum()), 1), return_inverse=True)[1]
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        highs = values[np.append(first[1:], len(values)) - 1]
        ends = zip(values[first].tolist(), highs.tolist(), strict=True)
        return codes[which].astype(np.int64), [f"{_plain(a)} to {_plain(b)}" for a, b in ends]


def label_order(text: str) -> tuple[bool, float, str]:
    """Numbers by their size, before other labels."""
    number = _number(text)
    return number is None, number or 0.0, text


def changed() -> HoldfastError:
    """The error for rows that are not those that were there when they were first read."""
    return HoldfastError(
        "the table changed while it was read; nothing was released. "
        "Hint: copy it to a place where nobody writes to it, and start again."
    )


def _plain(number: float) -> str:
    whole = float(number).is_integer() and abs(number) < 2**53
    return str(int(number)) if whole else repr(float(number))


def _number(cell: Any) -> float | None:
    """A cell as a finite number, None where it is none."""
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def coded(cells: Sequence[Any]) -> Coded:
    """A column of Python objects, whose different cells are numbered as they come.

    >>> coded(["b", "a", "b"])
    (array([0, 1, 0]), ['b', 'a'])
    """
    places: dict[Any, int] = {}
    codes = [places.setdefault(cell, len(places)) for cell in cells]
    return np.array(codes, dtype=np.int64), list(places)


def partition(within: Within, columns: Sequence[Sequence[Any]]) -> tuple[Partition, Integers]:
    """The groups of rows in memory, all of which are measured, and the group of each.

    >>> groups, inside = partition(Within(("state",)), [["NE", "KS", "NE", ""]])
    >>> groups.names, inside.tolist(), groups.sizes.tolist()
    (('(missing)', 'KS', 'NE'), [2, 1, 2, 0], [1, 1, 2])
    """
    reader = GroupReader(within)
    reader.see(list(map(coded, columns)), np.ones(len(columns[0]), dtype=np.bool_), 0)
    return reader.settle()


def rows_by(columns: Iterable[Coded]) -> Integers:
    """The numbers of the rows in the order of the first column, where it ties of the next, and
    where all tie of the rows: numbers by their size where all cells are, else as text, the missing
    last.

    >>> rows_by([coded(["b", "a", "b"]), coded(["10", "3", "9"])])
    array([1, 2, 0])
    """
    ranks = [_ranks(cells)[codes] for codes, cells in columns]
    return np.lexsort(ranks[::-1]).astype(np.int64)


def _ranks(cells: Sequence[Any]) -> Integers:
    """The place of each cell among all, equal ones on the same."""
    text = any(isinstance(sortable(cell), str) for cell in cells)
    keys = [sort_key(cell, text) for cell in cells]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], dtype=np.int64)


def sort_key(cell: Any, text: bool) -> tuple[bool, Any]:
    """By what a cell is put in order, as text or as a number."""
    value = sortable(cell)
    return (True, "" if text else 0.0) if value is None else (False, str(cell) if text else value)


def sortable(cell: Any) -> float | str | None:
    """A cell as a number, or as text where it is none; None where it is missing."""
    if is_missing(cell) or cell == "":
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return str(cell)
    return number if number == number else str(cell)
