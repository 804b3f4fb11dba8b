"""Cells as text: as they are written in a CSV file, and as labels."""

import datetime
import re
import sys
from decimal import Decimal
from typing import Any

import numpy as np

_TEXT_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


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
