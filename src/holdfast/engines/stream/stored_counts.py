"""The counts of a release by themselves: written beside it for a ledger, and read again."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.release.bundle import new_bundle, read_facts, writing
from holdfast.release.facts import ReleaseFacts
from holdfast.tables.columns import Wanted
from holdfast.tables.count_values import MISSING
from holdfast.tables.histogram import LARGEST_MAX_COUNT
from holdfast.tables.stream.open import open_source
from holdfast.tables.stream.source import Cells
from holdfast.verify import verify


def read_stored(folder: Path, check: Callable[[ReleaseFacts], None]) -> dict[str, Any]:
    """All of a stored release but its counts; raises if `holdfast.verify` finds any damage, or if
    it does not pass `check`."""
    verify(folder).require()
    record = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    facts = read_facts(folder, record)
    check(ReleaseFacts(**facts))
    return facts


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
) -> Iterator[Callable[[Integers, list[list[str]]], None]]:
    """Writes counts to a table in a folder, and beside them nothing but the columns that say which
    group a row is in; `names` are those of all columns, the counts last."""
    if folder is None:
        yield lambda _counts, _texts: None
        return

    def write(counts: Integers, texts: list[list[str]]) -> None:
        with writing(folder.parent):
            if texts:
                file.write(_lines(zip(*texts, map(_cell, counts.tolist()), strict=True)))
            else:
                write_lines(counts, file)

    with (folder / "table.csv").open("xb") as file:
        file.write(_lines([names], quoted=len(names) > 1))  # no doubt about the delimiter
        yield write


def _lines(rows: Iterable[Iterable[str]], *, quoted: bool = False) -> bytes:
    out = io.StringIO()
    csv.writer(
        out, lineterminator="\n", quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    ).writerows(rows)
    return out.getvalue().encode("utf-8")


def _cell(count: int) -> str:
    return "" if count == MISSING else str(count)


def write_lines(counts: Integers, file: IO[bytes]) -> None:
    """Write counts, one a line."""
    from holdfast.tables.stream import text_kernel

    out = np.empty(len(counts) * (1 + len(str(LARGEST_MAX_COUNT))), dtype=np.uint8)
    file.write(out[: text_kernel.write_lines(counts, out)].data)


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
