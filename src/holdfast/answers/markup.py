"""How answers show in a notebook: small tables of HTML, no script."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def html_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table, everything in it escaped.

    >>> html_table(["a"], [["<b>"]])
    '<table><tr><th scope="col">a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def html_notes(notes: Sequence[str]) -> str:
    """What to know, one line each."""
    return "".join(f"<p><small>{escape(note)}.</small></p>" for note in notes)
