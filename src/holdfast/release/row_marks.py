"""Which rows are marked, as a short text: one bit a row."""

import base64

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 1 << 24  # 2.8 MB of text: release.json has room for it


def marks_to_text(marks: NDArray[np.bool_]) -> str:
    """The bits of the rows, first row first, filled up with 0 to whole bytes, in Base64.

    >>> marks_to_text(np.array([True, False, False, True]))
    'kA=='
    """
    return base64.b64encode(np.packbits(marks).tobytes()).decode("ascii")


def marks_from_text(text: str, rows: int) -> NDArray[np.bool_]:
    """The inverse of `marks_to_text`.

    >>> marks_from_text("kA==", 4).tolist()
    [True, False, False, True]
    """
    packed = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.uint8)
    return np.unpackbits(packed, count=rows).astype(np.bool_)
