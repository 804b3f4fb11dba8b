"""A CSV file as a stream: blocks of whole records, of which the published cells are written."""

import codecs
import csv
import hashlib
import io
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.former.tables.columns import Wanted, called
from holdfast.former.tables.count_values import BadCount, Codes, text_problem
from holdfast.former.tables.csv import CsvTable
from holdfast.former.tables.csv_text import (
    LONGEST_CELL,
    LONGEST_HEADER,
    LONGEST_RECORD,
    find_encoding,
    read_header,
)
from holdfast.former.tables.order import Ranking
from holdfast.former.tables.stream.lookout import Lookout
from holdfast.former.tables.stream.sorted_rows import SortedRows
from holdfast.former.tables.stream.source import Cells, Draw, Part, in_order
from holdfast.former.tables.stream.text_columns import label_keys
from holdfast.former.tables.structural_zeros import check_marks
from holdfast.former.tables.subset import Subset
from holdfast.former.tables.text_rows import empty_line

BLOCK = 1 << 23
_WORDS = ("TRUE", "FALSE", "1", "0", "YES", "NO")  # yes at even places, no at odd ones


@dataclass(frozen=True)
class Block:
    """Whole records of a file."""

    data: NDArray[np.uint8]
    done: float


@dataclass(frozen=True)
class Scanned:
    """What a block holds."""

    block: Block
    status: int
    rows: int
    used: int
    read: int
    counts: Integers
    marks: Marks | None
    cells: Integers
    others: tuple[Integers, ...] = ()
    """The counts of further columns."""
    fault: int = 0
    """Which column of counts is at fault, where one is."""


def _only(scanned: Scanned, inside: Marks | None) -> Scanned:
    """Some of the rows of a block, with nothing in it but them."""
    if inside is None or scanned.status:
        return scanned
    starts = scanned.cells[:, 2]
    sizes = np.diff(starts, append=scanned.used)
    data = scanned.block.data[starts[0] : scanned.used] if len(starts) else scanned.block.data[:0]
    data = data[np.repeat(inside, sizes)]
    cells = scanned.cells[inside]
    cells += (np.cumsum(sizes[inside]) - sizes[inside] - cells[:, 2])[:, None]
    return replace(
        scanned,
        block=replace(scanned.block, data=data),
        rows=int(inside.sum()),
        used=len(data),
        read=len(data) + scanned.read - scanned.used,
        counts=scanned.counts[inside],
        marks=None if scanned.marks is None else scanned.marks[inside],
        cells=cells,
        others=tuple(one[inside] for one in scanned.others),
    )


@dataclass(frozen=True)
class Written:
    """What is published of a block."""

    data: NDArray[np.uint8]
    ends: Integers

    def records(self) -> list[bytes]:
        """One by one."""
        data, ends = self.data.tobytes(), self.ends.tolist()
        return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _ended(record: bytes) -> bytes:
    """A record with the end of its line, which the last of a file may lack."""
    return record if record.endswith((b"\n", b"\r")) else record + b"\n"


def _gathered(pairs: Sequence[tuple[list[bytes], int]]) -> list[bytes]:
    return [records[at] for records, at in pairs]


@dataclass
class Progress:
    """How far a pass has come."""

    rows: int = 0
    blank: bool = False
    """Whether blank lines were read, after which no row may come."""


class TextSource:
    """A CSV file; its published cells are kept as they are, all but the counts."""

    suffix = "csv"

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self.path, self.name = path, str(path)
        self._header()
        self._delimiter, self._columns = ord(self._head.delimiter), self._head.columns
        self.roles, self._where = wanted.roles(self._columns), called(wanted.count)
        names = (self.roles.count, *wanted.other_counts)
        self._at, *self._others = map(self._columns.index, names)
        self._marker_name = wanted.structural_zero
        self._marker = self._columns.index(self._marker_name) if self._marker_name else -1
        self._ordering = [self._columns.index(name) for name in self.roles.ordering]
        self._grouping = [self._columns.index(name) for name in self.roles.grouping]
        self._ranking = Ranking(len(self._ordering))
        self.order: Integers | None = None
        self._codes = self._encoded(Codes(wanted.missing).texts)

    def _encoded(self, codes: Sequence[str]) -> tuple[NDArray[np.uint8], Integers]:
        """The codes that the file can hold, as bytes."""
        known = [code.encode(self._inner, "ignore") for code in codes]
        known = [
            data
            for data, code in zip(known, codes, strict=True)
            if data.decode(self._inner) == code
        ]
        longest = max(map(len, known), default=0)
        table = [list(data.ljust(longest, b"\0")) for data in known]
        sizes = np.array(list(map(len, known)), np.int64)
        return np.array(table, np.uint8).reshape(len(known), longest), sizes

    def digest(self) -> bytes:
        """The file's bytes, condensed."""
        with self._opened() as file:
            return hashlib.file_digest(file, "sha256").digest()

    def read(self, lookout: Lookout | None = None) -> Iterator[Part]:
        """The first pass: counts and marks, checked."""
        rows = Progress()
        for scanned in in_order(self._scan, self._blocks()):
            before = rows.rows
            self._check(scanned, rows)
            inside = self._inside(scanned, before)
            if lookout is not None:
                self._show(scanned, lookout, inside)
                self._ranking.see(self._cells_at(scanned, self._ordering))
            scanned = _only(scanned, inside)
            groups = [] if lookout is None else self._cells_at(scanned, self._grouping)
            yield Part(
                counts=scanned.counts,
                marks=scanned.marks,
                done=scanned.block.done,
                cells=groups,
                others=scanned.others,
            )

    def rewrite(
        self, draw: Draw, path: Path, threads: int, more: Sequence[Draw] = ()
    ) -> Iterator[Part]:
        """The second pass: the published columns again, with other counts."""

        def work(block: Block) -> tuple[Scanned, list[Integers], Written, Cells]:
            scanned = self._scan(block)
            if scanned.status:
                return scanned, [scanned.counts], Written(block.data[:0], scanned.counts), []
            scanned = _only(scanned, self._inside(scanned))
            groups = self._cells_at(scanned, self._grouping)
            pairs = zip((draw, *more), (scanned.counts, *scanned.others), strict=True)
            released = [one(counts, scanned.marks, groups) for one, counts in pairs]
            return scanned, released, self._rewritten(scanned, released), groups

        with path.open("xb") as file:
            head = self._head.select(self.roles.written)
            file.write(head.to_bytes())
            rows, ordered = Progress(), SortedRows(path.parent, _gathered)
            for scanned, released, written, groups in in_order(work, self._blocks(), threads):
                self._check(scanned, rows)
                if self._ordering:
                    keys = self._ranking.keys(self._cells_at(scanned, self._ordering))
                    ordered.add(keys, written.records(), len(written.data))
                else:
                    file.write(self._as(head.encoding, written.data.data))
                yield Part(
                    counts=scanned.counts,
                    marks=scanned.marks,
                    released=released[0],
                    done=scanned.block.done,
                    cells=groups,
                    others=scanned.others,
                    other_released=tuple(released[1:]),
                )
            for records in ordered.chunks():
                file.write(self._as(head.encoding, b"".join(records)))
            self.order = ordered.order if self._ordering else None

    def _inside(self, scanned: Scanned, before: int = 0) -> Marks | None:
        """Which rows of a block are in the subset that was named; None where none was."""
        subset: Subset | None = self.roles.wanted.subset
        if subset is None or scanned.status:
            return None
        (cells,) = self._cells_at(scanned, [self._columns.index(subset.column)])
        return subset.among(cells, before)

    def _cells_at(self, scanned: Scanned, places: list[int]) -> list[list[str]]:
        """The cells of the columns at these places."""
        if not places:
            return []
        text = scanned.block.data[: scanned.used].tobytes().decode(self._inner)
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=chr(self._delimiter))
        rows = [line or [""] for line in lines]
        return [[row[at] for row in rows] for at in places]

    def _as(self, encoding: str, data: bytes | memoryview) -> bytes | memoryview:
        """What was written, in the encoding of the release."""
        return data if self._inner == encoding else str(data, self._inner).encode(encoding)

    def _show(self, scanned: Scanned, lookout: Lookout, inside: Marks | None) -> None:
        block, places = scanned.block.data, [self._columns.index(n) for n in lookout.columns]

        def cells(rows: Integers) -> list[list[Any]]:
            ends = np.append(scanned.cells[1:, 2], scanned.used)
            lines = zip(scanned.cells[rows, 2].tolist(), ends[rows].tolist(), strict=True)
            data = b"".join(_ended(block[start:end].tobytes()) for start, end in lines)
            text = io.StringIO(data.decode(self._inner), newline="")
            found = [row or [""] for row in csv.reader(text, delimiter=chr(self._delimiter))]
            return [[row[at] for row in found] for at in places]

        lookout.see(scanned.counts, scanned.marks, cells, inside, scanned.others)
        if lookout.labels is not None:
            at = self._columns.index(lookout.labels.category)
            lookout.labels.see(label_keys(block, self._delimiter, at, scanned.rows))

    def _rewritten(self, scanned: Scanned, released: list[Integers]) -> "Written":
        """What is published of a block, quoted no more than it must be, whatever way it was."""
        from holdfast.former.tables.stream.text_kernel import write_rows

        block, rows = scanned.block.data, scanned.rows
        places = [self._columns.index(name) for name in self.roles.written]
        counted = [self._at, *self._others]
        which = np.array([counted.index(k) if k in counted else -1 for k in places])
        values = np.stack(released)
        digits = len(counted) * len(str(int(values.max(initial=0))))
        quotes = bool((block == ord('"')).any())
        room = (1 + quotes) * scanned.used + (digits + 2 + 2 * quotes * len(places)) * rows
        out, ends = np.empty(room, np.uint8), np.empty(rows, np.int64)
        newline = np.frombuffer(self._head.newline.encode(), np.uint8)
        style = (self._delimiter, newline, len(self._columns))
        size = write_rows(block, *style, np.array(places), which, values, out, ends)
        return Written(out[:size], ends)

    def _opened(self) -> io.BufferedReader:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise HoldfastError(
                f"`{self.path}` cannot be read: {error.strerror}. Hint: check the path."
            ) from None

    def _header(self) -> None:
        """The encoding, the header, and where the rows begin."""
        self._opened().close()
        try:
            encoding = find_encoding(self._pieces)
            self._bom, self._raw = encoding.bom, encoding.name
            self._inner = "utf-8" if self._raw.startswith("utf-16") else self._raw
            head = b""
            for piece in self._content():
                head += piece
                if len(head) > LONGEST_HEADER:
                    break
            header = read_header(
                head[:LONGEST_HEADER], self._inner, whole=len(head) <= LONGEST_HEADER
            )
        except HoldfastError as error:
            raise HoldfastError(f"`{self.path}`: {error}") from None
        self._start = len(header.text.encode(self._inner))
        style = header.delimiter, header.newline, encoding.name, encoding.bom
        self._head = CsvTable(header.names, [], *style)

    def _pieces(self) -> Iterator[bytes]:
        """The bytes of the file."""
        with self._opened() as file:
            self._size = max(os.fstat(file.fileno()).st_size, 1)
            while piece := self._next(file):
                yield piece

    def _content(self) -> Iterator[bytes]:
        """The text of the file in an encoding in which all delimiters are single bytes."""
        decoder = codecs.getincrementaldecoder(self._raw)()
        for number, piece in enumerate(self._pieces()):
            data = piece if number else piece[len(self._bom) :]
            yield data if self._raw == self._inner else decoder.decode(data).encode(self._inner)

    def _rows(self) -> Iterator[bytes]:
        """The text after the header; in a table of one column without the empty lines at its end,
        where those elsewhere are empty cells."""
        skipped, held = self._start, b""
        for piece in self._content():
            data = held + piece[skipped:]
            skipped = max(0, skipped - len(piece))
            kept = len(data.rstrip(b"\r\n")) if len(self._columns) == 1 else len(data)
            held = data[kept:]
            yield data[:kept]

    def _blocks(self) -> Iterator[Block]:
        """The rows of the file, cut where records end."""
        position, rest = len(self._bom) + self._start, b""
        width = 1 if self._raw == self._inner else 2  # bytes of a file for one that is read
        for fresh in itertools.chain(self._rows(), [None]):
            position += len(fresh or b"")
            data = rest + (fresh or b"")
            cut = len(data) if fresh is None else self._cut(data)
            rest = data[cut:]
            if len(rest) > LONGEST_RECORD + BLOCK:
                raise self._broken("a record is above 16 MiB")
            if cut:
                done = 1.0 if fresh is None else min(1.0, width * position / self._size)
                yield Block(np.frombuffer(data, np.uint8, cut), done)

    def _next(self, file: io.BufferedReader) -> bytes:
        try:
            return file.read(max(BLOCK, 4))  # a byte order mark is not cut
        except OSError as error:
            raise HoldfastError(
                f"`{self.path}` cannot be read to its end: {error.strerror}."
            ) from None

    def _cut(self, data: bytes) -> int:
        from holdfast.former.tables.stream.text_kernel import whole_records

        if b'"' not in data and data.count(b"\r") == data.count(b"\r\n"):
            return data.rfind(b"\n") + 1
        return int(whole_records(np.frombuffer(data, np.uint8), self._delimiter))

    def _scan(self, block: Block) -> Scanned:
        from holdfast.former.tables.stream.text_kernel import scan

        most = len(block.data) // len(self._columns) + 2  # delimiters, line end
        counts = np.empty(most, np.int64)
        marks = np.empty(most if self._marker >= 0 else 0, np.int8)
        cells = np.empty((most, 3), np.int64)
        words = np.array([list(word.encode().ljust(5, b"\0")) for word in _WORDS], np.uint8)
        place = self._delimiter, len(self._columns), self._at, self._marker, self._inner == "utf-8"
        found = scan(block.data, *place, words, *self._codes, counts, marks, cells)
        status, rows, used, read = found
        known = marks[:rows].astype(np.bool_) if self._marker >= 0 else None
        scanned = Scanned(block, status, rows, used, read, counts[:rows], known, cells[:rows])
        return scanned if status or not self._others else self._with_others(scanned)

    def _with_others(self, scanned: Scanned) -> Scanned:
        """The same with the counts of further columns."""
        from holdfast.former.tables.stream.text_kernel import BAD_COUNT, more_counts

        counts = np.empty((len(self._others), scanned.rows), np.int64)
        place = self._delimiter, len(self._columns), np.array(self._others)
        row, k = more_counts(scanned.block.data, *place, *self._codes, counts)
        if row < 0:
            return replace(scanned, others=tuple(counts))
        read = int(scanned.cells[row, 2])
        return replace(scanned, status=BAD_COUNT, rows=int(row), read=read, fault=1 + int(k))

    def _check(self, scanned: Scanned, so_far: Progress) -> None:
        if scanned.status or (so_far.blank and scanned.rows):
            raise self._fault(scanned, so_far.rows, so_far.blank)
        for counts in (scanned.counts, *scanned.others):
            check_marks(scanned.marks, counts, so_far.rows, self.path)
        so_far.blank = so_far.blank or scanned.read > scanned.used
        so_far.rows += scanned.rows

    def _fault(self, scanned: Scanned, rows: int, blank: bool) -> HoldfastError:
        from holdfast.former.tables.stream import text_kernel as kernel

        row = rows + scanned.rows + 1
        if blank or scanned.status == kernel.EMPTY:
            return empty_line(rows if blank else row - 1, f"`{self.path}`: ")
        if scanned.status == kernel.BROKEN:
            return self._broken(f"look at data row {row}")
        if scanned.status == kernel.LONG:
            return self._broken(f"data row {row} has a cell above {LONGEST_CELL:,} characters")
        line = bytes(scanned.block.data[scanned.read :][:LONGEST_RECORD])
        cells = self._cells(line)
        if scanned.status == kernel.WIDTH:
            return HoldfastError(
                f"`{self.path}`: data row {row} has {len(cells)} cells, the header has "
                f"{len(self._columns)}. Hint: quote cells that contain the delimiter, and pad "
                "short rows."
            )
        if scanned.status == kernel.BAD_MARK:
            return HoldfastError(
                f"`{self.path}`: `structural_zero` column {self._marker_name!r} must hold true or "
                f"false, data row {row} does not. Hint: write true and false, yes and no, or 1 "
                "and 0."
            )
        at = [self._at, *self._others][scanned.fault]
        where = called(self._columns[at]) if scanned.fault else self._where
        return BadCount(where, [(row - 1, text_problem(cells[at]))]).after(0, self.path)

    def _cells(self, line: bytes) -> list[str]:
        text = line.decode(self._inner, "replace")  # what follows a broken record may be cut
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=chr(self._delimiter))
        return next(lines) or [""]

    def _broken(self, hint: str) -> HoldfastError:
        return HoldfastError(
            f"`{self.path}` cannot be read as CSV. Hint: {hint}: a quoted cell that is not "
            "closed, or text after a closing quote."
        )
