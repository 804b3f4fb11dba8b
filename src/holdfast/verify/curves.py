"""The file of curves, and the weights that follow from it: rebuilt from docs/bundle.md alone."""

import hashlib
import os
import struct
import zlib
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.verify.certificate import product
from holdfast.verify.folder import CURVES, opened
from holdfast.verify.report import Damage
from holdfast.verify.weights import TOTAL, Columns, claim_words

_HEADER = struct.Struct("<8sIIQQ")
_PLENTY = Context(prec=80)
Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class CurvesFile:
    """What the file holds, and what follows from it at once."""

    turns: Numbers
    heights: Numbers
    floors: Numbers
    lift: int
    keep: int


def read_curves(folder: Path, record: dict[str, Any]) -> CurvesFile:
    """The integers of the file, each in its range."""
    n = record["max_count"] + 1
    with opened(folder, CURVES) as file:
        size = os.fstat(file.fileno()).st_size
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            raise Damage(f"{CURVES} is too short to have a header.")
        magic, version, stated, lift, length = _HEADER.unpack(header)
        if (magic, version) != (b"holdfast", 2):
            raise Damage(f"{CURVES} does not begin as a file of curves does.")
        if stated != n:
            raise Damage(f"{CURVES}: its header gives n = {stated}, max_count + 1 is {n}.")
        if length != size - _HEADER.size or length > 32 * n + 1024:
            raise Damage(f"{CURVES} does not have the length that its header gives.")
        data = _inflated(file.read(length), 24 * n)
    turns, heights, floors = np.frombuffer(data, dtype="<i8").reshape(3, n).astype(np.int64)
    if floors.min() < 0 or floors.max() > TOTAL >> 32:
        raise Damage(f"{CURVES}: a floor lies outside its range.")
    keep = TOTAL - int(floors.sum())
    inside = 0 <= turns.min() <= turns.max() < n and 0 <= heights.min() <= heights.max() <= keep
    if not inside or not 0 <= lift <= keep:
        raise Damage(f"{CURVES}: a turn, a height or the lift lies outside its range.")
    return CurvesFile(turns=turns, heights=heights, floors=floors, lift=lift, keep=keep)


def _inflated(packed: bytes, size: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, size + 1)
    except zlib.error:
        raise Damage(f"{CURVES} cannot be inflated: its bytes are damaged.") from None
    if len(data) != size or not inflater.eof or inflater.unused_data:
        raise Damage(f"{CURVES} does not hold three numbers for every count.")
    return data


def rebuilt_columns(curves: CurvesFile, record: dict[str, Any]) -> Columns:
    """The weights, one row of the result a column of the mechanism; 8 n^2 bytes."""
    n = len(curves.turns)
    powers = exact_powers(Fraction(record["certificate"]["epsilon"]), n)
    columns = np.zeros((n, n), dtype=np.uint64)
    before = np.zeros(n, dtype=np.int64)
    for j in range(n):
        curve = _curve(int(curves.turns[j]), int(curves.heights[j]), curves, powers)
        column = curve - before + curves.floors[j]
        if column.min() < 0:
            i = int(np.argmin(column))
            raise Damage(f"{CURVES}: the weight of input {i}, output {j} is negative.")
        columns[j], before = column.astype(np.uint64), curve
    return columns


def _curve(turn: int, height: int, curves: CurvesFile, powers: Columns) -> Numbers:
    """The cumulative weight of one output for every input, without the floors."""
    n = len(powers)
    right = _tail(height, curves.lift, powers[: n - turn])
    left = _tail(curves.keep - height, curves.lift, powers[1 : turn + 1])
    return np.concatenate([curves.keep - left[::-1], right])


def _tail(height: int, lift: int, powers: Columns) -> Numbers:
    """max(⌊(height + lift) p_d / 2^62⌋ - lift, 0) for every power p_d."""
    high, low = product(powers, height + lift)
    left = (high << np.uint64(2)) | (low >> np.uint64(62))
    return np.maximum(left.astype(np.int64) - lift, 0)


def exact_powers(epsilon: Fraction, n: int) -> Columns:
    """⌊2^62 e^(-εd)⌋ for d = 0, ..., n-1, each from a correctly rounded exponential of 80 digits.

    >>> exact_powers(Fraction(50), 2).tolist()
    [4611686018427387904, 0]
    """
    powers = np.zeros(n, dtype=np.uint64)
    for d in range(n):
        exponent = _PLENTY.divide(Decimal(-d * epsilon.numerator), Decimal(epsilon.denominator))
        power = _PLENTY.multiply(_PLENTY.exp(exponent), Decimal(TOTAL))
        if power < 1:
            break
        powers[d] = int(power)
        near = abs(power - power.to_integral_value())
        if d and near < Decimal("1e-50"):
            raise Damage("a power of e^-epsilon cannot be told from a whole number.")
    return powers


def check_curves_digest(curves: CurvesFile, record: dict[str, Any]) -> str:
    """The digest of curves and claim, by which the maker knows the mechanism."""
    words = f"holdfast curves n={len(curves.turns)} lift={curves.lift} {claim_words(record)}\n"
    digest = hashlib.sha256(words.encode())
    for numbers in (curves.turns, curves.heights, curves.floors):
        digest.update(numbers.astype("<i8").tobytes())
    if digest.hexdigest() != record["mechanism_digest"]:
        raise Damage("mechanism_digest is not the digest of these curves and this epsilon.")
    return f"begins {record['mechanism_digest'][:16]}"
