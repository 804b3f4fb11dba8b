"""Writing a table again, a batch at a time: its published columns with other counts."""

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.batch import Batch, Numbers
from holdfast.tables.counts import MISSING, is_missing
from holdfast.tables.csv import CsvTable, csv_text
from holdfast.tables.csv_scan import SpanRows
from holdfast.tables.formats import Format, format_of
from holdfast.tables.frames import FrameRows
from holdfast.tables.parquet_groups import ParquetGroups, rows_in_group
from holdfast.tables.rows import Rows
from holdfast.tables.spans import NOTHING


class CsvWriter:
    """A CSV file that is written some rows at a time: columns as they are, with other numbers in
    some of them, and further columns of numbers after those.

    >>> import io
    >>> from holdfast.tables.rows import ListRows
    >>> sink = io.BytesIO()
    >>> writer = CsvWriter(sink, CsvTable(("place", "n"), []), ["noisy"])
    >>> rows = ListRows(("place", "n"), [["Kent", "Ely"], ["3", "0"]])
    >>> writer.write(rows, {"n": np.array([2, NOTHING]), "noisy": np.array([-1, 4])})
    >>> sink.getvalue()
    b'place,n,noisy\\nKent,2,-1\\nEly,,4\\n'
    """

    def __init__(self, sink: IO[bytes], head: CsvTable, further: Sequence[str] = ()) -> None:
        """`head` has the columns that are written, and says how."""
        self._sink, self._head, self._further = sink, head, list(further)
        names = (*head.header, *further)
        style = head.delimiter, head.newline, head.encoding, head.bom
        self._sink.write(CsvTable(names, [], *style).to_bytes())
        # One column shows no delimiter; the next reader will take it for a comma.
        self._delimiter = head.delimiter if len(names) > 1 else ","

    def write(self, rows: Rows, numbers: Numbers) -> None:
        """Write the next rows."""
        if isinstance(rows, SpanRows) and rows.delimiter == ord(self._delimiter):
            further = [numbers[name] for name in self._further]
            newline = self._head.newline.encode()
            data = rows.written(self._head.header, numbers, newline, further)
        else:
            data = self._text(rows, numbers).encode()
        encoding = self._head.encoding
        self._sink.write(data if encoding == "utf-8" else data.decode().encode(encoding))

    def close(self) -> None:
        """All is written."""

    def _text(self, rows: Rows, numbers: Numbers) -> str:
        columns = [
            number_texts(numbers[name]) if name in numbers else cell_texts(rows, name)
            for name in (*self._head.header, *self._further)
        ]
        lines = zip(*columns, strict=True)
        return csv_text(lines, newline=self._head.newline, delimiter=self._delimiter)


def number_texts(numbers: Integers) -> list[str]:
    """Numbers as text; nothing for `NOTHING`."""
    return ["" if number == NOTHING else str(number) for number in numbers.tolist()]


def cell_texts(rows: Rows, name: str) -> list[str]:
    """The cells of a column as text."""
    cells = rows.cells(name)
    return cells if rows.text else list(map(cell_text, cells))


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


class TableWriter:
    """A file that a table is written to, a batch at a time; it must not exist."""

    def __init__(
        self, path: Path, head: CsvTable, counts: Mapping[str, str], further: Sequence[str]
    ) -> None:
        """`head` has the columns that are written, and says how CSV is written; `counts` says what
        the columns of counts are called there."""
        self._counts, self._further = counts, list(further)
        parquet = format_of(path) is Format.PARQUET
        if path.suffix.lower() == ".tsv":
            head = replace(head, delimiter="\t")
        self._file = path.open("xb")
        self._writer: CsvWriter | ParquetWriter
        if parquet:
            self._writer = ParquetWriter(self._file, head.header, further)
        else:
            self._writer = CsvWriter(self._file, head, further)

    def __enter__(self) -> "TableWriter":
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._writer.close()

    def write(self, batch: Batch, numbers: Numbers) -> None:
        """Write the rows of a batch: a number for each of them in each column of counts, and in
        each further column, where `NOTHING` is an empty cell. Counts that are missing or known to
        be zero are written as such."""
        written = {name: numbers[name] for name in self._further}
        for name, title in self._counts.items():
            new = batch.released(name, numbers[name])
            written[title] = np.where(new == MISSING, NOTHING, new)
        self._writer.write(batch.rows, written)


class ParquetWriter:
    """A Parquet file that is written some rows at a time, in groups that are cut by row number."""

    def __init__(self, sink: IO[bytes], names: Sequence[str], further: Sequence[str] = ()) -> None:
        self._sink, self._names = sink, [*names, *further]
        self._file: ParquetGroups | None = None

    def write(self, rows: Rows, numbers: Numbers) -> None:
        """Write the next rows."""
        import pyarrow as pa

        columns = [
            pa.array(numbers[name], mask=numbers[name] == NOTHING)
            if name in numbers
            else arrow_cells(rows, name)
            for name in self._names
        ]
        table = pa.Table.from_arrays(columns, names=self._names)
        if self._file is None:
            self._file = ParquetGroups(self._sink, table.schema, rows_in_group(len(self._names)))
            self._file.__enter__()
        self._file.write(table)

    def close(self) -> None:
        """Write what is left."""
        if self._file is not None:
            self._file.__exit__(None, None, None)


def arrow_cells(rows: Rows, name: str) -> Any:
    """The cells of a column as Arrow has them, texts of a file as texts."""
    import pyarrow as pa

    if isinstance(rows, FrameRows):
        column = rows.series(name).to_arrow()
        return (
            column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        )
    return pa.array(rows.cells(name), pa.string())
