"""What commands print on: tables, bars, and signs of work that a person waits for."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from holdfast.errors import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


@cache
def _console(errors: bool) -> "Console":
    from rich.console import Console

    return Console(stderr=errors, highlight=False, markup=False, emoji=False)


def show(*content: Any, style: str | None = None) -> None:
    """Print words or tables for people."""
    _console(False).print(*content, style=style)


def show_line(words: str) -> None:
    """Print what stays in one line however narrow the screen is, such as a command to be copied."""
    _console(False).print(words, soft_wrap=True)


def aside(words: str, style: str | None = None) -> None:
    """Say something beside the output."""
    _console(True).print(words, style=style)


def note(words: str) -> None:
    """Say what somebody should know, beside the output."""
    aside(f"Note: {one_line(words).rstrip('.')}.")


def is_watched() -> bool:
    """Whether somebody sees what is said beside the output."""
    return bool(_console(True).is_terminal)


@contextmanager
def working(message: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show that something takes a moment; what it gives changes the words. Silent if unwatched."""
    if quiet or not is_watched():
        yield lambda words: None
        return
    with _console(True).status(message) as status:
        yield lambda words: status.update(words)


@contextmanager
def watched(*, quiet: bool = False) -> Iterator[Callable[[str, float | None], None]]:
    """A bar for each step, with the time that is left. Silent if unwatched."""
    if quiet or not is_watched():
        yield lambda _what, _done: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_console(True)) as progress:
        bars: dict[str, Any] = {}

        def step(what: str, done: float | None) -> None:
            """Move the bar of a step, or begin it."""
            if what not in bars:
                bars[what] = progress.add_task(what, total=None if done is None else 1.0)
            progress.update(bars[what], completed=done)

        yield step


def tabled(
    headings: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    title: str | None = None,
    left: Collection[str] = (),
    caption: str | None = None,
    **column: Any,
) -> "Table":
    """Rows under their headings, to the right of each column but those in `left`."""
    from rich.table import Table

    justify: dict[str, Any] = {"title_justify": "left", "caption_justify": "left"}
    table = Table(title=title, caption=caption, **justify)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right", **column)
    for row in rows:
        table.add_row(*row)
    return table
