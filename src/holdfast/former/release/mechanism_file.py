"""The integers of a mechanism in a file, for any language to read: weights, or curves.

docs/bundle.md is the specification of both; `holdfast.verify` reads them with code of its own.
"""

import struct
import zlib
from fractions import Fraction

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.former.mechanism.curves import Curves
from holdfast.former.mechanism.weights import TOTAL

HEADER = struct.Struct("<8sIIQQ")  # magic, version, n, a number by version, length of what follows
MAGIC = b"holdfast"
WEIGHTS, CURVES = 1, 2  # versions; the number is the row total, and the lift


def packed(version: int, n: int, number: int, content: bytes) -> bytes:
    """The file with this content, deflated."""
    deflated = zlib.compress(content)
    return HEADER.pack(MAGIC, version, n, number, len(deflated)) + deflated


def unpacked(data: bytes) -> tuple[int, int, int, bytes]:
    """The inverse: the version, n, the number by version, and the content."""
    magic, version, n, number, length = HEADER.unpack_from(data)
    deflated = data[HEADER.size :]
    if (magic, length) != (MAGIC, len(deflated)):
        raise HoldfastError("this is not the file of a mechanism.")
    return version, n, number, zlib.decompress(deflated)


def encode_curves(curves: Curves) -> bytes:
    """Turns, heights and floors one after the other, 8 bytes a number.

    >>> from holdfast.former.constructors import Optimal
    >>> curves = Optimal()([0.5, 0.3, 0.2], epsilon=1).mechanism.curves
    >>> decode_curves(encode_curves(curves), Fraction(1)).digest("") == curves.digest("")
    True
    """
    columns = np.stack([curves.turns, curves.heights, curves.floors]).astype("<i8")
    return packed(CURVES, len(curves), curves.lift, columns.tobytes())


def decode_curves(data: bytes, epsilon: Fraction) -> Curves:
    """The inverse of `encode_curves`."""
    version, n, lift, content = unpacked(data)
    if version != CURVES:
        raise HoldfastError("this is not a file of curves.")
    columns = np.frombuffer(content, dtype="<i8").reshape(3, n)
    turns, heights, floors = columns.astype(np.int64)
    return Curves(turns=turns, heights=heights, floors=floors, epsilon=epsilon, lift=lift)


def encode_weights(weights: Integers) -> bytes:
    """Column by column, differences downwards, signs folded in, byte by byte.

    Neighbours in a column are within a factor e^ε of each other and often equal, so their
    differences are small; their high bytes, set side by side, are nearly all zero.

    >>> data = encode_weights(np.full((2, 2), 2**61))
    >>> data[:8], (decode_weights(data) == 2**61).all()
    (b'holdfast', np.True_)
    """
    columns = np.ascontiguousarray(weights.T)
    differences = np.diff(columns, axis=1, prepend=np.int64(0))
    folded = ((differences << 1) ^ (differences >> 63)).astype("<i8", copy=False)
    n = len(columns)
    planes = folded.view(np.uint8).reshape(n, n, 8).transpose(0, 2, 1)
    return packed(WEIGHTS, n, TOTAL, planes.tobytes())


def decode_weights(data: bytes) -> Integers:
    """The inverse of `encode_weights`."""
    version, n, total, content = unpacked(data)
    if (version, total) != (WEIGHTS, TOTAL):
        raise HoldfastError("this is not a file of weights.")
    planes = np.frombuffer(content, dtype=np.uint8).reshape(n, 8, n)
    folded = np.ascontiguousarray(planes.transpose(0, 2, 1)).view("<u8")[:, :, 0]
    differences = (folded >> 1).astype(np.int64) ^ -(folded & 1).astype(np.int64)
    return np.ascontiguousarray(np.cumsum(differences, axis=1).T)
