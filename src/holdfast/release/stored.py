"""The columns of a bundle's files: rows.csv, the table and distribution.csv, read again.

What is read is checked as far as reading needs it, and nothing is trusted to be of bearable size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers, Marks, narrowed
from holdfast.errors import HoldfastError
from holdfast.fit.histogram import Histogram
from holdfast.release.common import DISTRIBUTION, DISTRIBUTION_HEADER
from holdfast.release.csv_files import (
    Dialect,
    labels_of,
    numbers_of,
    read_columns,
    whole_numbers,
)
from holdfast.release.table_files import PARTS, ROWS, rows_header, titles
from holdfast.tables.partition import ALL_ROWS


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredRows:
    """What rows.csv says of all rows, of each column of counts where that differs."""

    group: Integers
    """The group of each row, -1 where it is in none."""
    noisy: Sequence[Integers]
    """0 in rows that were not measured."""
    measured: Sequence[Marks]
    missing: Sequence[Marks]

    @property
    def structural_zero(self) -> Marks:
        """Rows publicly known to be zero."""
        return ~(self.measured[0] | self.missing[0])


def read_rows(path: Path, record: dict[str, Any]) -> StoredRows:
    """The rows of rows.csv."""
    names, grouped = record["groups"]["names"], bool(record["groups"]["columns"])
    places = {name: number for number, name in enumerate(names)} | {"": -1}
    number, batches = len(record["counts"]), list[list[Any]]()
    header = rows_header(record["category"], titles(record), grouped=grouped)
    with path.open("rb") as file:
        dialect = Dialect.from_dict(record["table"])
        for columns in read_columns(file, ROWS, dialect, header):
            group = np.zeros(len(columns[0]), dtype=np.int64)
            if grouped:
                group = numbers_of(columns[1], places, ROWS)
            cells, lows = (columns[1 + grouped + k :: len(PARTS)] for k in range(2))
            numbers = [narrowed(whole_numbers(texts, ROWS)) for texts in cells]
            marks = [texts.filled for texts in cells] + [~texts.filled for texts in lows]
            batches.append([narrowed(group), *numbers, *marks])
    group, *arrays = [np.concatenate(each) for each in zip(*batches, strict=True)] or [_NONE]
    if len(group) != record["table"]["rows"]:
        raise HoldfastError("`rows.csv` has another number of rows than release.json says.")
    noisy, measured, missing = (arrays[at : at + number] for at in range(0, 3 * number, number))
    if (group[np.logical_or.reduce(measured)] < 0).any():
        raise HoldfastError("`rows.csv` has measured rows that are in no group.")
    return StoredRows(group=group, noisy=noisy, measured=measured, missing=missing)


_NONE = np.zeros(0, dtype=np.int64)
NO_ROWS = Histogram(values=_NONE, rows=_NONE)
Table = dict[tuple[str, str], Histogram]
"""What distribution.csv says, by column of counts and group."""


def read_distribution(file: IO[bytes], record: dict[str, Any]) -> Table:
    """The histograms that distribution.csv states."""
    columns, names = titles(record), list(dict.fromkeys([ALL_ROWS, *record["groups"]["names"]]))
    batches = [[_NONE] * 3]
    for cells in read_columns(
        file, DISTRIBUTION, Dialect.from_dict(record["table"]), DISTRIBUTION_HEADER
    ):
        column, group = (
            numbers_of(texts, {name: at for at, name in enumerate(known)}, DISTRIBUTION)
            for texts, known in zip(cells, (columns, names), strict=False)
        )
        numbers = [whole_numbers(texts, DISTRIBUTION) for texts in cells[2:4]]
        batches.append([column * len(names) + group, *numbers])
    place, values, rows = (np.concatenate(each) for each in zip(*batches, strict=True))
    order = np.argsort(place, kind="stable")
    place, values, rows = place[order], values[order], rows[order]
    if (
        min(values.min(initial=0), rows.min(initial=1) - 1) < 0
        or ((np.diff(values) < 1) & (np.diff(place) == 0)).any()
    ):
        raise HoldfastError(
            f"the counts of `{DISTRIBUTION}` do not ascend from 0, or have no rows."
        )
    sums = np.bincount(place, rows)  # of floats, which do not come round
    if sums.max(initial=0) > record["table"]["rows"]:
        raise HoldfastError(f"`{DISTRIBUTION}` has more rows than the table.")
    places, first = np.unique(place, return_index=True)
    ends = [*first[1:].tolist(), len(place)]
    return {
        (columns[at // len(names)], names[at % len(names)]): Histogram(
            values=values[start:end], rows=rows[start:end]
        )
        for at, start, end in zip(places.tolist(), first.tolist(), ends, strict=True)
    }


def read_cells(path: Path, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The published columns of the table in batches."""
    names, rows = [*record["published"], *titles(record)], record["table"]["rows"]
    published = record["published"]
    if path.suffix == ".csv":
        number = 0
        with path.open("rb") as file:
            for cells in read_columns(file, path.name, Dialect.from_dict(record["table"]), names):
                number += len(cells[0])
                yield {name: labels_of(cells[k]) for k, name in enumerate(published)}
        if number != rows:
            raise HoldfastError(f"`{path.name}` has another number of rows than release.json says.")
        return
    from holdfast.release.parquet import read_batches

    for batch in read_batches(path, names, rows):
        yield dict(zip(published, batch, strict=False))
