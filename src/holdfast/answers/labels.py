"""How an analyst names rows: by label, by number from 0."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from holdfast.answers.conditions import as_numbers, cell_texts
from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.release.release import Release
from holdfast.tables.csv_part import unmarked_cells

LABELS = ("by", "label", "on")  # what takes the cells of a column as texts
MOST_GROUP_NAMES = 1000  # of a column, that a hint looks through


class Labels:
    """The labels of the rows of a release, as text: of the named column, else of the category,
    else their numbers."""

    def __init__(self, release: Release, column: str | None = None) -> None:
        name = column or release.category or next(iter(release.published), None)
        self.release, self.numbered = release, name is None
        if name is None:
            self.texts = [str(row) for row in range(release.rows)]
        else:
            self.texts = cell_texts(published(release, name, "label"))

    def _places(self, texts: Iterable[str]) -> dict[str, list[int]]:
        """The rows with each of these labels: one passage over all labels."""
        places: dict[str, list[int]] = {text: [] for text in texts}
        for place, text in enumerate(self.texts):
            if text in places:
                places[text].append(place)
        return places

    def find(self, row: Any) -> int:
        """The number of the row with this label, with what tells it apart where labels repeat, or
        of this number: as text only where rows have no labels."""
        text = str(row)
        places = self._places([text])[text]
        if len(places) == 1:
            return places[0]
        if len(places) > 1:
            such = self.names(places)[0]
            hint = f"say which, such as {such!r:.80}; or " if such != text else ""
            raise HoldfastError(
                f"the label {text:.60} is on several rows. Hint: {hint}give row numbers, from 0; "
                "or another column that names the rows, as `label`."
            )
        numbers = Counter(self.texts)
        among = [place for place, label in enumerate(self.texts) if numbers[label] > 1]
        named = [p for p, name in zip(among, self.names(among), strict=True) if name == text]
        if len(named) == 1:
            return named[0]
        return self._numbered(row)

    def _numbered(self, row: Any) -> int:
        text = str(row)
        if (
            _is_whole(text)
            and not isinstance(row, bool)
            and (self.numbered or not isinstance(row, str) or all(map(_is_whole, self.texts)))
        ):
            if not self.numbered and all(map(_is_whole, self.texts)):
                same = next((label for label in self.texts if int(label) == int(text)), None)
                such = "" if same is None else f"did you mean {same:.60}? "
                raise HoldfastError(
                    f"no row has the label {text:.60}. Hint: {such}The labels of this table are "
                    "numbers, so a number is a label and never the place of a row."
                )
            if 0 <= int(text) < len(self.texts):
                return int(text)
            raise HoldfastError(
                f"row numbers go from 0 to {len(self.texts) - 1:,}, got {text:.40}."
            )
        cells = self.release.cells
        held = [name for name in self.release.published if text in cell_texts(cells[name])]
        if held and not _is_whole(text):
            raise HoldfastError(
                f"{text!r:.60} is no label of a row: it stands in the column {held[0]!r:.60}. "
                f"Hint: name that column, as `label`, --label {held[0]!r:.60}, if it tells rows "
                f"apart; or ask 'mean' about rows chosen by where \"{held[0]} == {text}\", and by "
                "less for others to compare them with."
            )
        longer = [label for label in self.texts if label.startswith((f"{text},", f"{text} "))]
        names = [*self.texts, *_names_of_groups(self.release)]  # people name groups too
        others = [name for name in dict.fromkeys(names) if name != text]
        folded = [name for name in others if name.lower() == text.lower()]
        longer += [label for label in self.texts if text in label.split()]
        near = longer or folded or difflib.get_close_matches(text, others, n=1)
        if text in self.release.published:
            raise HoldfastError(f"{text!r:.60} is a column published as it is, no label of a row.")
        hint = f" Hint: did you mean {near[0]!r:.80}?" if near else " Hint: see release.table."
        raise HoldfastError(f"no row has the label {text!r:.60}.{hint}")

    def find_all(self, items: Any) -> Integers:
        """The numbers of the rows of several labels or numbers; a label may be on many rows."""
        if isinstance(items, str) or not isinstance(items, Iterable):
            items = [items]
        rows: set[int] = set()
        items = list(items)
        places = self._places(map(str, items))
        for item in items:
            rows |= set(places[str(item)] or [self.find(item)])
        if not rows:
            raise HoldfastError("no row is named. Hint: name at least one.")
        return np.array(sorted(rows), dtype=np.int64)

    def joined(self, parts: Sequence[str]) -> list[str]:
        """Labels that were typed with commas between, where labels may have commas of their own.

        Of ["Kent", "DE", "Ely"], where a row is "Kent, DE", the first two are one label.
        """
        labels, at, known = [], 0, set(self.texts)
        while at < len(parts):
            ends = range(len(parts), at, -1)
            wholes = ((end, ", ".join(parts[at:end])) for end in ends)
            at, text = next((w for w in wholes if w[1] in known), (at + 1, parts[at]))
            labels.append(text)
        return labels

    def names(self, rows: Sequence[int]) -> list[str]:
        """The labels of these rows; one that is on several rows with what tells them apart."""
        texts = [self.texts[row] for row in rows]
        apart: dict[int, str] = {}
        for places in self._places(texts).values():
            apart |= self._told_apart(places) if len(places) > 1 else {}
        return [
            f"{text} ({apart[row]})" if apart.get(row) else text
            for row, text in zip(rows, texts, strict=True)
        ]

    def title(self, row: int) -> str:
        """The label of a row as an answer about it alone has it."""
        return f"row {row} (the first is row 0)" if self.numbered else self.names([row])[0]

    def _told_apart(self, rows: Sequence[int]) -> dict[int, str]:
        """What public columns say of rows with the same label: the first that tells them all
        apart, else every one."""
        columns = []
        for name in self.release.published:
            cells = self.release.cells[name]
            texts = cell_texts([cells[row] for row in rows])
            if len(set(texts)) == len(rows):
                return dict(zip(rows, texts, strict=True))
            if len(Counter(texts)) > 1:
                columns.append(texts)
        cells_of_rows = zip(*columns, strict=True) if columns else [()] * len(rows)
        return {row: " / ".join(texts) for row, texts in zip(rows, cells_of_rows, strict=True)}


def published(release: Release, name: str, parameter: str = "where") -> Sequence[Any]:
    """The cells of a public column, numbers without the marks of the file they are from; counts
    are none. `parameter` is what an error calls it."""
    counts = [column.name for column in release.columns]
    if name in counts and name not in release.published:
        raise HoldfastError(
            f"`{parameter}` cannot use the counts ({name!r:.60}): rows chosen by what noise made "
            "of them are not what they seem. Hint: choose by columns that were published as they "
            "are."
        )
    if name not in release.published:
        near = difflib.get_close_matches(name, release.published, n=1)
        such = f"did you mean {near[0]!r}?" if near else ", ".join(map(repr, release.published))
        raise HoldfastError(
            f"`{parameter}` names {name!r:.60}, which is no published column. "
            f"Hint: {such or 'no column was published.'}"
        )
    cells = release.cells[name]
    if parameter in LABELS:
        return cells
    numbers = unmarked_cells(cells, release.request)
    return cells if as_numbers(cell_texts(numbers)) is None else numbers


def _names_of_groups(release: Release) -> list[str]:
    """What public columns of few different texts hold."""
    columns = [set(cell_texts(release.cells[name])) for name in release.published]
    return sorted(set().union(*(texts for texts in columns if len(texts) <= MOST_GROUP_NAMES)))


def meant_by(release: Release, condition: str) -> str | None:
    """A text that a public column holds, for one of a condition that is spelt nearly so."""
    names = {name.casefold(): name for name in _names_of_groups(release)}
    for typed in re.findall(r"""(?<=")[^"]+(?=")|[^\s=!<>()\[\],"']+""", condition):
        near = difflib.get_close_matches(typed.casefold(), names, n=1, cutoff=0.8)
        if near and names[near[0]] != typed and typed not in release.published:
            return names[near[0]]
    return None


def _is_whole(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) < 20
