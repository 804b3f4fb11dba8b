"""A column of texts: spans of bytes, of a file's own or of an Arrow column; and such columns
put into lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.tables.spans import Bytes, joined, words_of

AT_A_TIME = 1 << 15  # lines, which a processor's cache holds
WIDE = 256  # bytes of a cell on average, from which on lines are put together one by one
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Texts:
    """A text for each row, which lies in bytes in UTF-8.

    >>> Texts.of(["Kent", "Ely"])[np.array([1, 0, 1])].to_pylist()
    ['Ely', 'Kent', 'Ely']
    """

    data: Bytes = field(repr=False)
    starts: Integers = field(repr=False)
    stops: Integers = field(repr=False)
    plain: bool = False
    """Whether they are known to hold no delimiter, quote, line end or byte order mark."""

    @staticmethod
    def of(labels: Sequence[str]) -> "Texts":
        """Labels."""
        whole = "".join(labels)
        data = whole.encode(errors="surrogateescape")
        texts = labels if whole.isascii() else [t.encode(errors="surrogateescape") for t in labels]
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(labels))
        stops = np.cumsum(sizes)
        return Texts(np.frombuffer(data, np.uint8), stops - sizes, stops)

    @staticmethod
    def of_arrow(column: Any) -> "Texts | None":
        """An Arrow array of texts; None for one of another kind."""
        import pyarrow as pa

        whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        kind = {pa.string(): np.int32, pa.large_string(): np.int64}.get(whole.type)
        if kind is None:
            return None
        if not len(whole):
            return Texts.of([])
        _, offsets, data = whole.buffers()
        ends = np.frombuffer(offsets, kind)[whole.offset : whole.offset + len(whole) + 1]
        ends = ends.astype(np.int64)
        return Texts(np.frombuffer(data or b"", np.uint8), ends[:-1], ends[1:])

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, some: slice | Integers) -> "Texts":
        return replace(self, starts=self.starts[some], stops=self.stops[some])

    @property
    def filled(self) -> Marks:
        """Which texts are not empty."""
        return np.asarray(self.starts < self.stops)

    def to_pylist(self) -> list[str]:
        """The texts as Python has them; none of them holds a NUL."""
        return self.each_before("\0").split("\0")[:-1]

    def begin_with(self, signs: bytes) -> bool:
        """Whether a text begins with one of some signs of ASCII."""
        if not len(self.data):
            return False
        wanted = np.zeros(256, dtype=np.bool_)
        wanted[list(signs)] = True
        return bool((wanted.take(self.data.take(self.starts, mode="clip")) & self.filled).any())

    def each_before(self, sign: str) -> str:
        """Each text with a sign of ASCII behind it."""
        if not len(self):
            return ""
        data = self.data
        if self.stops.max() == len(data):  # each text needs a byte behind it
            data = np.append(data, np.uint8(0))
        cells = joined(data, self.starts, self.stops + 1)
        cells[np.cumsum(self.stops - self.starts + 1) - 1] = ord(sign)
        return cells.tobytes().decode(errors="surrogateescape")

    @cached_property
    def width(self) -> int:
        """How many bytes `fill` needs for a text: those of the longest, up to a whole word."""
        longest = int((self.stops - self.starts).max(initial=1))
        return -(-longest // 8) * 8

    def quoted_if_empty(self) -> "Texts":
        """Two quotes in place of each empty text."""
        data, end = np.append(self.data, np.frombuffer(b'""', np.uint8)), len(self.data)
        starts = np.where(self.filled, self.starts, end)
        return Texts(data, starts, np.where(self.filled, self.stops, end + 2))

    def fill(self, cells: Bytes) -> None:
        """Write each text into a line of bytes, and NULs behind it."""
        low, high, sizes = int(self.starts.min()), int(self.stops.max()), self.stops - self.starts
        words = words_of(self.data[low:high], beyond=self.width)
        for at in range(0, self.width, 8):
            masks = _FIRST_BYTES.take(sizes - at if at else sizes, mode="clip")
            masks &= words[self.starts + (at - low)]
            cells[:, at : at + 8].view(np.uint64)[:, 0] = masks


def lines(columns: Sequence[Texts], delimiter: str, newline: str) -> Iterator[bytes]:
    r"""Columns of cells as lines, some at a time; an empty cell alone is quoted, for a line must
    not be blank.

    >>> b"".join(lines([Texts.of(["a", "b"]), Texts.of(["1", "2"])], ",", "\n"))
    b'a,1\nb,2\n'
    """
    if len(columns) == 1:
        columns = [columns[0].quoted_if_empty()]
    signs = [*[delimiter.encode()] * (len(columns) - 1), newline.encode()]
    for start in range(0, len(columns[0]), AT_A_TIME):
        some = [column[start : start + AT_A_TIME] for column in columns]
        narrow = sum(column.width for column in some) <= WIDE * len(some)
        yield _side_by_side(some, signs) if narrow else _one_by_one(some, signs)


def _side_by_side(columns: Sequence[Texts], signs: Sequence[bytes]) -> bytes:
    """Lines of cells that are all as wide as the widest of their column, without what fills them
    up: no cell holds a NUL."""
    widths = [column.width + len(sign) for column, sign in zip(columns, signs, strict=True)]
    whole = np.empty((len(columns[0]), sum(widths)), dtype=np.uint8)
    for column, sign, end in zip(columns, signs, np.cumsum(widths).tolist(), strict=True):
        column.fill(whole[:, end - len(sign) - column.width : end - len(sign)])
        whole[:, end - len(sign) : end] = np.frombuffer(sign, np.uint8)
    return whole.tobytes().translate(None, b"\0")


def _one_by_one(columns: Sequence[Texts], signs: Sequence[bytes]) -> bytes:
    pieces = (
        cell + sign.decode()
        for row in zip(*(column.to_pylist() for column in columns), strict=True)
        for cell, sign in zip(row, signs, strict=True)
    )
    return "".join(pieces).encode(errors="surrogateescape")
