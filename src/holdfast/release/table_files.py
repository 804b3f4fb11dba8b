"""The files with a record for every row: the table that is published, and rows.csv beside it.

docs/bundle.md is their specification. Rows come in batches and no more of them is held.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.release.csv_files import cells_of, opened, texts_of
from holdfast.release.record import PARTS, ROWS, rows_header, table_name
from holdfast.release.release import Column, Release, RowBatch, zeros_by_group
from holdfast.release.row_intervals import likely_intervals, plain_intervals
from holdfast.tables.cell_text import Texts

MOST_WRITTEN = 1 << 15  # different rows whose cells are remembered, some MiB


def table_header(release: Release) -> list[str]:
    """The names of the columns of the table."""
    return [*release.published, *(column.name for column in release.columns)]


class RowFiles:
    """Writes both files, batch after batch, and counts what release.json says of the rows."""

    def __init__(self, release: Release, folder: Path, stack: ExitStack) -> None:
        self.release = release
        self.rows = 0
        self.missing = dict.fromkeys((column.name for column in release.columns), 0)
        self.known_zeros = np.zeros(len(release.group_names) + 1, dtype=np.int64)
        header = rows_header(
            release.category,
            (column.name for column in release.columns),
            grouped=bool(release.partition.within.parts),
        )
        self._rows = opened(folder / ROWS, release.dialect, header, stack).buffer
        self._names = cells_of(Texts.of([*release.group_names, ""]))
        self._intervals = {
            column.name: _interval_texts(column, release) for column in release.columns
        }
        place, header = folder / table_name(release.table_format), table_header(release)
        if release.table_format == "csv":
            self._table = opened(place, release.dialect, header, stack).buffer
            self._write_table = self._write_text
        else:
            from holdfast.release.parquet import ParquetTable

            self._write_table = ParquetTable(place, header, release, stack).write

    def write(self, batch: RowBatch) -> None:
        """Write the next rows."""
        release, zero = self.release, batch.structural_zero
        if batch.start != self.rows:
            raise HoldfastError("rows of a release must be written in their order.")
        self.rows += len(batch)
        self.known_zeros += zeros_by_group(batch.group[zero], len(release.group_names))
        for name, marks in batch.missing.items():
            self.missing[name] += int(marks.sum())
        self._write_table(batch)
        columns: list[Texts] = [self._labels(batch)]
        if release.partition.within.parts:
            columns.append(self._names[batch.group])
        for column in release.columns:
            said = self._intervals[column.name]
            missing = batch.missing[column.name]
            columns.append(said(batch.noisy[column.name], batch.group, zero, missing))
        self._rows.writelines(release.dialect.joined(columns))

    def _labels(self, batch: RowBatch) -> Texts:
        if self.release.category is None:
            rows = range(batch.start + 1, batch.start + len(batch) + 1)
            return Texts.of(list(map(str, rows)))
        return _cells(batch, self.release.category)

    def _write_text(self, batch: RowBatch) -> None:
        release = self.release
        columns: list[Texts] = [_cells(batch, name) for name in release.published]
        columns += [
            _count_texts(batch.counts[each.name], release.top_code) for each in release.columns
        ]
        self._table.writelines(release.dialect.joined(columns))


def _cells(batch: RowBatch, name: str) -> Texts:
    """The cells of a published column as they are written between delimiters."""
    return cells_of(texts_of(batch.cells[name]))


def _count_texts(counts: Integers, top: int | None) -> Texts:
    """Released counts as text; "" where one is missing."""
    values, which = coded(counts)
    texts = ["" if value < 0 else str(value) for value in values.tolist()]
    if top is not None:
        texts[int(np.searchsorted(values, top)) :] = [f"{top} or more"] * int((values >= top).sum())
    return Texts.of(texts)[which]


def coded(values: Integers) -> tuple[Integers, Integers]:
    """The different values, ascending, and the place of each value among them."""
    lowest = int(values.min(initial=0))
    span = int(values.max(initial=0)) - lowest + 1
    if span > 4 * len(values) + 1024:
        distinct, which = np.unique(values, return_inverse=True)
        return distinct, which
    place = np.zeros(span, dtype=np.int64)
    place[values - lowest] = 1
    distinct = np.flatnonzero(place)
    place[distinct] = np.arange(len(distinct))
    return distinct + lowest, place[values - lowest]


def _interval_texts(
    column: Column, release: Release
) -> Callable[[Integers, Integers, Marks, Marks], Texts]:
    """Function that writes the five cells of rows from noisy counts, groups, and marks."""
    noise, likely = column.measurement.noise, likely_intervals(column.estimate)
    delimiter, groups = release.dialect.delimiter, len(release.group_names)
    zeros, nothing = delimiter.join(["", "0", "0", "0", "0"]), delimiter * (len(PARTS) - 1)

    @lru_cache(MOST_WRITTEN)
    def line(*numbers: int) -> str:
        return delimiter.join(map(str, numbers))

    def texts(noisy: Integers, group: Integers, zero: Marks, missing: Marks) -> Texts:
        values, places = coded(noisy)
        beyond = groups * len(values)
        keys = np.where(zero, beyond, np.where(missing, beyond + 1, group * len(values) + places))
        keys, which = coded(keys)
        measured = keys[keys < beyond]
        inside, value = measured // len(values), values[measured % len(values)]
        parts = (value, *plain_intervals(value, noise), *likely(value, inside))
        lines = list(map(line, *(part.tolist() for part in parts)))
        lines += [zeros if key == beyond else nothing for key in keys[len(measured) :].tolist()]
        return Texts.of(lines)[which]

    return texts
