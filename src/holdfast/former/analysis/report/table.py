"""The released table with what each row says about its true count."""

from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.former.analysis.frames import beside, counts_column
from holdfast.former.tables.table import CsvTable, labels_of

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


def table_with_intervals(
    release: "Release", level: float
) -> tuple[dict[str, list[Any]], tuple[str, ...]]:
    """The released table, with interval, expectation and probability of zero for every row, and
    what a reader of it should know. Of rows whose count is missing nothing is said."""
    columns, found = released_table(release), release.intervals(level)
    return columns | beside(columns, release, found), found.notes


def table_for_people(release: "Release", level: float) -> tuple[CsvTable, tuple[str, ...]]:
    """The same as text; without intervals where they cannot be stated, and then it says why."""
    try:
        columns, notes = table_with_intervals(release, level)
    except HoldfastError as error:  # a distribution that cannot be told from what was released
        columns, notes = released_table(release), (f"No intervals: {error}",)
    return as_text(columns), notes


def as_text(columns: dict[str, list[Any]]) -> CsvTable:
    """Such columns as text, to be written to a file or shown."""
    rows = [
        ["" if cell is None else str(cell) for cell in row]
        for row in zip(*columns.values(), strict=True)
    ]
    return CsvTable(tuple(columns), rows)


def released_table(release: "Release") -> dict[str, list[Any]]:
    """The columns of the released table; None where a count is missing."""
    columns: dict[str, list[Any]] = {
        name: labels_of(release.cells, name) for name in release.unchanged_columns
    }
    return columns | counts_column(release)
