"""The interior point method behind `Optimal`: one step, from one state to the next."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]

BLOCK = 32  # rows up to which the Schur complement is summed directly
START = 100.0  # the first products of slack and multiplier, in units of the first gap
LEAST_CENTRING = 0.1
TO_THE_BOUNDARY = 0.98
REFINEMENTS = 3
ROW_ACCURACY = 1e-14


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """min <cost, x> over strictly private x with Σ_j share_j x_j = 1 and z · x_j = 1 for all j."""

    cost: Floats
    """n x m, for the m live columns."""
    z: Floats
    """The target, length n."""
    share: Floats
    """The target's positive entries, length m."""
    epsilon: float

    @property
    def decay(self) -> float:
        """e^-ε."""
        return math.exp(-self.epsilon)

    @property
    def weight(self) -> Floats:
        """What the product of slack and multiplier aims at, per step: more where z is."""
        near = self.z[1:] + self.z[:-1]
        return np.asarray(0.7 + 0.3 * near / near.mean())[:, None]


class State(NamedTuple):
    """A strictly private x with its slacks (u, l), and multipliers of all constraints."""

    x: Floats
    slack: Pair
    lam: Pair
    y: Floats
    mu: Floats

    @property
    def product(self) -> float:
        """The mean product of slack and multiplier; 0 at the optimum."""
        total = sum(np.einsum("ij,ij->", s, m) for s, m in zip(self.slack, self.lam, strict=True))
        return float(total) / (2 * self.slack[0].size)


class Factors(NamedTuple):
    """H^-1 = d c c' + K per column, and the Cholesky factor of the Schur complement."""

    tau: Floats
    inverse: Floats
    k: NDArray[np.int64]
    d: Floats
    c: Floats
    q: Floats
    theta: Floats
    kappa: Floats
    scale: Floats
    cholesky: Any


def start(problem: Problem) -> State:
    """Every row of T is z: strictly private and feasible."""
    from holdfast.constructors import optimal_kernel as kernel

    n, m = problem.cost.shape
    x = np.ones((n, m))
    slack = kernel.slacks(x, problem.decay)
    level = START * float(problem.cost.sum()) / (2 * slack[0].size) * problem.weight
    return State(x, slack, (level / slack[0], level / slack[1]), np.zeros(n), np.zeros(m))


def step(problem: Problem, state: State) -> State:
    """One predictor-corrector step after Mehrotra."""
    factors = _factors(problem, state)
    move = _move(problem, state, factors, None)
    level = state.product
    ahead = _moved(state, move, *_lengths(state, move)).product
    centre = level * max(LEAST_CENTRING, min(1.0, (ahead / level) ** 2)) * problem.weight
    aims = [
        np.maximum(centre - ds * dm, -centre) for ds, dm in zip(move.slack, move.lam, strict=True)
    ]
    move = _move(problem, state, factors, (aims[0], aims[1]))
    primal, dual = _lengths(state, move)
    return _moved(state, move, TO_THE_BOUNDARY * primal, TO_THE_BOUNDARY * dual)


def _moved(state: State, move: State, primal: float, dual: float) -> State:
    return State(
        state.x + primal * move.x,
        (state.slack[0] + primal * move.slack[0], state.slack[1] + primal * move.slack[1]),
        (state.lam[0] + dual * move.lam[0], state.lam[1] + dual * move.lam[1]),
        state.y + dual * move.y,
        state.mu + dual * move.mu,
    )


def _lengths(state: State, move: State) -> tuple[float, float]:
    """How far x and the multipliers can go before a slack or a multiplier is 0; at most 1."""
    from holdfast.constructors.optimal_kernel import longest

    primal = min(longest(s, ds) for s, ds in zip(state.slack, move.slack, strict=True))
    dual = min(longest(m, dm) for m, dm in zip(state.lam, move.lam, strict=True))
    return min(1.0, primal), min(1.0, dual)


def _factors(problem: Problem, state: State) -> Factors:
    from holdfast.constructors import optimal_kernel as kernel

    ratios = [m / s for s, m in zip(state.slack, state.lam, strict=True)]
    room = -math.expm1(-2 * problem.epsilon)
    tau, inverse, k, d = kernel.factor(*ratios, problem.z, problem.decay, room)
    c = kernel.outwards(tau, k)
    q, theta = kernel.solve(tau, inverse, k, np.repeat(problem.z[:, None], len(k), axis=1))
    kappa = problem.z @ q
    schur = _sum_of_inner(problem, tau, inverse, k)
    # minus the part along z: a rank of two per column, free of the large d (docs/optimum.md)
    size = d * theta**2 + kappa
    root = d * theta + np.sqrt(d * size)
    weight = problem.share**2 / size
    product = ((q - (d * kappa / root) * c) * weight) @ (q + root * c).T
    schur -= (product + product.T) / 2
    return Factors(tau, inverse, k, d, c, q, theta, kappa, *_cholesky(schur, problem.z))


def _sum_of_inner(problem: Problem, tau: Floats, inverse: Floats, k: NDArray[np.int64]) -> Floats:
    """Σ_j share_j^2 K_j: between two halves of a block of rows it is one matrix product."""
    from holdfast.constructors import optimal_kernel as kernel

    n = len(problem.z)
    diagonal, left, right = kernel.inner_ratios(tau, inverse, k)
    total = kernel.small_blocks(diagonal, left, problem.share, BLOCK)
    halves, width = np.empty_like(diagonal), BLOCK
    while width < n:
        kernel.half_products(diagonal, left, right, problem.share, width, halves)
        for b in range(width, n, 2 * width):
            low, high = slice(b - width, b), slice(b, b + width)
            block = halves[low] @ halves[high].T
            total[low, high] = block
            total[high, low] = block.T
        width *= 2
    return np.asarray(total)


def _cholesky(schur: Floats, z: Floats) -> tuple[Floats, Any]:
    """The factor of the Schur complement scaled to unit diagonal, z's null direction filled."""
    from scipy.linalg import LinAlgError, cho_factor

    diagonal = schur.diagonal()
    scale = 1 / np.sqrt(np.maximum(diagonal, 1e-30 * diagonal.max()))
    null = z / scale
    matrix = schur * scale * scale[:, None] + np.outer(null, null / (null @ null))
    for ridge in (0.0, *(10.0**-e for e in range(15, 3, -1))):
        try:
            return scale, cho_factor(matrix + ridge * np.eye(len(z)), lower=True)
        except LinAlgError:
            continue
    raise FloatingPointError("the Schur complement is not positive definite")


def _move(problem: Problem, state: State, f: Factors, aims: Pair | None) -> State:
    """Newton's direction towards slack * multiplier = aims; None stands for 0."""
    from scipy.linalg import cho_solve

    from holdfast.constructors import optimal_kernel as kernel

    # H dx = G'(aims / slack) - (cost - share y - z mu) + share dy + z dmu
    g = np.outer(state.y, problem.share) + np.outer(problem.z, state.mu) - problem.cost
    if aims is not None:
        g += kernel.push(aims[0] / state.slack[0], aims[1] / state.slack[1], problem.decay)
    lack = 1 - problem.z @ state.x
    dx, dmu = _solve_columns(problem, f, g, lack)
    dy = np.zeros_like(state.y)
    for _ in range(1 + REFINEMENTS):
        rows = 1 - (state.x + dx) @ problem.share
        if np.abs(rows).max() <= ROW_ACCURACY:
            break
        more_y = f.scale * cho_solve(f.cholesky, f.scale * rows)
        more_x, more_mu = _solve_columns(problem, f, np.outer(more_y, problem.share), 0 * lack)
        dx, dy, dmu = dx + more_x, dy + more_y, dmu + more_mu
    slack = kernel.slacks(dx, problem.decay)
    lam = []
    for i in range(2):
        dm = -state.lam[i] * (1 + slack[i] / state.slack[i])
        lam.append(dm if aims is None else dm + aims[i] / state.slack[i])
    return State(dx, slack, (lam[0], lam[1]), dy, dmu)


def _solve_columns(problem: Problem, f: Factors, g: Floats, lack: Floats) -> Pair:
    """The x with H x = g + z mu and z · x = lack in every column; and mu."""
    from holdfast.constructors.optimal_kernel import solve

    x, along = solve(f.tau, f.inverse, f.k, g)
    inside = problem.z @ x
    size = f.d * f.theta**2 + f.kappa
    mu = (lack - f.d * f.theta * along - inside) / size
    x += f.c * (f.d * (f.kappa * along + f.theta * (lack - inside)) / size)
    x += f.q * mu
    return x, mu
