"""The optimum over F, with a proof of how close it is."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.constructors.construction import Construction
from holdfast.constructors.constructor import Constructor
from holdfast.constructors.dual_bound import dual_bound, relative_gap, row_bound
from holdfast.constructors.feasible import feasible_matrix
from holdfast.constructors.interior_point import Problem, State, start, step
from holdfast.constructors.one_thread import one_thread
from holdfast.errors import HoldfastError
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.metrics import count_error, error_weights
from holdfast.tables.histogram import check_target

Floats = NDArray[np.float64]

MOST_STEPS = 200
PATIENCE = 40  # steps without a better gap after which the method gives up
TELLING = 0.1  # the gap below which it measures progress: far from the optimum it stays near 1
UPDATE_EVERY = 10
DOMINANT = 0.9  # a share above this leaves little room for rounding in y
LARGE = 1e6  # and so do multipliers that exceed the count error this much


@dataclass(frozen=True, kw_only=True)
class Optimal(Constructor):
    r"""The mechanism in F with the least count error, and a lower bound that proves it.

    $$\min \langle W, T \rangle : \quad T 1 = 1, \quad z^\top T = z, \quad
    e^{-\epsilon} t_{i+1,j} \le t_{ij} \le e^{\epsilon} t_{i+1,j}.$$

    An interior point method that starts at the matrix whose rows are all z, stays feasible,
    and uses that every column is a chain (docs/optimum.md). Cost: O(n^3) per step, most of
    it matrix products, and some 15 to 70 steps, up to 130 where one share is nearly 1 and the
    others alike; O(n^2) memory. The result always is in F. If
    `gap` is not reached, `method` says so and the gap that was reached is reported; the same
    after Ctrl-C.

    >>> found = Optimal()([0.5, 0.3, 0.2], epsilon="0.5")
    >>> round(found.count_error, 5), found.gap < 1e-6, found.lower_bound < found.count_error
    (0.6113, True, True)
    """

    error: Any = "absolute"
    """Count error that is minimised: see `metrics.error_weights`."""
    gap: float = 1e-6
    """Relative distance to the lower bound at which to stop."""
    progress: Callable[[int, float], None] | None = None
    """Called after every step with its number and the gap that is proved so far."""
    interruptible: bool = True
    """Whether Ctrl-C ends the search with the best so far; if not, it ends the program as usual."""

    def __post_init__(self) -> None:
        if not isinstance(self.gap, float) or not 0 < self.gap < 1:
            raise HoldfastError(f"`gap` must lie between 0 and 1, got {self.gap!r:.40}.")

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target and budget."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        search = Search(error_weights(self.error, z), z, float(exact))
        outcome = search.run(self.gap, self.progress, self.interruptible)
        return self._construction(search, outcome, exact)

    def _construction(self, search: "Search", outcome: str, epsilon: Fraction) -> Construction:
        return Construction(
            matrix=search.matrix,
            epsilon=epsilon,
            target=search.z,
            count_error=search.value,
            method=f"Optimal({'' if search.gap <= self.gap else outcome})",
            lower_bound=search.bound,
            gap=search.gap,
        )


class Search:
    """The best matrix of F and the best bound, with its row multipliers y, so far."""

    def __init__(self, weights: Floats, z: Floats, epsilon: float) -> None:
        self.weights, self.z, self.epsilon, self.live = weights, z, epsilon, np.flatnonzero(z)
        self.costs = np.ascontiguousarray(weights[:, self.live].T)
        # a constant per row changes nothing: the least cost of every row becomes 0
        self.least: Floats = self.costs.min(axis=0)
        reduced = (self.costs.T - self.least[:, None]) * z[self.live]
        self.size = float(reduced.sum())
        decay = np.full(len(z) - 1, math.exp(-epsilon))
        self.problem = Problem(
            cost=reduced / (self.size or 1.0),
            z=z,
            share=z[self.live],
            epsilon=epsilon,
            rise=decay,
            fall=decay,
        )
        self.matrix = np.tile(z, (len(z), 1))
        self.value = count_error(self.matrix, z, weights)
        self.y: Floats = self.least
        self.bound = max(dual_bound(self.costs, self.y, z, epsilon), row_bound(self.costs))

    @property
    def gap(self) -> float:
        """The relative gap between the best value and the best bound."""
        return relative_gap(self.value, self.bound)

    def run(
        self, gap: float, progress: Callable[[int, float], None] | None, interruptible: bool
    ) -> str:
        """Improve the matrix and the bound until the gap is reached; or say what stopped it."""
        if len(self.live) == 1 or self.size == 0:
            return ""  # every mechanism in F has the same count error
        with one_thread():
            return self._search(gap, progress, interruptible)

    def _search(
        self, gap: float, progress: Callable[[int, float], None] | None, interruptible: bool
    ) -> str:
        state = start(self.problem)
        best, patience = self.gap, PATIENCE
        try:
            for number in range(1, MOST_STEPS + 1):
                with np.errstate(all="ignore"):
                    state = step(self.problem, state)
                if number % UPDATE_EVERY == 0 or self._is_near(state, gap):
                    self.update(state)
                if progress is not None:
                    progress(number, self.gap)
                if self.gap <= gap:
                    return ""
                patience = PATIENCE if self.gap < 0.9 * best else patience - (best < TELLING)
                best = min(best, self.gap)
                if patience == 0:
                    break
        except KeyboardInterrupt:
            if not interruptible:
                raise
            self.update(state)
            return "interrupted"
        except FloatingPointError:
            self.update(state)
        return "gap not reached"

    def _is_near(self, state: State, gap: float) -> bool:
        return 2 * state.slack[0].size * state.product * self.size <= 10 * gap * abs(self.value)

    def update(self, state: State) -> None:
        """Repair x and price y, and keep each if it is better than what there was."""
        matrix = np.zeros_like(self.weights)
        matrix[:, self.live] = state.x * self.z[self.live]
        with suppress(HoldfastError):
            matrix = feasible_matrix(matrix, self.z, self.epsilon)
            value = count_error(matrix, self.z, self.weights)
            if value < self.value:
                self.matrix, self.value = matrix, value
        y = self.size * state.y + self.least
        alike = [y, self._small(y)] if self._rounds(y) else [y]
        for multipliers in alike:
            if np.isfinite(multipliers).all():
                bound = dual_bound(self.costs, multipliers, self.z, self.epsilon)
                if bound > self.bound:
                    self.y, self.bound = multipliers, bound

    def _rounds(self, y: Floats) -> bool:
        """Whether the rounding errors of y can be felt in a count error this small."""
        return bool(self.z.max() > DOMINANT or np.abs(y).max() > LARGE * abs(self.value))

    def _small(self, y: Floats) -> Floats:
        """The same multipliers up to t z, as small as possible: the t of the least Σ |y - t z|."""
        share, ratio = self.z[self.live], (y - self.least)[self.live] / self.z[self.live]
        order = np.argsort(ratio)
        middle = np.searchsorted(np.cumsum(share[order]), share.sum() / 2)
        return np.asarray(y - ratio[order[min(middle, len(order) - 1)]] * self.z)
