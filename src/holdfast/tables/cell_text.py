"""Cells as text: as they are written in a CSV file, and as labels. Names of columns: found,
suggested, and what an error calls them."""

import datetime
import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.tables.csv_text import LONGEST_CELL

_TEXT_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_SHOWN = 8
_NUMBER = re.compile(
    r"[<>≤≥~+-]?\s*[$€£]?[0-9][0-9 .,_'\u2019\u00a0\u202f]*(?:e[+-]?[0-9]+)?\s*%?", re.IGNORECASE
)


def number_or_text(cells: list[str]) -> list[Any]:
    """Cells of text as integers where nothing is lost by it, else as they are.

    >>> number_or_text(["3", "10"]), number_or_text(["01", "2"])
    ([3, 10], ['01', '2'])
    """
    whole = all(map(_TEXT_INTEGER.fullmatch, cells))
    return list(map(int, cells)) if whole else cells


def cell_text(cell: Any) -> str:
    """A cell as it is written in a CSV file.

    >>> [cell_text(cell) for cell in ("a", None, True, 0.5, 3.0, datetime.datetime(2024, 1, 3))]
    ['a', '', 'true', '0.5', '3.0', '2024-01-03']
    """
    if isinstance(cell, str):
        return str(cell)
    if is_missing(cell):
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float | np.floating):
        return repr(float(cell))
    if isinstance(cell, datetime.datetime):
        midnight = cell.time() == datetime.time() and cell.tzinfo is None
        return cell.date().isoformat() if midnight else cell.isoformat(" ")
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)


def label_text(cell: Any) -> str | None:
    """A label as text: "" where there is none, None for what is not a label.

    >>> [label_text(cell) for cell in ("NE", 4.0, True, None, 0.5)]
    ['NE', '4', 'true', '', None]
    """
    if isinstance(cell, float | np.floating) and not is_missing(cell):
        return str(int(cell)) if float(cell).is_integer() and abs(float(cell)) < 2**53 else None
    labels = str | bool | np.bool_ | int | np.integer
    return cell_text(cell) if is_missing(cell) or isinstance(cell, labels) else None


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value, in any library."""
    if value is None or value is np.ma.masked or (isinstance(value, float) and value != value):
        return True
    pandas = sys.modules.get("pandas")  # who has one of its values has loaded it
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def names_in(value: Any, parameter: str) -> tuple[str, ...]:
    """Names of columns: one, or a list of them."""
    names = (value,) if isinstance(value, str) else value
    if names is None or isinstance(names, dict) or not isinstance(names, Iterable):
        names = () if names is None else (0,)
    names = tuple(names)
    if not all(isinstance(name, str) for name in names):
        raise HoldfastError(f"`{parameter}` must be a list of names of columns.")
    return names


def find_column(columns: Sequence[Any], name: Any, parameter: str) -> int:
    """The position of a column that must exist, once."""
    places = [i for i, column in enumerate(columns) if column == name]
    if len(places) > 1:
        raise HoldfastError(
            f"`{parameter}`: {len(places)} columns are called {name!r}. Hint: rename all but one."
        )
    if not places:
        raise HoldfastError(
            f"`{parameter}` must be a column of the table, got {name!r}. "
            f"Hint: {suggest(columns, name)}"
        )
    return places[0]


def reads_as_number(name: Any) -> bool:
    """Whether the name of a column, or a cell, is written like a number.

    >>> [reads_as_number(name) for name in ("7", " 1,204.0", "<5", "-999", "n2019", "county")]
    [True, True, True, True, False, False]
    """
    return isinstance(name, str) and bool(_NUMBER.fullmatch(name.strip()))


def suggest(columns: Sequence[Any], name: Any = "") -> str:
    """What to say about the columns there are: near matches, else the first few names.

    Where one of them is a number there may be no header, and the names may be cells of the first
    row: none is shown.
    """
    names = list(map(str, columns))
    if any(map(reads_as_number, names)):
        return (
            "the first line must hold the names of the columns; here one of them is a number. If "
            "they stand further down, name that row: `header_row`, --header-row."
        )
    near = difflib.get_close_matches(str(name), names, n=3)
    if near:
        return "did you mean " + " or ".join(map(repr, near)) + "?"
    listed = ", ".join(repr(c[:60]) for c in names[:_SHOWN])
    more = ", …" if len(names) > _SHOWN else ""
    return f"the columns are {listed}{more}."


def refuse_odd_texts(name: str, texts: Sequence[str | None]) -> None:
    """Raise for labels that no file of text can hold.

    >>> refuse_odd_texts("place", ["Kent", None])
    >>> refuse_odd_texts("place", ["a\\0b"])
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: data row 1 of column 'place' cannot be written: it holds a NUL...
    """
    for row, text in enumerate(texts, 1):
        if text is not None and not is_text(text):
            raise HoldfastError(
                f"data row {row} of column {name!r:.80} cannot be written: it holds a NUL, half of "
                f"a character (a surrogate), or more than {LONGEST_CELL:,} characters. Hint: "
                "correct the label, or leave the column out."
            )


def is_text(text: str) -> bool:
    """Whether a file of text can hold it as a cell."""
    if len(text) > LONGEST_CELL or "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)
