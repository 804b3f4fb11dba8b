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


def gathered(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """The arrays of a list one after the other; the list is empty then, so that memory holds them
    once.

    >>> parts = [np.array([1, 2]), np.array([3])]
    >>> gathered(parts), parts
    (array([1, 2, 3]), [])
    """
    whole = np.empty(sum(map(len, parts)), dtype=np.result_type(*parts))
    end = len(whole)
    while parts:
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole
