"""The first look at a table that may not be ready, as a steward sees it. NOT PRIVATE."""

import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.screen import aside, show, show_line, tabled, working
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.request import FIELDS, as_options

if TYPE_CHECKING:
    from holdfast.tables.look import Look
    from holdfast.tables.look_columns import LookedColumn
    from holdfast.tables.options import TableOptions

WIDEST_CELL = 24
SHOWN_COLUMNS = 8  # of the rows that are shown
MOST_LISTED = 30  # columns, or labels of one


def say_look(file: Path, options: "TableOptions") -> None:
    """What the table in a file looks like: its columns, its first and last rows, what to do."""
    from holdfast.tables.look import look

    with working("Reading …"):
        looked = look(file, options)
    if looked.first:
        aside("NOT PRIVATE: these are cells of the table itself.", style="bold")
    if looked.columns:
        show(f"{one_line(looked.name)}: {numbered(looked.rows, 'row')}.")
        show(_columns(looked))
    if looked.first:
        show(_rows(looked))
    for column in looked.columns:
        if column.labels:
            show(_labels(column))
    for hint in looked.hints:
        text = one_line(hint.text)
        show(f"- {text.rstrip('.')}:" if hint.words else f"- {text}")
        if hint.words:
            show_line(f"    {_options(hint.words)}")
    for words in _next(looked):
        show_line(words)
    if looked.problem:
        raise HoldfastError(looked.problem)


def hints(file: Path, options: "TableOptions", *, counted: bool) -> list[str]:
    """What to do about a file that could not be read, a line each; `counted` says that persons are
    counted already."""
    from holdfast.tables.look import look

    every = ((one_line(hint.text), hint.words) for hint in look(file, options).hints)
    return [
        f"- {text.rstrip('.')}: {_options(words)}." if words else f"- {text}"
        for text, words in every
        if not (counted and "from_people" in words)
    ]


def _options(words: Mapping[str, Iterable[str]]) -> str:
    """The same as options of the command line."""
    return one_line(shlex.join(as_options(words)))


def _columns(looked: "Look") -> object:
    """Every column with its kind, and what it may be for."""
    uses = {c.name: f"{numbered(len(c.labels), 'group')}?" for c in looked.columns if c.labels}
    uses |= dict.fromkeys(looked.persons_by, "count by it?")
    uses |= dict.fromkeys(looked.category_like, "category?")
    uses |= dict.fromkeys(looked.non_private_counts, "counts?")
    rows = [
        (_short(c.name), c.kind.value, f"{c.different:,}", uses.get(c.name, ""))
        for c in looked.columns[:MOST_LISTED]
    ]
    headings = ("column", "holds", "different", "may be")
    return tabled(headings, rows, left=("column", "holds", "may be"))


def _labels(column: "LookedColumn") -> str:
    """Every label of a column with its number of rows."""
    listed = [f"{label!r} {rows:,}" for label, rows in column.labels[:MOST_LISTED]]
    more = "; …" if len(column.labels) > MOST_LISTED else ""
    return f"Rows by {one_line(column.name)}: {one_line('; '.join(listed))}{more}."


def _rows(looked: "Look") -> object:
    """The first rows and the last, with their numbers in the file."""
    shown = [*looked.first, *looked.last]
    names = [_short(column.name) for column in looked.columns[:SHOWN_COLUMNS]]
    names = names or [""] * min(SHOWN_COLUMNS, max(len(row.cells) for row in shown))
    rows = [
        ("" if row.number is None else f"{row.number:,}", *map(_short, row.cells[: len(names)]))
        for row in shown
    ]
    if looked.last:
        rows.insert(len(looked.first), ("…",))
    return tabled(("row", *names), rows, left=names)


def _short(text: str) -> str:
    flat = one_line(text)
    return flat if len(flat) <= WIDEST_CELL else f"{flat[: WIDEST_CELL - 1]}…"


def _next(looked: "Look") -> list[str]:
    """Commands that may come next: what was said already, and what is missing."""
    words = ["holdfast", *(word for word in sys.argv[1:] if word != "--dry-run")]
    if looked.sheets:
        return [one_line(f"  {shlex.join([*words, '--sheet', sheet])}") for sheet in looked.sheets]
    if not looked.rows or looked.problem:
        return []
    needed, what = {"count": ["COLUMN"], "category": ["COLUMN"]}, "your own choice of columns"
    if len(looked.columns) > len(needed) and FIELDS["keep_none"].option not in words:
        needed["keep"] = ["COLUMN"]
        what += ", or --keep-none for --keep"
    if looked.persons_by:
        needed, what = {"categories": ["LIST.csv"]}, "such a file LIST.csv"
    asked = needed | looked.suggested | {"epsilon": ["1"]}
    said = {name: asked[name] for name, about in FIELDS.items()
            if name in asked and about.option not in words}  # fmt: skip
    command = one_line(shlex.join([*words, *as_options(said), "--dry-run"]))
    return ["", f"Next, with {what}:", f"  {command}"]
