"""A CSV file as a stream: blocks of whole records, of which the published cells are written."""

import codecs
import csv
import hashlib
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.columns import Wanted, called
from holdfast.tables.count_values import BadCount, text_problem
from holdfast.tables.csv import DELIMITERS, CsvTable, parse_csv
from holdfast.tables.stream.lookout import Lookout
from holdfast.tables.stream.source import Draw, Part, check_marks, in_order
from holdfast.tables.stream.text_columns import label_keys

BLOCK = 1 << 23
LONGEST_RECORD = 1 << 26
_WORDS = ("TRUE", "FALSE", "1", "0", "YES", "NO")  # yes at even places, no at odd ones
_OTHER_UNICODE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


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
        with self._opened() as file:
            head = file.read(BLOCK)
        self._start, self._head = self._header(head)
        self._delimiter, self._columns = ord(self._head.delimiter), self._head.columns
        self.roles, self._where = wanted.roles(self._columns), called(wanted.count)
        self._at = self._columns.index(self.roles.count)
        self._marker_name = wanted.structural_zero
        self._marker = self._columns.index(self._marker_name) if self._marker_name else -1

    def digest(self) -> bytes:
        """The file's bytes, condensed."""
        with self._opened() as file:
            return hashlib.file_digest(file, "sha256").digest()

    def read(self, lookout: Lookout | None = None) -> Iterator[Part]:
        """The first pass: counts and marks, checked."""
        rows = Progress()
        for scanned in in_order(self._scan, self._blocks()):
            self._check(scanned, rows)
            if lookout is not None:
                self._show(scanned, lookout)
            yield Part(counts=scanned.counts, marks=scanned.marks, done=scanned.block.done)

    def rewrite(self, draw: Draw, path: Path, threads: int) -> Iterator[Part]:
        """The second pass: the published columns again, with other counts."""

        def work(block: Block) -> tuple[Scanned, Integers, NDArray[np.uint8]]:
            scanned = self._scan(block)
            if scanned.status:
                return scanned, scanned.counts, block.data[:0]
            released = draw(scanned.counts, scanned.marks)
            return scanned, released, self._rewritten(scanned, released)

        with path.open("xb") as file:
            file.write(replace(self._head, rows=[]).select(self.roles.published).to_bytes())
            rows = Progress()
            for scanned, released, data in in_order(work, self._blocks(), threads):
                self._check(scanned, rows)
                file.write(data.data)
                yield Part(
                    counts=scanned.counts,
                    marks=scanned.marks,
                    released=released,
                    done=scanned.block.done,
                )

    def _show(self, scanned: Scanned, lookout: Lookout) -> None:
        block, places = scanned.block.data, [self._columns.index(n) for n in lookout.columns]

        def cells(rows: Integers) -> list[list[Any]]:
            ends = np.append(scanned.cells[1:, 2], scanned.used)
            lines = zip(scanned.cells[rows, 2].tolist(), ends[rows].tolist(), strict=True)
            found = [self._cells(bytes(block[start:end])) for start, end in lines]
            return [[row[at] for row in found] for at in places]

        lookout.see(scanned.counts, scanned.marks, cells)
        if lookout.labels is not None:
            at = self._columns.index(lookout.labels.category)
            lookout.labels.see(label_keys(block, self._delimiter, at, scanned.rows))

    def _rewritten(self, scanned: Scanned, released: Integers) -> NDArray[np.uint8]:
        """What is published of a block, quoted no more than it must be, whatever way it was."""
        from holdfast.tables.stream.text_kernel import write_rows

        block, rows = scanned.block.data, scanned.rows
        places = np.array([self._columns.index(name) for name in self.roles.published])
        digits = len(str(int(released.max(initial=0))))
        quotes = bool((block == ord('"')).any())
        room = (1 + quotes) * scanned.used + (digits + 2 + 2 * quotes * len(places)) * rows
        out = np.empty(room, np.uint8)
        newline = np.frombuffer(self._head.newline.encode(), np.uint8)
        style = (self._delimiter, newline, len(self._columns))
        return out[: write_rows(block, *style, places, self._at, released, out)]

    def _opened(self) -> io.BufferedReader:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise HoldfastError(
                f"`{self.path}` cannot be read: {error.strerror}. Hint: check the path."
            ) from None

    def _header(self, head: bytes) -> tuple[int, CsvTable]:
        from holdfast.tables.stream.text_kernel import record

        if head.startswith(_OTHER_UNICODE):
            raise HoldfastError(
                f"`{self.path}`: a file in UTF-16 is read whole or not at all. "
                "Hint: save it in UTF-8, or have it read whole: --no-stream, `holdfast.privatize`."
            )
        bom = codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b""
        start = len(bom)
        while head[start : start + 1] in (b"\r", b"\n"):
            start += 1
        data = np.frombuffer(head, np.uint8)
        ends = [
            record(data, start, len(head) < BLOCK, ord(d), -1, -1, np.zeros(4, np.int64))
            for d in DELIMITERS
        ]
        try:
            line = head[start : max(end for end, _ in ends)]
            table = parse_csv(line)
        except HoldfastError as error:
            raise HoldfastError(f"`{self.path}`: {error}") from None
        return start + len(line), replace(table, bom=bom)

    def _blocks(self) -> Iterator[Block]:
        """The rest of the file, cut where records end."""
        position, rest = self._start, b""
        with self._opened() as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(self._start)
            final = False
            while not final:
                fresh = self._next(file)
                final = len(fresh) == 0
                position += len(fresh)
                data = rest + fresh
                cut = len(data) if final else self._cut(data)
                rest = data[cut:]
                if len(rest) > LONGEST_RECORD:
                    raise self._broken("a record is above 64 MiB")
                if b"\0" in fresh:
                    raise self._broken("it holds bytes that are not text")
                if cut:
                    block = np.frombuffer(data, np.uint8, cut)
                    yield Block(block, position / max(size, 1))

    def _next(self, file: io.BufferedReader) -> bytes:
        try:
            return file.read(BLOCK)
        except OSError as error:
            raise HoldfastError(
                f"`{self.path}` cannot be read to its end: {error.strerror}."
            ) from None

    def _cut(self, data: bytes) -> int:
        from holdfast.tables.stream.text_kernel import whole_records

        if b'"' not in data and data.count(b"\r") == data.count(b"\r\n"):
            return data.rfind(b"\n") + 1
        return int(whole_records(np.frombuffer(data, np.uint8), self._delimiter))

    def _scan(self, block: Block) -> Scanned:
        from holdfast.tables.stream.text_kernel import scan

        most = len(block.data) // (len(self._columns) + 1) + 2  # digit, delimiters, line end
        counts = np.empty(most, np.int64)
        marks = np.empty(most if self._marker >= 0 else 0, np.int8)
        cells = np.empty((most, 3), np.int64)
        words = np.array([list(word.encode().ljust(5, b"\0")) for word in _WORDS], np.uint8)
        place = self._delimiter, len(self._columns), self._at, self._marker
        status, rows, used, read = scan(block.data, *place, words, counts, marks, cells)
        known = marks[:rows].astype(np.bool_) if self._marker >= 0 else None
        return Scanned(block, status, rows, used, read, counts[:rows], known, cells[:rows])

    def _check(self, scanned: Scanned, so_far: Progress) -> None:
        if scanned.status or (so_far.blank and scanned.rows):
            raise self._fault(scanned, so_far.rows, so_far.blank)
        check_marks(scanned.marks, scanned.counts, so_far.rows, self.path)
        so_far.blank = so_far.blank or scanned.read > scanned.used
        so_far.rows += scanned.rows

    def _fault(self, scanned: Scanned, rows: int, blank: bool) -> HoldfastError:
        from holdfast.tables.stream import text_kernel as kernel

        row = rows + scanned.rows + 1
        if blank or scanned.status == kernel.EMPTY:
            row = rows + 1 if blank else row
            return HoldfastError(
                f"`{self.path}`: data row {row} is an empty line. Hint: take the line out."
            )
        if scanned.status == kernel.BROKEN:
            return self._broken(f"look at data row {row}")
        line = bytes(scanned.block.data[scanned.read :][:LONGEST_RECORD])
        cells = self._cells(line)
        if scanned.status == kernel.WIDTH:
            return HoldfastError(
                f"`{self.path}`: data row {row} has {len(cells)} cells, the header has "
                f"{len(self._columns)}. Hint: quote cells that contain the delimiter, and fill "
                "up short rows."
            )
        if scanned.status == kernel.BAD_MARK:
            return HoldfastError(
                f"`{self.path}`: `structural_zero` column {self._marker_name!r} must hold true or "
                f"false, data row {row} does not. Hint: write true and false, yes and no, or 1 "
                "and 0."
            )
        return BadCount(self._where, [(row - 1, text_problem(cells[self._at]))]).after(0, self.path)

    def _cells(self, line: bytes) -> list[str]:
        text = line.decode("utf-8", errors="replace")
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=chr(self._delimiter)))

    def _broken(self, hint: str) -> HoldfastError:
        return HoldfastError(
            f"`{self.path}` cannot be read as CSV. Hint: {hint}: a quoted cell that is not "
            "closed, or text after a closing quote."
        )
