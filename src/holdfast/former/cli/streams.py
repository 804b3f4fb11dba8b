"""`holdfast privatize` for tables that are streamed: when, from where, and with which progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, listed_names
from holdfast.former.cli.screen import asides
from holdfast.former.engines.looking import is_large


def is_streamed(file: Path, asked: bool | None, query: str | None) -> bool:
    """Whether a table is read in batches: as asked, else by what it is and how large."""
    if query is not None or file.is_dir():
        if asked is False:
            raise HoldfastError("`--no-stream` is for single files. Hint: leave it out.")
        return True
    if asked is None:
        return is_large(file)
    return asked


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
    names = list(relation.columns)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise HoldfastError(
            f"`--query` gives several columns one name: {listed_names(twice)}. "
            "Hint: give them different names with AS."
        )
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
