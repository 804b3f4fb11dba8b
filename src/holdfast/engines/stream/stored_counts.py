"""The counts of a release by themselves: written beside it for a ledger, and read again."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.release.bundle import new_bundle, read_facts, writing
from holdfast.release.release import ReleaseFacts
from holdfast.tables.columns import Wanted
from holdfast.tables.histogram import LARGEST_MAX_COUNT
from holdfast.tables.stream.open import open_source
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
def column_file(folder: Path | None) -> Iterator[Callable[[Integers], None]]:
    """Writes counts, and nothing else, to a table in a folder."""
    if folder is None:
        yield lambda _counts: None
        return

    def write(counts: Integers) -> None:
        with writing(folder.parent):
            write_lines(counts, file)

    with (folder / "table.csv").open("xb") as file:
        file.write(b"count\n")
        yield write


def write_lines(counts: Integers, file: IO[bytes]) -> None:
    """Write counts, one a line."""
    from holdfast.tables.stream import text_kernel

    out = np.empty(len(counts) * (1 + len(str(LARGEST_MAX_COUNT))), dtype=np.uint8)
    file.write(out[: text_kernel.write_lines(counts, out)].data)


class StoredCounts:
    """The counts of a release that was stored, in the order in which they were drawn."""

    def __init__(self, folder: Path) -> None:
        path = next(path for path in folder.iterdir() if path.stem == "table")
        self._parts = open_source(path, Wanted(missing=("",))).read()
        self._left = np.empty(0, dtype=np.int64)

    def __call__(self, counts: Integers, marks: Marks | None) -> Integers:
        """The next of them, as many as there are rows in a batch."""
        while len(self._left) < len(counts):
            part = next(self._parts, None)
            if part is None:
                raise HoldfastError("the stored release has fewer rows than `source`.")
            self._left = np.append(self._left, part.counts)
        given, self._left = self._left[: len(counts)], self._left[len(counts) :]
        return given
