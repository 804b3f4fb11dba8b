"""The array types that signatures speak of, and sums that do not overflow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]


def exact_sum(values: Integers) -> int:
    """The sum of many large integers, which need not fit into 64 bits.

    >>> exact_sum(np.full(4, 2**62))
    18446744073709551616
    """
    most = max(int(values.max(initial=0)), -int(values.min(initial=0)))
    if most * len(values) < 2**63:  # nearly always, and quicker
        return int(values.sum())
    high, low = values >> 32, values & 0xFFFFFFFF  # their sums fit
    return (int(high.sum()) << 32) + int(low.sum())


def narrowed(values: Integers) -> Integers:
    """The same integers in 32 bits each, where these hold them all."""
    most = max(int(values.max(initial=0)), -int(values.min(initial=0)))
    return values.astype(np.int32) if most < 1 << 31 else values


class Growing:
    """An array to which others are appended; room doubles as it fills, and memory is taken only as
    far as it is filled.

    >>> counts = Growing(np.int32)
    >>> for part in ([1, 2], [3]):
    ...     counts.append(np.array(part, dtype=np.int32))
    >>> counts.values
    array([1, 2, 3], dtype=int32)
    """

    def __init__(self, kind: Any) -> None:
        self._room, self._size = np.empty(0, dtype=kind), 0

    def append(self, part: NDArray[Any]) -> None:
        """Put values behind those that are there."""
        size, kind = self._size + len(part), np.promote_types(self._room.dtype, part.dtype)
        if size > len(self._room) or kind != self._room.dtype:
            room = np.empty(max(size, 2 * len(self._room)), dtype=kind)
            room[: self._size] = self.values
            self._room = room
        self._room[self._size : size] = part
        self._size = size

    @property
    def values(self) -> NDArray[Any]:
        """All of them."""
        return self._room[: self._size]
