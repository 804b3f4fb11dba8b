"""A CSV file as a stream: blocks of whole records in which only the digits of counts change."""

import codecs
import csv
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.columns import called, count_column
from holdfast.tables.count_values import BadCount, text_problem
from holdfast.tables.csv import DELIMITERS, parse_csv
from holdfast.tables.stream.lookout import Lookout
from holdfast.tables.stream.source import Draw, Part, check_marks, in_order
from holdfast.tables.stream.text_columns import holds_counts, label_keys

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
    """A CSV file; every byte but the digits of the counts is kept."""

    suffix = "csv"

    def __init__(self, path: Path, count: str | None, names: dict[str, str | None]) -> None:
        self.path, self.name = path, str(path)
        with self._opened() as file:
            head = file.read(BLOCK)
        self._start, self._delimiter, self.columns = self._header(head)
        self.column, self._where = count_column(self.columns, count, **names), called(count)
        self._at = self.columns.index(self.column)
        self._marker_name = names.get("structural_zero")
        self._marker = self.columns.index(self._marker_name) if self._marker_name else -1
        self.category = names.get("category")

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
        """The second pass: the file again, with other digits."""

        def work(block: Block) -> tuple[Scanned, Integers, NDArray[np.uint8]]:
            scanned = self._scan(block)
            if scanned.status:
                return scanned, scanned.counts, block.data[:0]
            released = draw(scanned.counts, scanned.marks)
            return scanned, released, _with_counts(scanned, released)

        with path.open("xb") as file:
            with self._opened() as start:
                file.write(start.read(self._start))
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
        block, counts = scanned.block.data, scanned.counts

        def holds(other: int) -> bool:
            at = other if other < self._at else other + 1
            return holds_counts(block, self._delimiter, at, counts)

        lookout.suspects.see(counts, holds)
        if lookout.labels is not None and lookout.labels.open:
            at = self.columns.index(lookout.labels.category)
            lookout.labels.see(label_keys(block, self._delimiter, at, scanned.rows))

    def _opened(self) -> io.BufferedReader:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise HoldfastError(
                f"`{self.path}` cannot be read: {error.strerror}. Hint: check the path."
            ) from None

    def _header(self, head: bytes) -> tuple[int, int, list[str]]:
        from holdfast.tables.stream.text_kernel import record

        if head.startswith(_OTHER_UNICODE):
            raise HoldfastError(
                f"`{self.path}`: a file in UTF-16 is read whole or not at all. "
                "Hint: save it in UTF-8, or have it read whole: --no-stream, `holdfast.privatize`."
            )
        start = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
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
        return start + len(line), ord(table.delimiter), table.columns

    def _blocks(self) -> Iterator[Block]:
        """The rest of the file, cut where records end."""
        size, position, rest = self.path.stat().st_size, self._start, b""
        with self._opened() as file:
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

        most = len(block.data) // (len(self.columns) + 1) + 2  # digit, delimiters, line end
        counts = np.empty(most, np.int64)
        marks = np.empty(most if self._marker >= 0 else 0, np.int8)
        cells = np.empty((most, 2), np.int64)
        words = np.array([list(word.encode().ljust(5, b"\0")) for word in _WORDS], np.uint8)
        place = self._delimiter, len(self.columns), self._at, self._marker
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
                f"{len(self.columns)}. Hint: quote cells that contain the delimiter, and fill "
                "up short rows."
            )
        if scanned.status == kernel.BAD_MARK:
            return HoldfastError(
                f"`{self.path}`: `structural_zero` column {self._marker_name!r} must hold true or "
                f"false, data row {row} does not. Hint: write true and false, yes and no, or 1 "
                "and 0."
            )
        return BadCount(self._where, row - 1, text_problem(cells[self._at])).after(0, self.path)

    def _cells(self, line: bytes) -> list[str]:
        text = line.decode("utf-8", errors="replace")
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=chr(self._delimiter)))

    def _broken(self, hint: str) -> HoldfastError:
        return HoldfastError(
            f"`{self.path}` cannot be read as CSV. Hint: {hint}: a quoted cell that is not "
            "closed, or text after a closing quote."
        )


def _with_counts(scanned: Scanned, released: Integers) -> Any:
    from holdfast.tables.stream.text_kernel import replace_cells

    digits = len(str(int(released.max()))) if len(released) else 1
    out = np.empty(scanned.used + digits * scanned.rows, np.uint8)
    length = replace_cells(scanned.block.data, scanned.used, scanned.cells, released, out)
    return out[:length]
