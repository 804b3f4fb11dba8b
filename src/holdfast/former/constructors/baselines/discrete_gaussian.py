"""The discrete Gaussian mechanism of Canonne, Kamath and Steinke (2020), on counts."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, whole_number
from holdfast.former.constructors.baselines.clamped import clamped_noise
from holdfast.former.constructors.construction import Construction
from holdfast.former.constructors.constructor import Constructor
from holdfast.former.privatizers.gaussian_scale import smallest_scale
from holdfast.former.privacy.approximate import exact_delta
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.delta import unit_delta
from holdfast.former.privacy.metrics import count_error
from holdfast.former.tables.histogram import check_target

WIDEST = 100_000.0
REACH = 14  # standard deviations; what lies beyond is below 1e-43


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(Constructor):
    r"""Discrete Gaussian noise on a count, clamped to 0 ... n-1: (ε, δ)-private.

    $P(X = x) \propto e^{-x^2 / 2\sigma^2}$ on the whole numbers, with the smallest σ for which
    $\sum_x \max(P(X = x) - e^\epsilon P(X = x + 1), 0) \le \delta$: their Theorem 7, no bound.
    What is sampled is the clamped matrix in integers, whose delta is certified exactly.
    Needs no target; it is called with one so that its count error can be stated.
    Cost: O(n^2 + σ).

    >>> found = DiscreteGaussian(delta="0.001")([0.5, 0.3, 0.2], epsilon=1)
    >>> found.mechanism.delta, found.mechanism.certified_delta <= found.delta
    (Fraction(1, 1000), True)
    """

    delta: Any = None
    """Probability with which the privacy loss of one person may exceed epsilon; default
    1/(N+1), for which `rows` must be known. `holdfast.privatize` fills it in: N is public."""
    rows: int | None = None
    """N, the number of rows; only for the default of `delta`."""
    steps: int = 1
    """How far one person can move a count; `delta` is for all of it, epsilon for one step."""
    error: Any = "absolute"
    """Count error that is reported."""

    one_stage: ClassVar[bool] = True
    holds_matrix: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole_number(self.steps, "steps", least=1)
        if self.rows is not None:
            whole_number(self.rows, "rows", least=1)
        if self.delta is not None and not exact_delta(self.delta):
            raise HoldfastError(
                "`delta` must be positive for a Gaussian. Hint: `TruncatedGeometric` needs none."
            )

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for counts from 0 to len(target) - 1."""
        z, exact, delta = check_target(target), exact_epsilon(epsilon), self.promised_delta
        unit = unit_delta(delta, exact, self.steps)
        sigma = _scale(exact, unit, len(z))
        matrix = clamped_noise(*_noise(sigma, len(z)))
        return Construction(
            form=matrix,
            epsilon=exact,
            delta=unit,
            target=None,
            count_error=count_error(matrix, z, self.error),
            method=f"DiscreteGaussian(delta={float(delta):.6g}, sigma={sigma:.6g})",
        )

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

    def for_release(self, *, rows: int, steps: int) -> "DiscreteGaussian":
        """The same for a table of so many rows, in which a person moves a count so far."""
        return replace(self, rows=rows, steps=steps)


def _scale(epsilon: Fraction, delta: Fraction, n: int) -> float:
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


def _total(sigma: float) -> float:
    x = np.arange(1, math.ceil(REACH * sigma) + 2)
    return 1 + 2 * float(np.exp(-((x / sigma) ** 2) / 2).sum())


def _noise(sigma: float, n: int) -> tuple[Floats, Floats]:
    """P(X = k) and P(X >= k), k = 0 ... n-1."""
    x = np.arange(max(n, math.ceil(REACH * sigma) + 2))
    exactly = np.exp(-((x / sigma) ** 2) / 2) / _total(sigma)
    at_least = np.cumsum(exactly[::-1])[::-1]  # the small ones first
    return exactly[:n], at_least[:n]
