"""Releases as data frames of the libraries that people use."""

from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.former.analysis.conditions import as_numbers
from holdfast.former.analysis.regression.formula import texts_of
from holdfast.former.tables.csv import CsvTable
from holdfast.former.tables.table import columns_of, labels_of

if TYPE_CHECKING:
    from holdfast.former.analysis.row_intervals import Intervals
    from holdfast.former.release.release import Release


class NotInstalled(HoldfastError):
    """A library that was asked for is not there."""


def as_frame(cells: Any) -> Any:
    """A table as a frame: of text, a data frame of pandas, else of polars, else the text itself.

    What a CSV file holds as text becomes numbers where all of it is numbers, and codes with zeros
    in front (01001) stay texts.
    """
    if not isinstance(cells, CsvTable):
        return cells
    for library in (pandas, polars):
        try:
            return library().DataFrame(typed_columns(cells))
        except NotInstalled:
            continue
    return cells


def typed_columns(cells: Any) -> dict[str, list[Any]]:
    """The columns of a table, in their order, as `as_frame` has them."""
    return {name: _values(cells, name) for name in columns_of(cells)}


def as_columns(release: "Release", intervals: bool, level: float) -> dict[str, list[Any]]:
    """The columns of a release, with intervals beside them where they are wanted."""
    columns = {name: _values(release.cells, name) for name in release.unchanged_columns}
    columns |= counts_column(release)
    return columns | (beside(columns, release, release.intervals(level)) if intervals else {})


def counts_column(release: "Release") -> dict[str, list[Any]]:
    """The released counts under the name of their column, None where one is missing."""
    counts = [x if x >= 0 else None for x in release.counts.tolist()]
    return {release.count_column or "count": counts}


def beside(
    columns: dict[str, list[Any]], release: "Release", found: "Intervals"
) -> dict[str, list[Any]]:
    """What is known of every row, to stand beside these columns, which keep their names; None
    where the count is missing."""
    known, more = release.counts >= 0, dict[str, list[Any]]()
    for name, values in found.columns().items():
        while name in columns:
            name += "_of_count"
        full = np.full(len(known), None, dtype=object)
        full[known] = values
        more[name] = full.tolist()
    return more


def _values(table: Any, name: str) -> list[Any]:
    cells = labels_of(table, name)
    if not isinstance(table, CsvTable):
        return cells
    texts = texts_of(cells)
    numbers = as_numbers(texts)
    if numbers is None:
        return texts
    whole = all(x == x and x % 1 == 0 and abs(x) < 2**53 for x in numbers)
    return [int(x) for x in numbers] if whole else numbers.tolist()


def pandas() -> Any:
    """The module, or an error that says how to have it."""
    try:
        import pandas as found
    except ImportError:
        raise NotInstalled("this needs pandas. Hint: pip install pandas.") from None
    return found


def polars() -> Any:
    """The module, or an error that says how to have it."""
    try:
        import polars as found
    except ImportError:
        raise NotInstalled("this needs polars. Hint: pip install polars.") from None
    return found
