"""Compiled kernels of the draw: the bits of a uniform integer, read only as far as they matter."""

import numpy as np

from holdfast.compiled import compiled

ROUND = 8  # bytes that one draw takes at the most: 1 + 1 + 6
LEFT_8, LEFT_16 = 54, 46  # bits of the 62 that are unread after 8 and after 16 of them
MASK_46 = (1 << 46) - 1


@compiled(nogil=True)
def _first_above(sums, i, u, low, high):
    """The first j in low..high with sums[i, j] > u, given that sums[i, high] > u."""
    while low < high:
        middle = (low + high) >> 1
        if sums[i, middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@compiled(nogil=True)
def draw_bytes(sums, guide, counts, drawn, start, pool):
    """Draw for counts[start:] while `pool` lasts; the first row that is still to do."""
    position, end = 0, len(pool) - ROUND
    for row in range(start, len(counts)):
        if position > end:
            return row
        i = counts[row]
        u = np.int64(pool[position])
        position += 1
        low, high = np.int64(guide[i, u]), np.int64(guide[i, u + 1])
        if low != high:
            u = (u << 8) | np.int64(pool[position])
            position += 1
            low = _first_above(sums, i, u << LEFT_16, low, high)
            if sums[i, low] < (u + 1) << LEFT_16:  # the 46 bits to come decide
                rest = np.int64(0)
                for k in range(6):
                    rest = (rest << 8) | np.int64(pool[position + k])
                position += 6
                low = _first_above(sums, i, (u << LEFT_16) | (rest & MASK_46), low, high)
        drawn[row] = low
    return len(counts)


@compiled(nogil=True)
def draw_whole(sums, guide, counts, drawn, uniform):
    """Draw with all 62 bits of every uniform integer given."""
    for row in range(len(counts)):
        i, u = counts[row], np.int64(uniform[row])
        b = u >> LEFT_8
        low, high = np.int64(guide[i, b]), np.int64(guide[i, b + 1])
        drawn[row] = _first_above(sums, i, u, low, high)
