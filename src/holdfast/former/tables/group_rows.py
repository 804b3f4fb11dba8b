"""Which row is in which group: found once for all rows, or batch by batch."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.tables.count_values import label_text
from holdfast.former.tables.groups import Classes, Label, Partition, Within


def partition(
    within: Within, columns: Sequence[Sequence[Any]], drawn: Marks
) -> tuple[Partition, Integers]:
    """The groups of the drawn rows, and for each row the number of its group, -1 for the others.

    `columns` are the cells of each column of `within`. Rows without a label are a group of their
    own; rows without a number cannot be in a class, and are refused.

    >>> found, codes = partition(Within(("state",)), [["NE", "KS", "NE", ""]], np.ones(4, bool))
    >>> found.names, codes.tolist(), found.sizes.tolist()
    (('(missing)', 'KS', 'NE'), [2, 1, 2, 0], [1, 1, 2])
    """
    reader = GroupReader(within)
    reader.see(columns, drawn)
    groups, inside = reader.settle(within)
    found = np.full(len(drawn), -1, dtype=np.int64)
    found[drawn] = inside
    return groups, found


class GroupReader:
    """Rows by batch: first all are seen, then the groups are settled, then rows can be placed.

    Memory: 8 bytes per row for each column, until the groups are settled.

    >>> reader = GroupReader(Within(("state",)))
    >>> for batch in (["NE", "KS"], ["NE"]):
    ...     reader.see([batch], np.ones(len(batch), bool))
    >>> reader.settle(reader.within)[0].names, reader.place([["NE"]], np.ones(1, bool)).tolist()
    (('KS', 'NE'), [1])
    """

    def __init__(self, within: Within) -> None:
        self.within, self._rows = within, 0
        self._parts: list[_Labels | _Numbers] = [
            _Labels(part) if isinstance(part, str) else _Numbers(part.column)
            for part in within.parts
        ]
        self._keys: list[Integers] = []
        self._weights: dict[int, Integers] = {}

    def see(self, columns: Sequence[Sequence[Any]], drawn: Marks) -> None:
        """Take in the next rows: the cells of each column, and which rows are drawn."""
        at = np.flatnonzero(drawn)
        for part, cells in zip(self._parts, columns, strict=True):
            part.see([cells[row] for row in at.tolist()], at + self._rows)
        self._rows += len(drawn)

    def see_part(self, number: int, cells: list[Any], weights: Integers) -> None:
        """All different cells of one column, and how many rows have each."""
        self._parts[number].see(cells, np.zeros(len(cells), dtype=np.int64))
        self._weights[number] = weights

    def settle(self, within: Within) -> tuple[Partition, Integers]:
        """The groups, with numbers of classes as in `within`, and that of each drawn row."""
        coded = self.settle_parts(within)
        return self.combine(coded, np.ones(len(coded[0][0]), dtype=np.int64))

    def settle_parts(self, within: Within) -> list[tuple[Integers, list[str]]]:
        """For each column the number of each cell that was seen, and the labels."""
        self.within = within
        numbers = [1 if isinstance(part, str) else part.number or 1 for part in within.parts]
        return [
            part.settle(number, self._weights.get(k))
            for k, (part, number) in enumerate(zip(self._parts, numbers, strict=True))
        ]

    def combine(
        self, coded: list[tuple[Integers, list[str]]], weights: Integers
    ) -> tuple[Partition, Integers]:
        """The groups that occur, from numbers of labels in each column, and that of each line."""
        nobody = np.zeros(len(weights), dtype=np.int64)
        labels, inside, self._keys = _crossed([()], nobody, coded)
        sizes = np.zeros(len(labels), dtype=np.int64)
        np.add.at(sizes, inside, weights)
        return Partition(within=self.within, labels=tuple(labels), sizes=sizes), inside

    def highs(self, number: int) -> list[float] | None:
        """The highest number of each class of a column, once it is settled; None for labels."""
        part = self._parts[number]
        return part.highs if isinstance(part, _Numbers) else None

    def placed_part(self, number: int, cells: list[Any]) -> Integers:
        """The numbers of the labels of cells of one column, once it is settled."""
        return self._parts[number].place(cells, np.zeros(len(cells), dtype=np.int64))

    def place(self, columns: Sequence[Sequence[Any]], drawn: Marks) -> Integers:
        """The groups of the drawn rows of a batch that was seen before."""
        at = np.flatnonzero(drawn)
        inside = np.zeros(len(at), dtype=np.int64)
        for part, keys, cells in zip(self._parts, self._keys, columns, strict=True):
            codes = part.place([cells[row] for row in at.tolist()], at)
            wanted = inside * part.number + codes
            inside = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            if (keys[inside] != wanted).any():
                raise changed()
        return inside

    def texts(self, columns: Sequence[Sequence[Any]], drawn: Marks) -> list[list[str]]:
        """The cells of a batch as text that makes the same groups; "" in rows not drawn."""
        written = []
        for part, cells in zip(self._parts, columns, strict=True):
            pairs = zip(cells, drawn.tolist(), strict=True)
            written.append([part.text(cell) if used else "" for cell, used in pairs])
        return written


def _crossed(
    labels: Sequence[Label], inside: Integers, coded: Sequence[tuple[Integers, list[str]]]
) -> tuple[list[Label], Integers, list[Integers]]:
    """The groups that occur where those of lines are crossed with labels of further columns, that
    of each line, and by what they were found."""
    found, every = list(labels), list[Integers]()
    for codes, texts in coded:
        keys, inside = np.unique(inside * len(texts) + codes, return_inverse=True)
        pairs = (divmod(key, len(texts)) for key in keys.tolist())
        found = [(*found[group], texts[code]) for group, code in pairs]
        every.append(keys)
    return found, inside, every


def add_classes(
    groups: Partition | None,
    inside: Integers,
    parts: tuple[Classes, ...],
    numbers: Sequence[Integers],
) -> tuple[Partition, Integers, list[float]]:
    """Groups crossed with classes of whole numbers from 0: the new ones, that of each row, and the
    highest number of each class of the last column. `inside` is the group of each row so far.

    >>> counts = np.array([0, 7, 0, 5])
    >>> found = add_classes(None, np.zeros(4, dtype=int), (Classes("n", 2),), [counts])
    >>> found[0].names, found[1].tolist(), found[2]
    (('0 to 0', '5 to 7'), [0, 1, 0, 1], [0.0, 7.0])
    """
    reader, coded = GroupReader(Within(parts)), []
    for number, column in enumerate(numbers):
        rows = np.bincount(column)
        values = np.flatnonzero(rows)
        reader.see_part(number, values.tolist(), rows[values])
    for (codes, texts), column in zip(reader.settle_parts(reader.within), numbers, strict=True):
        place = np.zeros(int(column.max()) + 1, dtype=np.int64)
        place[np.flatnonzero(np.bincount(column))] = codes
        coded.append((place[column], texts))
    known = [()] if groups is None else groups.labels
    labels, cells, _ = _crossed(known, inside, coded)
    within = Within((*(() if groups is None else groups.within.parts), *parts))
    sizes = np.bincount(cells, minlength=len(labels))
    partition = Partition(within=within, labels=tuple(labels), sizes=sizes)
    return partition, cells, reader.highs(len(parts) - 1) or []


class _Labels:
    """A column of labels."""

    def __init__(self, name: str) -> None:
        self._name, self._known = name, dict[Any, int]()
        self._texts, self._seen = list[str](), list[Integers]()
        self._rank = np.empty(0, dtype=np.int64)

    @property
    def number(self) -> int:
        return int(self._rank.max()) + 1

    def see(self, cells: list[Any], rows: Integers) -> None:
        found = np.empty(len(cells), dtype=np.int64)
        for at, cell in enumerate(cells):
            try:
                code = self._known.get(cell)
            except TypeError:
                raise _no_label(self._name, int(rows[at])) from None
            if code is None:
                self._texts.append(_text(cell, self._name, int(rows[at])))
                code = self._known[cell] = len(self._texts) - 1
            found[at] = code
        self._seen.append(found)

    def settle(self, number: int, weights: Integers | None) -> tuple[Integers, list[str]]:
        labels = sorted(set(self._texts), key=label_order)
        place = {text: k for k, text in enumerate(labels)}
        self._rank = np.array([place[text] for text in self._texts], dtype=np.int64)
        seen, self._seen = np.concatenate(self._seen), []
        return self._rank[seen], labels

    def place(self, cells: list[Any], rows: Integers) -> Integers:
        try:
            return self._rank[[self._known[cell] for cell in cells]]
        except (KeyError, TypeError):
            pass
        ranks = dict(zip(self._texts, self._rank.tolist(), strict=True))
        texts = [_text(cell, self._name, int(row)) for cell, row in zip(cells, rows, strict=True)]
        if not set(texts) <= set(ranks):
            raise changed()
        return np.array([ranks[text] for text in texts], dtype=np.int64)

    def text(self, cell: Any) -> str:
        return _text(cell, self._name, 0)


class _Numbers:
    """A column of numbers, for classes."""

    def __init__(self, name: str) -> None:
        self._name, self._seen = name, list[Floats]()
        self._highs: Floats = np.empty(0)

    @property
    def number(self) -> int:
        return len(self._highs)

    def see(self, cells: list[Any], rows: Integers) -> None:
        self._seen.append(as_numbers(cells, self._name, rows))

    def settle(self, number: int, weights: Integers | None) -> tuple[Integers, list[str]]:
        numbers, self._seen = np.concatenate(self._seen), []
        values, which = np.unique(numbers, return_inverse=True)
        rows = np.zeros(len(values), dtype=np.int64)
        np.add.at(rows, which, 1 if weights is None else weights)
        below = np.cumsum(rows) - rows  # rows with a smaller number
        codes = np.unique(number * below // max(int(rows.sum()), 1), return_inverse=True)[1]
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        self._highs = values[np.append(first[1:], len(values)) - 1]
        ends = zip(values[first].tolist(), self._highs.tolist(), strict=True)
        return codes[which].astype(np.int64), [f"{_plain(a)} to {_plain(b)}" for a, b in ends]

    @property
    def highs(self) -> list[float]:
        """The highest number of each class."""
        return [float(high) for high in self._highs]

    def place(self, cells: list[Any], rows: Integers) -> Integers:
        codes = np.searchsorted(self._highs, as_numbers(cells, self._name, rows))
        if len(codes) and codes.max() >= self.number:
            raise changed()
        return codes.astype(np.int64)

    def text(self, cell: Any) -> str:
        return _plain(float(cell))


def label_order(text: str) -> tuple[bool, float, str]:
    """Numbers by their size, before other labels."""
    number = _is_number(text)
    return not number, float(text) if number else 0.0, text


def changed() -> HoldfastError:
    """The error for rows that were in no group when they were first read."""
    return HoldfastError(
        "the table changed while it was read; nothing was released. "
        "Hint: copy it to a place where nobody writes to it, and start again."
    )


def _plain(number: float) -> str:
    whole = float(number).is_integer() and abs(number) < 2**53
    return str(int(number)) if whole else repr(float(number))


def as_numbers(cells: Sequence[Any], column: str, rows: Integers) -> Floats:
    """Cells as finite numbers; `rows` says which rows they are of, from 0."""
    try:
        numbers = np.array([float(cell) for cell in cells])
        if np.isfinite(numbers).all():
            return numbers
    except (TypeError, ValueError):
        pass
    bad = next(row for cell, row in zip(cells, rows.tolist(), strict=True) if not _is_number(cell))
    raise HoldfastError(
        f"`within` column {column!r} must hold a number in every row to have classes; row "
        f"{bad + 1} has none. Hint: fill it in, or write numbers without separators and units."
    )


def _is_number(cell: Any) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except (TypeError, ValueError):
        return False


def _text(cell: Any, column: str, row: int) -> str:
    text = label_text(cell)
    if text is None:
        raise _no_label(column, row)
    return text


def _no_label(column: str, row: int) -> HoldfastError:
    return HoldfastError(
        f"`within` column {column!r} must hold labels: text or whole numbers; data row {row + 1} "
        "does not. Hint: for other numbers name classes of them, holdfast.classes(column, 8) or "
        "--within COLUMN:8; make text of dates."
    )


def found_again(known: Partition, columns: Sequence[Sequence[Any]], drawn: Marks) -> Integers:
    """The group of each row of a table that was written and read: cells may have become text.

    A cell is of a label if it is the same text, the same number, or the same truth value; classes
    are in the same order.
    """
    again, codes = partition(known.within, columns, drawn)
    ours, theirs = _comparable(known), _comparable(again)
    place = {label: k for k, label in enumerate(ours)}
    if len(place) != len(known) or set(place) != set(theirs):
        raise HoldfastError("the groups of the table are not those of the release.")
    return np.where(codes < 0, -1, np.array([place[label] for label in theirs])[codes])


def _comparable(groups: Partition) -> list[tuple[Any, ...]]:
    """Labels such that those of a table and of the same table once written and read are equal."""
    parts: list[list[Any]] = []
    for part, texts in zip(groups.within.parts, zip(*groups.labels, strict=True), strict=True):
        if isinstance(part, Classes):
            order = Classes.in_order(texts)
            parts.append([order.index(text) for text in texts])
        else:
            exact = [_value(text) for text in texts]
            alike = len(set(exact)) < len(set(texts))  # "01" and "1" are two labels
            parts.append(list(texts) if alike else exact)
    return list(zip(*parts, strict=True))


def _value(text: str) -> Any:
    number = _is_number(text)
    return float(text) if number else text.casefold()
