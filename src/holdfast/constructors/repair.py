"""A mechanism of F -> a better one, by optimising some neighbouring columns at a time."""

import math

import numpy as np
from numpy.typing import NDArray

from holdfast.constructors.interior_point import Problem, State, start, step
from holdfast.constructors.one_thread import one_thread

Floats = NDArray[np.float64]

COLUMNS = 96  # at most; a half of them if there are fewer
ROWS = 400  # at most, by tying neighbouring rows
SWEEPS = 2
ENOUGH = 1e-3  # a sweep that gains less than this share of what the first one did is the last
TIED = 1e-6  # rows whose ratio is so close to the extreme allow their columns no choice
GAP = 1e-6
MOST_STEPS = 60


def repaired(matrix: Floats, weights: Floats, z: Floats, epsilon: float) -> Floats:
    r"""A matrix of F that is at least as good, and better unless no block of columns can be.

    A block of neighbouring columns with the sum S and the shares z_j is exchanged for the best
    one with the same sum and the same shares, so row sums and fixed point stay as they are:

    $$T_{ij} = S_i q_{ij}, \quad \sum_j q_{ij} = 1, \quad \sum_i z_i S_i q_{ij} = z_j, \quad
    e^{-\epsilon} S_i / S_{i+1} \le q_{i+1,j} / q_{ij} \le e^{\epsilon} S_i / S_{i+1}.$$

    That is the problem of `Optimal` with a decay per row, for fewer columns. Where S itself
    changes by e^±ε, no column has a choice, and the rows are tied to each other.
    """
    best, live = matrix.copy(), np.flatnonzero(z)
    width = min(COLUMNS, max(2, (len(live) + 1) // 2))
    first = 0.0
    with one_thread(), np.errstate(all="ignore"):
        for sweep in range(SWEEPS):
            gained, begins = 0.0, range(0, max(1, len(live) - width // 2), max(1, width // 2))
            for begin in begins if sweep % 2 else reversed(begins):
                gained += _improve(best, weights, z, epsilon, live[begin : begin + width])
            if sweep == 0:
                first = gained
            if gained <= ENOUGH * first:
                break
    return best


def _improve(
    t: Floats, weights: Floats, z: Floats, epsilon: float, block: NDArray[np.int64]
) -> float:
    """Exchange the columns of the block, in place, if that is better; what was gained."""
    old, costs = t[:, block], weights[:, block]
    total = old.sum(axis=1)
    groups = _tied(total, epsilon)
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    if len(firsts) < 2 or len(block) < 2:
        return 0.0
    mass = np.add.reduceat(z * total, firsts)
    grouped = np.add.reduceat(costs * total[:, None], firsts, axis=0)
    q = _best_shares(grouped, mass, z[block], _ratios(total, firsts), epsilon)
    new = total[:, None] * q[groups]
    gained = float((costs * (old - new)).sum())
    if not gained > 0:
        return 0.0
    t[:, block] = new
    return gained


def _tied(total: Floats, epsilon: float) -> NDArray[np.int64]:
    """The group of every row: rows are tied where the block's sum changes by nearly e^±ε."""
    logs = np.log(np.maximum(total, 1e-290))
    room = 1 - np.abs(np.diff(logs)) / epsilon
    room[(total[1:] < 1e-280) | (total[:-1] < 1e-280)] = 0
    free = room > TIED
    if free.sum() >= ROWS:
        free &= room > np.sort(room)[-ROWS]
    return np.concatenate([[0], np.cumsum(free)])


def _ratios(total: Floats, firsts: NDArray[np.int64]) -> Floats:
    """S_i / S_{i+1} where a group meets the next."""
    return total[firsts[1:] - 1] / total[firsts[1:]]


def _best_shares(
    costs: Floats, mass: Floats, share: Floats, ratios: Floats, epsilon: float
) -> Floats:
    """The q of the least cost, nearly: every row of it sums to 1."""
    reduced = (costs - costs.min(axis=1, keepdims=True)) * share
    size = float(reduced.sum()) or 1.0
    decay = math.exp(-epsilon)
    problem = Problem(
        cost=reduced / size,
        z=mass / mass.sum(),
        share=share / share.sum(),
        epsilon=epsilon,
        rise=decay * ratios,
        fall=decay / ratios,
    )
    q = _solved(problem).x * problem.share
    return np.asarray(q / q.sum(axis=1, keepdims=True))


def _solved(problem: Problem) -> State:
    state = start(problem)
    for _ in range(MOST_STEPS):
        value = float(np.einsum("ij,ij->", problem.cost, state.x))
        if value <= 0 or 2 * state.slack[0].size * state.product <= GAP * value:
            break
        try:
            state = step(problem, state)
        except FloatingPointError:
            break
    return state
