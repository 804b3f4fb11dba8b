"""Rows of a CSV file as spans of its bytes: found with NumPy, written again with other counts.

What stands between delimiters and line ends outside of quotes is found for all rows of a block at
once. A block that is not plainly regular (a quote inside of a cell without quotes, a lone CR, blank
or ragged lines, broken quotes) is left to Python's `csv`, which decides what it is: `scan` gives
the same rows or none. tests/tables/test_csv_scan.py holds the two together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.tables.counts import MISSING, BadCount, text_problem, text_values
from holdfast.tables.csv_text import LONGEST_CELL, LONGEST_RECORD
from holdfast.tables.keys import Keys, keys_between, text_keys
from holdfast.tables.partition import Coded

Bytes = NDArray[np.uint8]
QUOTE, LF, CR, ZERO, MINUS = 34, 10, 13, 48, 45
NOTHING = np.iinfo(np.int64).min
"""Stands for an empty cell where numbers are written."""
_MOST_DIGITS = 15  # any such number is below 2^53


@dataclass(frozen=True, kw_only=True)
class SpanRows:
    """Rows that lie in a block of bytes in UTF-8, records whole and quotes in order.

    >>> rows = scan(b'Kent,3\\n"Ely, City",0\\n', ("place", "n"), ",", final=True)
    >>> rows.cells("place"), rows.counts("n", "`table`", ())
    (['Kent', 'Ely, City'], array([3, 0]))
    """

    data: Bytes = field(repr=False)
    names: tuple[str, ...]
    delimiter: int
    first: Integers = field(repr=False)
    """Where each row begins."""
    seps: Integers = field(repr=False)
    """Where each cell of each row ends, at a delimiter or a line end."""
    quoted: bool
    """Whether there are quotes."""
    crlf: bool
    """Whether there are CRs, each before an LF."""
    used: int
    """How many bytes these rows are."""
    text = True

    def __len__(self) -> int:
        return len(self.first)

    def _raw(self, at: int) -> tuple[Integers, Integers]:
        """Where the cells of a column begin and end, quotes included."""
        starts = self.seps[:, at - 1] + 1 if at else self.first
        stops = self.seps[:, at]
        if self.crlf and at == len(self.names) - 1:
            stops = stops - (self.data[stops - 1] == CR) * (stops > starts)
        return starts, stops

    def _spans(self, at: int) -> tuple[Integers, Integers]:
        """The same without quotes."""
        starts, stops = self._raw(at)
        if self.quoted:
            inside = (self.data[starts] == QUOTE) & (stops > starts)
            starts, stops = starts + inside, stops - inside
        return starts, stops

    def counts(self, name: str, where: str, missing: Sequence[Any]) -> Integers:
        """A column of counts, -1 where one is not known."""
        starts, stops = self._spans(self.names.index(name))
        counts, odd = _digits(self.data, starts, stops)
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
        starts, stops = self._spans(self.names.index(name))
        if rows is not None:
            starts, stops = starts[rows], stops[rows]
        return _texts(self.data, starts, stops)

    numbers = cells

    def cells_at(self, at: int) -> list[str]:
        """The cells of the column at a place."""
        return _texts(self.data, *self._spans(at))

    def codes(self, name: str) -> Coded:
        """The number of the cell in each row, and the different cells."""
        _, first, codes = np.unique(self.keys(name), return_index=True, return_inverse=True)
        return codes.astype(np.int64), self.cells(name, first)

    def keys(self, name: str) -> Keys:
        """A key for each cell."""
        starts, stops = self._spans(self.names.index(name))
        keys = keys_between(self.data, starts, stops)
        if self.quoted:  # of doubled quotes one counts
            inner = np.flatnonzero(self._quotes_in(starts, stops) > 0)
            keys[inner] = text_keys(_texts(self.data, starts[inner], stops[inner]))
        return keys

    def _quotes_in(self, starts: Integers, stops: Integers) -> Integers:
        """How many quotes there are in each span."""
        quotes = np.flatnonzero(self.data == QUOTE)
        return np.searchsorted(quotes, stops) - np.searchsorted(quotes, starts)

    def take(self, rows: Integers) -> "SpanRows":
        """Some of the rows, in their order."""
        return replace(self, first=self.first[rows], seps=self.seps[rows])

    def refuse_unwritable(self, name: str) -> None:
        """What was read as CSV can be written so."""

    def text_of(self, name: str) -> str:
        """All cells of a column, one after the other."""
        joined = _joined(self.data, *self._spans(self.names.index(name))).tobytes()
        return joined.decode(errors="surrogateescape")

    def written(
        self,
        names: Sequence[str],
        numbers: Mapping[str, Integers],
        newline: bytes,
        further: Sequence[Integers] = (),
    ) -> bytes | None:
        """The records of some columns in their order, of which some get other numbers, and further
        columns of numbers after them, quoted no more than they must be; None where that takes more
        than leaving out bytes and putting in digits. `NOTHING` stands for an empty cell."""
        ends = b"\r\n" if self.crlf else b"\n"
        alone = len(names) + len(further) == 1 and (
            names[0] not in numbers or bool((numbers[names[0]] == NOTHING).any())
        )
        if alone or ends != newline or not len(self):  # an empty cell alone is quoted
            return None
        if self.crlf and (self.data[self.seps[:, -1] - 1] != CR).any():
            return None
        spans = self._segments(names, numbers, further)
        needless = self._needless_quotes([name for name in names if name not in numbers])
        return _spliced(self.data, spans, needless, self.delimiter)

    def _segments(
        self, names: Sequence[str], numbers: Mapping[str, Integers], further: Sequence[Integers]
    ) -> list["_Span"]:
        """Bytes of each row that stay, and the number that comes after them. Neighbouring columns
        are one span."""
        spans: list[_Span] = []
        for k, name in enumerate(names):
            start, stop = self._raw(self.names.index(name))
            start = start - 1 if k else start  # with the delimiter
            near = k and self.names.index(name) == self.names.index(names[k - 1]) + 1
            if near and names[k - 1] not in numbers:
                start = spans.pop().start
            if name in numbers:
                mine = self._raw(self.names.index(name))[0]
                spans.append(_Span(start, mine if k else start, numbers[name]))
            else:
                spans.append(_Span(start, stop))
        stop = self._raw(len(self.names) - 1)[1]
        spans += [_Span(stop, stop, own, lead=True) for own in further]
        if not further and names[-1] == self.names[-1] and names[-1] not in numbers:
            stop = spans.pop().start
        spans.append(_Span(stop, self.seps[:, -1] + 1))
        return spans

    def _needless_quotes(self, names: Sequence[str]) -> Integers:
        """Where quotes are around cells that need none, in order."""
        if not self.quoted:
            return np.empty(0, dtype=np.int64)
        special = (self.data == QUOTE) | (self.data == LF) | (self.data == CR)
        special |= self.data == self.delimiter
        places, found = np.flatnonzero(special), []
        for name in names:
            starts, stops = self._raw(self.names.index(name))
            quoted = (self.data[starts] == QUOTE) & (stops > starts)
            starts, stops = starts[quoted], stops[quoted] - 1
            inside = np.searchsorted(places, stops) - np.searchsorted(places, starts + 1)
            found += [starts[inside == 0], stops[inside == 0]]
        return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *found]))


def scan(
    data: bytes, names: tuple[str, ...], delimiter: str, newline: str = "\n", *, final: bool = True
) -> SpanRows | None:
    """The whole records at the beginning of a block; None where it is not plainly regular. Of the
    last block all is records, of which the last may lack its end."""
    if final and not data.endswith((b"\n", b"\r")):
        data += newline.encode()
    quoted, crlf = b'"' in data, b"\r" in data
    if crlf and data.count(b"\r") != data.count(b"\r\n"):
        return None
    block, width = np.frombuffer(data, np.uint8), len(names)
    if quoted:
        seps = _outside(block, ord(delimiter))
    else:
        whole = block[: data.rfind(b"\n") + 1]
        seps = np.flatnonzero((whole == ord(delimiter)) | (whole == LF))
    if seps is None or len(seps) % width or (final and (not len(seps) or seps[-1] < len(data) - 1)):
        return None
    seps = seps.reshape(-1, width)
    ends = block[seps] == LF
    if not ends[:, -1].all() or ends[:, :-1].any():
        return None
    first = np.concatenate([np.zeros(1, dtype=np.int64), seps[:, -1] + 1])
    if np.diff(seps.ravel(), prepend=-1).max(initial=0) > LONGEST_CELL or (
        len(data) > LONGEST_RECORD and np.diff(first).max(initial=0) > LONGEST_RECORD
    ):
        return None
    return SpanRows(
        data=block,
        names=names,
        delimiter=ord(delimiter),
        first=first[:-1],
        seps=seps,
        quoted=quoted,
        crlf=crlf,
        used=int(first[-1]),
    )


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


def _digits(data: Bytes, starts: Integers, stops: Integers) -> tuple[Integers, Marks]:
    """The numbers in spans that hold nothing but digits, and which spans hold something else."""
    left = stops - starts
    odd = (left == 0) | (left > _MOST_DIGITS)
    values, power = np.zeros(len(starts), dtype=np.int64), 1
    for k in range(min(int(left.max(initial=0)), _MOST_DIGITS)):
        there = left > k
        digit = data[np.maximum(stops - 1 - k, 0)] - np.uint8(ZERO)
        odd |= there & (digit > 9)
        values += np.where(there, digit, 0) * np.int64(power)
        power *= 10
    return values, odd


def _texts(data: Bytes, starts: Integers, stops: Integers) -> list[str]:
    """The cells in spans, of which none holds a NUL."""
    if not len(starts):
        return []
    ends = np.cumsum(stops - starts + 1)
    joined = _joined(data, starts, np.minimum(stops + 1, len(data)))
    joined[ends - 1] = 0
    text = joined.tobytes().decode(errors="surrogateescape")
    cells = text.split("\0")[:-1]
    return [cell.replace('""', '"') for cell in cells] if '""' in text else cells


def _joined(data: Bytes, starts: Integers, stops: Integers) -> Bytes:
    """The bytes of spans, one after the other."""
    sizes = stops - starts
    ends = np.cumsum(sizes)
    if not len(ends):
        return data[:0]
    places = np.repeat((starts - (ends - sizes)).astype(np.int32), sizes)
    places += np.arange(int(ends[-1]), dtype=np.int32)
    return data.take(places)


@dataclass(frozen=True)
class _Span:
    """Bytes of every row that stay, and a number after them."""

    start: Integers
    stop: Integers
    number: Integers | None = None
    lead: bool = False
    """Whether a delimiter comes before the number."""


def _spliced(data: Bytes, spans: Sequence[_Span], leave_out: Integers, delimiter: int) -> bytes:
    """The spans row by row with their numbers; some bytes are left out."""
    rows = len(spans[0].start)
    starts = np.stack([span.start for span in spans], axis=1).ravel()
    stops = np.stack([span.stop for span in spans], axis=1).ravel()
    nothing = np.full(rows, NOTHING)
    put = [nothing if span.number is None else span.number for span in spans]
    lead = np.tile(np.array([span.lead for span in spans]), rows)
    gaps = np.append(starts[1:], stops[-1]) - stops
    kept = stops - starts
    inside = np.repeat(_alternating(len(starts), True), _interleaved(kept, gaps))
    if len(leave_out):
        inside[leave_out - starts[0]] = False
        kept = kept - (np.searchsorted(leave_out, stops) - np.searchsorted(leave_out, starts))
    digits, sizes = _written_digits(np.stack(put, axis=1).ravel(), lead, delimiter)
    places = np.repeat(_alternating(len(starts), False), _interleaved(kept, sizes))
    out = np.empty(len(places), dtype=np.uint8)
    out[places] = digits
    out[~places] = data[int(starts[0]) : int(stops[-1])][inside]
    return out.tobytes()


def _alternating(pairs: int, first: bool) -> Marks:
    return np.tile(np.array([first, not first]), pairs)


def _interleaved(even: Integers, odd: Integers) -> Integers:
    return np.stack([even, odd], axis=1).ravel()


def _written_digits(numbers: Integers, lead: Marks, delimiter: int) -> tuple[Bytes, Integers]:
    """Numbers as text, one after the other, some with a delimiter before them, and the size of
    each; `NOTHING` has no digits."""
    there = numbers != NOTHING
    left = np.where(there, np.abs(numbers), 0)
    minus = there & (numbers < 0)
    sizes, power = there.astype(np.int64), 10
    while power <= int(left.max(initial=0)):
        sizes += left >= power
        power *= 10
    sizes += minus
    sizes += lead
    ends = np.cumsum(sizes)
    out = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    out[(ends - sizes)[lead]] = delimiter
    out[(ends - sizes + lead)[minus]] = MINUS
    places, left = ends[there] - 1, left[there]
    while len(places):
        left, digit = np.divmod(left, 10)
        out[places] = digit + ZERO
        more = left > 0
        left, places = left[more], places[more] - 1
    return out, sizes
