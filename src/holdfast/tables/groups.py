"""Groups of rows by public columns: how they are named, and which row is in which."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, whole_number
from holdfast.tables.count_values import is_missing

MOST_CLASSES = 1000
MOST_PARTS = 8
MISSING_LABEL = "(missing)"
Label = tuple[str, ...]


@dataclass(frozen=True)
class Classes:
    """Classes of a public number, about equally large; see `classes`."""

    column: str
    number: int | None = None
    """How many; None for as many as the rows bear."""


def classes(column: str, number: int | None = None) -> Classes:
    """Classes of a public number for `within`: about as many rows in each, equal values together.

    With N rows and K classes, a row is in class ⌊K r / N⌋ of those that occur, where r rows have a
    smaller number. Without a `number` it follows from N
    (`holdfast.privatizers.groups.classes_rule`).

    >>> classes("population", 8)
    Classes(column='population', number=8)
    """
    if not isinstance(column, str):
        raise HoldfastError("`classes` takes the name of a column, such as classes('population').")
    if number is not None:
        number = whole_number(number, "classes", least=1, most=MOST_CLASSES)
    return Classes(column, number)


@dataclass(frozen=True)
class Within:
    """What rows are grouped by: labels of columns, classes of numbers, or several crossed."""

    parts: tuple[str | Classes, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        return tuple(part if isinstance(part, str) else part.column for part in self.parts)

    @property
    def ordered(self) -> bool:
        """Whether the groups are classes one after the other."""
        return len(self.parts) == 1 and isinstance(self.parts[0], Classes)

    @property
    def open(self) -> bool:
        """Whether a number of classes is left to the rule."""
        return any(isinstance(part, Classes) and part.number is None for part in self.parts)

    def settled(self, number: int) -> "Within":
        """The same with this number of classes where none was given."""
        parts = [
            replace(part, number=number)
            if isinstance(part, Classes) and part.number is None
            else part
            for part in self.parts
        ]
        return Within(tuple(parts))

    def __str__(self) -> str:
        words = [
            part if isinstance(part, str) else f"{part.number or ''} classes of {part.column}"
            for part in self.parts
        ]
        return " and ".join(word.strip() for word in words)

    def to_dict(self) -> dict[str, Any]:
        """The columns, and for each the number of its classes or None."""
        numbers = [None if isinstance(part, str) else part.number for part in self.parts]
        return {"columns": list(self.columns), "classes": numbers}

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Within":
        """The inverse of `to_dict`."""
        pairs = zip(record["columns"], record["classes"], strict=True)
        return Within(tuple(name if k is None else Classes(name, k) for name, k in pairs))


def read_within(value: Any) -> Within | None:
    """What `within` asks for: a column, classes, or a list of them.

    >>> print(read_within(["state", classes("population", 4)]))
    state and 4 classes of population
    """
    if value is None or isinstance(value, Within):
        return value
    parts = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not parts or not all(isinstance(part, str | Classes) for part in parts):
        raise HoldfastError(
            "`within` must be the name of a column, holdfast.classes(column, number), or a list "
            "of them."
        )
    found = Within(parts)
    if len(set(found.columns)) < len(parts) or len(parts) > MOST_PARTS:
        raise HoldfastError(f"`within` must name a column once, and at most {MOST_PARTS} of them.")
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """The groups of a table; public, as the columns are that they follow from."""

    within: Within
    labels: tuple[Label, ...]
    """A text for each part of `within`: what the column holds, "" where it holds nothing, or the
    lowest and the highest number of a class."""
    sizes: Integers = field(repr=False)
    """Rows of each group that go through a mechanism; 1 or more."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels in a line each."""
        return tuple(name_of(label) for label in self.labels)


def name_of(label: Label) -> str:
    """A label in a line.

    >>> name_of(("NE", "")), name_of(("4 to 70",))
    ('NE, (missing)', '4 to 70')
    """
    return ", ".join(text or MISSING_LABEL for text in label)


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
    at = np.flatnonzero(drawn)
    labels: list[Label] = [()]
    inside = np.zeros(len(at), dtype=np.int64)
    for part, cells in zip(within.parts, columns, strict=True):
        codes, texts = _coded(part, cells, at)
        keys, inside = np.unique(inside * len(texts) + codes, return_inverse=True)
        pairs = (divmod(key, len(texts)) for key in keys.tolist())
        labels = [(*labels[before], texts[code]) for before, code in pairs]
    found = np.full(len(drawn), -1, dtype=np.int64)
    found[at] = inside
    sizes = np.bincount(inside, minlength=len(labels)).astype(np.int64)
    return Partition(within=within, labels=tuple(labels), sizes=sizes), found


def _coded(part: str | Classes, cells: Sequence[Any], at: Integers) -> tuple[Integers, list[str]]:
    """For each row a number, in the order of the labels, and the labels."""
    taken = [cells[row] for row in at.tolist()]
    if isinstance(part, Classes):
        return _classes_of(as_numbers(taken, part.column, at), part)
    texts = _texts(taken, part, at)
    labels = sorted(set(texts))
    rank = {text: code for code, text in enumerate(labels)}
    return np.array([rank[text] for text in texts], dtype=np.int64), labels


def _classes_of(numbers: Floats, part: Classes) -> tuple[Integers, list[str]]:
    ordered = np.sort(numbers)
    below = np.searchsorted(ordered, numbers)  # rows with a smaller number
    first = (part.number or 1) * below // max(len(numbers), 1)
    codes = np.unique(first, return_inverse=True)[1].ravel().astype(np.int64)
    ends = [(numbers[codes == k].min(), numbers[codes == k].max()) for k in range(codes.max() + 1)]
    return codes, [class_label(low, high) for low, high in ends]


def class_label(low: float, high: float) -> str:
    """The words for a class.

    >>> class_label(3.0, 70.5), class_label(4.0, 4.0)
    ('3 to 70.5', '4 to 4')
    """
    return f"{_plain(low)} to {_plain(high)}"


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


def _texts(cells: Sequence[Any], column: str, rows: Integers) -> list[str]:
    known: dict[Any, str] = {}
    found = []
    for cell, row in zip(cells, rows.tolist(), strict=True):
        try:
            text = known.get(cell)
        except TypeError:
            raise _no_label(column, row) from None
        if text is None:
            text = known[cell] = _text(cell, column, row)
        found.append(text)
    return found


def _text(cell: Any, column: str, row: int) -> str:
    if isinstance(cell, str):
        return str(cell)
    if is_missing(cell):
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, int | np.integer):
        return str(int(cell))
    if (
        isinstance(cell, float | np.floating)
        and float(cell).is_integer()
        and abs(float(cell)) < 2**53
    ):
        return str(int(cell))
    raise _no_label(column, row)


def _no_label(column: str, row: int) -> HoldfastError:
    return HoldfastError(
        f"`within` column {column!r} must hold labels: text or whole numbers; row {row + 1} does "
        "not. Hint: for other numbers name classes of them, holdfast.classes(column, 8) or "
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
            order = sorted(set(texts), key=lambda text: float(text.split(" to ")[0]))
            parts.append([order.index(text) for text in texts])
        else:
            exact = [_value(text) for text in texts]
            alike = len(set(exact)) < len(set(texts))  # "01" and "1" are two labels
            parts.append(list(texts) if alike else exact)
    return list(zip(*parts, strict=True))


def _value(text: str) -> Any:
    number = _is_number(text)
    return float(text) if number else text.casefold()
