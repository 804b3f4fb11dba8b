"""Mechanisms that keep no distribution: the paper's optimum without a fixed point; and what people
use today, noise on a count, clamped to 0 ... n-1."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, whole_number
from holdfast.paper.constructors.construction import Construction, Constructor
from holdfast.paper.constructors.noise_and_map import noisy_law
from holdfast.paper.distributions import check_target, count_error, error_weights
from holdfast.paper.privatizers.gaussian import smallest_scale
from holdfast.privacy.budget import exact_delta, exact_epsilon

WIDEST = 100_000.0
REACH = 14  # standard deviations; what lies beyond is below 1e-43


@dataclass(frozen=True, kw_only=True)
class _Clamped(Constructor):
    """Symmetric whole-number noise X on a count i, clamped: min(max(i + X, 0), n - 1).

    Needs no target; it is called with one so that its count error can be stated. Cost: O(n^2).
    """

    one_stage: ClassVar[bool] = True

    error: Any = "absolute"
    """Count error that is reported."""

    def _constructed(
        self,
        z: Floats,
        matrix: Floats,
        epsilon: Fraction,
        method: str,
        delta: Fraction = Fraction(0),
    ) -> Construction:
        return Construction(
            matrix=matrix,
            epsilon=epsilon,
            delta=delta,
            target=None,
            count_error=count_error(matrix, z, self.error),
            method=method,
        )


@dataclass(frozen=True, kw_only=True)
class TruncatedGeometric(_Clamped):
    r"""Two-sided geometric noise on a count (Ghosh, Roughgarden and Sundararajan 2009).

    With $\alpha = e^{-\epsilon}$: $T_{ij} = \alpha^{|i-j|} (1-\alpha)/(1+\alpha)$ inside, and
    $\alpha^{|i-j|} / (1+\alpha)$ for j = 0 and j = n-1, which take the tails.

    >>> TruncatedGeometric()([0.5, 0.3, 0.2], epsilon="1").matrix.sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for counts from 0 to len(target) - 1."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        matrix = noisy_law(len(z), float(exact))
        return self._constructed(z, matrix, exact, "TruncatedGeometric()")


@dataclass(frozen=True, kw_only=True)
class Staircase(_Clamped):
    r"""Staircase noise (Geng, Kairouz, Oh and Viswanath 2015), rounded to the nearest whole number.

    The noise has the density a on [0, γ), ab on [γ, 1) with $b = e^{-\epsilon}$, b times as much
    a step further out, the same on the left, and $a = (1-b) / (2(\gamma + b(1-\gamma)))$. Half a
    step holds $h_1 = a(\min(\gamma, ½) + b\max(½-\gamma, 0))$ near the centre and
    $h_2 = a(\max(\gamma-½, 0) + b\min(1-\gamma, ½))$ beyond, so the rounded noise is 0 with
    probability $2h_1$ and ±k with $b^{k-1} (h_2 + b h_1)$. γ = 1/2 gives the truncated geometric.

    >>> z = [0.5, 0.3, 0.2]
    >>> halves = Staircase(gamma=0.5)(z, epsilon=1).matrix
    >>> bool(np.allclose(halves, TruncatedGeometric()(z, epsilon=1).matrix, rtol=1e-13, atol=0))
    True
    """

    gamma: float | None = None
    """Width of the centre's inner half step, 0 to 1; default $1/(1 + e^{\\epsilon/2})$, which
    minimises the expected absolute value of the unrounded noise."""

    def __post_init__(self) -> None:
        try:
            fine = self.gamma is None or 0 <= float(self.gamma) <= 1
        except (TypeError, ValueError):
            fine = False
        if not fine or isinstance(self.gamma, bool):
            raise HoldfastError(
                f"`gamma` must lie between 0 and 1, got {self.gamma!r:.40}. "
                "Hint: leave it out for the one with the least expected noise."
            )

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for counts from 0 to len(target) - 1."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        usual = 1 / (1 + math.exp(float(exact) / 2))
        gamma = usual if self.gamma is None else float(self.gamma)
        matrix = clamped_noise(*_staircase(len(z), float(exact), gamma))
        return self._constructed(z, matrix, exact, f"Staircase(gamma={gamma:.6g})")


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(_Clamped):
    r"""Discrete Gaussian noise (Canonne, Kamath and Steinke 2020): (ε, δ)-private.

    $P(X = x) \propto e^{-x^2 / 2\sigma^2}$ on the whole numbers, with the smallest σ for which
    $\sum_x \max(P(X = x) - e^\epsilon P(X = x + 1), 0) \le \delta$: their Theorem 7, no bound.
    What is sampled is the clamped matrix in integers, whose delta is certified exactly.

    >>> found = DiscreteGaussian(delta="0.001")([0.5, 0.3, 0.2], epsilon=1)
    >>> found.mechanism.delta, found.mechanism.certificate.delta <= found.delta
    (Fraction(1, 1000), True)
    """

    delta: Any = None
    """Probability with which the privacy loss of one person may exceed epsilon; default
    1/(N+1), for which `rows` must be known. `paper.privatize` fills it in: N is public."""
    rows: int | None = None
    """N, the number of rows; only for the default of `delta`."""

    def __post_init__(self) -> None:
        if self.rows is not None:
            whole_number(self.rows, "rows", least=1)
        if self.delta is not None and not exact_delta(self.delta):
            raise HoldfastError(
                "`delta` must be positive for a Gaussian. Hint: `TruncatedGeometric` needs none."
            )

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for counts from 0 to len(target) - 1."""
        z, exact, delta = check_target(target), exact_epsilon(epsilon), self.promised_delta
        sigma = _gaussian_scale(exact, delta, len(z))
        method = f"DiscreteGaussian(delta={float(delta):.6g}, sigma={sigma:.6g})"
        matrix = clamped_noise(*_gaussian(sigma, len(z)))
        return self._constructed(z, matrix, exact, method, delta)

    @property
    def promised_delta(self) -> Fraction:
        """Delta for one person."""
        if self.delta is not None:
            return exact_delta(self.delta)
        if self.rows is None:
            raise HoldfastError(
                "`delta` is missing. Hint: give `delta`, or `rows` for delta = 1/(rows + 1)."
            )
        return Fraction(1, int(self.rows) + 1)

    def for_rows(self, rows: int) -> "DiscreteGaussian":
        """The same for a table of so many rows."""
        return replace(self, rows=rows)


def clamped_noise(exactly: Floats, at_least: Floats) -> Floats:
    """The n x n matrix of i -> min(max(i + X, 0), n-1) for symmetric whole-number noise X.

    `exactly` holds P(X = k) and `at_least` P(X >= k), for k = 0 ... n-1.

    >>> clamped_noise(np.array([0.5, 0.25]), np.array([0.75, 0.25]))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    n = len(exactly)
    if n == 1:
        return np.ones((1, 1))
    steps = np.arange(n)
    matrix = exactly[np.abs(steps[:, None] - steps)]
    matrix[:, 0] = at_least
    matrix[:, -1] = at_least[::-1]
    return np.asarray(matrix)


def _staircase(n: int, epsilon: float, gamma: float) -> tuple[Floats, Floats]:
    """P(X = k) and P(X >= k) of the rounded noise, k = 0 ... n-1."""
    b, stay = math.exp(-epsilon), -math.expm1(-epsilon)
    a = stay / (2 * (gamma + b * (1 - gamma)))
    inner = a * (min(gamma, 0.5) + b * max(0.5 - gamma, 0.0))
    outer = a * (max(gamma - 0.5, 0.0) + b * min(1 - gamma, 0.5))
    exactly = np.exp(-epsilon * (np.arange(max(n, 2)) - 1)) * (outer + b * inner)
    at_least = exactly / stay
    exactly[0] = 2 * inner
    at_least[0] = exactly[0] + at_least[1]
    return exactly[:n], at_least[:n]


def _gaussian_scale(epsilon: Fraction, delta: Fraction, n: int) -> float:
    """The smallest σ, with room for what rounding to multiples of 2^-62 can add to δ."""
    spare = 2.0**-40 * float(delta) + n * 2.0**-61 * (1 + math.exp(float(epsilon)))
    if spare < delta:
        sigma = smallest_scale(epsilon, delta - Fraction(spare))
        if sigma <= WIDEST:
            return sigma
    raise HoldfastError(
        "`epsilon` and `delta` are so small that the Gaussian noise would be wider than "
        f"{WIDEST:,.0f}. Hint: make one of them larger."
    )


def _gaussian(sigma: float, n: int) -> tuple[Floats, Floats]:
    """P(X = k) and P(X >= k), k = 0 ... n-1."""
    x = np.arange(max(n, math.ceil(REACH * sigma) + 2))
    weights = np.exp(-((x / sigma) ** 2) / 2)
    exactly = weights / (1 + 2 * weights[1:].sum())
    at_least = np.cumsum(exactly[::-1])[::-1]  # the small ones first
    return exactly[:n], at_least[:n]


@dataclass(frozen=True, kw_only=True)
class UnfixedOptimum(Constructor):
    r"""The mechanism with the least count error in U: ε-private, but keeping no distribution.

    Algorithm 2. With $\alpha = e^{-\epsilon}$ the single-peaked scales add up to 1 in one way,
    $\omega_l \Sigma_{il} = \alpha^{|i-l|} (1-\alpha)/(1+\alpha)$, and without the factor 1 - α for
    the two at the ends; the paper misprints ω. Each goes to the column where it costs least,
    and those columns do not decrease. Cost: O(n^2). The target enters through W alone.

    Optimal if W is row-wise concentrating and row-wise convex, as the absolute and the
    squared error are; any other W is refused.

    >>> found = UnfixedOptimum()([0.5, 0.3, 0.2], epsilon="0.5")
    >>> round(found.count_error, 6)
    0.547831
    >>> found.target is None
    True
    """

    error: Any = "absolute"
    """Count error that is minimised: see `error_weights`."""

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for this target and budget."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        weights = error_weights(self.error, z)
        _check_shape(weights)
        matrix = _place(weights, noisy_law(len(z), float(exact)))  # column l is ω_l Σ_l
        return Construction(
            matrix=matrix,
            epsilon=exact,
            target=None,
            count_error=count_error(matrix, z, weights),
            method="UnfixedOptimum()",
        )


def _place(weights: Floats, scales: Floats) -> Floats:
    """Every scale in the last of the columns where it costs least."""
    matrix = np.zeros_like(scales)
    j, last = 0, len(scales) - 1
    for scale in scales.T:
        while j < last and (weights[:, j + 1] - weights[:, j]) @ scale <= 0:
            j += 1
        matrix[:, j] += scale
    return matrix


def _check_shape(weights: Floats) -> None:
    from holdfast.paper.theory import is_row_wise_concentrating, is_row_wise_convex  # a ring else

    if not is_row_wise_concentrating(weights):
        raise HoldfastError(
            "`error` must be row-wise concentrating: weights that are not negative and depend on "
            "|i - j|, never falling as it grows. Hint: `LinearProgram` takes any weights."
        )
    if not is_row_wise_convex(weights):
        raise HoldfastError(
            "`error` must be row-wise convex: in every row of the weights the steps to the right "
            "never fall. Hint: `LinearProgram` takes any weights."
        )
