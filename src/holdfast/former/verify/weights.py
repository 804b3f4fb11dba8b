"""The file of weights: its header checked before anything is made room for, then its columns."""

import os
import struct
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.former.verify.exact import Words as Columns
from holdfast.former.verify.folder import WEIGHTS as NAME
from holdfast.former.verify.folder import opened
from holdfast.former.verify.mechanism import TOTAL, WeightTable
from holdfast.former.verify.report import Damage

_HEADER = struct.Struct("<8sIIQQ")
_INFLATES_AT_MOST = 1032  # what a byte of deflate can grow to
_CHUNK = 1 << 16


def read_weights(folder: Path, record: dict[str, Any]) -> WeightTable:
    """The weights, a column of the mechanism after the other.

    Needs 8 n^2 bytes for the result and little beside, n being checked against max_count and
    against what the file's true length can inflate to before anything is inflated.
    """
    with opened(folder, NAME) as file:
        n, length = _check_header(file, record["max_count"] + 1)
        columns = np.zeros((n, n), dtype=np.uint64)
        stream = _Inflated(file, length)
        for j in range(n):
            columns[j] = _column(stream.read(8 * n), n)
            if columns[j].max() > TOTAL:
                i = int(np.argmax(columns[j] > TOTAL))
                raise Damage(f"{NAME}: the weight of input {i}, output {j} lies outside 0 to 2^62.")
        stream.check_end()
    return WeightTable(columns)


def _check_header(file: IO[bytes], expected: int) -> tuple[int, int]:
    size = os.fstat(file.fileno()).st_size
    if size < _HEADER.size:
        raise Damage(f"{NAME} is too short to have a header.")
    magic, version, n, total, length = _HEADER.unpack(file.read(_HEADER.size))
    if magic != b"holdfast":
        raise Damage(f"{NAME} does not begin as a file of weights does.")
    if version != 1:
        raise Damage(f"{NAME} has format version {version}; this holdfast reads 1.")
    if total != TOTAL:
        raise Damage(f"{NAME}: its header gives a row total other than 2^62.")
    if length != size - _HEADER.size:
        raise Damage(f"{NAME}: its header speaks of {length} bytes, {size - _HEADER.size} follow.")
    if n != expected:
        raise Damage(f"{NAME}: its header gives n = {n}, max_count + 1 is {expected}.")
    if 8 * n * n > _INFLATES_AT_MOST * length:
        raise Damage(f"{NAME}: its header gives n = {n}, too large for the {length} bytes there.")
    return n, length


class _Inflated:
    """Bytes that are inflated as they are asked for, never more than asked."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self.file, self.left, self.inflater = file, length, zlib.decompressobj()

    def read(self, count: int) -> bytes:
        parts, wanted = [], count
        while wanted:
            part = self._next(wanted)
            if not part:
                raise Damage(f"{NAME} ends too early: the weights are not complete.")
            parts.append(part)
            wanted -= len(part)
        return b"".join(parts)

    def _next(self, most: int) -> bytes:
        while not self.inflater.eof:
            packed = self.inflater.unconsumed_tail or self.file.read(min(_CHUNK, self.left))
            if not self.inflater.unconsumed_tail:
                self.left -= len(packed)
            try:
                part = self.inflater.decompress(packed, most)
            except zlib.error:
                raise Damage(f"{NAME} cannot be inflated: its bytes are damaged.") from None
            if part or not packed:
                return part
        return b""

    def check_end(self) -> None:
        if self._next(1):
            raise Damage(f"{NAME} holds more weights than n times n.")
        if not self.inflater.eof:
            raise Damage(f"{NAME} ends too early: its check sum is missing.")
        if self.inflater.unused_data or self.left:
            raise Damage(f"{NAME} has bytes after the end of its weights.")


def _column(data: bytes, n: int) -> Columns:
    planes = np.frombuffer(data, dtype=np.uint8).reshape(8, n)
    folded = np.zeros(n, dtype=np.uint64)
    for k in range(8):
        folded |= planes[k].astype(np.uint64) << np.uint64(8 * k)
    one = np.uint64(1)
    differences = (folded >> one) ^ (~(folded & one) + one)  # modulo 2^64
    return np.cumsum(differences, dtype=np.uint64)
