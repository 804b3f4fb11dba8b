"""Groups of rows by public columns: what is asked for."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError, whole_number

MOST_CLASSES = 1000
MOST_WITHIN = 8


@dataclass(frozen=True, repr=False)
class Classes:
    """Classes of a public number, about equally large; see `classes`."""

    column: str
    number: int | None = None
    """How many; None for as many as the rows bear."""

    def __str__(self) -> str:
        return f"{self.column}:{self.number or 'auto'}"

    def __repr__(self) -> str:
        number = "" if self.number is None else f", {self.number}"
        return f"holdfast.classes({self.column!r}{number})"


def classes(column: str, number: int | None = None) -> Classes:
    """Classes of a public number for `within`: about as many rows in each, equal values together.

    With N rows and K classes, a row is in class ⌊K r / N⌋ of those that occur, where r rows have a
    smaller number.

    Parameters:
        column: A public column of numbers, such as a population.
        number: How many classes, K; by default it follows from N.

    Returns:
        What `within` takes, by itself or in a list with other columns.

    Raises:
        HoldfastError: If `number` is no whole number of 1 to 1000.

    >>> classes("population", 8)
    holdfast.classes('population', 8)
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
    def numbers(self) -> tuple[str, ...]:
        """Those of them that hold numbers, of which classes are made."""
        return tuple(part.column for part in self.parts if isinstance(part, Classes))

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
    within = Within(parts)
    if len(set(within.columns)) < len(parts) or len(parts) > MOST_WITHIN:
        raise HoldfastError(f"`within` must name a column once, and at most {MOST_WITHIN} of them.")
    return within


def classes_rule(rows: int) -> int:
    """How many classes a table bears whose number was left open; N is public.

    About 300 rows per class, from 8 classes to 32, and 10 rows in each at the least. Measured on
    300 to 10,000 counties at epsilon = 0.1 to 3: fewer bend counts against the number that the
    classes are of, more make the whole table's distribution worse.

    >>> [classes_rule(rows) for rows in (5, 60, 2197, 6000, 10**6)]
    [1, 6, 8, 16, 32]
    """
    number = 2 ** round(float(np.log2(max(rows, 1) / 300)))
    return int(max(min(max(number, 8), 32, rows // 10), 1))
