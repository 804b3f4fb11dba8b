"""The paper's heuristic constructor, in clock form; and Algorithm 1 as printed, in fixed-point
integers, slow, and right where doubles are not.

`Heuristic` turns to these in the rare case that the clock kernel misses a row sum, which takes
chains of near-ties between columns and a large epsilon.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Construction, Constructor, Representation
from holdfast.paper.constructors.optimal import least_error
from holdfast.paper.distributions import check_target, count_error
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.rational import exp_below

if TYPE_CHECKING:
    from holdfast.paper.constructors.clock import Clocks


def fill_precisely(
    z: Floats, epsilon: Fraction, next_column: "Callable[[FixedPoint], int]"
) -> tuple[Floats, Representation]:
    """The matrix and its pieces.

    Numbers carry 1.45 n ε + 160 bits behind the point: r spans a factor of e^(nε) at the most,
    so an error in its smallest entry stays small however far a scale carries it. Time
    O(n^2) operations on integers of O(n ε) bits.
    """
    state = FixedPoint(z, epsilon)
    while any(state.c):
        j = next_column(state)
        last = np.count_nonzero(state.c) == 1
        while state.c[j]:
            state.add_piece(j, last)
    return state.matrix(), state.representation(float(epsilon))


class FixedPoint:
    """The state of Algorithm 1: r, c, A and the pieces, as integers over 2^bits."""

    def __init__(self, z: Floats, epsilon: Fraction) -> None:
        n = len(z)
        self.bits = int(1.45 * n * float(epsilon)) + 160
        self.one = 1 << self.bits
        self.tie = 1 << 40  # rounding errors are a few units in the last place
        self.powers = _powers(epsilon, n, self.bits)
        self.grow = math.floor(exp_below(epsilon, bits=self.bits + 64) * self.one)
        self.z = self._exact(z)
        self.r = np.full(n, self.one, dtype=object)
        self.c = self._exact(z)
        self.columns = np.zeros((n, n), dtype=object)
        self.bound_from = np.full(n - 1, np.iinfo(np.int64).max)
        self.bound_step = np.zeros(n - 1, dtype=np.int64)
        self.pieces: list[tuple[int, float]] = []

    def add_piece(self, j: int, last: bool) -> None:
        """As much as fits of column j's present scale; the last column takes all of r."""
        n = len(self.r)
        pattern = np.where(np.arange(n - 1) < j, 1, -1)
        pattern = np.where(self.bound_step != 0, self.bound_step, pattern)
        heights = np.concatenate([[0], np.cumsum(pattern)])
        s = self.powers[heights.max() - heights]
        free = np.flatnonzero(self.bound_step == 0).tolist()
        # Proposition on step 8: the slack of a free step over what one unit of s takes off it
        takes = [self._slack(s, i, pattern[i]) for i in free]
        slacks = [self._slack(self.r, i, pattern[i]) for i in free]
        mass = int(self.z @ s) >> self.bits
        limits = [(slack << self.bits) // take for slack, take in zip(slacks, takes, strict=True)]
        fill = (self.c[j] << self.bits) // mass
        if last:
            fill = max(limits) + 1 if limits else int(self.r[int(np.argmax(s))])
        q = max(min([fill, *limits]), 0)
        drop = (q * s) >> self.bits
        self.columns[j] += drop
        self.r -= drop
        filled = q == fill
        self.pieces.append((j, float(Fraction(int(drop.sum()), self.one))))
        for i in free:
            if self._slack(self.r, i, pattern[i]) <= self.tie:
                self.bound_from[i], self.bound_step[i] = len(self.pieces), -pattern[i]
        rest = self.c[j] - ((q * mass) >> self.bits)
        self.c[j] = 0 if filled or (rest <= self.tie and not last) else max(rest, 1)

    def _slack(self, values: NDArray[np.object_], i: int, direction: int) -> int:
        near, far = (values[i + 1], values[i]) if direction > 0 else (values[i], values[i + 1])
        return int((self.grow * near >> self.bits) - far)

    def _exact(self, values: Floats) -> NDArray[np.object_]:
        exact = [int(Fraction(float(value)) * self.one) for value in values]
        return np.array(exact, dtype=object)

    def floats(self, values: NDArray[np.object_]) -> Floats:
        """Fixed-point numbers as doubles."""
        shift = max(self.bits - 1000, 0)
        scale = math.ldexp(1.0, self.bits - shift)
        return np.array([float(int(value) >> shift) / scale for value in values.flat]).reshape(
            values.shape
        )

    def matrix(self) -> Floats:
        """The paper's A as it is now."""
        return self.floats(self.columns.T)

    def representation(self, epsilon: float) -> Representation:
        """The pieces so far."""
        columns, amounts = zip(*self.pieces, strict=True)
        return Representation(
            columns=np.array(columns),
            amounts=np.array(amounts),
            bound_from=self.bound_from,
            bound_step=self.bound_step,
            epsilon=epsilon,
        )


def _powers(epsilon: Fraction, n: int, bits: int) -> NDArray[np.object_]:
    """e^(-εk) for k = 0 ... n-1 in fixed point."""
    one = 1 << bits
    shrink = one * one // math.floor(exp_below(epsilon, bits=bits + 64) * one)
    powers = [one]
    for _ in range(n - 1):
        powers.append(powers[-1] * shrink >> bits)
    return np.array(powers, dtype=object)


ACCURACY = 1e-10
LARGEST_PRECISE = 500
Selector = Callable[[Floats, Floats, Floats, Floats], int]
Order = Callable[[Floats], NDArray[np.int64]]


class Inaccurate(Exception):
    """The clock kernel could not resolve this order in doubles."""


@dataclass(frozen=True)
class Heuristic(Constructor):
    r"""Algorithm 1: fills one column after the other with as much of its peaked scale as fits.

    The result is an extreme point of F, the polytope of ε-private mechanisms with fixed
    point z (the theorem on the heuristic's output). The order of the columns decides its
    count error. Cost: O(n log n) for the representation, O(n^2) for the matrix. The kernel
    is explained in docs/clock-form.md; where it misses an accuracy of 1e-10, the algorithm
    is run again in fixed-point integers.

    >>> found = Heuristic("sandwich")([0.5, 0.3, 0.2], epsilon="0.5")
    >>> found.matrix.sum(axis=1).round(9).tolist()
    [1.0, 1.0, 1.0]
    >>> len(found.representation)
    5
    """

    selector: str | Selector = field(default="best", kw_only=False)
    """"max", "min" or "sandwich" (the paper's), "best", or a callable κ(z, r, c, A) that
    returns the next column j with c[j] > 0. "best" takes the best of these three and of the
    orders from left to right and from right to left."""
    error: Any = field(default="absolute", kw_only=True)
    """Count error that is reported, and that "best" compares: see `error_weights`."""

    def __post_init__(self) -> None:
        if not callable(self.selector) and self.selector not in (*ORDERS, "best"):
            raise HoldfastError(
                f"`selector` must be one of {', '.join(ORDERS)}, best, or a callable, "
                f"got {self.selector!r:.40}."
            )

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target and budget."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        if self.selector == "best":
            return self._best(z, exact)
        return self._construct(self.selector, z, exact)

    def _best(self, z: Floats, epsilon: Fraction) -> Construction:
        constructions: list[Construction] = []
        unresolved = []
        for name in (*ORDERS, *FURTHER_ORDERS):
            try:
                constructions.append(self._construct(name, z, epsilon, precise=False))
            except Inaccurate:
                unresolved.append(name)
        # the integers take long: only the paper's orders are worth it, and up to a size
        unresolved = [name for name in unresolved if name in ORDERS]
        if len(z) > LARGEST_PRECISE:
            unresolved = [] if constructions else ["sandwich"]
        constructions += [self._construct(name, z, epsilon) for name in unresolved]
        return min(constructions, key=lambda construction: construction.count_error)

    def _construct(
        self,
        selector: str | Selector,
        z: Floats,
        epsilon: Fraction,
        *,
        precise: bool = True,
    ) -> Construction:
        from holdfast.paper.constructors import clock  # numba, where it is installed: not before

        clocks = clock.start(z, float(epsilon))
        columns = np.zeros((len(z), len(z)))
        if callable(selector):
            _fill_by(selector, clocks, columns)
        else:
            clock.fill_columns(clocks, _order(selector, z))
            clock.add_pieces(columns, clocks, 0)
        name = selector
        if callable(selector):  # whatever it is called, it is not one of ours
            name = f"one's own {getattr(selector, '__name__', 'callable')}"
        matrix, pieces = columns.T, _representation(clocks, float(epsilon))
        if not _keeps(matrix, z):
            if not precise:
                raise Inaccurate
            matrix, pieces = fill_precisely(z, epsilon, _next_column(selector, z))
        error = count_error(matrix, z, self.error)
        return Construction(
            matrix=matrix,
            epsilon=epsilon,
            target=z,
            count_error=error,
            method=f"Heuristic({name})",
            bound=partial(least_error, z, self.error, epsilon),
            representation=pieces,
        )


def _keeps(matrix: Floats, z: Floats) -> bool:
    if not np.isfinite(matrix).all():
        return False
    rows, shares = np.abs(matrix.sum(axis=1) - 1), np.abs(z @ matrix - z)
    return bool(rows.max() < ACCURACY and shares.max() < ACCURACY and matrix.min() >= 0)


def _next_column(selector: str | Selector, z: Floats) -> Callable[[FixedPoint], int]:
    if isinstance(selector, str):
        order = iter(_order(selector, z).tolist())
        return lambda state: next(order)

    def choose(state: FixedPoint) -> int:
        r, c = state.floats(state.r), state.floats(state.c)
        return _checked(selector(z.copy(), r, c, state.matrix()), c)

    return choose


def _checked(j: int, left: Floats) -> int:
    if not (0 <= j < len(left) and left[j] > 0):
        raise HoldfastError("`selector` must return a column j with c[j] > 0.")
    return int(j)


def _fill_by(selector: Selector, clocks: "Clocks", columns: Floats) -> None:
    from holdfast.paper.constructors import clock

    done = 0
    while clocks.left.any():
        r = clock.residual(clocks)
        j = selector(clocks.z.copy(), r, clocks.left.copy(), columns.T.copy())
        clock.fill_column(clocks, _checked(j, clocks.left))
        clock.add_pieces(columns, clocks, done)
        done = int(clocks.done[0])


def _representation(clocks: "Clocks", epsilon: float) -> Representation:
    pieces = int(clocks.done[0])
    return Representation(
        columns=clocks.piece_k[:pieces, 1],
        amounts=clocks.piece_x[:pieces, 1],
        bound_from=clocks.bound_from,
        bound_step=clocks.bound_step,
        epsilon=epsilon,
    )


def _by_share(sign: int) -> Order:
    def order(z: Floats) -> NDArray[np.int64]:
        live = np.flatnonzero(z)
        return np.asarray(live[np.argsort(sign * z[live], kind="stable")])

    return order


def _sandwich(z: Floats) -> NDArray[np.int64]:
    n = len(z)
    order = np.empty(n, dtype=np.int64)
    order[0::2] = np.arange((n + 1) // 2)  # 0, n-1, 1, n-2, 2, ...
    order[1::2] = n - 1 - np.arange(n // 2)
    return np.asarray(order[z[order] > 0])


def _order(name: str, z: Floats) -> NDArray[np.int64]:
    return {**ORDERS, **FURTHER_ORDERS}[name](z)


ORDERS = {"max": _by_share(-1), "min": _by_share(1), "sandwich": _sandwich}
FURTHER_ORDERS: dict[str, Order] = {  # tried by "best"
    "rightwards": np.flatnonzero,
    "leftwards": lambda z: np.ascontiguousarray(np.flatnonzero(z)[::-1]),
}
