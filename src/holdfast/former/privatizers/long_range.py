"""The privatizer for counts that run far."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.former.privatizers.block_fit import fit_regions
from holdfast.former.privatizers.noisy import Noisy, laplace_variance
from holdfast.former.privatizers.regions import (
    FIRST_SHARE,
    Regions,
    find_regions,
    first_edges,
    first_sums,
)
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.randomness import Randomness, laplace_measurement


@dataclass(frozen=True, kw_only=True)
class LongRange(Noisy):
    r"""Discrete Laplace noise on sums over blocks of counts and of ranks, then a smooth fit.

    Draw the sorted counts as rows of cells: one person adds or removes one cell, so the
    numbers of cells in any regions that share none have L1 sensitivity 1 together. A twentieth of
    ε looks at twenty or so wide blocks of the cumulative histogram. By what it finds, the rest
    measures blocks of counts where there are several rows a count, and blocks of ranks, of the
    sorted list, where there are several counts a row. Proof note: "Stage 1" in
    docs/privacy-guarantee.md. The model: docs/long-ranges.md. Cost: O(n), and a draw of noise for
    each of a few hundred to 70,000 blocks.

    >>> histogram = np.bincount([0] * 500 + [7] * 80 + [90_000] * 2, minlength=100_001)
    >>> z = LongRange()(histogram, epsilon=1, rng=7)
    >>> z.sum().round(9), abs(z @ np.arange(100_001) - 310.24) < 0.2
    (np.float64(1.0), np.True_)
    """

    def measure(
        self, histogram: NDArray[np.int64], epsilon: Fraction, source: Randomness
    ) -> NDArray[np.int64]:
        """The noisy sums of the first look, then those of the regions that it led to."""
        bins, rows = len(histogram), int(histogram.sum())
        if bins == 1:
            return np.empty(0, dtype=np.int64)
        first = source.add_laplace(first_sums(histogram), epsilon * FIRST_SHARE)
        second = epsilon * (1 - FIRST_SHARE)
        regions = find_regions(first, bins, rows, second)
        return np.concatenate([first, source.add_laplace(regions.sums(histogram), second)])

    def fit(
        self, noisy: NDArray[np.int64], bins: int, total: int, epsilon: Fraction
    ) -> NDArray[np.float64]:
        """z from the noisy sums and what is public."""
        if bins == 1:
            return np.ones(1)
        regions, sums = self.regions(noisy, bins, total, epsilon)
        return fit_regions(sums, regions, bins, total, float(epsilon * (1 - FIRST_SHARE)))

    def regions(
        self, noisy: NDArray[np.int64], bins: int, total: int, epsilon: Fraction
    ) -> tuple[Regions, NDArray[np.int64]]:
        """What the first look led to, and the noisy sums of it."""
        size = len(first_edges(bins)) - 1
        if len(noisy) >= size:
            regions = find_regions(noisy[:size], bins, total, epsilon * (1 - FIRST_SHARE))
            if len(noisy) == size + len(regions):
                return regions, noisy[size:]
        raise HoldfastError(
            "`noisy` must have the numbers of a first look, and as many as that leads to."
        )

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """What OpenDP's privacy map states for both looks together; at most epsilon."""
        exact = exact_epsilon(epsilon)
        parts = exact * FIRST_SHARE, exact * (1 - FIRST_SHARE)
        return sum((laplace_measurement(part)[1] for part in parts), Fraction(0))

    def cumulative_variance(self, bins: int, epsilon: Any) -> NDArray[np.float64]:
        """Of the noise on a C_i that is measured alone; sums say more of the others."""
        second = exact_epsilon(epsilon) * (1 - FIRST_SHARE)
        return np.full(bins - 1, laplace_variance(second))
