"""Rows of a CSV file as spans of its bytes, found with NumPy.

What stands between delimiters and line ends outside of quotes is found for all rows of a block at
once. A block that is not plainly regular (a quote inside of a cell without quotes, a lone CR, blank
or ragged lines, broken quotes) is left to Python's `csv`, which decides what it is: `scan` gives
the same rows or none. tests/tables/test_csv_scan.py holds the two together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.tables.cell_text import Texts
from holdfast.tables.counts import MISSING, BadCount, text_problem, text_values
from holdfast.tables.csv_text import DELIMITERS, LONGEST_CELL, LONGEST_RECORD
from holdfast.tables.partition import Coded
from holdfast.tables.source import Rows
from holdfast.tables.spans import (
    Bytes,
    Keys,
    by_record,
    digits,
    keys_between,
    numbered,
)

QUOTE, LF, CR = 34, 10, 13


@dataclass(frozen=True, kw_only=True)
class SpanRows(Rows):
    """Rows that lie in a block of bytes in UTF-8, records whole and quotes in order.

    >>> rows = scan(b'Kent,3\\n"Ely, City",0\\n', ("place", "n"), ",", final=True)
    >>> rows.cells("place"), rows.counts("n", "`table`", ())
    (['Kent', 'Ely, City'], array([3, 0]))
    """

    data: Bytes = field(repr=False)
    names: tuple[str, ...]
    starts: Integers = field(repr=False)
    """Where each cell of each row begins, between its quotes."""
    stops: Integers = field(repr=False)
    """Where each cell of each row ends."""
    inner: bool
    """Whether there may be quotes inside of cells, each doubled."""
    plain: bool
    """Whether no cell holds a delimiter of any kind, a quote, a line end, or what a byte order mark
    begins with."""
    used: int
    """How many bytes these rows are."""
    text = True

    def __len__(self) -> int:
        return len(self.starts)

    def _raw(self, name: str) -> Texts:
        """The cells of a column, between their quotes."""
        at = self.names.index(name)
        return Texts(self.data, self.starts[:, at], self.stops[:, at], self.plain)

    def _plain(self, raw: Texts) -> list[str]:
        """Cells as Python has them; a quote that is doubled is one."""
        cells = raw.to_pylist()
        return [cell.replace('""', '"') for cell in cells] if self.inner else cells

    def counts(self, name: str, where: str, missing: Sequence[Any]) -> Integers:
        """A column of counts, -1 where one is not known."""
        raw = self._raw(name)
        counts, odd = digits(self.data, raw.starts, raw.stops)
        rows = np.flatnonzero(odd)
        if len(rows):
            cells = self.cells(name, rows)
            counts[rows] = text_values(cells, missing)
            bad = np.flatnonzero(counts[rows] < MISSING).tolist()
            if bad:
                raise BadCount(where, [(int(rows[at]), text_problem(cells[at])) for at in bad])
        return counts

    def cells(self, name: str, rows: Integers | None = None) -> list[Any]:
        """The cells of a column, in all rows or some."""
        raw = self._raw(name)
        return self._plain(raw if rows is None else raw[rows])

    def codes(self, name: str) -> Coded:
        """The number of the cell in each row, and the different cells."""
        codes, rows = numbered(self.keys(name))
        return codes, self.cells(name, rows)

    def keys(self, name: str) -> Keys:
        """A key for each cell."""
        cells = self.column(name)
        return keys_between(cells.data, cells.starts, cells.stops)

    def take(self, rows: Integers) -> "SpanRows":
        """Some of the rows, in their order."""
        return replace(self, starts=self.starts[rows], stops=self.stops[rows])

    def column(self, name: str) -> Texts:
        """The texts of a column, which lie in the block where no quotes are doubled."""
        raw = self._raw(name)
        if not self.inner:
            return raw
        quotes = np.flatnonzero(self.data == QUOTE)
        doubled = np.searchsorted(quotes, raw.stops) > np.searchsorted(quotes, raw.starts)
        return Texts.of(self._plain(raw)) if doubled.any() else raw

    def refuse_unwritable(self, name: str) -> None:
        """What was read as CSV can be written so."""


def scan(
    data: bytes, names: tuple[str, ...], delimiter: str, newline: str = "\n", *, final: bool = True
) -> SpanRows | None:
    """The whole records at the beginning of a block; None where it is not plainly regular. Of the
    last block all is records, of which the last may lack its end."""
    if final and not data.endswith((b"\n", b"\r")):
        data += newline.encode()
    crlf = b"\r" in data
    if crlf and data.count(b"\r") != data.count(b"\r\n"):
        return None
    block = np.frombuffer(data, np.uint8)
    whole = block[: data.rfind(b"\n") + 1]
    quotes = int(np.count_nonzero(whole == QUOTE)) if b'"' in data else 0
    ends = np.flatnonzero((whole == ord(delimiter)) | (whole == LF))
    seps = by_record(whole, ends, len(names))
    cells = None if seps is None else _cells(block, seps, quoted=quotes > 0, crlf=crlf)
    simple = cells is not None and 2 * cells[2] == quotes
    if not simple and quotes:
        outside = _outside(block, ord(delimiter))
        seps = None if outside is None else by_record(block, outside, len(names))
        cells = None if seps is None else _cells(block, seps, quoted=True, crlf=crlf)
    if seps is None or cells is None or (final and (not len(seps) or seps[-1, -1] < len(data) - 1)):
        return None
    used = int(seps[-1, -1]) + 1 if len(seps) else 0
    longest = len(data) > LONGEST_RECORD and np.diff(seps[:, -1], prepend=-1).max(initial=0)
    if longest > LONGEST_RECORD or _may_be_long(seps.ravel(), used):
        return None
    starts, stops, wrapped = cells
    marks = (mark.encode() for mark in DELIMITERS if mark != delimiter)
    return SpanRows(
        data=block,
        names=names,
        starts=starts,
        stops=stops,
        inner=2 * wrapped < quotes,
        plain=simple and not any(mark in data for mark in (*marks, b"\xef")),
        used=used,
    )


def _cells(
    block: Bytes, seps: Integers, *, quoted: bool, crlf: bool
) -> tuple[Integers, Integers, int]:
    """Where cells begin and end between their quotes, from where these end outside of them; and
    how many have quotes around them.

    Where a delimiter or line end stands inside of quotes but was taken for an end, or a quote
    stands anywhere but at both ends of a cell, there are more quotes than twice that number.
    """
    stops = seps
    starts = np.concatenate([np.zeros(1, dtype=np.int64), seps.ravel()[:-1] + 1])[: seps.size]
    starts = starts.reshape(seps.shape)
    if crlf:
        stops = seps.copy()
        stops[:, -1] -= (block[seps[:, -1] - 1] == CR) & (seps[:, -1] > starts[:, -1])
    if not quoted:
        return starts, stops, 0
    wrapped = (block[starts] == QUOTE) & (block[stops - 1] == QUOTE) & (stops - starts > 1)
    return starts + wrapped, stops - wrapped, int(np.count_nonzero(wrapped))


def _may_be_long(seps: Integers, end: int) -> bool:
    """Whether there may be a cell above the limit: then some stretch of half of that has no end of
    a cell in it."""
    places = np.searchsorted(seps, np.arange(0, end, LONGEST_CELL // 2))
    return bool((places[1:] == places[:-1]).any())


def _outside(block: Bytes, delimiter: int) -> Integers | None:
    """Where delimiters and line ends stand outside of quotes, up to the last such line end; None
    where quotes are not in order.

    Let the quotes of whole records be q0, q1, ...; with an even number of quotes before it a byte
    is outside of quoted cells, if (1) q0, q2, ... each begin a cell or directly follow the quote
    before, and (2) q1, q3, ... each end a cell or are directly followed by the next. For the first
    quote that breaks the grammar is one of those that neither begin nor end a cell, nor are
    doubled.
    """
    places = np.flatnonzero((block == QUOTE) | (block == delimiter) | (block == LF))
    kinds = block[places]
    quotes = kinds == QUOTE
    outside = ~quotes & (np.cumsum(quotes) % 2 == 0)
    ends = np.flatnonzero(outside & (kinds == LF))
    if not len(ends):
        return places[:0]
    quotes[ends[-1] + 1 :] = outside[ends[-1] + 1 :] = False
    opening, closing = places[quotes][0::2], places[quotes][1::2]
    before = block[opening - 1]
    begins = (opening == 0) | (before == delimiter) | (before == LF)
    after = block[closing + 1]
    stops = (after == delimiter) | (after == LF)
    stops |= (after == CR) & (block[np.minimum(closing + 2, len(block) - 1)] == LF)
    doubled = closing[:-1] + 1 == opening[1:]
    begins[1:] |= doubled
    stops[:-1] |= doubled
    return places[outside] if begins.all() and stops.all() else None
