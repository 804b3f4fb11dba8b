"""Cells as text: as they are written in a CSV file, and as labels. Names of columns: found,
suggested, and what an error calls them.

A column of texts: spans of bytes, of a file's own or of an Arrow column; and such columns put into
lines.
"""

import datetime
import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.csv_text import LONGEST_CELL
from holdfast.tables.spans import Bytes, joined, words_of

_TEXT_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_SHOWN = 8
_NUMBER = re.compile(
    r"[<>≤≥~+-]?\s*[$€£]?[0-9][0-9 .,_'\u2019\u00a0\u202f]*(?:e[+-]?[0-9]+)?\s*%?", re.IGNORECASE
)
AT_A_TIME = 1 << 15  # lines, which a processor's cache holds
WIDE = 256  # bytes of a cell on average, from which on lines are put together one by one
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)


def number_or_text(cells: list[str]) -> list[Any]:
    """Cells of text as integers where nothing is lost by it, else as they are.

    >>> number_or_text(["3", "10"]), number_or_text(["01", "2"])
    ([3, 10], ['01', '2'])
    """
    whole = all(map(_TEXT_INTEGER.fullmatch, cells))
    return list(map(int, cells)) if whole else cells


def cell_text(cell: Any) -> str:
    """A cell as it is written in a CSV file.

    >>> [cell_text(cell) for cell in ("a", None, True, 0.5, 3.0, datetime.datetime(2024, 1, 3))]
    ['a', '', 'true', '0.5', '3.0', '2024-01-03']
    """
    if isinstance(cell, str):
        return str(cell)
    if is_missing(cell):
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float | np.floating):
        return repr(float(cell))
    if isinstance(cell, datetime.datetime):
        midnight = cell.time() == datetime.time() and cell.tzinfo is None
        return cell.date().isoformat() if midnight else cell.isoformat(" ")
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)


def label_text(cell: Any) -> str | None:
    """A label as text: "" where there is none, None for what is not a label.

    >>> [label_text(cell) for cell in ("NE", 4.0, True, None, 0.5)]
    ['NE', '4', 'true', '', None]
    """
    if isinstance(cell, float | np.floating) and not is_missing(cell):
        return str(int(cell)) if float(cell).is_integer() and abs(float(cell)) < 2**53 else None
    labels = str | bool | np.bool_ | int | np.integer
    return cell_text(cell) if is_missing(cell) or isinstance(cell, labels) else None


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value, in any library."""
    if value is None or value is np.ma.masked or (isinstance(value, float) and value != value):
        return True
    pandas = sys.modules.get("pandas")  # who has one of its values has loaded it
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def names_in(value: Any, parameter: str) -> tuple[str, ...]:
    """Names of columns: one, or a list of them."""
    names = (value,) if isinstance(value, str) else value
    if names is None or isinstance(names, dict) or not isinstance(names, Iterable):
        names = () if names is None else (0,)
    names = tuple(names)
    if not all(isinstance(name, str) for name in names):
        raise HoldfastError(f"`{parameter}` must be a list of names of columns.")
    return names


def find_column(columns: Sequence[Any], name: Any, parameter: str) -> int:
    """The position of a column that must exist, once."""
    places = [i for i, column in enumerate(columns) if column == name]
    if len(places) > 1:
        raise HoldfastError(
            f"`{parameter}`: {len(places)} columns are called {name!r}. Hint: rename all but one."
        )
    if not places:
        raise HoldfastError(
            f"`{parameter}` must be a column of the table, got {name!r}. "
            f"Hint: {suggest(columns, name)}"
        )
    return places[0]


def reads_as_number(name: Any) -> bool:
    """Whether the name of a column, or a cell, is written like a number.

    >>> [reads_as_number(name) for name in ("7", " 1,204.0", "<5", "-999", "n2019", "county")]
    [True, True, True, True, False, False]
    """
    return isinstance(name, str) and bool(_NUMBER.fullmatch(name.strip()))


def suggest(columns: Sequence[Any], name: Any = "") -> str:
    """What to say about the columns there are: near matches, else the first few names.

    Where one of them is a number there may be no header, and the names may be cells of the first
    row: none is shown.
    """
    names = list(map(str, columns))
    if any(map(reads_as_number, names)):
        return (
            "the first line must hold the names of the columns; here one of them is a number. If "
            "they stand further down, name that row: `header_row`, --header-row."
        )
    near = difflib.get_close_matches(str(name), names, n=3)
    if near:
        return "did you mean " + " or ".join(map(repr, near)) + "?"
    listed = ", ".join(repr(c[:60]) for c in names[:_SHOWN])
    more = ", …" if len(names) > _SHOWN else ""
    return f"the columns are {listed}{more}."


def refuse_odd_texts(name: str, texts: Sequence[str | None]) -> None:
    """Raise for labels that no file of text can hold.

    >>> refuse_odd_texts("place", ["Kent", None])
    >>> refuse_odd_texts("place", ["a\\0b"])
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: data row 1 of column 'place' cannot be written: it holds a NUL...
    """
    for row, text in enumerate(texts, 1):
        if text is not None and not is_text(text):
            raise HoldfastError(
                f"data row {row} of column {name!r:.80} cannot be written: it holds a NUL, half of "
                f"a character (a surrogate), or more than {LONGEST_CELL:,} characters. Hint: "
                "correct the label, or leave the column out."
            )


def is_text(text: str) -> bool:
    """Whether a file of text can hold it as a cell."""
    if len(text) > LONGEST_CELL or "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


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
