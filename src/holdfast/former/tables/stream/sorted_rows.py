"""Released rows put in order, however many there are: sorted runs, and a merge of them."""

import heapq
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.former.tables.order import Key

RUN = 1 << 27  # bytes, about, that are kept in memory
CHUNK = 1 << 12  # rows at a time
MOST = 1 << 24  # rows of which is remembered where they went: as many as a release tells marks of
_KEY = 300  # bytes, about, that Python takes for a key
_Row = tuple[Key, int, Any, int]  # its key, its number, rows that it is one of, which of them


class SortedRows:
    """Rows in the order of their keys; of equal keys, the first that came is first.

    Runs that do not fit into memory go to a temporary file in `folder`. They hold what will be
    published and nothing else. `gather` makes rows of pairs of (rows, which of them).

    >>> rows = SortedRows(Path(), lambda pairs: [rows[at] for rows, at in pairs])
    >>> rows.add([((False, 2.0),), ((False, 1.0),)], ["b", "a"], 2)
    >>> list(rows.chunks()), rows.order
    ([['a', 'b']], array([1, 0]))
    """

    def __init__(self, folder: Path, gather: Callable[[Sequence[tuple[Any, int]]], Any]) -> None:
        self._folder, self._gather = folder, gather
        self._held: list[_Row] = []
        self._runs: list[IO[bytes]] = []
        self._size, self._rows = 0, 0
        self.order: Integers | None = np.empty(0, dtype=np.int64)
        """The numbers of the rows as they were written; None where there are too many."""

    def add(self, keys: Sequence[Key], rows: Any, size: int) -> None:
        """Take in the next rows, of so many bytes."""
        self._held += [(key, self._rows + at, rows, at) for at, key in enumerate(keys)]
        self._rows += len(keys)
        self._size += size + _KEY * len(keys)
        if self._size > RUN:
            self._put_away()

    def chunks(self) -> Iterator[Any]:
        """All rows in order, some at a time."""
        self._held.sort(key=itemgetter(0))
        runs = [*map(_rows_in, self._runs), iter(self._held)]
        merged = heapq.merge(*runs, key=itemgetter(0))
        numbers: list[Integers] = []
        try:
            while chunk := list(islice(merged, CHUNK)):
                if self._rows <= MOST:
                    numbers.append(np.array([row[1] for row in chunk], dtype=np.int64))
                yield self._gather([row[2:] for row in chunk])
        finally:
            for file in self._runs:
                file.close()
        self.order = np.concatenate(numbers) if self._rows <= MOST and numbers else None

    def _put_away(self) -> None:
        self._held.sort(key=itemgetter(0))
        file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115, closed when merged
        for at in range(0, len(self._held), CHUNK):
            part = self._held[at : at + CHUNK]
            keys, numbers = [row[0] for row in part], [row[1] for row in part]
            pickle.dump((keys, numbers, self._gather([row[2:] for row in part])), file)
        self._runs.append(file)
        self._held, self._size = [], 0


def _rows_in(file: IO[bytes]) -> Iterator[_Row]:
    file.seek(0)
    while True:
        try:
            keys, numbers, rows = pickle.load(file)  # written above, seen by nobody
        except EOFError:
            return
        for at, (key, number) in enumerate(zip(keys, numbers, strict=True)):
            yield key, number, rows, at
