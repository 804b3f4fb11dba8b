"""The first rows of a file, to look at: for the steward alone."""

from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.tables.csv import parse_csv
from holdfast.tables.formats import Format, format_of
from holdfast.tables.table import columns_of, labels_of

HEAD = 1 << 20
"""Bytes of a large text file that are read for its first rows."""


class Preview(NamedTuple):
    """NOT PRIVATE: names of columns and true cells."""

    columns: list[str]
    rows: list[list[str]]


def preview(table: Any, rows: int) -> Preview:
    r"""The columns of a table and its first rows as text.

    >>> preview(parse_csv(b"county,deaths\nKent,3\nEly,0\n"), 1)
    Preview(columns=['county', 'deaths'], rows=[['Kent', '3']])
    """
    names = columns_of(table)
    columns = [labels_of(table, name)[:rows] for name in names]
    cells = zip(*columns, strict=True)
    return Preview(names, [["" if cell is None else str(cell) for cell in row] for row in cells])


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
