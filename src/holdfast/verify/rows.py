"""rows.csv and the table, read record by record: marks, groups, noisy counts, what was released."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.release.limits import BATCH_CHARACTERS, BATCH_ROWS, LARGEST_COUNT, LONGEST_RECORD
from holdfast.verify.folder import ROWS, opened
from holdfast.verify.report import Damage, NotChecked

Lines = list[list[str]]
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_FORMULA = re.compile(r"'+[=+\-@\t\r]")
_REMEMBERED = 1 << 20  # numbers
ENDS = ("low", "high", "likely_low", "likely_high")
NOTHING = -1


def title(column: dict[str, Any]) -> str:
    """What files call a column of counts."""
    name = column["name"]
    return "count" if name is None else str(name)


def plain(cell: str) -> str:
    """A label from its cell: without the apostrophe that keeps it from being a formula."""
    return cell[1:] if _FORMULA.match(cell) else cell


class Number:
    """Whole numbers from their only spelling."""

    def __init__(self, name: str) -> None:
        self._name, self._known = name, dict[str, int]()

    def __call__(self, text: str) -> int:
        """The number."""
        value = self._known.get(text)
        if value is None:
            if not _NUMBER.fullmatch(text) or abs(int(text)) > LARGEST_COUNT:
                raise Damage(f"{self._name} has a cell that is not a whole number as it must be.")
            value = int(text)
            if len(self._known) < _REMEMBERED:
                self._known[text] = value
        return value

    def all(self, cells: Sequence[str]) -> Integers:
        """Those of many cells."""
        return np.fromiter(map(self, cells), np.int64, len(cells))


def csv_lines(folder: Path, name: str, record: dict[str, Any]) -> Iterator[Lines]:
    """Records of a CSV file in its dialect, the first of them alone, then some at a time."""
    table = record["table"]
    with opened(folder, name) as file:
        start = b"\xef\xbb\xbf" if table["bom"] else b""
        if file.read(len(start)) != start:
            raise Damage(f"{name} does not begin as release.json says.")
        text = _RecordLines(file, name)
        reader = csv.reader(text, delimiter=table["delimiter"], strict=True)
        try:
            header = next(reader, None)
            if header is None:
                raise Damage(f"{name} is empty.")
            yield [header]
            lines: Lines = []
            for cells in reader:
                text.record = 0
                if len(cells) != len(header):
                    raise Damage(f"{name} has a record with too few or too many cells.")
                lines.append(cells)
                if len(lines) == BATCH_ROWS or text.batch > BATCH_CHARACTERS:
                    yield lines
                    lines, text.batch = [], 0
            if lines:
                yield lines
        except (csv.Error, UnicodeDecodeError) as error:
            raise Damage(f"{name} cannot be read as CSV ({type(error).__name__}).") from None


class _RecordLines:
    """The lines of a file, of which a record takes no more than it may."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        self._name = name
        self.record = self.batch = 0
        """Characters that were read for a record, and for the records held with it."""

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(LONGEST_RECORD + 1):
            self.record, self.batch = self.record + len(line), self.batch + len(line)
            if self.record > LONGEST_RECORD:
                raise Damage(f"{self._name} has a record of more than {LONGEST_RECORD} characters.")
            yield line


class RowsFile:
    """What rows.csv says, in arrays."""

    def __init__(self, folder: Path, record: dict[str, Any]) -> None:
        self._record = record
        self._titles = [title(column) for column in record["counts"]]
        self._grouped = bool(record["groups"]["columns"])
        rows, columns = record["table"]["rows"], len(self._titles)
        size = record["files"][ROWS]["bytes"]
        if rows * (1 + 5 * columns) > size:  # every record has so many characters at least
            raise Damage(f"{ROWS} is too small for the rows that release.json states.")
        self.labels: list[str] = []
        self.group = np.full(rows, NOTHING, dtype=np.int32)
        self.zero = np.zeros(rows, dtype=np.bool_)
        self.missing = np.zeros((columns, rows), dtype=np.bool_)
        self.noisy = np.zeros((columns, rows), dtype=np.int64)
        self.ends = np.zeros((columns, 4, rows), dtype=np.int64)
        self._read(csv_lines(folder, ROWS, record))

    @property
    def measured(self) -> Marks:
        """By column, the rows that have a noisy count."""
        return ~(self.missing | self.zero)

    def _header(self) -> list[str]:
        first = self._record["category"]
        names = ["row" if first is None else first, *(["group"] * self._grouped)]
        names += [f"{each}_{end}" for each in self._titles for end in ("noisy", *ENDS)]
        return names

    def _read(self, batches: Iterator[Lines]) -> None:
        (header,) = next(batches)
        if list(map(plain, header)) != self._header():
            raise Damage(f"the first record of {ROWS} does not name its columns.")
        names = {name: at for at, name in enumerate(self._record["groups"]["names"])}
        names[""] = NOTHING
        start, rows, number = 0, len(self.zero), Number(ROWS)
        for lines in batches:
            if start + len(lines) > rows:
                raise Damage(f"{ROWS} has more records than release.json states.")
            some = slice(start, start + len(lines))
            columns = list(zip(*lines, strict=True))
            self.labels.extend(columns[0])
            if self._grouped:
                self.group[some] = self._groups(columns[1], names)
            self._batch(some, columns[1 + self._grouped :], number)
            start += len(lines)
        if start != rows:
            raise Damage(f"{ROWS} has fewer records than release.json states.")
        if not self._grouped:
            self.group[self.measured.any(axis=0)] = 0
        if (self.measured.any(axis=0) & (self.group == NOTHING)).any():
            raise Damage(f"a row of {ROWS} that was measured is in no group.")
        if self._record["category"] is None and self.labels != [*map(str, range(1, rows + 1))]:
            raise Damage(f"the rows of {ROWS} are not numbered from 1.")

    @staticmethod
    def _groups(cells: Sequence[str], names: dict[str, int]) -> list[int]:
        try:
            return [names[plain(cell)] for cell in cells]
        except KeyError:
            raise Damage(f"{ROWS} names a group that release.json does not have.") from None

    def _batch(self, some: slice, columns: list[tuple[str, ...]], number: Number) -> None:
        for k in range(len(self._titles)):
            noisy, *ends = columns[5 * k : 5 * k + 5]
            blank = np.array([not cell for cell in noisy])
            nothing = np.array([not any(cells) for cells in zip(*ends, strict=True)])
            if (nothing & ~blank).any():
                raise Damage(f"a noisy count of {ROWS} has no interval.")
            zero = blank & ~nothing
            self.missing[k, some] = nothing
            self.noisy[k, some] = number.all([cell or "0" for cell in noisy])
            for at, cells in enumerate(ends):
                self.ends[k, at, some] = number.all(
                    [cell or "0" for cell in cells] if nothing.any() else cells
                )
            if (self.ends[k, :, some] * zero).any():
                raise Damage(f"a row of {ROWS} without a noisy count is not marked as known zero.")
            self.zero[some] |= zero
        filled = np.array([list(map(bool, cells)) for cells in columns[::5]])
        if (filled & self.zero[some]).any():
            raise Damage(f"a row of {ROWS} is known to be zero in one column and measured in "
                         "another.")  # fmt: skip


def table_batches(folder: Path, record: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Cells of the table by column, some rows at a time: text of CSV, Python objects of Parquet;
    and how many rows those are."""
    names = [*record["published"], *map(title, record["counts"])]
    name = record["table"]["file"]
    if name == "table.csv":
        batches = csv_lines(folder, name, record)
        (header,) = next(batches)
        if list(map(plain, header)) != names:
            raise Damage(f"the first record of {name} does not name its columns.")
        for lines in batches:
            yield dict(zip(names, zip(*lines, strict=True), strict=True)), len(lines)
        return
    yield from _parquet_batches(folder / name, names, record["table"]["rows"])


def _parquet_batches(
    path: Path, names: list[str], rows: int
) -> Iterator[tuple[dict[str, Any], int]]:
    from holdfast.release.parquet import read_batches

    if find_spec("pyarrow") is None:
        raise NotChecked("table.parquet needs pyarrow. Hint: pip install pyarrow.")
    try:
        for columns in read_batches(path, names, rows):
            cells = {name: column.to_pylist() for name, column in zip(names, columns, strict=True)}
            yield cells, len(columns[0])
    except HoldfastError as error:
        raise Damage(f"table.parquet cannot be read: {error}") from None


def count_reader(top: int | None, name: str) -> Callable[[Sequence[Any]], Integers]:
    """Released counts from the cells of a table: -1 where one is missing; `top` and above as it."""
    number, or_more = Number(name), None if top is None else f"{top} or more"

    def count(cell: Any) -> int:
        if cell is None or cell == "":
            return NOTHING
        if cell == or_more:
            return top or 0
        if not isinstance(cell, int | str) or isinstance(cell, bool):
            raise Damage(f"{name} has a count that is no whole number.")
        value = cell if isinstance(cell, int) else number(cell)
        if value < 0 or (isinstance(cell, str) and top is not None and value >= top):
            raise Damage(f"{name} has a count that cannot be one.")
        return value

    return lambda cells: np.fromiter(map(count, cells), np.int64, len(cells))
