"""The file of curves, read from docs/bundle.md alone, and the powers that go with it."""

import os
import struct
import zlib
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.former.verify.curve_table import CurveTable
from holdfast.former.verify.exact import Words
from holdfast.former.verify.folder import CURVES, opened
from holdfast.former.verify.mechanism import TOTAL, Integers
from holdfast.former.verify.report import Damage

_HEADER = struct.Struct("<8sIIQQ")
_PLENTY = Context(prec=80)


def read_curves(folder: Path, record: dict[str, Any]) -> CurveTable:
    """The integers of the file, each in its range and the curves in their order."""
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
    powers = exact_powers(Fraction(record["certificate"]["epsilon"]), n)
    return checked_curves(turns, heights, floors, lift=lift, powers=powers, name=CURVES)


def checked_curves(
    turns: Integers, heights: Integers, floors: Integers, *, lift: int, powers: Words, name: str
) -> CurveTable:
    """Curves whose integers are each in its range, in their order; `name` is that of the file."""
    n = len(turns)
    if floors.min() < 0 or floors.max() > TOTAL >> 32:
        raise Damage(f"{name}: a floor lies outside its range.")
    keep = TOTAL - int(floors.sum())
    inside = 0 <= turns.min() <= turns.max() < n and 0 <= heights.min() <= heights.max() <= keep
    if not inside or not 0 <= lift <= keep:
        raise Damage(f"{name}: a turn, a height or the lift lies outside its range.")
    _check_order(turns, heights, name)
    return CurveTable(turns, heights, floors, lift=lift, powers=powers)


def _check_order(turns: Integers, heights: Integers, name: str) -> None:
    later, higher = np.diff(turns), np.diff(heights)
    astray = np.flatnonzero((later < 0) | ((later == 0) & (higher < 0)))
    if len(astray):
        raise Damage(f"{name}: the curves are not in order at output {astray[0] + 1}.")


def _inflated(packed: bytes, size: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, size + 1)
    except zlib.error:
        raise Damage(f"{CURVES} cannot be inflated: its bytes are damaged.") from None
    if len(data) != size or not inflater.eof or inflater.unused_data:
        raise Damage(f"{CURVES} does not hold three numbers for every count.")
    return data


def exact_powers(epsilon: Fraction, n: int) -> Words:
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
