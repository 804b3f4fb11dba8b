"""A subset of a table: the rows that have one label in a public column."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any
from unicodedata import normalize

import numpy as np

from holdfast.arrays import Marks
from holdfast.errors import HoldfastError
from holdfast.tables.cell_text import label_text
from holdfast.tables.rows import Rows

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
        codes, cells = rows.codes(self.column)

        def row_of(at: int) -> int:
            return before + int((codes == at).argmax())

        texts = [_text(cell, self.column, partial(row_of, at)) for at, cell in enumerate(cells)]
        return np.array([label_key(text) == self.key for text in texts], dtype=np.bool_)[codes]

    def nowhere(self) -> HoldfastError:
        """The error for a table without such a row."""
        return HoldfastError(
            f"`subset`: no row has the label {self.label!r} in column {self.column!r}. "
            "Hint: check the spelling."
        )


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
    text = _text(label, column, None).strip()
    if not 0 < len(text) <= LONGEST_LABEL:
        raise HoldfastError(
            f"`subset` must name a label of 1 to {LONGEST_LABEL} characters in column {column!r}. "
            "Hint: rows without a label are not a subset."
        )
    return Subset(column, text)


def label_key(text: str) -> str:
    """What is the same for all spellings of a label."""
    plain = normalize("NFKC", text).strip().casefold()
    return str(Fraction(plain)) if _NUMBER.fullmatch(plain) else plain


def _text(cell: Any, column: str, row_of: Callable[[], int] | None) -> str:
    text = label_text(cell)
    if text is not None:
        return text
    where = "" if row_of is None else f"; data row {row_of() + 1} does not"
    raise HoldfastError(
        f"`subset` column {column!r} must hold labels: text or whole numbers{where}. "
        "Hint: make text of other numbers and of dates."
    )
