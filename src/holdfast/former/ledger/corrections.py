"""What a correction changes: labels beside the same counts, compared row by row."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, listed_names, numbered
from holdfast.former.ledger.chain import Receipt
from holdfast.former.ledger.receipts import columns_in, read_receipt, table_in
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.release import Release, StreamedRelease
from holdfast.former.release.several import SeveralFacts, StreamedTableRelease, TableRelease
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.count_values import label_text
from holdfast.former.tables.order import rows_by
from holdfast.former.tables.stream.lookout import Lookout
from holdfast.former.tables.stream.open import open_source
from holdfast.former.tables.stream.source import Source
from holdfast.former.tables.subset import label_key
from holdfast.former.tables.table import labels_of

Labels = Iterable[Any]


@dataclass(frozen=True)
class Relabelled:
    """The labels that are not those of an earlier release, with those that stood in their place."""

    before: tuple[str, ...]
    now: tuple[str, ...]

    @property
    def moved(self) -> list[str]:
        """Earlier labels that are now on other rows: where every row has a label of its own, one
        that changed its row is among those of before and of now."""
        then = set(map(label_key, self.before))
        return [label for label in self.now if label_key(label) in then]

    def __str__(self) -> str:
        pairs = zip(self.before, self.now, strict=True)
        named = listed_names((f"{old} → {new}" for old, new in pairs), shown=20)
        return f"{numbered(len(self.now), 'label')} changed: {named}" if self.now else ""


def relabelled(before: Labels, now: Labels) -> Relabelled:
    """Labels compared row by row; how they are spelt as numbers or with spaces does not matter.

    >>> str(relabelled(["Abott", "01", "Cole"], ["Abbott", 1, "Cole"]))
    "1 label changed: 'Abott → Abbott'"
    >>> relabelled("ABC", "BXC").moved
    ['B']
    """
    texts = zip_longest(map(_text, before), map(_text, now), fillvalue="")
    other = [(old, new) for old, new in texts if label_key(old) != label_key(new)]
    return Relabelled(tuple(old for old, _ in other), tuple(new for _, new in other))


def refuse_moved(corrects: Any, now: Labels | None) -> None:
    """Raise if a label that a release published stands in another row of what should correct it."""
    before = published_labels(corrects)
    moved = [] if before is None or now is None else relabelled(before, now).moved
    if moved:
        raise HoldfastError(
            "`corrects`: labels of the release stand in other rows here: "
            f"{listed_names(moved, shown=4)}. That corrects nothing: the same draws would be "
            "published of other rows. Nothing was drawn or spent. Hint: put the rows into their "
            "earlier order; rows that are not the same are drawn and paid for without `corrects`."
        )


def receipt_of(release: Any) -> Receipt | None:
    """What a release, or the one in a folder, remembers of its spend."""
    if isinstance(release, ReleaseFacts | SeveralFacts):
        return None if release.receipt is None else Receipt.from_text(release.receipt)
    if isinstance(release, str | os.PathLike):
        return read_receipt(Path(release))
    raise HoldfastError("`corrects` must be a release or the folder of one.")


def published_labels(release: Any) -> Labels | None:
    """The category of each row of a release, or of the one in a folder, in the order of its table;
    None where it has none."""
    if isinstance(release, StreamedRelease | StreamedTableRelease):
        return _labels_in(release.folder)
    if isinstance(release, Release | TableRelease):
        category = (release if isinstance(release, Release) else release.first).category
        return None if category is None else labels_of(release.cells, category)
    return _labels_in(Path(release))


def _labels_in(folder: Path) -> Labels | None:
    _, record = columns_in(folder)[0]
    category = record.get("category")
    if category is None:
        return None
    named = Wanted(count=record["count_column"], within=category, missing=("",))
    return (row[0] for row in _rows(table_in(folder), named))


def labels_of_stream(table: Source) -> Labels | None:
    """The category of each row of a file in the order in which it is published; None where it does
    not tell every row from every other."""
    wanted, ordering = table.roles.wanted, table.roles.ordering
    if wanted.category is None or wanted.repeated_categories:
        return None
    named = Wanted(
        count=table.roles.count,
        within=ordering or wanted.category,
        subset=wanted.subset,
        missing=wanted.missing,
    )
    labels = _rows(table.name, named)
    if not ordering:
        return (row[0] for row in labels)
    columns = list(zip(*labels, strict=True))
    return (columns[-1][at] for at in rows_by(columns))


def _rows(path: Any, wanted: Wanted) -> Iterator[tuple[Any, ...]]:
    """The cells of the columns that rows are grouped by, a row at a time, read in batches."""
    source = open_source(path, wanted)
    for part in source.read(Lookout(source.roles)):
        yield from zip(*part.cells, strict=True)


def _text(cell: Any) -> str:
    text = label_text(cell)
    return repr(cell) if text is None else text
