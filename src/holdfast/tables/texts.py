"""A column of texts as spans of bytes: of a file's own, of an Arrow column, of a few labels; and
such columns put into lines."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.tables.spans import Bytes, joined

_Piece = tuple[Integers | int, Integers | int]


@dataclass(frozen=True, eq=False)
class Texts:
    """A text for each row, which lies in bytes in UTF-8.

    >>> Texts.of(["Kent", "Ely"], np.array([1, 0, 1])).to_pylist()
    ['Ely', 'Kent', 'Ely']
    """

    data: Bytes = field(repr=False)
    starts: Integers = field(repr=False)
    stops: Integers = field(repr=False)

    @staticmethod
    def of(labels: Sequence[str], places: Integers | None = None) -> "Texts":
        """Labels, or for each row the one at a place among them."""
        whole = "".join(labels)
        data = whole.encode(errors="surrogateescape")
        texts = labels if whole.isascii() else [t.encode(errors="surrogateescape") for t in labels]
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(labels))
        stops = np.cumsum(sizes)
        column = Texts(np.frombuffer(data, np.uint8), stops - sizes, stops)
        return column if places is None else column[places]

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
        return Texts(self.data, self.starts[some], self.stops[some])

    @property
    def filled(self) -> Marks:
        """Which texts are not empty."""
        return np.asarray(self.starts < self.stops)

    def to_pylist(self) -> list[str]:
        """The texts as Python has them; none of them holds a NUL."""
        if not len(self):
            return []
        data = self.data
        if self.stops.max() == len(data):  # each text needs a byte behind it
            data = np.append(data, np.uint8(0))
        cells = joined(data, self.starts, self.stops + 1)
        cells[np.cumsum(self.stops - self.starts + 1) - 1] = 0
        return cells.tobytes().decode(errors="surrogateescape").split("\0")[:-1]

    def begin_with(self, signs: bytes) -> bool:
        """Whether a text begins with one of some signs of ASCII."""
        wanted = np.zeros(256, dtype=np.bool_)
        wanted[list(signs)] = True
        return bool(wanted[self.data[self.starts[self.starts < self.stops]]].any())

    def by_line(self) -> str:
        """Each text with the end of a line."""
        return _lines([self], b"", b"\n").tobytes().decode()


def lines(columns: Sequence[Texts], delimiter: str, newline: str) -> str:
    r"""Columns of cells as lines; an empty cell alone is quoted, for a line must not be blank.

    >>> lines([Texts.of(["a", "b"]), Texts.of(["1", "2"])], ",", "\n")
    'a,1\nb,2\n'
    """
    if len(columns) == 1:
        text = columns[0]
        quoted = Texts(
            np.append(text.data, np.frombuffer(b'""', np.uint8)), text.starts, text.stops
        )
        empty, end = text.starts == text.stops, len(quoted.data)
        starts = np.where(empty, end - 2, text.starts)
        columns = [Texts(quoted.data, starts, np.where(empty, end, text.stops))]
    return _lines(columns, delimiter.encode(), newline.encode()).tobytes().decode()


def _lines(columns: Sequence[Texts], delimiter: bytes, newline: bytes) -> Bytes:
    if not len(columns[0]):
        return np.empty(0, dtype=np.uint8)
    data, moved = _together(columns, delimiter + newline)
    ends = len(data) - len(newline)
    pieces: list[_Piece] = []
    for column, by in zip(columns, moved, strict=True):
        starts, stops = column.starts + by, column.stops + by
        if pieces and _follows(data, pieces[-1], starts, delimiter):
            pieces[-1] = pieces[-1][0], stops  # with the delimiter that stands between them
        else:
            pieces += [*[(ends - len(delimiter), ends)][: len(pieces)], (starts, stops)]
    pieces.append((ends, len(data)))
    shape = 2, len(columns[0]), len(pieces)
    spans: NDArray[Any] = np.empty(shape, dtype=np.int32 if len(data) < 2**31 else np.int64)
    for k, piece in enumerate(pieces):
        spans[0, :, k], spans[1, :, k] = piece
    return joined(data, spans[0].ravel(), spans[1].ravel())


def _together(columns: Sequence[Texts], last: bytes) -> tuple[Bytes, list[int]]:
    """The bytes of all columns, each only once, and by how much spans of each have moved."""
    bounds: dict[int, tuple[Bytes, int, int]] = {}
    for column in columns:
        first, end = int(column.starts.min()), int(column.stops.max())
        _, low, high = bounds.get(id(column.data), (column.data, first, end))
        bounds[id(column.data)] = column.data, min(low, first), max(high, end)
    parts, places, size = [], dict[int, int](), 0
    for key, (data, low, high) in bounds.items():
        parts.append(data[low:high])
        places[key] = size - low
        size += high - low
    whole = np.concatenate([*parts, np.frombuffer(last, np.uint8)])
    return whole, [places[id(column.data)] for column in columns]


def _follows(data: Bytes, before: _Piece, starts: Integers, delimiter: bytes) -> bool:
    """Whether a column stands behind another in the bytes, with a delimiter between them."""
    if isinstance(before[1], int) or (starts - before[1] != len(delimiter)).any():
        return False
    return bool((data[before[1]] == delimiter[0]).all())
