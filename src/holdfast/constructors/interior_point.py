"""The interior point method behind `Optimal`: one step, from one state to the next."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]

BLOCK = 32  # rows up to which the Schur complement is summed directly
START = 100.0  # the first products of slack and multiplier, in units of the first gap
LEAST_CENTRING = 0.1
LEAN = 0.3  # how much of the aim follows z
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
    rise: Floats
    """The least x_(i+1) / x_i, length n - 1."""
    fall: Floats
    """The least x_i / x_(i+1); e^-2ε / rise."""

    @cached_property
    def near(self) -> Floats:
        """What the product of slack and multiplier aims at, per step: more where z is."""
        both = self.z[1:] + self.z[:-1]
        return np.asarray(1 - LEAN + LEAN * both / both.mean())

    @cached_property
    def large(self) -> Floats:
        """The same per column: more where the share is; for a large ε hardly."""
        lean = LEAN * min(1.0, 1 / self.epsilon) ** 2
        return np.asarray(1 - lean + lean * self.share / self.share.mean())


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
    from holdfast.constructors.newton_kernel import slacks

    n, m = problem.cost.shape
    x = np.ones((n, m))
    slack = slacks(x, problem.rise, problem.fall)
    level = START * float(problem.cost.sum()) / (2 * slack[0].size)
    level = level * np.outer(problem.near, problem.large)
    return State(x, slack, (level / slack[0], level / slack[1]), np.zeros(n), np.zeros(m))


def step(problem: Problem, state: State) -> State:
    """One predictor-corrector step after Mehrotra."""
    from holdfast.constructors import newton_kernel as kernel

    tied = (problem.rise, problem.fall, *state.slack, *state.lam)
    factors = _factors(problem, state)
    base = kernel.reduced(problem.cost, state.y, problem.share, problem.z, state.mu)
    dx = _solved(problem, state, factors, base.copy(), refinements=0)[0]
    now, ahead = kernel.predicted(dx, *tied)
    level = now / (2 * state.slack[0].size) * max(LEAST_CENTRING, min(1.0, (ahead / now) ** 2))
    g, *force = kernel.corrected(base, dx, *tied, level, problem.near, problem.large)
    dx, dy, dmu = _solved(problem, state, factors, g, REFINEMENTS)
    primal, dual = kernel.lengths(dx, *tied, *force)
    primal, dual = TO_THE_BOUNDARY * primal, TO_THE_BOUNDARY * dual
    up, down, lam_up, lam_down = kernel.moved(dx, *tied, *force, primal, dual)
    x, y, mu = state.x + primal * dx, state.y + dual * dy, state.mu + dual * dmu
    return State(x, (up, down), (lam_up, lam_down), y, mu)


def _solved(
    problem: Problem, state: State, f: Factors, g: Floats, refinements: int
) -> tuple[Floats, Floats, Floats]:
    """Newton's equations H dx = g + share dy + z dmu: what the rows still lack is dy's work."""
    from scipy.linalg import cho_solve

    from holdfast.constructors.newton_kernel import add_solution

    known = (f.tau, f.inverse, f.k, f.c, f.q, f.d, f.theta, f.kappa, problem.z, problem.share)
    dx, dy, dmu = np.zeros_like(state.x), np.zeros_like(state.y), np.zeros_like(state.mu)
    lack, rows = 1 - problem.z @ state.x, 1 - state.x @ problem.share
    done = add_solution(*known, g, lack, dx, dmu)
    for _ in range(1 + refinements):
        left = rows - done
        if np.abs(left).max() <= ROW_ACCURACY:
            break
        more = f.scale * cho_solve(f.cholesky, f.scale * left, check_finite=False)
        dy += more
        done = add_solution(*known, np.outer(more, problem.share), 0 * lack, dx, dmu)
    return dx, dy, dmu


def _factors(problem: Problem, state: State) -> Factors:
    from holdfast.constructors import optimal_kernel as kernel

    ratios = [m / s for s, m in zip(state.slack, state.lam, strict=True)]
    room = -math.expm1(-2 * problem.epsilon)
    tau, inverse, k, d = kernel.factor(*ratios, problem.z, problem.rise, problem.fall, room)
    c = kernel.outwards(tau, k)
    q = kernel.solve(tau, inverse, k, np.repeat(problem.z[:, None], len(k), axis=1))[0]
    theta, kappa, left, right = kernel.rank_two(c, q, d, problem.z, problem.share)
    product = left @ right.T
    schur = _sum_of_inner(problem, tau, inverse, k) - (product + product.T) / 2
    return Factors(tau, inverse, k, d, c, q, theta, kappa, *_cholesky(schur, problem.z))


def _sum_of_inner(problem: Problem, tau: Floats, inverse: Floats, k: NDArray[np.int64]) -> Floats:
    """Σ_j share_j^2 K_j: between two halves of a block of rows it is one matrix product."""
    from holdfast.constructors import optimal_kernel as kernel

    n = len(problem.z)
    diagonal, left, right = kernel.inner_ratios(tau, inverse, k)
    total = kernel.small_blocks(diagonal, left, problem.share, BLOCK, np.empty(len(k)))
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
            raised = matrix + ridge * np.eye(len(z)) if ridge else matrix
            return scale, cho_factor(raised, lower=True, check_finite=False)
        except LinAlgError:
            continue
    raise FloatingPointError("the Schur complement is not positive definite")
