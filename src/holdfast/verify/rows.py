"""rows.csv and the table, read by columns: marks, groups, noisy counts, what was released."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks, narrowed
from holdfast.release.csv_files import (
    Dialect,
    escaped,
    labels_of,
    numbers_of,
    read_columns,
    texts_of,
    whole_numbers,
)
from holdfast.release.load import StoredRows, read_table
from holdfast.release.record import read_noise, rows_header, titles
from holdfast.tables.cell_text import Texts
from holdfast.tables.spans import joined, joined_keys, keys_between
from holdfast.verify.folder import ROWS, opened
from holdfast.verify.record import class_ends, number_of
from holdfast.verify.report import Damage, Failure

LEVEL = 0.9
NOTHING = -1


def csv_columns(
    folder: Path, name: str, record: dict[str, Any], names: Sequence[str]
) -> Iterator[list[Texts]]:
    """The columns of a CSV file of the bundle, some rows at a time."""
    with opened(folder, name) as file:
        yield from read_columns(file, name, Dialect.from_dict(record["table"]), names)


class LabelDigest:
    """The labels of rows in their order, of which a digest is kept."""

    def __init__(self) -> None:
        self._sizes, self._bytes = hashlib.sha256(), hashlib.sha256()

    def add(self, cells: Texts) -> None:
        """The labels of the next rows."""
        self._sizes.update((cells.stops - cells.starts).tobytes())
        self._bytes.update(joined(cells.data, cells.starts, cells.stops).tobytes())

    @property
    def digest(self) -> bytes:
        """The same for the same labels, and for no others."""
        return self._sizes.digest() + self._bytes.digest()


class RowsFile:
    """What rows.csv says, in arrays; its plain intervals are those of its noisy counts."""

    def __init__(self, folder: Path, record: dict[str, Any]) -> None:
        self._record, self.labels = record, LabelDigest()
        self._grouped = bool(record["groups"]["columns"])
        self._reach = [read_noise(each["noise"]).quantile(LEVEL) for each in record["counts"]]
        names = {name: at for at, name in enumerate(record["groups"]["names"])} | {"": NOTHING}
        batches, rows = list[list[Any]](), 0
        header = rows_header(record["category"], titles(record), grouped=self._grouped)
        for cells in csv_columns(folder, ROWS, record, header):
            self._label(cells[0], rows)
            rows += len(cells[0])
            group = np.zeros(len(cells[0]), dtype=np.int32)
            if self._grouped:
                group = numbers_of(cells[1], names, ROWS).astype(np.int32)
            batches.append([group, *self._batch(cells[1 + self._grouped :])])
        if rows != record["table"]["rows"]:
            raise Damage(f"{ROWS} has another number of records than release.json states.")
        arrays = [np.concatenate(each) for each in zip(*batches, strict=True)]
        self.group, self.zero, columns = arrays[0], arrays[1], arrays[2:]
        self.missing: list[Marks] = columns[::4]
        self.noisy: list[Integers] = columns[1::4]
        self.likely = list(zip(columns[2::4], columns[3::4], strict=True))
        if ((self.group == NOTHING) & np.logical_or.reduce(self.measured)).any():
            raise Damage(f"a row of {ROWS} that was measured is in no group.")

    @property
    def measured(self) -> list[Marks]:
        """By column, the rows that have a noisy count."""
        return [~(missing | self.zero) for missing in self.missing]

    def stored(self) -> StoredRows:
        """The same for the maker's functions."""
        return StoredRows(
            group=self.group, noisy=self.noisy, measured=self.measured, missing=self.missing
        )

    def _label(self, cells: Texts, before: int) -> None:
        self.labels.add(cells)
        if self._record["category"] is None and not np.array_equal(
            whole_numbers(cells, ROWS), np.arange(before + 1, before + 1 + len(cells))
        ):
            raise Damage(f"the rows of {ROWS} are not numbered from 1.")

    def _batch(self, columns: list[Texts]) -> list[Any]:
        """Which rows are known to be zero, then of each column those missing, noisy counts, and
        ends of likely intervals."""
        zero, filled = np.zeros(len(columns[0]), dtype=np.bool_), list[Marks]()
        arrays = list[Any]()
        for k, reach in enumerate(self._reach):
            cells = columns[5 * k : 5 * k + 5]
            noisy, low, high, *likely = (whole_numbers(each, ROWS) for each in cells)
            some = np.logical_or.reduce([each.filled for each in cells[1:]])
            every = np.logical_and.reduce([each.filled for each in cells[1:]])
            if (some & ~every).any() or (cells[0].filled & ~some).any():
                raise Damage(f"a noisy count of {ROWS} has no interval.")
            filled.append(cells[0].filled)
            blank = some & ~filled[k]
            if any(ends[blank].any() for ends in (low, high, *likely)):
                raise Damage(f"a row of {ROWS} without a noisy count is not marked as known zero.")
            zero |= blank
            ends = np.maximum(noisy - reach, 0), np.maximum(noisy + reach, 0)
            if any((a != b)[filled[k]].any() for a, b in zip(ends, (low, high), strict=True)):
                raise Damage(f"a plain interval of {ROWS} is not that of its noisy count.")
            arrays += [~some, *map(narrowed, (noisy, *likely))]
        if any((each & zero).any() for each in filled):
            raise Damage(f"a row of {ROWS} is known to be zero in one column and measured in "
                         "another.")  # fmt: skip
        return [zero, *arrays]


class TableFile:
    """What the table says: released counts, and the labels of its rows; each row is in the group
    that its published cells say."""

    def __init__(self, folder: Path, record: dict[str, Any], group: Integers) -> None:
        self._record, self.labels = record, LabelDigest()
        self.name, said = record["table"]["file"], record["groups"]
        published, batches, rows = record["published"], list[list[Integers]](), 0
        for texts, counts in self._batches(folder):
            if record["category"] is not None:
                self.labels.add(texts[0])
            if said["columns"]:
                columns = [texts[published.index(name)] for name in said["columns"]]
                _check_members(columns, group[rows : rows + len(counts[0])], record)
            batches.append(list(map(narrowed, counts)))
            rows += len(counts[0])
        if rows != record["table"]["rows"]:
            raise Damage("the table has another number of rows than release.json states.")
        self.counts = [np.concatenate(each) for each in zip(*batches, strict=True)]
        """By column; -1 where one is missing, `top` where it is that or more."""
        self.rows = rows

    def _batches(self, folder: Path) -> Iterator[tuple[list[Texts], list[Integers]]]:
        """The published columns as rows.csv would hold them and the released counts, some rows at
        a time."""
        name, first, top = self.name, len(self._record["published"]), self._record["top"]
        if name == "table.parquet" and find_spec("pyarrow") is None:
            words = f"{name} needs pyarrow. Hint: pip install pyarrow."
            raise Damage(words, Failure.MACHINE)
        with opened(folder, name) as file:
            for cells in read_table(file, self._record):
                if name == "table.csv":
                    yield cells[:first], [_text_counts(each, top, name) for each in cells[first:]]
                else:
                    texts = [escaped(texts_of(each)) for each in cells[:first]]
                    yield texts, [_arrow_counts(each, name) for each in cells[first:]]


def _text_counts(cells: Texts, top: int | None, name: str) -> Integers:
    more = np.zeros(len(cells), dtype=np.bool_)
    if top is not None:
        words = np.frombuffer(f"{top} or more".encode(), np.uint8)
        rows = np.flatnonzero(cells.stops - cells.starts == len(words))
        signs = cells.data[cells.starts[rows][:, None] + np.arange(len(words))]
        more[rows] = (signs == words).all(axis=1)
    digits = Texts(cells.data, cells.starts, np.where(more, cells.starts, cells.stops))
    counts = whole_numbers(digits, name)
    if (counts < 0).any() or (top is not None and (counts >= top).any()):
        raise Damage(f"{name} has a count that cannot be one.")
    counts[~cells.filled] = NOTHING
    counts[more] = top or 0
    return counts


def _arrow_counts(column: Any, name: str) -> Integers:
    if str(column.type) != "int64":
        raise Damage(f"{name} has a count that is no whole number of 64 bits.")
    counts = column.fill_null(NOTHING).to_numpy()
    if int((counts < 0).sum()) > column.null_count:
        raise Damage(f"{name} has a count that cannot be one.")
    return np.asarray(counts)


def _check_members(columns: list[Texts], group: Integers, record: dict[str, Any]) -> None:
    """Rows are in the groups that their published cells say; each different row is looked at."""
    at = np.flatnonzero(group >= 0)
    cells = [keys_between(each.data, each.starts, each.stops)[at] for each in columns]
    keys = joined_keys([*cells, group[at].astype(np.uint64)])
    rows = at[np.unique(keys, return_index=True)[1]]
    texts, said = [labels_of(each[rows]).to_pylist() for each in columns], record["groups"]
    written = _written(record["request"] or {})
    for k, classes in enumerate(said["classes"]):
        labels = [label[k] for label in said["labels"]]
        places, loose = set(labels), Counter(map(_loosely, set(labels)))
        for cell, number in zip(texts[k], group[rows].tolist(), strict=True):
            label = labels[number]
            if classes is not None:
                marked = written.fullmatch(cell.strip())
                plain = f"{re.sub('[^0-9+-]', '', marked[1])}.{marked[2] or 0}" if marked else cell
                value, (low, high) = number_of(plain), class_ends(label)
                inside = value is not None and low <= value <= high
            elif cell in places or loose[_loosely(cell)] > 1:
                inside = cell == label
            else:
                inside = _loosely(cell) == _loosely(label)
            if not inside:
                raise Damage("a row is in a group that its published cells do not say.")


def _written(request: dict[str, Any]) -> re.Pattern[str]:
    """How numbers of the table are written, with the marks that the request names."""
    thousands, decimal = (str(request.get(name) or "") for name in ("thousands", "decimal"))
    between = re.escape({"'": "'\u2019", " ": " \u00a0\u202f"}.get(thousands, thousands))
    grouped = f"[1-9][0-9]{{0,2}}(?:[{between}][0-9]{{3}})+|" if between else ""
    return re.compile(f"([+-]?(?:{grouped}[0-9]+))(?:{re.escape(decimal or '.')}([0-9]+))?")


def _loosely(label: str) -> float | str:
    """What is the same for labels that a file may spell otherwise, such as 7 and 7.0."""
    number = number_of(label)
    return label.casefold() if number is None else number
