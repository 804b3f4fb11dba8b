"""How answers and releases show in a notebook: small tables of HTML, no script."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from holdfast.former.tables.table import labels_of

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

FIRST_ROWS = 10


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table, everything in it escaped.

    >>> table(["a"], [["<b>"]])
    '<table><tr><th scope="col">a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def small(items: Sequence[str]) -> str:
    """What to know, one line each."""
    return "".join(f"<p><small>{escape(note)}.</small></p>" for note in items)


def release_html(release: "Release") -> str:
    """What a release is, and its first rows."""
    names = [*release.unchanged_columns, release.count_column or "count"]
    shown = min(len(release.counts), FIRST_ROWS)
    columns: list[Sequence[Any]] = [
        labels_of(release.cells, name)[:shown] for name in release.unchanged_columns
    ]
    columns.append(release.counts[:shown].tolist())
    more = len(release.counts) - shown
    rest = f"<p>… and {more:,} more rows</p>" if more else ""
    head = f"<p>{escape(repr(release))}</p>"
    return head + table(names, list(zip(*columns, strict=True))) + rest
