"""Discrete Laplace noise on the histogram of counts, or on its cumulative sums."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.paper.privatizers.privatizer import Noisy
from holdfast.privacy.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class ClassicLaplace(Noisy):
    r"""Discrete Laplace noise of scale 2/ε on $\eta_0, ..., \eta_{n-1}$.

    One person moves one row to the next bin: one bin loses one, another gains one, so the L1
    sensitivity is 2. The total, which is public, is restored by taking the same number off
    every bin. The noise of the cumulative histogram grows with the number of bins added up.
    Cost: O(n).

    >>> z = ClassicLaplace()([40, 0, 0, 10], epsilon=1, rng=7)
    >>> z.sum().round(12), (z >= 0).all()
    (np.float64(1.0), np.True_)
    """

    projection: str = "clip"

    def sensitivity(self, bins: int) -> int:
        """One bin loses one, another gains one."""
        return 2

    def levels(self, histogram: Integers) -> list[Integers]:
        """Every bin; a single one is the public total."""
        return [histogram] if len(histogram) > 1 else []

    def estimate(self, noisy: Integers, bins: int, total: int) -> Floats:
        """The noisy bins, shifted alike to the public total."""
        if bins == 1:
            return np.array([float(total)])
        return np.asarray(noisy + (total - noisy.sum()) / bins)


@dataclass(frozen=True, kw_only=True)
class OnCumulative(Noisy):
    r"""A privatizer with independent noise on C_0, ..., C_(n-2); C_(n-1) = N is public.

    One person moves one row from bin i to bin i+1, which changes $C_i = \sum_{k \le i} \eta_k$
    by 1 and nothing else: L1 and L2 sensitivity are 1.
    """

    def sensitivity(self, bins: int) -> int:
        """One cumulative sum changes by one."""
        return 1

    def levels(self, histogram: Integers) -> list[Integers]:
        """The cumulative histogram without its last entry."""
        return [np.cumsum(histogram)[:-1]] if len(histogram) > 1 else []

    def estimate(self, noisy: Integers, bins: int, total: int) -> Integers:
        """The differences of the noisy cumulative histogram."""
        return np.diff(np.concatenate([[0], noisy, [total]]))


@dataclass(frozen=True, kw_only=True)
class Cumulative(OnCumulative):
    r"""Discrete Laplace noise of scale 1/ε on C_0, ..., C_(n-2), then isotonic regression.

    The cyclic Laplace mechanism without its $L_0$: the same privacy at half the variance, and a
    projection that removes what noise adds to empty bins. Cost: O(n).

    >>> z = Cumulative()([40, 0, 0, 10], epsilon=1, rng=7)
    >>> z.sum().round(12), (z >= 0).all()
    (np.float64(1.0), np.True_)
    """

    projection: str = "isotonic"


@dataclass(frozen=True, kw_only=True)
class CyclicLaplace(OnCumulative):
    r"""The paper's cyclic Laplace mechanism, on whole numbers.

    $V_i = \eta_i + L_i - L_{i+1}$ with $L_n = L_0$ and discrete Laplace $L_i$ of scale 1/ε.
    Given $L_0$ it is the cumulative release, so it has the same privacy.

    >>> CyclicLaplace()([40, 0, 0, 10], epsilon=1, rng=7).sum().round(12)
    np.float64(1.0)
    """

    projection: str = "clip"

    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """The cumulative release with one more draw, the paper's $L_0$, on all of it."""
        common = source.add_laplace(np.zeros(1, dtype=np.int64), epsilon)
        return super().measure(histogram, epsilon, source) + common

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """Twice that of one draw."""
        return 2 * super().cumulative_variance(bins, epsilon)
