"""Algorithm 1 as the paper prints it, vectorised in NumPy: the yardstick of the benchmarks.

It keeps r as n independent numbers, so it loses its accuracy for large n * epsilon; it is
here to be timed, not to be used.
"""

import numpy as np


def algorithm_1(z: np.ndarray, epsilon: float, order: np.ndarray) -> np.ndarray:
    n = len(z)
    grow = np.exp(epsilon)
    matrix, r, c = np.zeros((n, n)), np.ones(n), z.copy()
    steps = np.arange(n - 1)
    bound = np.zeros(n - 1, dtype=np.int64)
    for j in order:
        while c[j] > 0:
            pattern = np.where(bound != 0, bound, np.where(steps < j, 1, -1))
            heights = np.concatenate([[0], np.cumsum(pattern)])
            s = np.exp(epsilon * (heights - heights.max()))
            up = (grow * r[1:] - r[:-1]) / (grow * s[1:] - s[:-1] + 1e-300)
            down = (r[:-1] - r[1:] / grow) / (s[:-1] - s[1:] / grow + 1e-300)
            times = np.where(pattern > 0, up, down)
            times[bound != 0] = np.inf
            fill = c[j] / (z @ s)
            step = int(np.argmin(times)) if n > 1 else -1
            q = min(fill, times[step]) if n > 1 else fill
            matrix[:, j] += q * s
            r -= q * s
            if fill <= q:
                c[j] = 0.0
            else:
                c[j] -= q * (z @ s)
                bound[step] = -pattern[step]
    return matrix
