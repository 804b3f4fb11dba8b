"""The curves of a mechanism in a file: three integers a column, for any language to read.

docs/bundle.md is the format's specification; `holdfast.verify` reads it with code of its own.
"""

import struct
import zlib
from fractions import Fraction
from pathlib import Path

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.mechanism.curves import Curves

HEADER = struct.Struct("<8sIIQQ")  # magic, version, n, lift, length of what follows
MAGIC, VERSION = b"holdfast", 2


def encode_curves(curves: Curves) -> bytes:
    """Turns, heights and floors one after the other, 8 bytes a number, deflated.

    >>> from holdfast.constructors import Optimal
    >>> curves = Optimal()([0.5, 0.3, 0.2], epsilon=1).mechanism.curves
    >>> decode_curves(encode_curves(curves), Fraction(1)).digest("") == curves.digest("")
    True
    """
    columns = np.stack([curves.turns, curves.heights, curves.floors]).astype("<i8")
    packed = zlib.compress(columns.tobytes())
    return HEADER.pack(MAGIC, VERSION, len(curves), curves.lift, len(packed)) + packed


def decode_curves(data: bytes, epsilon: Fraction) -> Curves:
    """The inverse of `encode_curves`."""
    magic, version, n, lift, length = HEADER.unpack_from(data)
    packed = data[HEADER.size :]
    if (magic, version, length) != (MAGIC, VERSION, len(packed)):
        raise HoldfastError("this is not a file of curves.")
    columns = np.frombuffer(zlib.decompress(packed), dtype="<i8").reshape(3, n)
    turns, heights, floors = columns.astype(np.int64)
    return Curves(turns=turns, heights=heights, floors=floors, epsilon=epsilon, lift=lift)


def write_curves(curves: Curves, path: Path) -> None:
    """Write the curves of a mechanism to a new file."""
    with path.open("xb") as file:
        file.write(encode_curves(curves))


def read_curves(path: Path, epsilon: Fraction) -> Curves:
    """The curves in a file that `holdfast.verify` has found in order."""
    return decode_curves(path.read_bytes(), epsilon)
