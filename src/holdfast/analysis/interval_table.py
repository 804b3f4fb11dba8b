"""The released table with what is to be said of every row beside it."""

from typing import TYPE_CHECKING, Any

from holdfast.tables.table import CsvTable, labels_of

if TYPE_CHECKING:
    from holdfast.release.release import Release


def with_intervals_beside(release: "Release", level: float) -> tuple[CsvTable, tuple[str, ...]]:
    """The table with interval, expectation and probability of zero for every row.

    Also returns what a reader of it should know.
    """
    release = release.known  # of what is missing nothing is said
    columns: dict[str, list[Any]] = {
        name: labels_of(release.table, name) for name in release.unchanged_columns
    }
    columns[release.count_column or "count"] = release.counts.tolist()
    found = release.intervals(level)
    for name, values in found.columns().items():
        while name in columns:  # a column of the table keeps its name and its values
            name += "_of_count"
        columns[name] = values
    rows = [
        ["" if cell is None else str(cell) for cell in row]
        for row in zip(*columns.values(), strict=True)
    ]
    return CsvTable(tuple(columns), rows), found.notes
