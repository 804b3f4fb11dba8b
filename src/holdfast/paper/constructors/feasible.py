"""Nearly feasible matrices -> matrices of F."""

import math

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError

LARGEST_MIX = 1e-3
TINY = 1e-300
SCALINGS = 5


def feasible_matrix(matrix: Floats, target: Floats, epsilon: float) -> Floats:
    r"""The matrix of F that a solver's nearly feasible answer stands for.

    Four steps, each O(n^2). Entries that are too small beside their neighbours are raised
    to $\max_k e^{-\epsilon|i-k|} t_{kj}$. Rows and columns are scaled in turn towards their sums,
    which unlike adding moves nothing to counts far away, and entries raised again. With r and c
    what the rows and the columns of zT still lack,
    $T + r z^\top + 1 (c - (z \cdot r) z)^\top$ has row sums 1 and fixed point z. Then as much
    of the rank-one matrix 1z is mixed in as the worst ratio needs: 1z is in F, and
    $e^\epsilon t_{i+1} - t_i$ gains (e^ε - 1) z_j. An answer that would need more than 1e-3
    of it is refused.

    >>> feasible_matrix(np.eye(2), np.array([0.5, 0.5]), 8.0).round(6).tolist()
    [[0.999665, 0.000335], [0.000335, 0.999665]]
    """
    t = np.where(target > 0, np.maximum(matrix, 0), 0)
    raise_to_private(t, epsilon)
    _scale(t, target)
    raise_to_private(t, epsilon)
    for _ in range(2):  # the second round removes the rounding errors of the first
        rows, columns = 1 - t.sum(axis=1), target - _output(t, target)
        t += np.outer(rows - target @ rows, target) + columns
    share = missing_share(t[:, target > 0], target[target > 0], epsilon)
    if not share <= LARGEST_MIX:  # also if it is not a number
        raise HoldfastError(
            f"the solver's answer is not private: it would need a share of {share:.2g} of noise "
            "that ignores the counts. Hint: use `Optimal`, which stays feasible throughout."
        )
    if share > 0:
        t += share * target
        t /= t.sum(axis=1, keepdims=True)
    return np.asarray(t)


def _scale(t: Floats, target: Floats) -> None:
    """Scale, in place, rows to sum to 1 and columns to keep the target, a few times in turn."""
    t /= np.maximum(t.sum(axis=1, keepdims=True), TINY)
    for _ in range(SCALINGS):
        t *= target / np.maximum(_output(t, target), TINY)
        t /= np.maximum(t.sum(axis=1, keepdims=True), TINY)


def _output(t: Floats, target: Floats) -> Floats:
    """zT; no matrix product, whose last digits would depend on the number of threads."""
    return np.asarray(np.einsum("i,ij->j", target, t))


def raise_to_private(t: Floats, epsilon: float) -> None:
    """Raise, in place, every entry to max_k e^(-ε|i-k|) t_k: the least private matrix above t."""
    decay = math.exp(-epsilon)
    for i in range(1, len(t)):
        np.maximum(t[i], decay * t[i - 1], out=t[i])
    for i in range(len(t) - 2, -1, -1):
        np.maximum(t[i], decay * t[i + 1], out=t[i])


def missing_share(t: Floats, share: Floats, epsilon: float) -> float:
    """How much of 1z makes every ratio of neighbours at most e^ε; t has the live columns only."""
    decay, room = math.exp(-epsilon), -math.expm1(-epsilon)
    x = t / share
    worst = max((decay * x[1:] - x[:-1]).max(initial=0), (decay * x[:-1] - x[1:]).max(initial=0))
    return float(max(worst / room, -x.min()))
