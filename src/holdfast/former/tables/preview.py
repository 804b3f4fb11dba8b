"""The first and last rows of a file, to look at: for the steward alone."""

from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.former.tables.csv import parse_csv
from holdfast.former.tables.formats import Format, format_of
from holdfast.former.tables.table import columns_of, labels_of

HEAD = 1 << 20
"""Bytes of a large text file that are read for its first rows."""


class Preview(NamedTuple):
    """NOT PRIVATE: names of columns and true cells."""

    columns: list[str]
    rows: list[list[str]]
    """The first ones."""
    last: list[list[str]]
    """The last ones, as far as they are not among the first."""


def preview(table: Any, rows: int, last: int = 0) -> Preview:
    r"""The columns of a table, its first rows and its last as text.

    >>> preview(parse_csv(b"county,deaths\nKent,3\nEly,0\nTotal,3\n"), 1, 1)
    Preview(columns=['county', 'deaths'], rows=[['Kent', '3']], last=[['Total', '3']])
    """
    names = columns_of(table)
    cells = [labels_of(table, name) for name in names]
    end = max(rows, len(cells[0]) - last) if last and cells else None
    first = [column[:rows] for column in cells]
    return Preview(names, _text(first), _text([column[end:] for column in cells] if end else []))


def _text(columns: list[list[Any]]) -> list[list[str]]:
    return [["" if c is None else str(c) for c in row] for row in zip(*columns, strict=True)]


def head(path: Path, rows: int) -> Any:
    """The beginning of a large file as a table; no more of it is read."""
    if format_of(path) is Format.PARQUET:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        file = parquet.ParquetFile(path)
        batches = file.iter_batches(batch_size=rows)
        return pa.Table.from_batches([next(batches)])
    with path.open("rb") as text:
        data = text.read(HEAD)
    whole, newline, _ = data.rpartition(b"\n")
    if not newline:
        raise HoldfastError(f"`{path.name}`: the first line does not end. Hint: is it a CSV file?")
    return parse_csv(whole)
