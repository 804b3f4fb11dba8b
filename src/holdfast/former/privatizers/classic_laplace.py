"""Discrete Laplace noise on every bin of the histogram of counts."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.privatizers.noisy import Projected
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.randomness import Randomness, laplace_measurement

SENSITIVITY = 2


@dataclass(frozen=True, kw_only=True)
class ClassicLaplace(Projected):
    r"""Discrete Laplace noise of scale 2/ε on $\eta_0, ..., \eta_{n-1}$.

    One person moves one row to the next bin: one bin loses one, another gains one, so the L1
    sensitivity is 2. The total, which is public, is restored by taking the same number off
    every bin. The noise of the cumulative histogram grows with the number of bins added up.
    Proof note: "Stage 1" in docs/privacy-guarantee.md. Cost: O(n).

    >>> z = ClassicLaplace()([40, 0, 0, 10], epsilon=1, rng=7)
    >>> z.sum().round(12), (z >= 0).all()
    (np.float64(1.0), np.True_)
    """

    projection: str = "clip"

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """What OpenDP's privacy map states for this noise; at most epsilon."""
        return laplace_measurement(exact_epsilon(epsilon), SENSITIVITY)[1]

    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """Every bin with noise; a single bin is its public total."""
        if len(histogram) == 1:
            return histogram
        return source.add_laplace(histogram, epsilon, SENSITIVITY)

    def estimate(self, noisy: Integers, bins: int, total: int) -> Floats:
        """The noisy bins, shifted alike to the public total."""
        return np.asarray(noisy + (total - noisy.sum()) / bins)

    def sensitivity(self, bins: int) -> int:
        """One bin loses one, another gains one."""
        return SENSITIVITY

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """The variance of C_0, ..., C_(n-2): a bridge from 0 to the public total."""
        added = np.arange(1, bins)
        return np.asarray(self.variance(epsilon, bins) * added * (bins - added) / bins)
