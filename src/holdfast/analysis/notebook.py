"""How answers and releases show in a notebook: small tables of HTML, no script."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from holdfast.analysis.answer import Answer, percent

if TYPE_CHECKING:
    from holdfast.analysis.asking import Answers
    from holdfast.release.release import Release

FIRST_ROWS = 10


def answer_html(answer: Answer) -> str:
    """One answer: the question, the estimate, the interval, what to know."""
    return table(["", "estimate", interval_of(answer)], [_cells(answer.question, answer)]) + notes(
        answer.notes
    )


def answers_html(answers: "Answers") -> str:
    """An answer for every group."""
    first = next(iter(answers.values()))
    rows = [_cells(name, found) for name, found in answers.items()]
    return table([answers.by, "estimate", interval_of(first)], rows) + notes(answers.notes)


def release_html(release: "Release") -> str:
    """What a release is, and its first rows."""
    from holdfast.tables.table import labels_of

    names = [*release.unchanged_columns, release.count_column or "count"]
    shown = min(len(release.counts), FIRST_ROWS)
    columns: list[Sequence[Any]] = [
        labels_of(release.table, name)[:shown] for name in release.unchanged_columns
    ]
    columns.append(release.counts[:shown].tolist())
    more = len(release.counts) - shown
    rest = f"<p>… and {more:,} more rows</p>" if more else ""
    head = f"<p>{escape(repr(release))}</p>"
    return head + table(names, list(zip(*columns, strict=True))) + rest


def interval_of(answer: Answer) -> str:
    """The heading of a column of intervals."""
    return f"{percent(answer.level)} interval"


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


def notes(items: Sequence[str]) -> str:
    """What to know, one line each."""
    return "".join(f"<p><small>{escape(note)}.</small></p>" for note in items)


def _cells(name: Any, answer: Answer) -> tuple[Any, str, str]:
    low, high = (answer.in_words(end) for end in answer.interval)
    return name, answer.in_words(answer.estimate), f"{low} to {high}"
