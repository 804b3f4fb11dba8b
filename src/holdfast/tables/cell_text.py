"""Cells as text: as they are written in a CSV file."""

import datetime
import re
from decimal import Decimal
from typing import Any

import numpy as np

from holdfast.tables.counts import is_missing

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
        return cell
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
