"""Compiled kernels of the mechanism: rounding to integer weights, and their exact worst ratio."""

import numpy as np

from holdfast.compiled import compiled

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@compiled()
def product(a, b):
    """The 128-bit product of two 64-bit integers, as (high, low)."""
    a0, a1, b0, b1 = a & LOW, a >> HALF, b & LOW, b >> HALF
    low = a0 * b0
    middle = a1 * b0 + (low >> HALF)
    other = a0 * b1 + (middle & LOW)
    return a1 * b1 + (middle >> HALF) + (other >> HALF), (other << HALF) | (low & LOW)


@compiled()
def exceeds(a, b, c, d):
    """Whether a/b > c/d, exactly, for 64-bit integers with b, d > 0."""
    high_1, low_1 = product(a, d)
    high_2, low_2 = product(c, b)
    return high_1 > high_2 or (high_1 == high_2 and low_1 > low_2)


@compiled()
def worst_ratio(weights):
    """The largest ratio of two vertical neighbours, exactly: (numerator, denominator, row, column).

    The denominator is 0 when a positive weight meets a zero.
    """
    n = len(weights)
    top, bottom, row, column = np.uint64(1), np.uint64(1), -1, -1
    nearly = 1.0
    for i in range(n - 1):
        for j in range(n):
            a, b = np.uint64(weights[i, j]), np.uint64(weights[i + 1, j])
            if a < b:
                a, b = b, a
            if b == 0:
                if a > 0:
                    return a, b, i, j
                continue
            # floats only skip what is smaller beyond their rounding error of 2^-51
            if np.float64(a) >= nearly * np.float64(b) and exceeds(a, b, top, bottom):
                top, bottom, row, column = a, b, i, j
                nearly = np.float64(a) / np.float64(b) * (1 - 1e-14)
    return top, bottom, row, column


@compiled()
def round_rows(matrix, floors, keep, total):
    """Integer weights near keep * matrix / (row sum) + floors, every row adding up to `total`.

    What rounding leaves over goes to the row's largest weight.
    """
    n = len(matrix)
    weights = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        row_sum, lost = 0.0, 0.0  # Kahan's sum: an error here would all go to one weight
        for j in range(n):
            if floors[j] > 0:
                term = matrix[i, j] - lost
                new_sum = row_sum + term
                lost = (new_sum - row_sum) - term
                row_sum = new_sum
        scale = keep / row_sum
        rest, largest = np.int64(total), 0
        for j in range(n):
            if floors[j] > 0:
                weight = np.int64(np.rint((scale * matrix[i, j] + floors[j]) * total))
                weights[i, j] = weight
                rest -= weight
                if weight > weights[i, largest]:
                    largest = j
        weights[i, largest] += rest
    return weights
