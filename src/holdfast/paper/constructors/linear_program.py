"""The optimum by the paper's linear program, on a general-purpose solver."""

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Construction, Constructor
from holdfast.paper.constructors.optimal import least_error
from holdfast.paper.distributions import check_target, count_error, error_weights
from holdfast.privacy.budget import exact_epsilon

if TYPE_CHECKING:
    from scipy import sparse
    from scipy.optimize import OptimizeResult


TOLERANCE = 1e-10  # HiGHS takes nothing smaller, and 1e-7 on its own
SOLVERS = {"simplex": "highs-ds", "interior-point": "highs-ipm"}


@dataclass(frozen=True, kw_only=True)
class LinearProgram(Constructor):
    r"""The mechanism in F with the least count error, by SciPy's HiGHS.

    Solves, over the columns with $z_j > 0$ and with $t_{ij} = z_j x_{ij}$,

    $$\min \langle W, T \rangle : \quad T 1 = 1, \quad z^\top x_j = 1, \quad
    x_{i+1,j} \ge e^{-\epsilon} x_{ij}, \quad x_{ij} \ge e^{-\epsilon} x_{i+1,j}.$$

    For errors without the Monge property, where no closed form is known; `Optimal` has the others.
    The solver's answer is repaired by `feasible_matrix`; where the closed form is known, `gap`
    tells how far it is from the optimum: a solver that takes coefficients below 1e-9 for 0 misses
    it where shares are smaller. Cost: n^2 variables and 2n^2 constraints; minutes from n = 200.

    >>> found = LinearProgram()([0.5, 0.3, 0.2], epsilon="0.5")
    >>> round(found.count_error, 6)
    0.611303
    """

    method: str = "simplex"
    """"simplex" (HiGHS dual simplex) or "interior-point" (HiGHS IPM with crossover)."""
    error: Any = "absolute"
    """Count error that is minimised: see `error_weights`."""

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in SOLVERS:
            raise HoldfastError(
                f"`method` must be one of {', '.join(SOLVERS)}, got {self.method!r:.40}."
            )

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target and budget."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        live, costs = np.flatnonzero(z), error_weights(self.error, z)
        nearly = np.zeros((len(z), len(z)))
        nearly[:, live] = self._solve(costs, z, live, float(exact)) * z[live]
        matrix = feasible_matrix(nearly, z, float(exact))
        return Construction(
            matrix=matrix,
            epsilon=exact,
            target=z,
            count_error=count_error(matrix, z, self.error),
            method=f"LinearProgram({self.method})",
            bound=partial(least_error, z, self.error, exact),
        )

    def _solve(self, costs: Floats, z: Floats, live: NDArray[np.intp], epsilon: float) -> Floats:
        """x of the live columns."""
        from scipy.optimize import linprog  # slow to import: not before it is needed

        weights = costs[:, live] * z[live]
        size = np.abs(weights).max() or 1.0  # HiGHS's tolerances are absolute
        answer = linprog(
            weights.ravel() / size,
            A_ub=_ratios(len(z), len(live), epsilon),
            b_ub=np.zeros(2 * (len(z) - 1) * len(live)),
            A_eq=_sums(z, live),
            b_eq=np.ones(len(z) + len(live)),
            method=SOLVERS[self.method],
            options={
                "primal_feasibility_tolerance": TOLERANCE,
                "dual_feasibility_tolerance": TOLERANCE,
            },
        )
        return np.asarray(_solution(answer, self.method)).reshape(len(z), len(live))


def _solution(answer: "OptimizeResult", method: str) -> Any:
    if answer.status != 0 or answer.x is None:
        other = "simplex" if method == "interior-point" else "interior-point"
        raise HoldfastError(
            f"HiGHS gave up on the linear program: {answer.message!s:.200} "
            f"Hint: use `Optimal`, or LinearProgram(method={other!r})."
        )
    return answer.x


def _ratios(n: int, m: int, epsilon: float) -> "sparse.csr_array":
    """e^-ε x_i - x_{i+1} and e^-ε x_{i+1} - x_i for every column; x is stored row by row."""
    from scipy import sparse

    here, above = sparse.eye_array(n - 1, n), sparse.eye_array(n - 1, n, k=1)
    decay = math.exp(-epsilon)
    chain = sparse.vstack([decay * here - above, decay * above - here])
    return sparse.kron(chain, sparse.eye_array(m), format="csr")


def _sums(z: Floats, live: NDArray[np.intp]) -> "sparse.csr_array":
    """The row sums of T, then z · x_j for every column."""
    from scipy import sparse

    rows = sparse.kron(sparse.eye_array(len(z)), z[None, live])
    columns = sparse.kron(z[None, :], sparse.eye_array(len(live)))
    return sparse.vstack([rows, columns], format="csr")


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
    _raise_to_private(t, epsilon)
    _scale(t, target)
    _raise_to_private(t, epsilon)
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


def _raise_to_private(t: Floats, epsilon: float) -> None:
    """Raise, in place, every entry to max_k e^(-ε|i-k|) t_k: the least private matrix above t."""
    decay = math.exp(-epsilon)
    for i in range(1, len(t)):
        np.maximum(t[i], decay * t[i - 1], out=t[i])
    for i in range(len(t) - 2, -1, -1):
        np.maximum(t[i], decay * t[i + 1], out=t[i])


def _scale(t: Floats, target: Floats) -> None:
    """Scale, in place, rows to sum to 1 and columns to keep the target, a few times in turn."""
    t /= np.maximum(t.sum(axis=1, keepdims=True), TINY)
    for _ in range(SCALINGS):
        t *= target / np.maximum(_output(t, target), TINY)
        t /= np.maximum(t.sum(axis=1, keepdims=True), TINY)


def _output(t: Floats, target: Floats) -> Floats:
    """zT; no matrix product, whose last digits would depend on the number of threads."""
    return np.asarray(np.einsum("i,ij->j", target, t))


def missing_share(t: Floats, share: Floats, epsilon: float) -> float:
    """How much of 1z makes every ratio of neighbours at most e^ε; t has the live columns only."""
    decay, room = math.exp(-epsilon), -math.expm1(-epsilon)
    x = t / share
    worst = max((decay * x[1:] - x[:-1]).max(initial=0), (decay * x[:-1] - x[1:]).max(initial=0))
    return float(max(worst / room, -x.min()))
