"""What the two passes of a stream have in common, whatever the table is kept in."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.privacy.randomness import THREADS
from holdfast.former.tables.columns import Roles
from holdfast.former.tables.stream.lookout import Lookout

Cells = list[list[Any]]
"""Of the columns that say which group a row is in, for each of them a list; none without groups."""
Draw = Callable[[Integers, Marks | None, Cells], Integers]
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A batch of rows: what is known of it when it has been read, or read and written."""

    counts: Integers
    """The true counts; `MISSING` where one is not known."""
    marks: Marks | None
    """Rows publicly known to be zero; None where no column says so."""
    done: float | None
    """The share of the pass that is done; None where that is not known."""
    released: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """What was written in their place, in the second pass."""
    cells: Cells = field(default_factory=list)
    """What says which group the rows are in."""
    others: tuple[Integers, ...] = ()
    """The true counts of further columns."""
    other_released: tuple[Integers, ...] = ()
    """What was written in their place."""


class Source(Protocol):
    """A table that can be read twice, a batch at a time."""

    name: str
    """What an error calls it: a path, or the query."""
    roles: Roles
    """Its columns, and which of them are published."""
    suffix: str
    order: Integers | None
    """Once it was written in the order of a column: the numbers of the rows as they stand there;
    None where they keep their own order, or are too many."""

    def digest(self) -> bytes | None:
        """The bytes that it is kept in, condensed; None for a query, which has none."""

    def read(self, lookout: Lookout | None = None) -> Iterator[Part]:
        """The first pass; `lookout` is shown the other columns, as far as it needs them."""

    def rewrite(
        self, draw: Draw, path: Path, threads: int, more: Sequence[Draw] = ()
    ) -> Iterator[Part]:
        """The second pass: what is published is written to `path`, with new counts; `more` draw
        those of further columns."""


def in_order(work: Callable[[S], T], items: Iterable[S], threads: int = THREADS) -> Iterator[T]:
    """The results of `work` in the order of the items; a few are under way at any time, and a
    thread of its own gets the next items.

    >>> list(in_order(abs, [-3, 2, -1]))
    [3, 2, 1]
    """
    source, waiting = iter(items), deque[Future[list[T]]]()

    def done(got: Future[list[S]]) -> list[T]:
        return [work(item) for item in got.result()]

    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(threads) as pool:
        try:
            more = True
            while more:
                while len(waiting) < threads + 2:
                    got = reader.submit(lambda: list(islice(source, 1)))
                    waiting.append(pool.submit(done, got))
                found = waiting.popleft().result()
                more = bool(found)
                yield from found
        finally:
            for future in waiting:
                future.cancel()
