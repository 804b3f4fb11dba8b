"""`holdfast privatize` for tables that are streamed: when, from where, and with which progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.cli.screen import asides
from holdfast.errors import HoldfastError
from holdfast.tables.stream.open import PARQUET

LARGE = 1 << 24
"""Files from here on are streamed unless `--no-stream` is given: of a CSV file the bytes that no
count is written with, of a Parquet file eight bytes a cell and its text."""
_OF_COUNTS = b'0123456789+-. \t"\0'


def is_streamed(file: Path, asked: bool | None, query: str | None) -> bool:
    """Whether a table is read in batches: as asked, else by what it is and how large."""
    if query is not None or file.is_dir():
        if asked is False:
            raise HoldfastError("`--no-stream` is for single files. Hint: leave it out.")
        return True
    if asked is None:
        return file.is_file() and is_large(file)
    return asked


def is_large(file: Path) -> bool:
    """Whether a table is streamed, by what does not depend on its counts: whoever sees that it was
    learns nothing of them."""
    try:
        return (_arrow_size if file.suffix.lower() in PARQUET else _text_size)(file) >= LARGE
    except Exception:  # whoever reads it next says what is wrong with it
        return False


def _text_size(file: Path) -> int:
    size = 0
    with file.open("rb") as data:
        while size < LARGE and (piece := data.read(1 << 22)):
            size += len(piece.translate(None, _OF_COUNTS))
    return size


def _arrow_size(file: Path) -> int:
    import pyarrow.parquet as parquet

    data = parquet.ParquetFile(file).metadata
    groups = [data.row_group(at) for at in range(data.num_row_groups)]
    columns = [group.column(at) for group in groups for at in range(group.num_columns)]
    text = sum(c.total_uncompressed_size for c in columns if c.physical_type == "BYTE_ARRAY")
    return int(8 * data.num_rows * data.num_columns + text)


@contextmanager
def asked_source(file: Path, query: str | None) -> Iterator[Any]:
    """The path, or the relation that a query makes in a DuckDB database."""
    if query is None:
        yield file
        return
    try:
        import duckdb
    except ImportError:
        raise HoldfastError("`--query` needs DuckDB. Hint: pip install duckdb.") from None
    if not file.is_file():
        raise HoldfastError(f"`{file}` cannot be read: there is no such database.")
    try:
        connection = duckdb.connect(str(file), read_only=True)
        relation = connection.sql(query)
    except duckdb.Error as error:
        raise HoldfastError(
            f"`{file}`: the query cannot be run ({type(error).__name__}). "
            "Hint: try it in DuckDB; it must be one SELECT."
        ) from None
    if relation is None:
        raise HoldfastError("`--query` must give a table. Hint: it must be one SELECT.")
    with connection:
        yield relation


@contextmanager
def watched(*, quiet: bool) -> Iterator[Callable[[str, float | None], None]]:
    """A bar for each pass, with the time that is left. Silent if unwatched."""
    if quiet or not asides.is_terminal:
        yield lambda _what, _done: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=asides) as progress:
        bars: dict[str, Any] = {}

        def show(what: str, done: float | None) -> None:
            if what not in bars:
                bars[what] = progress.add_task(what, total=None if done is None else 1.0)
            progress.update(bars[what], completed=done)

        yield show
