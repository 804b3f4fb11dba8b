"""Writing a table again, a batch at a time: its published columns with other counts."""

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.counts import is_missing
from holdfast.tables.csv import CsvTable, csv_text
from holdfast.tables.csv_scan import NOTHING, SpanRows
from holdfast.tables.rows import Rows

Numbers = Mapping[str, Integers]


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
        data = self._quickly(rows, numbers) if isinstance(rows, SpanRows) else None
        if data is None:
            data = self._text(rows, numbers).encode()
        encoding = self._head.encoding
        self._sink.write(data if encoding == "utf-8" else data.decode().encode(encoding))

    def _quickly(self, rows: SpanRows, numbers: Numbers) -> bytes | None:
        if rows.delimiter != ord(self._delimiter):
            return None
        replaced = {name: own for name, own in numbers.items() if name in self._head.header}
        further = [numbers[name] for name in self._further]
        return rows.written(self._head.header, replaced, self._head.newline.encode(), further)

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
