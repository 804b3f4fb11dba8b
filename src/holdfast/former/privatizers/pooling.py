"""The nearest sequence that never decreases, and running means and medians.

Written here because scipy's take longer to import than a release takes to make.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from holdfast.arrays import Floats

CHUNK = 1 << 12


def nearest_rising(values: ArrayLike) -> Floats:
    """Least-squares isotonic regression: what falls is pooled into blocks with its mean.

    Blocks are merged first with what follows, then with what precedes (Busing 2022). O(n).

    >>> nearest_rising([1, 3, 2, 4]).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    x = np.asarray(values, dtype=np.float64).tolist()
    means: list[float] = []
    sizes: list[int] = []
    i = 0
    while i < len(x):
        mean, size = x[i], 1
        i += 1
        if means and means[-1] >= mean:
            total = sizes[-1] * means.pop() + mean
            size += sizes.pop()
            mean = total / size
            while i < len(x) and mean >= x[i]:
                total, size, i = total + x[i], size + 1, i + 1
                mean = total / size
            while means and means[-1] >= mean:
                total, size = total + sizes[-1] * means.pop(), size + sizes.pop()
                mean = total / size
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)


def nearest_rising_weighted(values: ArrayLike, weights: ArrayLike) -> Floats:
    """The same where squares are weighted.

    >>> nearest_rising_weighted([1, 3, 2, 4], [1, 1, 3, 1]).tolist()
    [1.0, 2.25, 2.25, 4.0]
    """
    means: list[float] = []
    loads: list[float] = []
    sizes: list[int] = []
    pairs = zip(
        np.asarray(values, float).tolist(), np.asarray(weights, float).tolist(), strict=True
    )
    for mean, load in pairs:
        size = 1
        while means and means[-1] >= mean:
            mean = (mean * load + means.pop() * loads[-1]) / (load + loads[-1])
            load, size = load + loads.pop(), size + sizes.pop()
        means.append(mean)
        loads.append(load)
        sizes.append(size)
    return np.repeat(means, sizes)


def running_mean(values: Floats, half: int) -> Floats:
    """The mean of each value and `half` on either side, the ends being repeated.

    >>> running_mean(np.array([0.0, 3.0, 6.0]), 1).tolist()
    [1.0, 3.0, 5.0]
    """
    size, padded = 2 * half + 1, np.pad(values, half, mode="edge")
    first = np.cumsum(padded[:size])[-1]
    return np.asarray(np.cumsum(np.append(first, padded[size:] - padded[:-size])) / size)


def running_median(values: Floats, half: int) -> Floats:
    """The median of each value and `half` on either side, the ends being repeated.

    >>> running_median(np.array([0.0, 9.0, 6.0]), 1).tolist()
    [0.0, 6.0, 6.0]
    """
    windows = sliding_window_view(np.pad(values, half, mode="edge"), 2 * half + 1)
    chunks = [windows[at : at + CHUNK] for at in range(0, len(values), CHUNK)]
    return np.concatenate([np.partition(chunk, half, axis=1)[:, half] for chunk in chunks])
