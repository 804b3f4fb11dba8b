"""Every byte of table.parquet before its footer belongs to a page of a column: nothing hides.

Pages are walked by their headers, which are structures in Thrift's compact protocol; of these
only the kinds are needed, and the third field, the number of bytes that follow.
"""

import os
from typing import IO, Any

from holdfast.former.verify.report import Damage

_START = 4  # after the letters PAR1
_DEEPEST, _LONGEST = 6, 1 << 16


def check_pages(source: Any, file: IO[bytes]) -> None:
    """Raise where bytes of the file belong to no page."""
    file.seek(-8, os.SEEK_END)
    footer = file.tell() - int.from_bytes(file.read(4), "little")
    place = _START
    for start, length in sorted(_chunks(source.metadata)):
        if start != place:
            raise _free()
        place = start + length
        _walk(file, start, place)
    if place != footer:
        raise _free()
    file.seek(0)


def _chunks(metadata: Any) -> Any:
    for group in (metadata.row_group(g) for g in range(metadata.num_row_groups)):
        for chunk in (group.column(c) for c in range(group.num_columns)):
            starts = (chunk.dictionary_page_offset, chunk.data_page_offset)
            yield min(s for s in starts if s is not None), chunk.total_compressed_size


def _walk(file: IO[bytes], place: int, end: int) -> None:
    while place < end:
        file.seek(place)
        header = _Header(file.read(min(_LONGEST, end - place)))
        place += header.end + header.body
    if place != end:
        raise _free()


class _Header:
    """The length of a page's header, and of what follows it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.end, self.body = data, 0, -1
        try:
            self._structure(0)
        except IndexError:
            raise _free() from None
        if self.body < 0:
            raise _free()

    def _structure(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise _free()
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            value = self._value(head & 15, depth)
            if depth == 0 and field == 3:
                self.body = value

    def _value(self, kind: int, depth: int) -> int:
        """The value of a number; anything else is passed over."""
        if kind in (1, 2):  # true, false
            return 0
        if kind in (3, 4, 5, 6):  # a byte, or a number in zigzag
            return self._byte() if kind == 3 else self._signed()
        if kind == 7:
            self.end += 8
        elif kind == 8:
            length = self._unsigned()  # which moves the end, too
            self.end += length
        elif kind == 12:
            self._structure(depth + 1)
        else:
            raise _free()  # no page header has lists, sets or maps
        return 0

    def _byte(self) -> int:
        self.end += 1
        return self.data[self.end - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value, shift = value | (byte & 127) << shift, shift + 7
        return value | byte << shift

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)


def _free() -> Damage:
    return Damage("table.parquet has bytes that belong to no page of its columns.")
