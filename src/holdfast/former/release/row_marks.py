"""What is known of each row, and which are marked, as a short text: one bit per row."""

import base64

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Integers
from holdfast.former.release.release import Release

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


def row_kinds(release: Release) -> Integers:
    """What is known of each row: its released count j, or n where it is known to be zero; -1 where
    the count is missing. In a release by group, n + 1 times the number of its group is added."""
    marks, n = release.structural_zero_rows, len(release.target)
    kinds = release.counts if marks is None else np.where(marks, n, release.counts)
    if release.groups is None or release.groups.members is None:
        return kinds
    return np.where(kinds < n, kinds + (n + 1) * np.maximum(release.groups.members, 0), kinds)
