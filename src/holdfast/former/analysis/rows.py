"""How an analyst names rows: by label, by number from 0, by a mask."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


def row_labels(release: "Release", column: str | None) -> Sequence[Any]:
    """The labels of the rows: of the named column, else of `label_column`, else 0, 1, …"""
    name = column or label_column(release)
    if name is None:
        return range(len(release.counts))
    from holdfast.former.tables.table import labels_of

    return labels_of(release.cells, name)


def label_column(release: "Release") -> str | None:
    """The column that names the rows: the category, else the first unchanged one."""
    return release.category or next(iter(release.unchanged_columns), None)


def row_names(release: "Release", labels: Sequence[Any]) -> list[str]:
    """The labels as texts; one that is on several rows with what tells these apart.

    >>> from holdfast import privatize
    >>> from holdfast.former.tables.csv import CsvTable
    >>> rows = [["Kent", "DE", "1"], ["Kent", "MI", "2"], ["Ely", "NV", "0"]]
    >>> table = CsvTable(("county", "state", "n"), rows)
    >>> names = {"count": "n", "category": "county", "keep": ["state"], "repeated_categories": True}
    >>> release = privatize(table, epsilon=1, max_count=3, seed=1, **names)
    >>> row_names(release, ["Kent", "Kent", "Ely"])
    ['Kent (DE)', 'Kent (MI)', 'Ely']
    """
    texts = [str(label) for label in labels]
    seen = Counter(texts)
    repeated = [place for place, text in enumerate(texts) if seen[text] > 1]
    for place, told in zip(repeated, _told_apart(release, texts, repeated), strict=True):
        texts[place] += f" ({' / '.join(told)})" if told else ""
    return texts


def _told_apart(
    release: "Release", texts: Sequence[str], rows: Sequence[int]
) -> Sequence[tuple[str, ...]]:
    """What public columns say of rows whose labels are the same: the first that tells them all
    apart, else every one."""
    from holdfast.former.tables.table import labels_of

    columns = []
    for name in release.unchanged_columns if rows else ():
        cells = labels_of(release.cells, name)
        values = [str(cells[row]) for row in rows]
        if all(texts[row] == value for row, value in zip(rows, values, strict=True)):
            continue  # the labels themselves
        if len({(texts[row], value) for row, value in zip(rows, values, strict=True)}) == len(rows):
            return [(value,) for value in values]
        columns.append(values)
    return list(zip(*columns, strict=True)) if columns else [()] * len(rows)


def find_row(release: "Release", labels: Sequence[Any], row: Any) -> int:
    """The number of the row with this label, with what tells it apart where labels repeat, or of
    this number."""
    texts = [str(label) for label in labels]
    places = [place for place, text in enumerate(texts) if text == str(row)]
    if len(places) == 1:
        return places[0]
    names = row_names(release, labels)
    if len(places) > 1:
        such = f"say which, such as {names[places[0]]!r:.80}; or " * (names != texts)
        raise HoldfastError(
            f"the label {row!s:.60} is on several rows. Hint: {such}give row numbers, from 0; or "
            "another column that names the rows, as `label`."
        )
    if names.count(str(row)) == 1:
        return names.index(str(row))
    if isinstance(row, int | np.integer) and not isinstance(row, bool):
        if not isinstance(labels, range) and all(map(_is_whole, texts)):
            raise HoldfastError(
                f"no row has the label {row}. Hint: the labels of this table are numbers, so a "
                "number is a label and never the place of a row."
            )
        if 0 <= row < len(labels):
            return int(row)
        raise HoldfastError(f"row numbers go from 0 to {len(labels) - 1}, got {row}.")
    longer = [text for text in texts if text.startswith(f"{row},")]
    near = longer or difflib.get_close_matches(str(row), list(set(texts)), n=1)
    hint = f" Hint: did you mean {near[0]!r}?" if near else " Hint: or give its number, from 0."
    if near and "," in near[0]:
        hint += f' In a typed question a label with a comma stands in quotes: "{near[0]}".'
    raise HoldfastError(f"no row has the label {str(row)!r:.60}.{hint}")


def find_rows(release: "Release", labels: Sequence[Any], group: Sequence[Any]) -> Integers:
    """The numbers of the rows of a group: a mask, or labels or numbers."""
    if not isinstance(group, Iterable):
        raise HoldfastError(
            "`group` must be a list of labels or row numbers, or a mask, got "
            f"{group!r:.40}. Hint: one row is a list of one."
        )
    items = list(group) if not isinstance(group, str) else [group]
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != len(labels):
            raise HoldfastError("a mask must have one True or False per row of the table.")
        rows = np.flatnonzero(items)
    else:
        rows = _by_name(release, labels, items)
    if not len(rows):
        raise HoldfastError("`group` is empty. Hint: name at least one row.")
    return np.asarray(rows, dtype=np.int64)


def typed_row(labels: Sequence[Any], name: str) -> str | int:
    """A row as typed at a command line: the label with this text, else the row of this number.

    >>> typed_row(["Kent", "7"], "7"), typed_row(["Kent", "7"], "1")
    ('7', 1)
    """
    known = any(str(label) == name for label in labels)
    return name if known or not _is_whole(name) else int(name)


def typed_rows(labels: Sequence[Any], names: Sequence[str]) -> list[str | int]:
    """Rows as typed with commas between, where labels may have commas of their own.

    >>> typed_rows(["Kent, DE", "Ely", "7"], ["Kent", "DE", "7", "Ely"])
    ['Kent, DE', '7', 'Ely']
    """
    known, found, at = {str(label) for label in labels}, list[str | int](), 0
    while at < len(names):
        ends = range(len(names), at, -1)
        joined = ((end, ", ".join(names[at:end])) for end in ends)
        end, name = next((pair for pair in joined if pair[1] in known), (at + 1, names[at]))
        found.append(typed_row(labels, name))
        at = end
    return found


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20


def _by_name(release: "Release", labels: Sequence[Any], items: list[Any]) -> Integers:
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(str(label), []).append(place)
    found = [places.get(str(item)) or [find_row(release, labels, item)] for item in items]
    return np.unique(np.concatenate([np.array(rows) for rows in found] or [np.empty(0, int)]))
