"""The counts of a release by themselves: written beside it for a ledger, and read again."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.release.bundle import new_bundle, read_facts, read_record, writing
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.several import SeveralFacts
from holdfast.former.release.several_bundle import facts_of_several
from holdfast.former.verify import verify
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.count_values import MISSING
from holdfast.former.tables.csv import csv_text
from holdfast.former.tables.histogram import LARGEST_MAX_COUNT
from holdfast.former.tables.stream.open import open_source
from holdfast.former.tables.stream.source import Cells


def read_stored(folder: Path, check: Callable[[ReleaseFacts], None]) -> dict[str, Any]:
    """All of a stored release but its counts; raises if `holdfast.verify` finds any damage, or if
    it does not pass `check`."""
    verify(folder).require()
    facts = read_facts(folder, read_record(folder))
    check(ReleaseFacts(**facts))
    return facts


def read_stored_columns(
    folder: Path, check: Callable[[SeveralFacts[Any]], None]
) -> tuple[SeveralFacts[Any], dict[str, dict[str, Any]]]:
    """The same of several columns of counts: of all of them, and of each."""
    verify(folder).require()
    record, facts = read_record(folder), dict[str, dict[str, Any]]()
    for place in record["counts"]:
        own = folder / place["folder"]
        facts[place["column"]] = read_facts(own, read_record(own))
    columns = {name: ReleaseFacts(**own) for name, own in facts.items()}
    stored = SeveralFacts[Any](**facts_of_several(record, columns))
    check(stored)
    return stored, facts


@contextmanager
def stored_bundle(store: Path | None) -> Iterator[Path | None]:
    """A new bundle, or none where nothing is to be stored."""
    if store is None:
        yield None
    else:
        with new_bundle(store) as folder:
            yield folder


@contextmanager
def column_file(
    folder: Path | None, names: Sequence[str] = ("count",)
) -> Iterator[Callable[[Sequence[Integers], list[list[str]]], None]]:
    """Writes columns of counts to a table in a folder, and beside them nothing but the columns that
    say which group a row is in; `names` are those of all columns, the counts last."""
    if folder is None:
        yield lambda _counts, _texts: None
        return

    def write(counts: Sequence[Integers], texts: list[list[str]]) -> None:
        with writing(folder.parent):
            if texts:
                cells = [list(map(_cell, column.tolist())) for column in counts]
                file.write(_lines(zip(*texts, *cells, strict=True)))
            else:
                write_lines(counts, file)

    with (folder / "table.csv").open("xb") as file:
        file.write(_lines([names], quoted=len(names) > 1))  # no doubt about the delimiter
        yield write


def _lines(rows: Iterable[Iterable[str]], *, quoted: bool = False) -> bytes:
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    return csv_text(rows, quoting=quoting).encode("utf-8")


def _cell(count: int) -> str:
    return "" if count == MISSING else str(count)


def write_lines(counts: Sequence[Integers], file: IO[bytes]) -> None:
    """Write columns of counts, one row per line."""
    from holdfast.former.tables.stream import text_kernel

    values = np.stack(counts)
    out = np.empty(values.size * (1 + len(str(LARGEST_MAX_COUNT))), dtype=np.uint8)
    file.write(out[: text_kernel.write_lines(values, out)].data)


class StoredCounts:
    """The counts of a release that was stored, in the order in which they were drawn."""

    def __init__(self, folder: Path, count: str | None = None) -> None:
        path = next(path for path in folder.iterdir() if path.stem == "table")
        self._parts = open_source(path, Wanted(count=count, missing=("",))).read()
        self._left = np.empty(0, dtype=np.int64)

    def __call__(self, counts: Integers, marks: Marks | None, cells: Cells) -> Integers:
        """The next of them, as many as there are rows in a batch."""
        while len(self._left) < len(counts):
            part = next(self._parts, None)
            if part is None:
                raise HoldfastError("the stored release has fewer rows than `source`.")
            self._left = np.append(self._left, part.counts)
        given, self._left = self._left[: len(counts)], self._left[len(counts) :]
        return given
