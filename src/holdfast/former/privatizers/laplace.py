"""Privatizers that add discrete Laplace noise to the cumulative histogram of counts."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.privatizers.noisy import Projected
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.randomness import Randomness, laplace_measurement


@dataclass(frozen=True, kw_only=True)
class OnCumulative(Projected):
    """A privatizer with independent noise on C_0, ..., C_(n-2); C_(n-1) = N is public."""

    independent_steps: ClassVar[bool] = True
    law: ClassVar[str] = "laplace"

    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """The noisy cumulative histogram without its last entry."""
        nothing = np.zeros(1, dtype=np.int64)
        common = self._with_noise(nothing, epsilon, source) if self.common_noise else nothing
        return self._with_noise(np.cumsum(histogram)[:-1], epsilon, source) + common

    def estimate(self, noisy: Integers, bins: int, total: int) -> Integers:
        """The differences of the noisy cumulative histogram."""
        return np.diff(np.concatenate([[0], noisy, [total]]))

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """What OpenDP's privacy map states for this noise; at most epsilon."""
        return laplace_measurement(exact_epsilon(epsilon))[1]

    def response(self, size: int, bins: int) -> Callable[[Floats], Floats]:
        """One more in C_i moves one category from bin i + 1 to bin i."""
        return lambda answer: -np.diff(answer, axis=0)

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """The variance of the noise on C_0, ..., C_(n-2); noise common to all doubles it."""
        return np.full(bins - 1, (1 + self.common_noise) * self.variance(epsilon, bins))

    def _with_noise(self, values: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        return source.add_laplace(values, epsilon)


@dataclass(frozen=True, kw_only=True)
class CumulativeIsotonic(OnCumulative):
    r"""Discrete Laplace noise of scale 1/ε on C_0, ..., C_(n-2), then isotonic regression.

    One person moves one row from bin i to bin i+1, which changes $C_i = \sum_{k \le i} \eta_k$
    by 1 and nothing else, so the release has L1 sensitivity 1. Proof note: "Stage 1" in
    docs/privacy-guarantee.md. Cost: O(n).

    >>> z = CumulativeIsotonic()([40, 0, 0, 10], epsilon=1, rng=7)
    >>> z.sum().round(12), (z >= 0).all()
    (np.float64(1.0), np.True_)
    """

    projection: str = "isotonic"


@dataclass(frozen=True, kw_only=True)
class CumulativeSmooth(OnCumulative):
    r"""Discrete Laplace noise of scale 1/ε on C_0, ..., C_(n-2), then a smooth fit.

    The noise and the proof are those of `CumulativeIsotonic`. The fit takes the categories for
    a sample from a density that is smooth but for spikes, and z for the posterior median of the
    cumulative histogram: docs/smooth-fit.md. z is positive everywhere. Cost: milliseconds for
    n = 100, O(n) beyond.

    >>> z = CumulativeSmooth()([400, 0, 0, 100], epsilon=1, rng=7)
    >>> z.sum().round(12), (z > 0).all()
    (np.float64(1.0), np.True_)
    """

    projection: str = "smooth"


@dataclass(frozen=True, kw_only=True)
class CyclicLaplace(OnCumulative):
    r"""The paper's cyclic Laplace mechanism, on whole numbers.

    $V_i = \eta_i + L_i - L_{i+1}$ with $L_n = L_0$ and discrete Laplace $L_i$ of scale 1/ε.
    It is the cumulative release with one more $L_0$ added to every $C_i$: given $L_0$, the
    same proof holds. Same privacy as `CumulativeIsotonic`, twice the variance.

    >>> CyclicLaplace()([40, 0, 0, 10], epsilon=1, rng=7).sum().round(12)
    np.float64(1.0)
    """

    common_noise: ClassVar[bool] = True
    law: ClassVar[str] = "other"

    projection: str = "clip"
