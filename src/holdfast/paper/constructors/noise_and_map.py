r"""Noise on a count, then a monotone map: the kernels that all optima here are.

The noise is the canonical one of (ε, δ): for δ = 0 discrete Laplace noise, $P(X = x) \propto
\alpha^{|x|}$ with $\alpha = e^{-\epsilon}$. A noisy count lies in one of some *cells*, in order:
for δ = 0 the whole numbers, clamped to 0 ... n-1. The map sends what lies in a cell to the outputs
in turn, at random within the cell, so that the outputs have a given law (docs/optimum.md).
"""

import math

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Floats

Shares = tuple[NDArray[np.intp], NDArray[np.intp], Floats]
"""Cells, outputs, and how much of a cell goes to an output."""


def noisy_law(n: int, epsilon: float, delta: float = 0.0) -> Floats:
    """P(noisy count in cell k | i): row i, column k.

    >>> noisy_law(3, math.log(2)).round(3).tolist()
    [[0.667, 0.167, 0.167], [0.333, 0.333, 0.333], [0.167, 0.167, 0.667]]
    """
    if n == 1:
        return np.ones((1, 1))
    if delta:
        return _canonical_law(n, epsilon, delta)
    decay = np.exp(-epsilon * np.arange(n))
    law = decay[np.abs(np.subtract.outer(np.arange(n), np.arange(n)))] / (1 + decay[1])
    law[:, 1:-1] *= -math.expm1(-epsilon)
    return np.asarray(law)


def _canonical_law(n: int, epsilon: float, delta: float) -> Floats:
    """The same with a δ, from the curves S that fall as steeply as privacy allows.

    S(i+1) = F(S(i)) with F(s) = max(0, α(s - δ), 1 - δ - (1 - s)/α). A curve is known by the row m
    in which it changes from one branch of F to the other and its height x = S(m): with the lift
    c = δ/(e^ε - 1),

        S(m + d) = max(α^d (x + c) - c, 0),    1 - S(m - d) = max(α^d (1 - x + c) - c, 0).

    Cells lie between the curves at which m moves on, or a tail becomes one row longer: between them
    S is linear in x.
    """
    lift, low = delta / math.expm1(epsilon), (1 - delta) / (1 + math.exp(epsilon))
    longest = min(math.log1p(1 / lift) / epsilon, n)
    bends = lift * np.expm1(epsilon * np.arange(1, math.floor(longest) + 1))
    heights = np.sort(np.concatenate([bends, 1 - bends, [1 - low]]))
    inner = heights[(heights > low) & (heights <= 1 - low)]
    first, end = heights[(heights > 0) & (heights <= low)], heights[heights > 1 - low]
    turn = np.repeat(np.arange(n), len(inner))
    turn = np.concatenate([np.zeros(1 + len(first), int), turn, np.full(len(end) + 1, n - 1)])
    height = np.concatenate([[0.0], first, np.tile(inner, n), end, [1.0]])
    decay, law = np.exp(-epsilon * np.arange(n)), np.empty((n, len(turn) - 1))
    for i in range(n):
        left = i < turn
        tail = decay[np.abs(i - turn)] * (np.where(left, 1 - height, height) + lift)
        tail = np.maximum(tail - lift, 0.0)
        law[i] = np.diff(np.where(left, -tail, tail)) + np.diff(left.astype(float))
    return np.maximum(law, 0.0, out=law)


def carried(noisy: Floats, z: Floats, w: Floats) -> Floats:
    """T: noise, then the monotone map that carries the law of the noisy count under z to w.

    >>> carried(noisy_law(3, 1.0), np.full(3, 1 / 3), np.array([0.0, 1.0, 0.0])).tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    live, by_cell = np.flatnonzero(w), np.ascontiguousarray(noisy.T)
    cell, output, share = monotone_map(z @ noisy, w[live])
    starts = np.searchsorted(output, np.arange(len(live) + 1))
    columns = np.zeros((len(w), len(z)))
    for b, j in enumerate(live):
        part = slice(starts[b], starts[b + 1])
        columns[j] = share[part] @ by_cell[cell[part]]
    return np.ascontiguousarray((columns / columns.sum(axis=0)).T)


def monotone_map(law: Floats, w: Floats) -> Shares:
    """How a law is carried to w > 0, output by output; the shares of a cell add up to 1.

    The lower half is measured from below and the upper from above, so that no small share is found
    by subtraction. A cell that no count reaches, as far as floats can tell, goes to the output at
    its place.

    >>> [part.tolist() for part in monotone_map(np.array([0.5, 0.5]), np.array([0.25, 0.75]))]
    [[0, 0, 1], [0, 1, 1], [0.5, 0.5, 1.0]]
    """
    (cell, output, mass), upper = _lower_half(law, w), _lower_half(law[::-1], w[::-1])
    cell = np.append(cell, len(law) - 1 - upper[0])
    output = np.append(output, len(w) - 1 - upper[1])
    mass = np.append(mass, upper[2])
    unmet = np.flatnonzero(np.bincount(cell, mass, minlength=len(law)) == 0)
    place = np.searchsorted(np.cumsum(w), np.cumsum(law)[unmet])
    cell, mass = np.append(cell, unmet), np.append(mass, np.ones(len(unmet)))
    output = np.append(output, np.minimum(place, len(w) - 1))
    share = mass / np.bincount(cell, mass)[cell]
    order = np.lexsort((cell, output))
    return cell[order], output[order], share[order]


def _lower_half(law: Floats, w: Floats) -> Shares:
    """Cells, outputs and masses up to one half."""
    below = np.cumsum(law), np.cumsum(w)
    starts = np.sort(np.concatenate([[0.0], *(sums[sums < 0.5] for sums in below)]))
    mass = np.diff(starts, append=0.5)
    starts, mass = starts[mass > 0], mass[mass > 0]
    cell, output = (np.searchsorted(sums, starts, side="right") for sums in below)
    return cell, output, mass
