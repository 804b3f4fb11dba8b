"""The integer weights of a mechanism in a file: compact, and read in a few lines of any language.

docs/bundle.md is the format's specification; `holdfast.verify` reads it with code of its own.
"""

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.release.packed import packed, unpacked

VERSION = 1  # its number is the row total
TOTAL = 1 << 62


def encode_weights(weights: NDArray[np.int64]) -> bytes:
    """Column by column, differences downwards, signs folded in, byte by byte, deflated.

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
    return packed(VERSION, n, TOTAL, planes.tobytes())


def decode_weights(data: bytes) -> NDArray[np.int64]:
    """The inverse of `encode_weights`."""
    version, n, total, content = unpacked(data, "weights")
    if (version, total) != (VERSION, TOTAL):
        raise HoldfastError("this is not a file of weights.")
    planes = np.frombuffer(content, dtype=np.uint8).reshape(n, 8, n)
    folded = np.ascontiguousarray(planes.transpose(0, 2, 1)).view("<u8")[:, :, 0]
    differences = (folded >> 1).astype(np.int64) ^ -(folded & 1).astype(np.int64)
    return np.ascontiguousarray(np.cumsum(differences, axis=1).T)
