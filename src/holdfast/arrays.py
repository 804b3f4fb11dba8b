"""The array types that signatures speak of, and sums that do not overflow."""

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
    high, low = halves(values)
    return (int(high.sum()) << 32) + int(low.sum())


def exact_row_sums(values: Integers) -> list[int]:
    """The same of every row.

    >>> exact_row_sums(np.full((2, 2), 2**62))
    [9223372036854775808, 9223372036854775808]
    """
    high, low = (half.sum(axis=1).tolist() for half in halves(values))
    return joined(high, low)


def halves(values: Integers) -> tuple[Integers, Integers]:
    """The upper and the lower 32 bits: their sums fit where that of the integers does not."""
    return values >> 32, values & 0xFFFFFFFF


def joined(high: list[int], low: list[int]) -> list[int]:
    """Integers from sums of their halves."""
    return [(upper << 32) + lower for upper, lower in zip(high, low, strict=True)]
