"""The first rows of a file, to look at: for the steward alone."""

from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.tables.csv import parse_csv
from holdfast.tables.files import read_file
from holdfast.tables.table import columns_of, labels_of

HEAD = 1 << 20
"""Bytes of a large text file that are read for its first rows."""


class Preview(NamedTuple):
    """NOT PRIVATE: names of columns and true cells."""

    columns: list[str]
    rows: list[list[str]]


def preview(path: Path, rows: int, *, large: bool) -> Preview:
    """The columns of a file and its first rows as text; of a large one no more is read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("county,deaths\\nKent,3\\nEly,0\\n")
    ...     preview(Path(folder) / "a.csv", 1, large=False)
    Preview(columns=['county', 'deaths'], rows=[['Kent', '3']])
    """
    table = _head(path, rows) if large else read_file(path)
    names = columns_of(table)
    columns = [labels_of(table, name)[:rows] for name in names]
    cells = zip(*columns, strict=True)
    return Preview(names, [["" if cell is None else str(cell) for cell in row] for row in cells])


def _head(path: Path, rows: int) -> Any:
    if path.suffix.lower() in (".parquet", ".pq"):
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
