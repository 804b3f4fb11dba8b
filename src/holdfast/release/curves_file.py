"""The curves of a mechanism in a file: three integers a column, for any language to read.

docs/bundle.md is the format's specification; `holdfast.verify` reads it with code of its own.
"""

from fractions import Fraction

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.mechanism.curves import Curves
from holdfast.release.packed import packed, unpacked

VERSION = 2  # its number is the lift


def encode_curves(curves: Curves) -> bytes:
    """Turns, heights and floors one after the other, 8 bytes a number, deflated.

    >>> from holdfast.constructors import Optimal
    >>> curves = Optimal()([0.5, 0.3, 0.2], epsilon=1).mechanism.curves
    >>> decode_curves(encode_curves(curves), Fraction(1)).digest("") == curves.digest("")
    True
    """
    columns = np.stack([curves.turns, curves.heights, curves.floors]).astype("<i8")
    return packed(VERSION, len(curves), curves.lift, columns.tobytes())


def decode_curves(data: bytes, epsilon: Fraction) -> Curves:
    """The inverse of `encode_curves`."""
    version, n, lift, content = unpacked(data, "curves")
    if version != VERSION:
        raise HoldfastError("this is not a file of curves.")
    columns = np.frombuffer(content, dtype="<i8").reshape(3, n)
    turns, heights, floors = columns.astype(np.int64)
    return Curves(turns=turns, heights=heights, floors=floors, epsilon=epsilon, lift=lift)
