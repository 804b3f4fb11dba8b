"""The first look at a table that may not be ready, as a steward sees it. NOT PRIVATE."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.screen import aside, show, tabled
from holdfast.errors import numbered, one_line
from holdfast.request import FIELDS

if TYPE_CHECKING:
    from holdfast.tables.look import Look
    from holdfast.tables.look_columns import LookedColumn
    from holdfast.tables.options import TableOptions

WIDEST_CELL = 24
MOST_COLUMNS = 8  # of the rows that are shown
MOST_LISTED = 30  # columns, or labels of one


def say_look(file: Path, options: "TableOptions") -> None:
    """What the table in a file looks like: its columns, its first and last rows, what to do."""
    from holdfast.tables.look import look

    found = look(file, options)
    if found.problem:
        show(f"{one_line(found.problem)}\n")
    if found.first:
        aside("NOT PRIVATE: these are cells of the table itself.", style="bold")
    if found.columns:
        show(f"{one_line(found.name)}: {numbered(found.rows, 'row')}.")
        show(_columns(found))
    if found.first:
        show(_rows(found))
    for column in found.columns:
        if column.labels:
            show(_labels(column))
    for hint in found.hints(str(file)):
        show(f"- {one_line(hint)}")
    if found.rows and not found.problem and not found.persons_by:
        show(f"\n{_next(found)}")


def hints(file: Path, options: "TableOptions") -> list[str]:
    """What to do about a file that could not be read, a sentence each."""
    from holdfast.tables.look import look

    return look(file, options).hints(str(file))


def _columns(found: "Look") -> object:
    """Every column with its kind, and what it may be for."""
    rows = []
    for column in found.columns[:MOST_LISTED]:
        use = ""
        if column.name in found.non_private_counts:
            use = "counts?"
        elif column.name in found.category_like:
            use = "category?"
        elif column.labels:
            use = f"{numbered(len(column.labels), 'group')}?"
        rows.append((_short(column.name), column.kind.value, f"{column.different:,}", use))
    left = ("column", "holds", "may be")
    return tabled(("column", "holds", "different", "may be"), rows, left=left)


def _labels(column: "LookedColumn") -> str:
    """Every label of a column with its number of rows."""
    listed = [f"{label!r} {rows:,}" for label, rows in column.labels[:MOST_LISTED]]
    more = "; …" if len(column.labels) > MOST_LISTED else ""
    return f"Rows by {one_line(column.name)}: {one_line('; '.join(listed))}{more}."


def _rows(found: "Look") -> object:
    """The first rows and the last, with their numbers in the file."""
    shown = [*found.first, *found.last]
    names = [_short(column.name) for column in found.columns[:MOST_COLUMNS]]
    names = names or [""] * min(MOST_COLUMNS, max(len(row.cells) for row in shown))
    rows = [
        ("" if row.number is None else f"{row.number:,}", *map(_short, row.cells[: len(names)]))
        for row in shown
    ]
    if found.last:
        rows.insert(len(found.first), ("…",))
    return tabled(("row", *names), rows, left=names)


def _short(text: str) -> str:
    flat = one_line(text)
    return flat if len(flat) <= WIDEST_CELL else f"{flat[: WIDEST_CELL - 1]}…"


def _next(found: "Look") -> str:
    """The command that may come next: what was said already, and what is missing."""
    words = ["holdfast", *(word for word in sys.argv[1:] if word != "--dry-run")]
    needed = {"count": ["COLUMN"], "category": ["COLUMN"]} | found.suggested | {"epsilon": ["1"]}
    for name, values in needed.items():
        option = FIELDS[name].option
        words += [] if option in words else [word for each in values for word in (option, each)]
    command = one_line(shlex.join([*words, "--dry-run"]))
    return f"Next, with your own choice of columns: {command}"
