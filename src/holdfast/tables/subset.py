"""A subset of a table: the rows that have one label in a public column."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unicodedata import normalize

from holdfast.arrays import Marks
from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import label_text
from holdfast.tables.source import Rows

LONGEST_LABEL = 200
ROWS_WHOSE = "these are the rows whose "
_NUMBER = re.compile(r"[+-]?[0-9]{1,200}(\.[0-9]{0,200})?(e[+-]?[0-9]{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Subset:
    """The rows whose label in `column` is `label`; another label of the column is another row.

    >>> Subset("fips", "01").key == Subset("fips", "1.0").key
    True
    """

    column: str
    label: str

    @property
    def key(self) -> str:
        """What is the same for all spellings of a label: two subsets of a column with different
        keys have no row in common, whether the table was read from text or not."""
        return label_key(self.label)

    def __str__(self) -> str:
        return f"{self.column}={self.label}"

    @property
    def note(self) -> str:
        """What is said of a release of these rows."""
        return f"{ROWS_WHOSE}{self.column} is {self.label}"

    def marks(self, rows: Rows, before: int) -> Marks:
        """Which of some rows are in it; so many rows came before them."""
        marks, unclear = rows.marks(self.column, self._has)
        if unclear is not None:
            raise _no_label(self.column, f"; data row {before + unclear + 1} does not")
        return marks

    def _has(self, cell: Any) -> bool | None:
        text = label_text(cell)
        return None if text is None else label_key(text) == self.key


def read_subset(value: Any) -> Subset | None:
    """A subset as it was given: a mapping of one column to one label, itself, or None.

    >>> str(read_subset({"state": "NE"}))
    'state=NE'
    """
    if value is None or isinstance(value, Subset):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise HoldfastError(
            "`subset` must name one column and one label of it. "
            'Hint: subset={"state": "NE"}, --subset state=NE.'
        )
    ((column, label),) = value.items()
    if not isinstance(column, str) or not column:
        raise HoldfastError(f"`subset` must name a column, got {column!r:.40}.")
    text = label_text(label)
    if text is None:
        raise _no_label(column)
    if not 0 < len(text.strip()) <= LONGEST_LABEL:
        raise HoldfastError(
            f"`subset` must name a label of 1 to {LONGEST_LABEL} characters in column {column!r}. "
            "Hint: rows without a label are not a subset."
        )
    return Subset(column, text.strip())


def label_key(text: str) -> str:
    """What is the same for all spellings of a label."""
    plain = normalize("NFKC", text).strip().casefold()
    return str(Fraction(plain)) if _NUMBER.fullmatch(plain) else plain


def _no_label(column: str, where: str = "") -> HoldfastError:
    return HoldfastError(
        f"`subset` column {column!r} must hold labels: text or whole numbers{where}. "
        "Hint: make text of other numbers and of dates."
    )
