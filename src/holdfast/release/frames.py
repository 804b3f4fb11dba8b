"""A release as a table to look at: a data frame of pandas, or of text where there is no pandas."""

import re
from importlib.util import find_spec
from typing import Any

from holdfast.arrays import Integers
from holdfast.release.csv_files import texts_of
from holdfast.tables.csv import CsvTable
from holdfast.tables.source import ListRows

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,14})?")


def as_table(cells: dict[str, list[Any]], counts: dict[str, Integers]) -> Any:
    """Published columns with counts beside them; -1 stands for a missing one."""
    if find_spec("pandas") is None:
        texts = [texts_of(column).to_pylist() for column in cells.values()]
        texts += [["" if x < 0 else str(x) for x in array.tolist()] for array in counts.values()]
        return CsvTable(ListRows((*cells, *counts), texts))
    import pandas

    columns: dict[str, Any] = {name: typed(column) for name, column in cells.items()}
    for name, array in counts.items():
        missing = array < 0
        columns[name] = pandas.arrays.IntegerArray(array, missing) if missing.any() else array
    return pandas.DataFrame(columns)


def typed(cells: list[Any]) -> list[Any]:
    """Texts as numbers, where all that are not empty are numbers; codes such as 01001 stay texts.

    >>> typed(["1", "", "-2"]), typed(["1.5", "2"]), typed(["01", "2"])
    ([1, None, -2], [1.5, 2.0], ['01', '2'])
    """
    if not all(isinstance(cell, str) for cell in cells) or not any(cells):
        return cells
    for pattern, number in ((_WHOLE, int), (_DECIMAL, float)):
        if all(not cell or pattern.fullmatch(cell) for cell in cells):
            return [number(cell) if cell else None for cell in cells]
    return cells
