"""Symmetric whole-number noise, clamped to the range of counts."""

import numpy as np

from holdfast.arrays import Floats


def clamped_noise(exactly: Floats, at_least: Floats) -> Floats:
    """The n x n matrix of i -> min(max(i + X, 0), n-1) for symmetric whole-number noise X.

    `exactly` holds P(X = k) and `at_least` P(X >= k), for k = 0 ... n-1.

    >>> clamped_noise(np.array([0.5, 0.25]), np.array([0.75, 0.25]))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    n = len(exactly)
    if n == 1:
        return np.ones((1, 1))
    steps = np.arange(n)
    matrix = exactly[np.abs(steps[:, None] - steps)]
    matrix[:, 0] = at_least
    matrix[:, -1] = at_least[::-1]
    return np.asarray(matrix)
