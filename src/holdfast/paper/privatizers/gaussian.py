"""Privatizers that add discrete Gaussian noise to the cumulative histogram of counts."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import CertificateError, HoldfastError
from holdfast.paper.privatizers.gaussian_scale import delta_bound, smallest_scale
from holdfast.paper.privatizers.laplace import OnCumulative
from holdfast.privacy.approximate import exact_delta
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.randomness import Randomness

SMALLEST_DELTA = Fraction(1, 10**100)  # decimals of 50 digits bound the noise's tail to here


@dataclass(frozen=True, kw_only=True)
class CyclicGaussian(OnCumulative):
    r"""The paper's cyclic Gaussian mechanism, on whole numbers: (ε, δ)-private.

    $V_i = \eta_i + G_i - G_{i+1}$ with $G_n = G_0$: discrete Gaussian noise on C_0, ..., C_(n-2)
    and one more $G_0$ on all of them. One person changes one C_i by 1, so δ is that of a single
    discrete Gaussian moved by one, whose exact formula gives the smallest σ. Cost: O(n), and once
    O(min(σ, 5000)).

    >>> privatizer = CyclicGaussian(delta="1e-6")
    >>> privatizer([40, 0, 0, 10], epsilon=1, rng=7).sum().round(12)
    np.float64(1.0)
    >>> round(privatizer.scale(1), 4)
    4.2308
    """

    delta: Any = field()  # must be given, though the base has a default
    """The probability that ε may fail: choose it well below 1/N; kept as a Fraction."""
    projection: str = "clip"

    def __post_init__(self) -> None:
        super().__post_init__()
        exact = exact_delta(self.delta, least=SMALLEST_DELTA)
        if not exact:
            raise HoldfastError(
                "`delta` must be positive for a Gaussian. Hint: Laplace noise needs none."
            )
        object.__setattr__(self, "delta", exact)

    def scale(self, epsilon: Any) -> float:
        """The smallest σ of the discrete Gaussian that is (ε, δ)-private for a change of one."""
        return smallest_scale(exact_epsilon(epsilon), self.delta)

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """Epsilon itself, once the exact law of this noise is known to keep δ."""
        exact = exact_epsilon(epsilon)
        if delta_bound(exact, self.scale(exact)) > self.delta:
            raise CertificateError("the Gaussian noise does not keep `delta`; nothing is released.")
        return exact

    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """The noisy cumulative sums, all with the same $G_0$."""
        scale = self.scale(epsilon)
        common = source.add_gaussian(np.zeros(1, dtype=np.int64), scale)
        return source.add_gaussian(np.cumsum(histogram)[:-1], scale) + common

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """Twice σ², or less where σ is small: by less than 1e-10 of it from σ = 2 on."""
        scale, x = self.scale(epsilon), np.arange(-30, 31)
        weights = np.exp(-((x / scale) ** 2) / 2)
        single = float(x**2 @ weights / weights.sum()) if scale < 2 else scale**2
        return np.full(bins - 1, 2 * single)
