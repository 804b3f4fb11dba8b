"""How a release shows in a notebook."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from holdfast.analysis.markup import table
from holdfast.tables.table import labels_of

if TYPE_CHECKING:
    from holdfast.release.release import Release

FIRST_ROWS = 10


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
