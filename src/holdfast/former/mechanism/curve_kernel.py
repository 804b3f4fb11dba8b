"""Compiled kernels of curves: their exact values, their worst ratio, and draws from them.

A mechanism of curves has the cumulative weight s_b(i) + f_0 + ... + f_b at output b of row i, with

    s_b(i) = max(((x_b + lift) p_(i-m_b) >> 62) - lift, 0)                  for i >= m_b,
    s_b(i) = keep - max(((keep - x_b + lift) p_(m_b-i) >> 62) - lift, 0)    otherwise,

where p_d is ⌊2^62 e^(-εd)⌋, and 0 past the end of `powers`. Every product has its full 128 bits.
"""

import numpy as np

from holdfast.compiled import compiled
from holdfast.former.mechanism.certificate_kernel import exceeds, product

TWO, SIXTY_TWO = np.uint64(2), np.uint64(62)
EMPTY, NEGATIVE = 0, -1
NEAR = 2  # rows beside a turn that are looked at in every column


@compiled(nogil=True)
def _tail(height, lift, d, powers):
    """What is left of a height after d steps of the steepest fall."""
    if d >= len(powers):
        return np.int64(0)
    high, low = product(np.uint64(height + lift), np.uint64(powers[d]))
    left = np.int64((high << TWO) | (low >> SIXTY_TWO)) - lift
    return left if left > 0 else np.int64(0)


@compiled(nogil=True)
def _value(i, turn, height, keep, lift, powers):
    """s(i) of one curve."""
    if i >= turn:
        return _tail(height, lift, i - turn, powers)
    return keep - _tail(keep - height, lift, turn - i, powers)


@compiled()
def worst_curve_ratio(turns, heights, floors, keep, lift, powers, settled):
    """The largest ratio of two vertical neighbours: (numerator, denominator, row, column).

    From the first turn of a column down past the second, and up. A tail ends where its curves are
    constant, further than `reach` from the turn, or is left at a weight from its floor + 2 to
    `settled`. The denominator is EMPTY when a positive weight meets a zero, NEGATIVE when a weight
    is negative.
    """
    n, reach = len(turns), len(powers)
    top, bottom, row, column = np.uint64(1), np.uint64(1), -1, -1
    nearly = 1.0
    for j in range(n):
        turn_0, height_0 = (turns[j - 1], heights[j - 1]) if j else (np.int64(0), np.int64(0))
        turn_1, height_1 = turns[j], heights[j]
        if turn_0 == turn_1 and height_0 == height_1:
            continue  # the floor in every row
        for step in (1, -1):
            tail = turn_1 if step > 0 else turn_0
            end = min(turn_1 + reach, n - 1) if step > 0 else max(turn_0 - reach, 0)
            last = np.int64(-1)
            for i in range(turn_0, end + step, step):
                weight = (
                    _value(i, turn_1, height_1, keep, lift, powers)
                    - _value(i, turn_0, height_0, keep, lift, powers)
                    + floors[j]
                )
                if weight < 0:
                    return np.uint64(1), NEGATIVE, i, j
                a, b = np.uint64(max(last, weight)), np.uint64(min(last, weight))
                if last < 0:
                    pass
                elif b == 0:
                    if a > 0:
                        return a, EMPTY, min(i, i - step), j
                elif np.float64(a) >= nearly * np.float64(b) and exceeds(a, b, top, bottom):
                    top, bottom, row, column = a, b, min(i, i - step), j
                    nearly = np.float64(a) / np.float64(b) * (1 - 1e-14)
                if (i - tail) * step >= NEAR and floors[j] + 2 <= weight <= settled[j]:
                    break
                last = weight
    return top, np.int64(bottom), row, column


@compiled(nogil=True)
def _sum(b, i, turns, heights, below, keep, lift, powers):
    return _value(i, turns[b], heights[b], keep, lift, powers) + below[b]


@compiled(nogil=True)
def draw_from_curves(turns, heights, below, keep, lift, powers, counts, drawn, uniform):
    """The first output whose cumulative weight exceeds u, searched from the count outwards."""
    n = len(turns)
    for row in range(len(counts)):
        i, u = counts[row], np.int64(uniform[row])
        step = 1
        if _sum(i, i, turns, heights, below, keep, lift, powers) > u:
            high, low = i, i - 1
            while low >= 0 and _sum(low, i, turns, heights, below, keep, lift, powers) > u:
                high, step = low, 2 * step
                low -= step
            low = max(low, -1)
        else:
            low, high = i, i + 1
            while high < n - 1 and _sum(high, i, turns, heights, below, keep, lift, powers) <= u:
                low, step = high, 2 * step
                high += step
            high = min(high, n - 1)
        while high - low > 1:
            middle = (low + high) >> 1
            if _sum(middle, i, turns, heights, below, keep, lift, powers) > u:
                high = middle
            else:
                low = middle
        drawn[row] = high


@compiled(nogil=True)
def weights_of_row(i, first, turns, heights, floors, keep, lift, powers, weights):
    """The weights of outputs first, first + 1, ... of row i."""
    below = np.int64(0)
    if first:
        below = _value(i, turns[first - 1], heights[first - 1], keep, lift, powers)
    for k in range(len(weights)):
        b = first + k
        up_to = _value(i, turns[b], heights[b], keep, lift, powers)
        weights[k] = up_to - below + floors[b]
        below = up_to


@compiled(nogil=True)
def rows_of_column(j, turns, powers):
    """The first row, and the end, of those in which output j has more than its floor."""
    n, reach = len(turns), len(powers)
    before = turns[j - 1] if j else np.int64(0)
    return max(min(before, turns[j]) - reach, 0), min(turns[j] + reach, n - 1) + 1


@compiled(nogil=True)
def weights_of_column(j, first, turns, heights, floors, keep, lift, powers, weights):
    """The weights of output j in rows first, first + 1, ..."""
    for k in range(len(weights)):
        below = np.int64(0)
        if j:
            below = _value(first + k, turns[j - 1], heights[j - 1], keep, lift, powers)
        up_to = _value(first + k, turns[j], heights[j], keep, lift, powers)
        weights[k] = up_to - below + floors[j]


@compiled(nogil=True)
def draw_by_group(turns, heights, below, keep, powers, which, counts, drawn, uniform):
    """`draw_from_curves` for rows that each have a mechanism of their own, without a lift."""
    for row in range(len(counts)):
        g = which[row]
        draw_from_curves(
            turns[g],
            heights[g],
            below[g],
            keep[g],
            np.int64(0),
            powers,
            counts[row : row + 1],
            drawn[row : row + 1],
            uniform[row : row + 1],
        )


@compiled()
def falling_sums(values, factor):
    """Σ_{k <= i} values_k factor^(i-k) for every i; scipy's filter takes a second to import."""
    sums = np.empty(len(values))
    last = 0.0
    for i in range(len(values)):
        last = values[i] + factor * last
        sums[i] = last
    return sums
